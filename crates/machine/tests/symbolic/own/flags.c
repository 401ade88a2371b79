/* Flags, however they came about, and everything that reads them: conditional moves, sets and
 * jumps, carries, and the flags as a word. */
#include "input.h"

/* Every condition as a set, as a move and as a jump, after an instruction. */
#define ONE(cc, instruction, T)                                                                    \
    do {                                                                                           \
        T x = a, y = b;                                                                            \
        uint8_t set;                                                                               \
        uint64_t moved = 1, other = 2, jumped = 0;                                                 \
        __asm__(instruction "; set" cc " %2; cmov" cc " %4, %3"                                    \
                : "+q"(x), "+q"(y), "=&q"(set), "+r"(moved) : "r"(other) : "cc");                  \
        put(x + set + moved);                                                                      \
        x = a, y = b;                                                                              \
        __asm__(instruction "; j" cc " 1f; incq %2; 1:" : "+q"(x), "+q"(y), "+r"(jumped) : : "cc");  \
        put(jumped);                                                                               \
    } while (0)
#define EACH(instruction, T)                                                                       \
    ONE("o", instruction, T); ONE("no", instruction, T); ONE("b", instruction, T);                 \
    ONE("ae", instruction, T); ONE("e", instruction, T); ONE("ne", instruction, T);                \
    ONE("be", instruction, T); ONE("a", instruction, T); ONE("s", instruction, T);                 \
    ONE("ns", instruction, T); ONE("p", instruction, T); ONE("np", instruction, T);                \
    ONE("l", instruction, T); ONE("ge", instruction, T); ONE("le", instruction, T);                \
    ONE("g", instruction, T)

static __attribute__((noinline)) void word_of_flags(uint64_t a, uint64_t b) {
    uint64_t f, x = a;
    uint16_t ah;
    __asm__("addq %2, %1; pushfq; popq %0" : "=r"(f), "+r"(x) : "r"(b) : "cc", "memory");
    put(f & 0x8d5);
    __asm__("cmpl %2, %k1; lahf; movzbl %%ah, %%eax" : "=&a"(ah) : "r"(a), "r"((uint32_t)b) : "cc");
    put(ah & 0xd5);
    __asm__("sahf; adcq $0, %0; sbbq $3, %0" : "+r"(x) : "a"((uint16_t)b) : "cc");
    put(x);
    __asm__("pushq %1; popfq; adcq $0, %0" : "+r"(x) : "r"((b & 0x8d5) | 0x202) : "cc", "memory");
    put(x);
    __asm__("cmpq %1, %0; incq %0; sbbq %1, %0; decb %b0; adcb $0, %b0" : "+r"(x) : "r"(b) : "cc");
    put(x);
    __asm__("addb %b1, %b0; cmc; rclq $1, %0; rcrl $3, %k0" : "+r"(x) : "r"(b) : "cc");
    put(x);
    __asm__("cmpq %1, %0; sbbq %0, %0" : "+r"(x) : "r"(b) : "cc");
    put(x);
}

static __attribute__((noinline)) void pair(uint64_t a, uint64_t b) {
    EACH("cmpb %b1, %b0", uint64_t);
    EACH("cmpq %1, %0", uint64_t);
    EACH("addw %w1, %w0", uint64_t);
    EACH("testl %k1, %k0", uint64_t);
    EACH("negb %b0", uint64_t);
    EACH("decl %k0", uint64_t);
}

static __attribute__((noinline)) void rest(uint64_t a, uint64_t b) {
    EACH("subl %k1, %k0", uint64_t);
    EACH("cmpb %b1, %b0; adcq %1, %0", uint64_t);
    EACH("cmpl %k1, %k0; sbbb %b1, %b0", uint64_t);
    EACH("xorb %b1, %b0", uint64_t);
    EACH("incq %0", uint64_t);
    EACH("shll $3, %k0", uint64_t);
    EACH("sarw $1, %w0", uint64_t);
    EACH("imull %k1, %k0", uint64_t);
    EACH("btl $3, %k0", uint64_t);
}

int main(int argc, char **argv) {
    get(argc, argv);
    word_of_flags(word(0), word(1)), word_of_flags(word(2), word(2)), word_of_flags(~word(3), word(4));
    pair(word(1), word(2)), pair(word(3), word(3)), end(), written = 0;
    rest(word(4), word(5)), rest(~word(6), word(6)), end(), written = 0;
    put(length);
    return end();
}
