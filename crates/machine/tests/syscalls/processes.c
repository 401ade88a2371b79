// Calls that wait for another process.
#include "t.h"

static volatile int pipes;
static void handler(int s, siginfo_t *i, void *c) { pipes += s; printf("signal %d code %d own %d\n", s, i->si_code, i->si_pid == getpid()); }

static void reap(void) { int s; wait(&s); printf("child %x\n", s); fflush(stdout); }
#define CHILD for (int once_ = (fflush(stdout), fork() == 0); once_; once_ = 0, fflush(stdout), _exit(0))

int main(void) {
    int p[2], q[2]; char *big = malloc(1 << 20); memset(big, 'b', 1 << 20);
    // More than a pipe holds.
    pipe(p); CHILD { close(p[0]); T(write(p[1], big, 300000)); } close(p[1]); long n, total = 0;
    while ((n = read(p[0], big, 4096)) > 0) total += n; T(n); reap(); T(total); close(p[0]);
    struct iovec v[3] = {{big, 100000}, {big, 1}, {big, 99999}}; pipe(p);
    CHILD { close(p[0]); T(writev(p[1], v, 3)); } close(p[1]); total = 0;
    while ((n = read(p[0], big, 70000)) > 0) total += n; reap(); T(total); close(p[0]);
    // A read waits for a writer.
    pipe(p); CHILD { usleep(2000); write(p[1], "late", 4); } T(read(p[0], big, 99)); S(big, 4);
    reap();
    // Nobody reads.
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGPIPE, &a, 0); close(p[0]); T(write(p[1], "x", 1)); T(pipes); close(p[1]); pipe(p);
    CHILD { close(p[1]); usleep(1000); read(p[0], big, 10); close(p[0]); } close(p[0]);
    T(write(p[1], big, 300000) > 0); T(pipes); reap(); close(p[1]); pipe(p); close(p[0]);
    CHILD { signal(SIGPIPE, SIG_DFL); write(p[1], "x", 1); printf("not here\n"); } reap();
    close(p[1]); socketpair(AF_UNIX, SOCK_STREAM, 0, q); close(q[1]); T(write(q[0], "x", 1));
    T(send(q[0], "x", 1, MSG_NOSIGNAL)); T(pipes); close(q[0]);
    // Named pipes: both ends wait for each other.
    T(mkfifo("fifo", 0600)); T(open("fifo", O_WRONLY | O_NONBLOCK));
    CHILD { usleep(1000); int f = open("fifo", O_WRONLY); write(f, "fifo!", 5); close(f); } int f = open("fifo", O_RDONLY);
    T(f >= 0); T(read(f, big, 99)); S(big, 5); T(read(f, big, 99)); reap(); close(f);
    CHILD { usleep(1000); int f = open("fifo", O_RDONLY); _exit(read(f, big, 9)); } f = open("fifo", O_WRONLY);
    T(f >= 0); T(write(f, "again", 5)); reap(); close(f); f = open("fifo", O_RDWR); T(f >= 0);
    T(write(f, "self", 4)); T(read(f, big, 9)); close(f);
    // A stream waits until all is there.
    socketpair(AF_UNIX, SOCK_STREAM, 0, q);
    CHILD { for (int i = 0; i < 5; i++) { usleep(500); write(q[1], "part", 4); } } T(recv(q[0], big, 20, MSG_WAITALL));
    S(big, 20); reap(); CHILD { close(q[0]); write(q[1], "short", 5); } close(q[1]);
    T(recv(q[0], big, 20, MSG_WAITALL)); reap(); close(q[0]);
    socketpair(AF_UNIX, SOCK_STREAM, 0, q);
    CHILD { close(q[0]); T(write(q[1], big, 1000000)); } close(q[1]); total = 0;
    while ((n = read(q[0], big, 50000)) > 0) total += n; reap(); T(total); close(q[0]);
    // The child has the same file, and its own descriptors.
    f = open("shared", O_RDWR | O_CREAT, 0600); CHILD { write(f, "child", 5); close(f); } reap();
    T(lseek(f, 0, SEEK_CUR)); T(write(f, "parent", 6)); T(pread(f, big, 99, 0)); S(big, 11);
    char *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    CHILD { m[0] = 'X'; usleep(10); pwrite(f, "Y", 1, 1); } reap(); S(m, 3); T(pread(f, big, 3, 0));
    S(big, 3);
    // Waiting for a connection.
    struct sockaddr_un name = {AF_UNIX, "sock"}; int k = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(k, (void *)&name, sizeof name); listen(k, 1);
    CHILD { usleep(1000); int d = socket(AF_UNIX, SOCK_STREAM, 0); int r = connect(d, (void *)&name, sizeof name); write(d, "client", 6); _exit(r ? 99 : read(d, big, 9)); } int e = accept(k, 0, 0);
    T(e >= 0); T(read(e, big, 99)); T(write(e, "ok", 2)); reap();
    struct pollfd w = {k, POLLIN};
    CHILD { usleep(1000); int d = socket(AF_UNIX, SOCK_STREAM, 0); connect(d, (void *)&name, sizeof name); } T(poll(&w, 1, -1));
    T(w.revents); reap();
    pipe(p); CHILD { usleep(1000); close(p[1]); } close(p[1]); w.fd = p[0]; T(poll(&w, 1, 10000));
    T(w.revents & POLLHUP); reap();
    // Programs that are started keep what is not marked.
    f = open("shared", O_RDONLY | O_CLOEXEC); int g = open("shared", O_RDONLY); char t[100];
    sprintf(t, "test -e /proc/self/fd/%d; echo $?; test -e /proc/self/fd/%d; echo $?; echo text > made; cat made | tr a-z A-Z", f, g);
    CHILD { execl("/bin/sh", "sh", "-c", t, (char *)0); } reap();
    return 7;
}
