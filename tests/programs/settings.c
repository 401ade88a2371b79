/* Reads settings, one `key=value` a line. Fails if there are no shards to share the work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int share(int work, int shards) { return work / shards; }

int main(int argc, char **argv) {
    char line[128];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file) return 2;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, '=');
        if (!value) continue;
        *value++ = 0;
        if (!strcmp(line, "shards")) printf("%d each\n", share(1200, atoi(value)));
    }
    return 0;
}
