/* Invalid accesses to memory, by the first argument; the first byte of the input says where, or the
 * input is what is too long. Nobody is harmed without checks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned char sink;

__attribute__((noinline)) static void frame(int at) {
    volatile char small[16];
    small[at] = 1;
}

int main(int count, char **words) {
    const char *how = words[1];
    unsigned char *block = malloc(16);
    if (!strcmp(how, "read")) {
        return read(0, block, 64) < 0;
    }
    if (!strcmp(how, "fread")) {
        return fread(block, 1, 64, stdin) == 0;
    }
    unsigned char in[8] = {0};
    if (read(0, in, 8) != 8) return 9;
    if (!strcmp(how, "store")) {
        block[in[0]] = 1;
    } else if (!strcmp(how, "load")) {
        sink = block[in[0]];
    } else if (!strcmp(how, "wide")) {
        *(uint64_t *)(block + in[0]) = 1;
    } else if (!strcmp(how, "vector")) {
        typedef unsigned char lanes __attribute__((vector_size(16), aligned(1)));
        *(lanes *)(block + in[0]) = (lanes){1, 2, 3};
    } else if (!strcmp(how, "freed")) {
        free(block);
        block[in[0]] = 1;
    } else if (!strcmp(how, "behind")) {
        block[in[0] * 4096] = 1;
    } else if (!strcmp(how, "canary")) {
        frame(in[0]);
    }
    return 0;
}
