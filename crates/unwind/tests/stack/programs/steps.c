// Some of everything that a stack can be in: lazy binding, callbacks, variable frames, leaves.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noipa)) int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
__attribute__((noipa)) int variable(int size) { volatile char room[size]; room[0] = 1; room[size - 1] = 2; return room[0] + (int)strlen("text" + (size & 1)); }
__attribute__((noipa)) int aligned(int size) { _Alignas(64) volatile char room[64]; room[size & 63] = 1; return variable(size) + room[0]; }
__attribute__((noipa)) int tail(int size) { return aligned(size + 1); }
int main(void) {
    int all[5] = {3, 1, 4, 1, 5};
    char text[64];
    qsort(all, 5, sizeof *all, compare);
    snprintf(text, sizeof text, "%d %s %.3f", all[0], "x", 1.5);
    return tail(40) + (int)strtol(text, 0, 10);
}
