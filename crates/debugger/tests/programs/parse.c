// Looks at its standard input, byte by byte, and fails at the third word.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[64];

__attribute__((noinline)) int words(const char *text) {
    int count = 0;
    for (; *text; text++)
        if (*text == ' ') count++;
    return count;
}

int main(void) {
    fgets(text, sizeof text, stdin);
    if (text[0] == 't' && words(text) > 1) abort();
    return 0;
}
