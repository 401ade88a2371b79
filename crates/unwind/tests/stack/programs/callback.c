// A failure in a function that the C library calls.
#include <stdlib.h>
__attribute__((noipa)) int compare(const void *a, const void *b) { *(volatile int *)0 = 1; return *(int *)a - *(int *)b; }
__attribute__((noipa)) int sort(int *all) { qsort(all, 4, sizeof *all, compare); return all[0] + 1; }
int main(void) { int all[4] = {3, 1, 2, 0}; return sort(all) + 1; }
