/* Arithmetic of all widths: products, quotients, shifts, rotations, single bits. */
#include "input.h"

#define TYPES(X) X(uint8_t) X(int8_t) X(uint16_t) X(int16_t) X(uint32_t) X(int32_t) X(uint64_t) X(int64_t)

/* A noinline function per type and operation, so that no two are merged. */
#define BINARY(T)                                                                                  \
    static __attribute__((noinline)) void binary_##T(T a, T b) {                                   \
        put(a + b), put(a - b), put(a * b), put(a & b), put(a | b), put(a ^ b), put(-a), put(~a);  \
        T d = b | 1;                                                                               \
        if (!(d == (T)-1)) put(a / d), put(a % d);                                                 \
        put(a / 10), put(a % 10), put(a / (T)-7), put((T)(a << (b & 7))), put((T)(a >> (b & 7)));  \
        put(a < b), put(a <= b), put(a == b), put(a < 0), put(a > b ? a : b);                      \
    }
TYPES(BINARY)

static __attribute__((noinline)) void wide(uint64_t a, uint64_t b) {
    unsigned __int128 p = (unsigned __int128)a * b;
    __int128 s = (__int128)(int64_t)a * (int64_t)b;
    put(p), put(p >> 64), put(s), put(s >> 64);
    unsigned __int128 sum = p + a, less = p - b;
    put(sum), put(sum >> 64), put(less), put(less >> 64);
    uint64_t high = a % (b | 1), low = b, q, r;
    __asm__("divq %4" : "=a"(q), "=d"(r) : "a"(low), "d"(high), "r"(b | 1) : "cc");
    put(q), put(r);
    uint32_t h = (uint32_t)a % ((uint32_t)b | 1), q32, r32;
    __asm__("divl %4" : "=a"(q32), "=d"(r32) : "a"((uint32_t)b), "d"(h), "r"((uint32_t)b | 1) : "cc");
    put(q32), put(r32);
}

#define SHIFT(name, suffix, T)                                                                     \
    do {                                                                                           \
        T x = a;                                                                                   \
        __asm__(name suffix " %%cl, %0" : "+r"(x) : "c"((uint8_t)b) : "cc");                       \
        put(x);                                                                                    \
        __asm__(name suffix " $5, %0" : "+r"(x) : : "cc");                                         \
        put(x);                                                                                    \
    } while (0)
#define SHIFTS(name) SHIFT(name, "b", uint8_t); SHIFT(name, "w", uint16_t); SHIFT(name, "l", uint32_t); SHIFT(name, "q", uint64_t)

static __attribute__((noinline)) void shifts(uint64_t a, uint64_t b) {
    SHIFTS("shl");
    SHIFTS("shr");
    SHIFTS("sar");
    SHIFTS("rol");
    SHIFTS("ror");
    uint64_t x = a, y = b;
    __asm__("shldq $13, %1, %0; shrdq $7, %0, %1" : "+r"(x), "+r"(y) : : "cc");
    put(x), put(y);
    __asm__("shldq %%cl, %1, %0" : "+r"(x), "+r"(y) : "c"((uint8_t)b) : "cc");
    put(x);
    __asm__("bswapq %0; bswapl %k1" : "+r"(x), "+r"(y));
    put(x), put(y);
    __asm__("xchgb %b0, %h0; xaddq %0, %1" : "+a"(x), "+d"(y) : : "cc");
    put(x), put(y);
    put((int64_t)(int8_t)a), put((int64_t)(int16_t)a), put((int64_t)(int32_t)a), put((uint32_t)(int8_t)(a >> 8));
}

static __attribute__((noinline)) void bits(uint64_t a, uint64_t b) {
    uint64_t x = a, position = 77;
    uint8_t was;
    __asm__("btq %2, %1; setc %0" : "=q"(was), "+r"(x) : "r"(b) : "cc");
    put(was);
    __asm__("btsq %2, %1; setc %0" : "=q"(was), "+r"(x) : "r"(b) : "cc");
    put(was), put(x);
    __asm__("btrq %2, %1; setc %0" : "=q"(was), "+r"(x) : "r"(b >> 8) : "cc");
    put(was), put(x);
    __asm__("btcl %2, %k1; setc %0" : "=q"(was), "+r"(x) : "r"((uint32_t)(b >> 16)) : "cc");
    put(was), put(x);
    __asm__("bsfq %2, %1; setz %0" : "=q"(was), "+r"(position) : "r"(a) : "cc");
    put(was), put(position);
    __asm__("bsrl %2, %k1; setz %0" : "=q"(was), "+r"(position) : "r"((uint32_t)b & 0xff00) : "cc");
    put(was), put(position);
    put(__builtin_popcountll(a)), put(__builtin_parityll(b)), put(__builtin_ctzll(a | 1ull << 63));
}

int main(int argc, char **argv) {
    get(argc, argv);
    for (int k = 0; k + 1 < length / 8; k += 2) {
        uint64_t a = word(k), b = word(k + 1);
#define CALL(T) binary_##T(a, b);
        TYPES(CALL)
        wide(a, b), shifts(a, b), bits(a, b);
    }
    return end();
}
