/* Reads from constant arrays: the value, not the index. */
#include <unistd.h>

static const unsigned char digit[256] = {
    ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8,
};
static const unsigned short weight[16] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987};

int main(void) {
    unsigned char in[16] = {0};
    if (read(0, in, 12) != 12) return 9;
    int result = 0;
    if (digit[in[0]]) result += 1;
    if (digit[in[1]] > 6) result += 2;
    if (weight[in[2] & 15] < 50) result += 4;
    return result;
}
