/* String instructions, repeated and single, forwards and backwards. */
#include "input.h"

static unsigned char to[256];

int main(int argc, char **argv) {
    get(argc, argv);
    unsigned char *s, *d;
    uint64_t count, value;
    uint8_t zero;
    memset(to, 7, sizeof to);
#define MOVE(instruction, n)                                                                       \
    s = in + 1, d = to + 3, count = n;                                                             \
    __asm__ volatile(instruction : "+S"(s), "+D"(d), "+c"(count) : : "memory", "cc");              \
    put(s - in), put(d - to), put(count), put(to[5]), put(to[12])
    MOVE("rep movsb", 30);
    MOVE("rep movsw", 10);
    MOVE("rep movsl", 7);
    MOVE("rep movsq", 5);
    MOVE("movsb; movsl; movsq", 1);
    s = in + 20, d = to + 40, count = 9;
    __asm__ volatile("std; rep movsb; cld" : "+S"(s), "+D"(d), "+c"(count) : : "memory", "cc");
    put(to[36]), put(s - in);
    value = word(1);
#define STORE(instruction, n)                                                                      \
    d = to + 60, count = n;                                                                        \
    __asm__ volatile(instruction : "+D"(d), "+c"(count) : "a"(value) : "memory", "cc");            \
    put(d - to), put(to[61]), put(to[70])
    STORE("rep stosb", 20);
    STORE("rep stosq", 3);
    STORE("stosw; stosl", 3);
    s = in + 3;
    __asm__ volatile("lodsb; shlq $8, %0; lodsw" : "+a"(value), "+S"(s) : : "memory", "cc");
    put(value);
#define COMPARE(instruction, n)                                                                    \
    s = in, d = to, count = n;                                                                     \
    __asm__ volatile("cmpb %%al, %%al; " instruction "; setb %3"                                   \
                     : "+S"(s), "+D"(d), "+c"(count), "=q"(zero) : : "memory", "cc");              \
    put(s - in), put(count), put(zero)
    memcpy(to, in, 64), to[21] ^= 1;
    COMPARE("repe cmpsb", 40);
    COMPARE("repe cmpsw", 20);
    COMPARE("repe cmpsq", 2);
    COMPARE("repne cmpsb", 10);
    COMPARE("cmpsl", 10);
#define SCAN(instruction, c, n)                                                                    \
    d = in, count = n;                                                                             \
    __asm__ volatile("cmpb %%al, %%al; " instruction "; setz %2"                                   \
                     : "+D"(d), "+c"(count), "=q"(zero) : "a"(c) : "memory", "cc");                \
    put(d - in), put(count), put(zero)
    SCAN("repne scasb", '7', 60);
    SCAN("repne scasb", 0, 100);
    SCAN("repe scasb", in[0], 60);
    SCAN("repne scasw", '12', 20);
    SCAN("scasb", in[2], 60);
    /* A number of repetitions that the input decides. */
    s = in, d = to, count = in[3] & 15;
    __asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
    put(d - to), put(to[4]);
    return end();
}
