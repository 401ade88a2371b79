// The largest file that a process may make.
#include "t.h"
#include <sys/resource.h>

static volatile int seen;
static void handler(int s, siginfo_t *i, void *c) { seen++; printf("signal %d code %d\n", s, i->si_code); }

int main(void) {
    char b[200]; struct rlimit l = {100, RLIM_INFINITY}; int p[2]; pipe(p);
    memset(b, 'x', sizeof b);
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGXFSZ, &a, 0);
    int f = open("f", O_RDWR | O_CREAT, 0600), g = open("f", O_WRONLY | O_APPEND);
    T(setrlimit(RLIMIT_FSIZE, &l)); T(write(f, b, 60)); T(write(f, b, 60)); T(write(f, b, 60));
    T(write(f, b, 0));
    T(lseek(f, 0, SEEK_CUR)); T(pwrite(f, b, 50, 70)); T(pwrite(f, b, 50, 100));
    T(pwrite(f, b, 50, 5000));
    T(write(g, b, 1)); T(ftruncate(f, 101)); T(ftruncate(f, 100)); T(ftruncate(f, 50));
    T(truncate("f", 200));
    T(truncate("f", 90)); T(write(g, b, 50)); T(write(p[1], b, 200)); T(read(f, b, 10)); T(seen);
    int n = open("/dev/null", O_WRONLY); T(write(n, b, 200));
    struct iovec v[2] = {{b, 90}, {b, 90}};
    T(ftruncate(f, 0)); T(lseek(f, 0, SEEK_SET)); T(writev(f, v, 2)); T(lseek(f, 0, SEEK_END));
    l.rlim_cur = 1 << 20; T(setrlimit(RLIMIT_FSIZE, &l)); T(write(f, b, 200)); T(seen);
    signal(SIGXFSZ, SIG_DFL); T(lseek(f, 1 << 20, SEEK_SET)); T(write(f, b, 1));
    return 0;
}
