// Standard input as a pipe whose writer is gone.
#include "t.h"

int main(void) {
    char b[100] = {0}; int n; struct stat s; struct pollfd f = {0, POLLIN}; struct statfs fs;
    off_t z = 0;
    T(fstat(0, &s)); printf("%o\n", s.st_mode & S_IFMT); T(fstatfs(0, &fs));
    printf("%lx\n", (long)fs.f_type);
    T(fcntl(0, F_GETFL)); T(ioctl(0, FIONREAD, &n)); T(n); T(lseek(0, 0, SEEK_CUR));
    T(pread(0, b, 1, 0));
    T(poll(&f, 1, 0)); T(f.revents); fd_set r; FD_ZERO(&r); FD_SET(0, &r);
    T(select(1, &r, 0, 0, 0));
    T(read(0, b, 5)); S(b, 5); T(read(0, BAD, 5)); T(read(0, b, 0)); T(write(0, b, 1));
    T(ftruncate(0, 0));
    struct iovec v[2] = {{b, 3}, {b + 10, 3}}; T(readv(0, v, 2)); S(b, 3); S(b + 10, 3);
    int d = dup(0); T(read(d, b, 2)); S(b, 2); int e = epoll_create1(0);
    struct epoll_event ev = {EPOLLIN}, out;
    T(epoll_ctl(e, EPOLL_CTL_ADD, 0, &ev)); T(epoll_wait(e, &out, 1, 0)); T(out.events);
    int g = open("g", O_RDWR | O_CREAT, 0600); T(splice(0, 0, g, 0, 4, 0)); T(pread(g, b, 9, 0));
    S(b, 4);
    T(sendfile(g, 0, 0, 3)); T(copy_file_range(0, 0, g, 0, 3, 0)); T(splice(0, &z, g, 0, 3, 0));
    T(fcntl(0, F_GETPIPE_SZ)); T(isatty(0)); T(posix_fadvise(0, 0, 0, 0));
    T(mmap(0, 4096, 1, 2, 0, 0));
    fflush(stdout);
    if (fork() == 0) { T(read(0, b, 3)); S(b, 3); _exit(0); }
    wait(0); int p = open("/dev/stdin", O_RDONLY); T(p > 2); T(read(p, b, 2)); S(b, 2);
    while ((n = read(0, b, 4)) > 0) S(b, n);
    T(n); T(poll(&f, 1, -1)); T(f.revents); T(read(0, b, 9)); T(ioctl(0, FIONREAD, &n)); T(n);
    T(epoll_wait(e, &out, 1, 0)); T(out.events); T(fcntl(0, F_SETFL, O_NONBLOCK)); T(read(0, b, 9));
    // What is written to standard output is a pipe, too.
    T(fstat(1, &s)); printf("%o\n", s.st_mode & S_IFMT); T(lseek(1, 0, SEEK_CUR)); T(read(1, b, 1));
    f = (struct pollfd){1, POLLOUT}; T(poll(&f, 1, 0)); T(f.revents); T(isatty(1));
    T(fcntl(1, F_GETFL) & O_ACCMODE);
    return 0;
}
