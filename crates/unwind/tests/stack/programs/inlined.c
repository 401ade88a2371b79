// A function that is inlined into another, with lines.
static inline __attribute__((always_inline)) int inner(volatile int *place) {
    return *place = 7;
}
__attribute__((noipa)) int outer(volatile int *place) {
    return inner(place) + 1;
}
int main(void) { return outer(0) + 1; }
