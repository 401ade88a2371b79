// The C library's way to die.
#include <stdlib.h>
__attribute__((noipa)) int fail(int how) { if (how) abort(); return 1; }
int main(int count, char **arguments) { (void)arguments; return fail(count) + 1; }
