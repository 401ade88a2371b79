/* Switch statements: where the jump goes, not by which of the values that lead there. */
#include <unistd.h>

static volatile int seen;

static int kind(unsigned char c) {
    switch (c) {
    case '0': case '1': case '2': case '3': seen = 1; return 10;
    case '4': seen = 2; return 11;
    case '5': case '6': seen = 3; return 12;
    case '7': seen = 4; return 13;
    case '8': case '9': seen = 5; return 14;
    default: seen = 6; return 15;
    }
}

int main(void) {
    unsigned char in[16] = {0};
    if (read(0, in, 12) != 12) return 9;
    return kind(in[0]) + kind(in[1]) + kind(in[2]);
}
