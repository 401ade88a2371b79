// Takes all that it can get, in the way that the first argument names.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *area(size_t size) {
    char *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? 0 : p;
}
static void *sleeper(void *p) { pause(); return p; }
static int deep(int n) { volatile char room[4096]; room[0] = n; return n ? deep(n + 1) + room[0] : 0; }
static void handler(int n) { deep(1); }
static int count;

int main(int argc, char **argv) {
    const char *how = argv[1];
#define WAY(name) if (strcmp(how, name) == 0)
    struct rlimit many = {1 << 20, 1 << 20};
    WAY("touch") for (;;) { char *p = area(1 << 20); if (!p) return 3; memset(p, 1, 1 << 20); }
    WAY("maps") {
        char *p = area(1ul << 30);
        for (long at = 0; at < 1l << 30; at += 8192) if (mprotect(p + at, 4096, PROT_READ)) break;
        if (errno != ENOMEM || area(4096) || munmap(p + (1 << 30) - 8192, 4096) == 0) return 3;
        return munmap(p, 1ul << 30) == 0 && area(4096) ? 7 : 4;
    }
    WAY("address") { for (size_t n = 1ul << 46; n >= 4096;) if (!area(n)) n /= 2; return 7; }
    WAY("brk") for (;;) { char *p = sbrk(1 << 20); if (p == (void *)-1) return 3; memset(p, 1, 1 << 20); }
    WAY("read") { int f = open("/dev/zero", O_RDONLY); read(f, area(1ul << 40), 1ul << 40); return 3; }
    WAY("random") { for (char *p = area(1ul << 40);; p += 1 << 20) if (syscall(SYS_getrandom, p, 1 << 20, 0) < 0) return 3; }
    WAY("forks") { for (;;) if (fork() < 0) { printf("%s\n", strerror(errno)); _exit(7); } }
    WAY("children") { while (fork() >= 0 ? ++count : 0) if (count > 10000) return 3; return errno == EAGAIN ? 7 : 4; }
    WAY("threads") {
        pthread_t t; pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 16384);
        for (;; count++) { int e = pthread_create(&t, &a, sleeper, 0); if (e) return e == EAGAIN && count > 1000 ? 7 : 3; }
    }
    WAY("family") {
        // Every child fills its memory.
        for (int i = 0; i < 4000; i++) {
            if (fork() == 0) { char *p = area(60 << 20); memset(p, 1, 50 << 20); for (;;) pause(); }
            struct timespec t = {0, 1000000}; nanosleep(&t, 0);
        }
        return 3;
    }
    WAY("file") {
        int f = open("/tmp/file", O_RDWR | O_CREAT, 0600); char *p = area(1 << 20);
        for (;;) if (write(f, p, 1 << 20) < 0) return 3;
    }
    WAY("output") { char *p = area(1 << 20); for (;;) if (write(1, p, 1 << 20) < 0) return 3; }
    WAY("files") { char n[50]; for (;; count++) { sprintf(n, "/tmp/f%d", count); if (open(n, O_CREAT, 0600) < 0 && errno != EMFILE) return 3; } }
    WAY("pipes") {
        setrlimit(RLIMIT_NOFILE, &many); int p[2]; char *b = area(1 << 16);
        while (pipe2(p, O_NONBLOCK) == 0) write(p[1], b, 1 << 16);
        return 7;
    }
    WAY("sockets") {
        setrlimit(RLIMIT_NOFILE, &many); int p[2]; char *b = area(1 << 16);
        while (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, p) == 0) while (send(p[0], b, 1 << 12, 0) > 0) {}
        return 7;
    }
    WAY("signals") {
        sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); union sigval v = {0};
        for (;; count++) if (sigqueue(getpid(), SIGRTMIN, v) < 0) return errno == EAGAIN ? 7 : 3;
    }
    WAY("timers") {
        timer_t t; struct itimerspec often = {{0, 1}, {0, 1}};
        sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0);
        while (timer_create(CLOCK_MONOTONIC, 0, &t) == 0) timer_settime(t, 0, &often, 0);
        return errno == EAGAIN ? 7 : 3;
    }
    WAY("nobody") {
        // An alarm for ever that nobody hears, and nobody who could go on.
        timer_t t; struct itimerspec often = {{0, 1}, {0, 1}}; signal(SIGALRM, SIG_IGN);
        timer_create(CLOCK_MONOTONIC, 0, &t); timer_settime(t, 0, &often, 0); ualarm(1, 1); pause();
    }
    WAY("arguments") {
        char **words = calloc(200001, sizeof *words);
        for (int i = 0; i < 200000; i++) words[i] = "an argument that is not short";
        execv("/proc/self/exe", words);
        return errno == E2BIG ? 7 : 3;
    }
    WAY("argument") {
        char *word = malloc(64 << 20); memset(word, 'x', (64 << 20) - 1); word[(64 << 20) - 1] = 0;
        execv("/proc/self/exe", (char *[]){word, word, 0});
        return errno == E2BIG || errno == EFAULT ? 7 : 3;
    }
    WAY("loop") for (;;) {}
    WAY("calls") for (;;) getppid();
    WAY("sleeps") for (;;) { struct timespec t = {1000000000, 0}; nanosleep(&t, 0); }
    WAY("execs") { execv("/proc/self/exe", argv); return 3; }
    WAY("counts") {
        char *p = area(1 << 20); int z = open("/dev/zero", O_RDWR), d = open("/", O_RDONLY | O_DIRECTORY);
        struct iovec v[1024]; for (int i = 0; i < 1024; i++) v[i] = (struct iovec){p, SIZE_MAX / 2048};
        int n = open("/dev/null", O_RDWR), f = open("/tmp/f", O_RDWR | O_CREAT, 0600);
        long counts[] = {-1, 1l << 62, 1l << 47, 1l << 31, 0x7fffffff, 1 << 20};
        for (unsigned k = 0; k < sizeof counts / sizeof *counts; k++) {
            long c = counts[k];
            syscall(SYS_read, z, p, c); syscall(SYS_write, n, p, c); syscall(SYS_getdents64, d, p, c);
            syscall(SYS_readv, z, v, c); syscall(SYS_writev, n, v, c); syscall(SYS_readv, z, v, 1024);
            syscall(SYS_writev, n, v, 1024); syscall(SYS_getrandom, p, c, 0); syscall(SYS_poll, p, c, 0);
            syscall(SYS_select, c, p, p, p, p); syscall(SYS_mincore, p, c, p); syscall(SYS_mlock, p, c);
            syscall(SYS_ftruncate, f, c); syscall(SYS_fallocate, f, 3, 0, c); syscall(SYS_fallocate, f, 0x10, 0, c);
            syscall(SYS_sendfile, n, z, 0, c); syscall(SYS_copy_file_range, z, 0, f, 0, c, 0);
            syscall(SYS_mremap, p, c, c, 1, 0); syscall(SYS_madvise, p, c, 4); syscall(SYS_munmap, p + (1 << 20), c);
            syscall(SYS_getgroups, c, p); syscall(SYS_epoll_wait, epoll_create1(0), p, c, 0);
            syscall(SYS_pread64, f, p, 1 << 20, c); syscall(SYS_sched_getaffinity, 0, c, p);
            syscall(SYS_process_vm_readv, getpid(), v, 1024, v, 1024, 0); syscall(SYS_msync, p, c, 4);
            syscall(SYS_mmap, 0, 8192, 3, 1, f, c & -4096l); syscall(SYS_recvmmsg, f, p, c, 0, 0);
        }
        return 7;
    }
    WAY("overflow") return deep(1);
    WAY("handler") {
        // Overflows in the handler of the overflow.
        stack_t s = {malloc(1 << 16), 0, 1 << 16}; sigaltstack(&s, 0);
        struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER}; sigaction(SIGSEGV, &a, 0);
        return deep(1);
    }
    WAY("stack") {
        unsigned char code[64]; memset(code, 0x90, 64); code[63] = 0xc3;
        ((void (*)(void))code)();
        return 3;
    }
    WAY("nowhere") ((void (*)(void))0xdead000)();
    WAY("noncanonical") { volatile char *p = (char *)0x8000000000000000; return *p; }
    WAY("own") {
        // Rewrites a function while it is in use, many times.
        unsigned char *p = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        int sum = 0;
        for (int i = 0; i < 20000; i++) {
            memcpy(p, "\xb8\0\0\0\0\xc3", 6); memcpy(p + 1, &i, 4);
            sum += ((int (*)(void))p)() == i;
        }
        return sum == 20000 ? 7 : 3;
    }
    WAY("text") {
        uintptr_t page = (uintptr_t)sleeper & -4096l; *(volatile char *)page = 1;
        return 3;
    }
    WAY("child") {
        // An instruction that the machine may not have, where only the child has it.
        if (fork() == 0) {
            unsigned char *p = mmap((void *)0x10000000, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            memcpy(p, "\xc4\xe2\x7d\x18\x00", 5); // vbroadcastss ymm0, [rax]
            asm volatile("jmp *%0" ::"r"(p), "a"(p));
        }
        int status; wait(&status);
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGILL ? 7 : 3;
    }
    return 99;
}
