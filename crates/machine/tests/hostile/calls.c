// Makes system calls at random: any number, any arguments, many of them close to something that exists.
// Argument: where the random numbers start.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static uint64_t state;
static uint64_t next(void) {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state * 0x2545f4914f6cdd1d >> 11;
}
static char *area;
static void interrupt(int number) {}

static long value(void) {
    static const long odd[] = {0, 1, 2, 3, 4, 7, 8, 16, 64, 100, 4095, 4096, 4097, 65536, 1 << 20, 1 << 30, 0x7fffffff,
        0x80000000, 0xffffffff, 1l << 32, 1l << 40, 1l << 46, 1l << 47, 0x7fffffffffffffff, -1, -2, -4095, -4096, -100,
        0x8000000000000000, 0x7ffffffff000, 0x7fffffffffff, -8, -16};
    switch (next() % 8) {
        case 0: return odd[next() % (sizeof odd / sizeof *odd)];
        case 1: return (long)area + next() % 8192;
        case 2: return (long)area + (next() % 4 << 12) - next() % 16;
        case 3: return next() % 24;
        case 4: return 1l << next() % 64;
        case 5: return (long)area + 64 * (next() % 32);
        case 6: return next() % 4096;
        default: return next() << 11 ^ next();
    }
}

int main(int argc, char **argv) {
    state = strtoull(argv[1], 0, 10) * 0x9e3779b97f4a7c15 + 1;
    area = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(area + 8192, 4096);
    // A call that blocks is interrupted after a while.
    struct sigaction nothing = {.sa_handler = interrupt};
    struct itimerval often = {{0, 1000}, {0, 1000}};
    sigaction(SIGALRM, &nothing, 0); setitimer(ITIMER_REAL, &often, 0);
    int two[2];
    pipe2(two, O_NONBLOCK); socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, two);
    open("/", O_RDONLY | O_DIRECTORY); open("/tmp/f", O_RDWR | O_CREAT, 0600); open("/dev/zero", O_RDWR);
    char *own = area;
    for (;;) {
        if (next() % 4 == 0) {
            // Fresh content: numbers, paths, pointers.
            char *at = own + 8 * (next() % 1000);
            if (next() % 3 == 0) strcpy(at, next() % 2 ? "/tmp/f" : "/proc/self/fd");
            else { long v = value(); memcpy(at, &v, 8); }
        }
        long n = next() % 10 == 0 ? value() : next() % 460;
        switch (n) {
            // These would end the run, or its memory.
            case SYS_exit: case SYS_exit_group: case SYS_kill: case SYS_tkill: case SYS_tgkill: case SYS_munmap:
            case SYS_rt_sigreturn: case SYS_rt_sigqueueinfo: case SYS_pause: case SYS_rt_sigsuspend: case SYS_alarm:
            case SYS_setitimer: case SYS_mprotect: case SYS_mmap: case SYS_mremap: case SYS_brk: case SYS_execve:
            case SYS_clone: case SYS_clone3: case SYS_fork: case SYS_vfork: case SYS_madvise: case SYS_arch_prctl:
            case SYS_rt_sigaction: case SYS_rt_sigprocmask: case SYS_pkey_mprotect: case SYS_shmat: case SYS_remap_file_pages:
                if (argc < 3 || next() % 16) continue;
        }
        long r;
        register long a asm("rdi") = value(); register long b asm("rsi") = value(); register long c asm("rdx") = value();
        register long d asm("r10") = value(); register long e asm("r8") = value(); register long f asm("r9") = value();
        asm volatile("syscall" : "=a"(r) : "a"(n), "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f) : "rcx", "r11", "memory");
    }
}
