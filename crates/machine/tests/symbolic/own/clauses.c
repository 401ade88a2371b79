/* Conditions of several clauses: that one of them holds, not which. */
#include <unistd.h>

int main(void) {
    unsigned char in[16] = {0};
    if (read(0, in, 12) != 12) return 9;
    int result = 0;
    if (in[0] == ' ' || in[0] == '\t' || in[0] == '\n' || in[1] == ';') result += 1;
    if (in[2] == 'a' && in[3] == 'b') result += 2;
    if ((in[4] < '0' || in[4] > '9') && in[5] != '-') result += 4;
    return result;
}
