// Calls that wait for another thread of the same process.
#include "t.h"

static int p[2], s[2], e, t, ep;
static char big[400000];

static void *late_writer(void *x) { usleep(2000); write(p[1], "late", 4); return 0; }
static void *late_reader(void *x) {
    long total = 0, n;
    usleep(1000);
    while (total < 300000 && (n = read(p[0], big, 10000)) > 0) total += n;
    return (void *)total;
}
static void *late_event(void *x) { uint64_t v = 5; usleep(2000); write(e, &v, 8); return 0; }
static void *late_close(void *x) { usleep(2000); close(s[1]); return 0; }
static void *ping(void *x) {
    char c;
    for (int i = 0; i < 50; i++) { read(s[1], &c, 1); c++; write(s[1], &c, 1); }
    return 0;
}
static void *add_interest(void *x) {
    usleep(1000);
    struct epoll_event ev = {EPOLLIN, {.u32 = 77}};
    epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev);
    write(p[1], "x", 1);
    return 0;
}
static void *file_writer(void *x) {
    int f = open("parallel", O_WRONLY | O_APPEND | O_CREAT, 0600);
    for (int i = 0; i < 100; i++) write(f, "0123456789", 10);
    close(f);
    return 0;
}

int main(void) {
    pthread_t h, hs[4]; void *r; char b[100]; uint64_t v; struct pollfd f;
    pipe(p); e = eventfd(0, 0);
    pthread_create(&h, 0, late_writer, 0); T(read(p[0], b, 99)); S(b, 4); pthread_join(h, 0);
    pthread_create(&h, 0, late_writer, 0); f = (struct pollfd){p[0], POLLIN}; T(poll(&f, 1, -1));
    T(f.revents); pthread_join(h, 0); T(read(p[0], b, 99));
    pthread_create(&h, 0, late_reader, 0); T(write(p[1], big, 300000)); pthread_join(h, &r); T(r);
    pthread_create(&h, 0, late_event, 0); T(read(e, &v, 8)); T(v); pthread_join(h, 0);
    pthread_create(&h, 0, late_event, 0); f.fd = e; T(poll(&f, 1, 100000)); pthread_join(h, 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    pthread_create(&h, 0, ping, 0); char c = 0;
    for (int i = 0; i < 50; i++) { write(s[0], &c, 1); read(s[0], &c, 1); }
    T(c); pthread_join(h, 0);
    pthread_create(&h, 0, late_close, 0); T(read(s[0], b, 9)); pthread_join(h, 0);
    T(write(s[1], b, 1));
    ep = epoll_create1(0); struct epoll_event out;
    pthread_create(&h, 0, add_interest, 0); T(epoll_wait(ep, &out, 1, -1)); T(out.data.u32);
    pthread_join(h, 0); T(read(p[0], b, 9));
    for (int i = 0; i < 4; i++) pthread_create(hs + i, 0, file_writer, 0);
    for (int i = 0; i < 4; i++) pthread_join(hs[i], 0);
    int g = open("parallel", O_RDONLY); T(lseek(g, 0, SEEK_END)); T(lseek(g, 0, SEEK_SET));
    int wrong = 0; while (read(g, b, 10) == 10) wrong += memcmp(b, "0123456789", 10) != 0;
    T(wrong);
    // A timer and a deadline: whichever comes first.
    t = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec soon = {{0, 0}, {0, 2000000}}, far = {{0, 0}, {100, 0}};
    struct epoll_event ev = {EPOLLIN, {.u32 = 5}}; epoll_ctl(ep, EPOLL_CTL_ADD, t, &ev);
    timerfd_settime(t, 0, &far, 0); T(epoll_wait(ep, &out, 1, 5));
    timerfd_settime(t, 0, &soon, 0); T(epoll_wait(ep, &out, 1, 50000)); T(out.data.u32);
    T(read(t, &v, 8)); T(v); T(epoll_wait(ep, &out, 1, 3));
    soon.it_interval.tv_nsec = 1000000; timerfd_settime(t, 0, &soon, 0); T(read(t, &v, 8));
    T(v > 0);
    T(read(t, &v, 8)); T(v > 0); T(timerfd_gettime(t, &far)); T(far.it_interval.tv_nsec);
    return 0;
}
