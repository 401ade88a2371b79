/* Array inequality: whether strings and areas are equal, not where they differ. */
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[16] = {0};
    if (read(0, in, 12) != 12) return 9;
    int result = 0;
    if (strcmp(in, "open") != 0) result += 1;
    if (memcmp(in + 4, "GATE", 4) == 0) result += 2;
    if (strncmp(in + 8, "key", 3) != 0) result += 4;
    return result;
}
