// A failure in a signal handler on its own stack.
#include <signal.h>
#include <stdlib.h>
__attribute__((noipa)) int fail(void) { *(volatile int *)8 = 1; return 1; }
__attribute__((noipa)) void handler(int number) { if (fail() + number == 0) exit(1); }
#ifdef NULL_CALL
__attribute__((noipa)) int interrupted(void *place) { return ((int (*)(int))place)(3) + 1; }
#else
__attribute__((noipa)) int interrupted(volatile int *place) { *place = 1; return *place; }
#endif
int main(void) {
    static char room[65536];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, 0);
    return interrupted(0) + 1;
}
