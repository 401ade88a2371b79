// About a hundred million instructions: fills a table and sorts it, again and again.
#include <stdio.h>

static unsigned table[4096];
unsigned first;
unsigned rounds;

__attribute__((noinline)) void never(void) {
    rounds = 0;
}

int main(int argc, char **argv) {
    unsigned random = 1;
    (void)argv;
    first = 7;
    for (; rounds < 110; rounds++) {
        for (int i = 0; i < 4096; i++) table[i] = (random = random * 1103515245 + 12345) >> 8;
        for (int gap = 1750; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
            for (int i = gap; i < 4096; i++) {
                unsigned value = table[i];
                int at = i;
                for (; at >= gap && table[at - gap] > value; at -= gap) table[at] = table[at - gap];
                table[at] = value;
            }
    }
    if (argc > 9) never();
    printf("%u\n", table[2048]);
    return 0;
}
