/* Stores to one of a few places, and loads from there: what is in each, not which one it was. */
#include <unistd.h>

static unsigned char seen[8];
static unsigned short count[4];

int main(void) {
    unsigned char in[16] = {0};
    if (read(0, in, 12) != 12) return 9;
    int result = 0;
    seen[in[0] & 7] = 1;
    if (seen[3]) result += 1;
    count[in[1] & 3] += 5;
    count[in[2] & 3] += in[3];
    if (count[2] > 4) result += 2;
    if (seen[in[4] & 7] == 0) result += 4;
    return result;
}
