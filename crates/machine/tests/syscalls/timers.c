// Timers of a process: signals, overruns, looking, and who does not get them.
#include "t.h"

#define MS(n) {0, (n) * 1000000L}

static long raw(int call, long a, long b, long c, long d) { return syscall(call, a, b, c, d); }

int main(int argc, char **argv) {
    struct itimerspec now, once = {{0, 0}, MS(5)}, often = {MS(5), MS(5)}, none = {{0, 0}, {0, 0}};
    timer_t a, b; sigset_t set; siginfo_t info; struct sigevent event;
    if (argc > 1) {
        // Behind execve there are no timers.
        T(raw(SYS_timer_gettime, 0, (long)&now, 0, 0));
        return 0;
    }
    sigemptyset(&set); sigaddset(&set, SIGALRM); sigaddset(&set, SIGRTMIN + 3);
    sigaddset(&set, SIGUSR1);
    T(sigprocmask(SIG_BLOCK, &set, 0));
    T(timer_create(CLOCK_MONOTONIC, 0, &a)); T(timer_gettime(a, &now));
    printf("%ld %ld\n", now.it_value.tv_sec, now.it_value.tv_nsec);
    T(timer_settime(a, 0, &once, &now)); T(sigwaitinfo(&set, &info));
    printf("%d %d %d\n", info.si_code == SI_TIMER, info.si_overrun, info.si_value.sival_int == (int)(long)a);
    T(timer_gettime(a, &now)); printf("%ld %ld\n", now.it_value.tv_sec, now.it_value.tv_nsec);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL; event.sigev_signo = SIGRTMIN + 3;
    event.sigev_value.sival_ptr = (void *)0x123456789abcdef;
    T(timer_create(CLOCK_REALTIME, &event, &b)); T(timer_settime(b, 0, &often, 0));
    for (int i = 0; i < 3; i++) {
        T(sigwaitinfo(&set, &info) == SIGRTMIN + 3);
        printf("%d %lx\n", info.si_code, (long)info.si_value.sival_ptr);
    }
    T(timer_gettime(b, &now)); printf("%ld %d\n", now.it_interval.tv_nsec, now.it_value.tv_nsec > 0);
    // Many expirations, one signal.
    T(timer_settime(b, 0, &(struct itimerspec){{0, 100000}, {0, 100000}}, 0));
    struct timespec pause = MS(20); T(nanosleep(&pause, 0));
    T(sigwaitinfo(&set, &info) == SIGRTMIN + 3); printf("%d\n", info.si_overrun > 20);
    T(timer_getoverrun(b) > 20);
    T(timer_settime(b, 0, &none, &now)); printf("%ld\n", now.it_interval.tv_nsec);
    while (sigtimedwait(&set, &info, &(struct timespec){0, 0}) > 0) {}
    T(timer_delete(b)); T(raw(SYS_timer_delete, (long)b, 0, 0, 0));
    T(raw(SYS_timer_getoverrun, (long)b, 0, 0, 0));
    T(raw(SYS_timer_settime, (long)b, 0, (long)&once, 0));
    // One that only looks.
    event.sigev_notify = SIGEV_NONE; T(timer_create(CLOCK_MONOTONIC, &event, &b));
    T(timer_settime(b, 0, &(struct itimerspec){{0, 0}, {100, 0}}, 0)); T(timer_gettime(b, &now));
    printf("%d\n", now.it_value.tv_sec >= 99); T(timer_settime(b, 0, &once, 0));
    T(nanosleep(&pause, 0)); T(timer_gettime(b, &now));
    printf("%ld %ld\n", now.it_value.tv_sec, now.it_value.tv_nsec);
    // To a thread.
    event.sigev_notify = SIGEV_THREAD_ID; event.sigev_signo = SIGUSR1;
    event._sigev_un._tid = syscall(SYS_gettid);
    T(timer_create(CLOCK_MONOTONIC, &event, &b));
    struct timespec later; clock_gettime(CLOCK_MONOTONIC, &later); later.tv_sec -= 1;
    T(timer_settime(b, TIMER_ABSTIME, &(struct itimerspec){{0, 0}, later}, 0));
    T(sigwaitinfo(&set, &info)); printf("%d\n", info.si_code);
    event._sigev_un._tid = 1; T(timer_create(CLOCK_MONOTONIC, &event, &b));
    // By processor time.
    event.sigev_notify = SIGEV_SIGNAL;
    T(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &b)); T(timer_settime(b, 0, &once, 0));
    for (volatile long n = 0; sigtimedwait(&set, &info, &(struct timespec){0, 0}) < 0; n++) {}
    printf("%d %d\n", info.si_signo, info.si_code);
    event.sigev_signo = 0; T(timer_create(CLOCK_MONOTONIC, &event, &b));
    event.sigev_signo = 65; T(timer_create(CLOCK_MONOTONIC, &event, &b));
    event.sigev_signo = SIGUSR1; event.sigev_notify = 77; T(timer_create(CLOCK_MONOTONIC, &event, &b));
    T(raw(SYS_timer_create, 99, 0, (long)&now, 0)); T(raw(SYS_timer_create, 1, 0, 8, 0));
    T(raw(SYS_timer_create, 4, 0, (long)&now, 0)); T(raw(SYS_timer_create, 1, 8, (long)&now, 0));
    T(raw(SYS_timer_settime, (long)a, 0, 0, 0)); T(raw(SYS_timer_settime, (long)a, 0, 8, 0));
    T(timer_settime(a, 0, &(struct itimerspec){{0, 0}, {0, 1000000000}}, 0));
    T(timer_settime(a, 0, &(struct itimerspec){{0, -1}, {0, 1}}, 0));
    T(timer_settime(a, 0, &(struct itimerspec){{0, 0}, {-1, 1}}, 0));
    if (fork() == 0) {
        T(timer_gettime(a, &now));
        return 0;
    }
    int status; wait(&status); T(status);
    // A timer whose signal nobody wants does not keep anybody awake.
    signal(SIGALRM, SIG_IGN); sigprocmask(SIG_UNBLOCK, &set, 0);
    T(timer_settime(a, 0, &(struct itimerspec){{0, 1}, {0, 1}}, 0)); T(nanosleep(&pause, 0));
    execl("/proc/self/exe", "timers", "again", (char *)0);
    return 9;
}
