/* Records of a key and a number, with a sum over all numbers: what a parser of lines does. */
#include <unistd.h>

static unsigned char in[1 << 16];

int main(void) {
    int length = 0, got;
    while ((got = read(0, in + length, sizeof in - length)) > 0) length += got;
    unsigned sum = 0;
    for (int at = 0; at < length;) {
        while (at < length && in[at] != '=') at++;
        unsigned number = 0;
        for (at++; at < length && in[at] >= '0' && in[at] <= '9'; at++)
            number = number * 10 + (in[at] - '0');
        if (number > 5000) return 1;
        sum ^= number;
        at++;
    }
    return sum == 77 ? 2 : 0;
}
