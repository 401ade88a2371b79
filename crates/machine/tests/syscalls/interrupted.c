// Signals that come while a call waits: it ends with what it has, with an error, or goes on.
#include "t.h"

static volatile int seen;
static void handler(int s) { seen++; }

static void on_alarm(int flags) {
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
    sigaction(SIGALRM, &a, 0);
    // Again and again, so that one comes during the call, however late it starts.
    struct itimerval often = {{0, 20000}, {0, 20000}};
    setitimer(ITIMER_REAL, &often, 0);
    seen = 0;
}

static void no_alarm(void) {
    struct itimerval off = {0};
    setitimer(ITIMER_REAL, &off, 0);
    printf("seen %d\n", seen > 0);
}

static char big[1 << 20];

int main(void) {
    int p[2], s[2]; char b[100]; long n, total;
    pipe(p);
    on_alarm(0); T(read(p[0], b, 9)); no_alarm();
    // A write that fills the pipe and waits: what it has written is its answer.
    on_alarm(0); T(write(p[1], big, 200000)); no_alarm();
    total = 0; fcntl(p[0], F_SETFL, O_NONBLOCK);
    while ((n = read(p[0], big, 5000)) > 0) total += n;
    T(total); fcntl(p[0], F_SETFL, 0);
    on_alarm(SA_RESTART); T(write(p[1], big, 200000)); no_alarm();
    total = 0; fcntl(p[0], F_SETFL, O_NONBLOCK);
    while ((n = read(p[0], big, 5000)) > 0) total += n;
    T(total); fcntl(p[0], F_SETFL, 0);
    // One that restarts gets what comes later.
    fflush(stdout);
    if (fork() == 0) { usleep(100000); write(p[1], "later", 5); _exit(0); }
    on_alarm(SA_RESTART); T(read(p[0], b, 99)); no_alarm(); S(b, 5); wait(0);
    // Half of a message that was waited for.
    socketpair(AF_UNIX, SOCK_STREAM, 0, s); T(write(s[1], "half", 4));
    on_alarm(0); T(recv(s[0], b, 8, MSG_WAITALL)); no_alarm(); S(b, 4);
    on_alarm(0); T(recv(s[0], b, 8, MSG_WAITALL)); no_alarm();
    // A named pipe that nobody else opens leaves no descriptor behind.
    mkfifo("fifo", 0600);
    on_alarm(0); T(open("fifo", O_RDONLY)); no_alarm(); T(dup(0)); close(7);
    fflush(stdout);
    if (fork() == 0) { usleep(100000); close(open("fifo", O_WRONLY)); _exit(0); }
    on_alarm(SA_RESTART); T(open("fifo", O_RDONLY)); no_alarm(); wait(0);
    // Waiting calls never restart.
    struct pollfd f = {p[0], POLLIN}; on_alarm(SA_RESTART); T(poll(&f, 1, -1)); no_alarm();
    struct sockaddr_un name = {AF_UNIX, "sock"}; int k = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(k, (void *)&name, sizeof name); listen(k, 1);
    on_alarm(0); T(accept(k, 0, 0)); no_alarm();
    struct epoll_event ev; int ep = epoll_create1(0);
    on_alarm(SA_RESTART); T(epoll_wait(ep, &ev, 1, -1)); no_alarm();
    // An ignored signal disturbs nobody.
    signal(SIGUSR1, SIG_IGN); fflush(stdout);
    if (fork() == 0) { usleep(20000); kill(getppid(), SIGUSR1); usleep(20000); write(p[1], "x", 1); _exit(0); }
    T(read(p[0], b, 9)); wait(0);
    return 0;
}
