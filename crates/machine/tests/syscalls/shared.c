// Memory that processes share, behind files that are closed, or were never open.
#include "t.h"

static char *child_stores(char *p, char value) {
    fflush(stdout);
    if (fork() == 0) { p[0] = value; p[1] = 1; _exit(0); }
    wait(0);
    return p;
}

int main(void) {
    int f = memfd_create("x", 0); T(ftruncate(f, 4096));
    char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); T(close(f));
    T(child_stores(p, 'A')[0]);
    f = open("gone", O_RDWR | O_CREAT, 0600); T(ftruncate(f, 4096));
    p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); T(unlink("gone")); T(close(f));
    T(child_stores(p, 'B')[0]);
    p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    T(child_stores(p, 'C')[0]); T(p[1]);
    return 0;
}
