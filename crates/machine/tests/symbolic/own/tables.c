/* Loads, stores and jumps whose addresses depend on the input. */
#include "input.h"

static const unsigned char classes[256] = {['0' ... '9'] = 1, ['a' ... 'z'] = 2, ['A' ... 'Z'] = 3, [' '] = 4};
static const uint32_t primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
static const int64_t far[8] = {-1, 1l << 40, 7, -9, 0, 5, 1l << 62, -3};
static const uint16_t pairs[4][4] = {{1, 2, 3, 4}, {50, 60, 70, 80}, {9, 99, 999, 9999}, {7, 7, 7, 7}};
static uint32_t crc[256];
static int counts[256];

static int by_switch(unsigned char c) {
    switch (c) {
    case 'a': return 17;
    case 'b': return in[1];
    case 'c': case 'd': case 'e': return 4;
    case 'f': return in[2] + in[3];
    case 'g': case 'h': return 100;
    case ' ': case '\t': return 50;
    case '0' ... '4': return c - '0';
    case '5' ... '9': return 2 * (c - '0');
    case '-': return -5;
    case ':': return 8;
    default: return 1;
    }
}

static int twice(int x) { return 2 * x; }
static int half(int x) { return x / 2; }
static int same(int x) { return x; }
static int (*const functions[4])(int) = {twice, half, same, twice};

int main(int argc, char **argv) {
    get(argc, argv);
    for (unsigned k = 0; k < 256; k++) {
        uint32_t c = k;
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
        crc[k] = c;
    }
    uint32_t sum = ~0u, adler = 1, high = 0;
    for (int k = 0; k < length; k++) {
        sum = sum >> 8 ^ crc[(sum ^ in[k]) & 255];
        adler = (adler + in[k]) % 65521, high = (high + adler) % 65521;
    }
    put(~sum), put(high << 16 | adler);
    for (int k = 0; k < 40; k++) {
        put(classes[in[k]]), put(primes[in[k] & 15]), put(primes[in[k] >> 4] + 1), put(far[in[k] % 8]);
        put(pairs[in[k] & 3][in[k + 1] & 3]), put(by_switch(in[k])), put(functions[in[k] & 3](in[k]));
        if (in[k] >= '0' && in[k] <= '9') put(primes[in[k] - '0']);
    }
    /* Stores, and loads of what was stored. */
    for (int k = 0; k < 20; k++) counts[in[k]]++;
    put(counts['e']), put(counts[in[5]]), put(counts[in[5] ^ 1]);
    unsigned char line[64];
    memcpy(line, in, 64);
    for (int k = 0; k < 4; k++) line[in[k] & 63] = in[k + 1];
    for (int k = 0; k < 64; k += 9) put(line[k]);
    put(*(uint32_t *)(in + (in[6] & 7))), put(*(uint16_t *)(line + (in[7] & 31)));
    char *end_of = (char *)in + (in[8] & 3);
    memcpy(line, end_of, 8 + (in[9] & 7)), put(line[3]), put(line[10]);
    return end();
}
