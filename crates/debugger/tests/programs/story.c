// A run with a bit of everything that moves a place in it: threads that wait for one another, handlers
// of faults and of timers, copies in one instruction, system calls that write to memory.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

int counter;
int ticks;
int total;
char copied[64];
char got[8];
static sigjmp_buf again;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_fault(int signal) {
    siglongjmp(again, signal);
}

static void on_tick(int signal) {
    ticks += signal != 0;
}

__attribute__((noinline)) void add(int by) {
    pthread_mutex_lock(&lock);
    counter += by;
    pthread_mutex_unlock(&lock);
}

static void *work(void *by) {
    for (int i = 0; i < 20; i++) {
        add((int)(long)by);
        if (i % 7 == 0) usleep(10);
    }
    return NULL;
}

__attribute__((noinline)) void copy(char *to, const char *from, size_t length) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");
}

__attribute__((noinline)) double mean(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += i * 0.5;
    return sum / n;
}

__attribute__((noinline)) void spoil(int *where) {
    *where = 0;
}

__attribute__((noinline)) int fail(int *divisor) {
    return 100 / *divisor;
}

int main(void) {
    struct sigaction fault = {.sa_handler = on_fault}, tick = {.sa_handler = on_tick};
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGALRM, &tick, NULL);
    struct itimerval often = {{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (volatile int i = 0; i < 400000; i++) total += i & 3;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++)
        if (sigsetjmp(again, 1) == 0) *(volatile int *)8 = i;
    copy(copied, "something that is copied in one instruction", 44);
    if (read(0, got, sizeof got) < 0) return 1;
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_REAL, &often, NULL);
    int divisor = (int)mean(50);
    printf("%d %d %s %.4s\n", counter, divisor, copied, got);
    fflush(stdout);
    spoil(&divisor);
    return fail(&divisor);
}
