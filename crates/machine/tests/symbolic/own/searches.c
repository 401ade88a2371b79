/* Searches for a word: whether it is there, not how far the search had to look. */
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[16] = {0};
    if (read(0, in, 12) != 12) return 9;
    int result = 0;
    if (!strstr(in, "opal")) result += 1;
    if (strstr(in, "ey")) result += 2;
    char *at = strstr(in + 4, "ke");
    if (at && at[2] == 'x') result += 4;
    return result;
}
