// poll, select, epoll, counters and timers.
#include "t.h"

static volatile int seen;
static void handler(int s) { seen += s; }

int main(void) {
    int p[2], q[2]; char b[100]; uint64_t v; pipe(p); pipe(q);
    struct pollfd f[3] = {{p[0], POLLIN, 7}, {p[1], POLLOUT, 7}, {-1, POLLIN, 7}};
    T(poll(f, 3, 0)); T(f[0].revents); T(f[1].revents); T(f[2].revents);
    T(poll(f, 1, 0)); T(poll(f, 1, 20)); T(write(p[1], "x", 1)); T(poll(f, 1, -1)); T(f[0].revents);
    f[2].fd = 99; T(poll(f, 3, 0)); T(f[2].revents); T(poll(BAD, 1, 0)); T(poll(f, 1 << 24, 0));
    T(poll(0, 0, 5));
    struct timespec ts = {0, 1000000}; T(ppoll(f, 1, &ts, 0)); f[0].fd = q[0];
    T(ppoll(f, 1, &ts, 0)); ts.tv_nsec = 2000000000; T(ppoll(f, 1, &ts, 0)); ts.tv_nsec = 0;
    T(syscall(SYS_ppoll, f, 1, &ts, b, 3));
    f[0].fd = 0; T(poll(f, 1, 0)); T(f[0].revents);
    close(q[1]); f[0].fd = q[0]; T(poll(f, 1, -1)); T(f[0].revents); close(p[0]); f[0].fd = p[1];
    f[0].events = POLLOUT; T(poll(f, 1, -1)); T(f[0].revents); pipe(p); pipe(q);
    fd_set r, w, e; struct timeval tv = {0, 1000};
#define Z(s, fd) do { FD_ZERO(&s); FD_SET(fd, &s); } while (0)
    Z(r, p[0]); Z(w, p[1]); Z(e, p[0]); T(select(30, &r, &w, &e, &tv)); T(FD_ISSET(p[0], &r));
    T(FD_ISSET(p[1], &w)); T(FD_ISSET(p[0], &e));
    Z(r, p[0]); tv.tv_sec = 0; tv.tv_usec = 3000; T(select(30, &r, 0, 0, &tv));
    T(FD_ISSET(p[0], &r)); T(tv.tv_usec == 0); T(write(p[1], "y", 1)); Z(r, p[0]);
    T(select(30, &r, 0, 0, 0)); T(FD_ISSET(p[0], &r)); Z(r, 29); T(select(30, &r, 0, 0, &tv));
    T(select(-1, 0, 0, 0, &tv)); T(select(5, BAD, 0, 0, &tv)); tv.tv_usec = -1;
    T(select(0, 0, 0, 0, &tv)); tv.tv_usec = 2000; T(select(0, 0, 0, 0, &tv)); ts.tv_nsec = 1000;
    Z(r, q[0]); T(pselect(30, &r, 0, 0, &ts, 0));
    // The mask of the call lets a signal in that is held back otherwise.
    struct sigaction a = {.sa_handler = handler}; sigaction(SIGUSR1, &a, 0); sigset_t block, none;
    sigemptyset(&none); sigemptyset(&block); sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, 0); raise(SIGUSR1); T(seen);
    f[0].fd = q[0]; f[0].events = POLLIN; T(ppoll(f, 1, 0, &none)); T(seen); raise(SIGUSR1);
    T(pselect(0, 0, 0, 0, 0, &none)); T(seen); int ep0 = epoll_create1(0); struct epoll_event one;
    raise(SIGUSR1); T(epoll_pwait(ep0, &one, 1, -1, &none)); T(seen); sigset_t now;
    sigprocmask(0, 0, &now); T(sigismember(&now, SIGUSR1)); f[0].fd = p[0]; raise(SIGUSR1);
    T(ppoll(f, 1, 0, &none)); T(seen > 30); sigprocmask(SIG_UNBLOCK, &block, 0); T(seen);
    // A handler ends a wait, whatever it says about restarting.
    a.sa_flags = SA_RESTART; sigaction(SIGALRM, &a, 0);
    struct itimerval it = {{0, 5000}, {0, 5000}}, off = {0}; setitimer(ITIMER_REAL, &it, 0);
    T(poll(f, 0, -1)); f[0].fd = q[0]; T(poll(f, 1, 10000)); a.sa_flags = 0;
    sigaction(SIGALRM, &a, 0); T(read(q[0], b, 1)); setitimer(ITIMER_REAL, &off, 0); T(seen > 40);
    int c = eventfd(3, 0); T(read(c, &v, 8)); T(v); T(write(c, &v, 8)); v = 4; T(write(c, &v, 8));
    T(read(c, &v, 4)); T(read(c, &v, 8)); T(v); T(fcntl(c, F_SETFL, O_NONBLOCK)); T(read(c, &v, 8));
    v = -1; T(write(c, &v, 8)); v = -2; T(write(c, &v, 8)); v = 1; T(write(c, &v, 8));
    T(write(c, &v, 7)); int s = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK); T(read(s, &v, 8)); T(v);
    T(read(s, &v, 8)); T(read(s, &v, 8)); T(eventfd(0, 77)); T(lseek(s, 0, 0));
    T(syscall(SYS_eventfd, 5) > 2);
    int t = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec i = {{0, 0}, {0, 3000000}}, old;
    T(timerfd_settime(t, 0, &i, &old)); T(old.it_value.tv_nsec); T(timerfd_gettime(t, &old));
    T(old.it_value.tv_nsec > 0); T(read(t, &v, 8)); T(v); f[0].fd = t; f[0].events = POLLIN;
    T(timerfd_settime(t, 0, &i, 0)); T(poll(f, 1, 10000)); T(f[0].revents); T(read(t, &v, 8));
    T(poll(f, 1, 2)); i.it_value.tv_sec = 100; T(timerfd_settime(t, 0, &i, 0)); T(poll(f, 1, 1));
    i.it_value.tv_sec = 0; T(timerfd_create(99, 0)); T(timerfd_create(1, 99));
    i.it_value.tv_nsec = 2000000000; T(timerfd_settime(t, 0, &i, 0));
    T(timerfd_settime(c, 0, &i, 0)); T(timerfd_gettime(c, &i)); T(timerfd_settime(t, 99, &i, 0));
    T(timerfd_settime(t, 0, BAD, 0)); i.it_value.tv_nsec = 0; T(timerfd_settime(t, 0, &i, 0));
    T(poll(f, 1, 2)); clock_gettime(CLOCK_MONOTONIC, &i.it_value);
    T(timerfd_settime(t, TFD_TIMER_ABSTIME, &i, 0)); T(read(t, &v, 8));
    int ep = epoll_create1(EPOLL_CLOEXEC); T(fcntl(ep, F_GETFD)); T(epoll_create(0));
    T(epoll_create1(99)); T(epoll_create(1) > 2);
    struct epoll_event ev = {EPOLLIN, {.u64 = 0x1122334455667788}}, out[4];
    T(epoll_ctl(ep, EPOLL_CTL_ADD, q[0], &ev)); T(epoll_ctl(ep, EPOLL_CTL_ADD, q[0], &ev));
    T(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], &ev)); T(epoll_ctl(ep, EPOLL_CTL_ADD, 99, &ev));
    T(epoll_ctl(99, EPOLL_CTL_ADD, p[0], &ev)); T(epoll_ctl(p[0], EPOLL_CTL_ADD, p[1], &ev));
    T(epoll_ctl(ep, EPOLL_CTL_ADD, ep, &ev)); T(epoll_ctl(ep, 77, p[0], &ev));
    T(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], BAD)); int rf = open("reg", O_CREAT | O_RDWR, 0600);
    T(epoll_ctl(ep, EPOLL_CTL_ADD, rf, &ev));
    T(epoll_wait(ep, out, 4, 0)); T(epoll_wait(ep, out, 4, 3)); T(epoll_wait(ep, out, 0, 0));
    T(epoll_wait(p[0], out, 4, 0)); T(epoll_wait(ep, BAD, 4, 0)); T(write(q[1], "z", 1));
    T(epoll_wait(ep, out, 4, -1)); T(out[0].events); T(out[0].data.u64 == ev.data.u64);
    T(epoll_wait(ep, out, 4, 0)); T(epoll_wait(ep, BAD, 4, 0)); ev.events = EPOLLIN | EPOLLET;
    T(epoll_ctl(ep, EPOLL_CTL_MOD, q[0], &ev)); T(epoll_wait(ep, out, 4, 0));
    T(epoll_wait(ep, out, 4, 0)); T(write(q[1], "z", 1)); T(epoll_wait(ep, out, 4, 0));
    ev.events = EPOLLIN | EPOLLONESHOT; T(epoll_ctl(ep, EPOLL_CTL_MOD, q[0], &ev));
    T(epoll_wait(ep, out, 4, 0)); T(epoll_wait(ep, out, 4, 0));
    T(epoll_ctl(ep, EPOLL_CTL_DEL, q[0], 0)); T(epoll_wait(ep, out, 4, 0));
    ev.events = EPOLLIN; i.it_value.tv_sec = 0; i.it_value.tv_nsec = 2000000;
    T(epoll_ctl(ep, EPOLL_CTL_ADD, t, &ev)); T(timerfd_settime(t, 0, &i, 0));
    T(epoll_wait(ep, out, 4, 10000)); T(out[0].events); T(read(t, &v, 8));
    T(timerfd_settime(t, 0, &i, 0)); int outer = epoll_create1(0);
    T(epoll_ctl(outer, EPOLL_CTL_ADD, ep, &ev)); T(epoll_wait(outer, out, 4, -1));
    T(read(t, &v, 8)); T(timerfd_settime(t, 0, &i, 0)); ts.tv_sec = 5;
    T(syscall(SYS_epoll_pwait2, ep, out, 4, &ts, 0L, 8));
    T(epoll_ctl(ep, EPOLL_CTL_ADD, outer, &ev)); T(read(ep, b, 10)); T(close(t));
    T(epoll_wait(ep, out, 4, 0));
    return 0;
}
