/* One way to fail, or not to, for each word. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/syscall.h>
#define OUT __attribute__((noinline))

static int depth;
static volatile int sink;
static jmp_buf back;
static volatile int *volatile nothing;
static volatile int at;

OUT static void reads_null(void) { sink = *nothing; }
OUT static void neighbours(int which) {
  if (which) { sink = nothing[2]; } else { sink = nothing[4]; }
}
OUT static void value(int n, int shape);
OUT static void object(int n, int shape) { value(n - 1, shape); sink++; }
OUT static void array(int n, int shape) { value(n - 1, shape); sink++; }
OUT static void value(int n, int shape) {
  if (n == 0) reads_null();
  else if (shape == 0 || (shape == 2 && n % 3)) object(n, shape);
  else array(n, shape);
  sink++;
}
OUT static int endless(int n) {
  volatile char local[256];
  local[0] = n;
  return endless(n + 1) + local[0];
}
OUT static int pong(int n);
OUT static int ping(int n) { volatile char local[64]; local[0] = n; return pong(n + 1) + local[0]; }
OUT static int pong(int n) { volatile char local[640]; local[0] = n; return ping(n + 1) + local[0]; }
OUT static int large(void) { volatile char local[64 << 20]; local[0] = 1; return local[0]; }
OUT static void smashes(void) {
  volatile char local[16];
  volatile int n = 64;
  for (at = 0; at < n; at++) local[at] = 'A';
}
OUT static void beyond_top(void) {
  volatile char local[16];
  for (volatile long i = 0; i < 1 << 24; i++) local[i] = 0;
}
static void on_fault(int signal) { (void)signal; longjmp(back, 1); }
static void on_fault_abort(int signal) { (void)signal; abort(); }
static void *thread(void *argument) { reads_null(); return argument; }
static int compare(const void *a, const void *b) { (void)a; (void)b; reads_null(); return 0; }

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  depth = argc > 2 ? atoi(argv[2]) : 0;
  if (!strcmp(way, "exit")) return depth;
  if (!strcmp(way, "null")) reads_null();
  if (!strcmp(way, "neighbour")) neighbours(depth);
  if (!strcmp(way, "assert")) assert(way == NULL);
  if (!strcmp(way, "abort")) abort();
  if (!strcmp(way, "nested")) value(depth, atoi(argv[3]));
  if (!strcmp(way, "endless")) { volatile char skew[depth + 1]; skew[0] = 0; sink = endless(skew[0]); }
  if (!strcmp(way, "pingpong")) { volatile char skew[depth + 1]; skew[0] = 0; sink = ping(skew[0]); }
  if (!strcmp(way, "large")) sink = large();
  if (!strcmp(way, "smash")) smashes();
  if (!strcmp(way, "top")) beyond_top();
  if (!strcmp(way, "strlen")) { char *volatile none = NULL; sink = strlen(none); }
  if (!strcmp(way, "free")) { char *volatile p = malloc(10); free(p); free(p); }
  if (!strcmp(way, "nowhere")) { void (*volatile f)(void) = (void (*)(void))(long)depth; f(); }
  if (!strcmp(way, "qsort")) { int a[4] = {3, 1, 2, 4}; qsort(a, 4, 4, compare); }
  if (!strcmp(way, "divide")) sink = 100 / depth;
  if (!strcmp(way, "trap")) __asm__ volatile("int3");
  if (!strcmp(way, "term")) raise(SIGTERM);
  if (!strcmp(way, "kill")) raise(SIGKILL);
  if (!strcmp(way, "stop")) { raise(SIGSTOP); raise(SIGTSTP); return 4; }
  if (!strcmp(way, "handled")) {
    signal(SIGSEGV, on_fault);
    if (!setjmp(back)) reads_null();
    return 7;
  }
  if (!strcmp(way, "handler")) { signal(SIGSEGV, on_fault_abort); reads_null(); }
  if (!strcmp(way, "thread")) {
    pthread_t id;
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
  }
  if (!strcmp(way, "child")) {
    int status;
    if (fork() == 0) reads_null();
    wait(&status);
    return WIFSIGNALED(status) ? 3 : 1;
  }
  if (!strcmp(way, "exec")) { execl("/proc/self/exe", "again", argv[2], argv[3], NULL); }
  if (!strcmp(way, "hang")) for (;;) sink++;
  if (!strcmp(way, "sleep")) sleep(1000);
  if (!strcmp(way, "hangs-with-child")) { setsid(); if (fork() == 0) setsid(); for (;;) pause(); }
  if (!strcmp(way, "leaves-child")) {
    /* Prints its number; it must be dead when the run is over. */
    int pid = fork();
    if (pid == 0) { setsid(); for (;;) pause(); }
    printf("%d\n", pid);
  }
  if (!strcmp(way, "bomb")) for (;;) fork();
  if (!strcmp(way, "flood")) for (int i = 0; i < 200000; i++) puts("a line that nobody reads");
  if (!strcmp(way, "echo")) {
    char buffer[4096];
    size_t count;
    while ((count = fread(buffer, 1, sizeof buffer, stdin)) > 0) fwrite(buffer, 1, count, stdout);
    fputs("to standard error", stderr);
  }
  if (!strcmp(way, "surroundings")) {
    extern char **environ;
    char folder[4096];
    for (char **e = environ; *e; e++) puts(*e);
    puts(getcwd(folder, sizeof folder));
    puts(argv[0]);
    for (int fd = 0; fd < 1024; fd++) if (fcntl(fd, F_GETFD) != -1) printf("fd %d\n", fd);
    printf("group %d\n", getpgrp() == getpid());
  }
  if (!strcmp(way, "address")) printf("%p %p\n", (void *)main, (void *)&way);
  if (!strcmp(way, "identity")) {
    /* What a process is in its own eyes and in the C library's. */
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    printf("%d %d %d ", getpid() == (int)syscall(SYS_gettid), getpgrp() == getpid(), lock.__data.__owner == (int)syscall(SYS_gettid));
    printf("%ld %d %d\n", (long)lseek(0, 0, SEEK_CUR), fcntl(0, F_GETFL), fcntl(1, F_GETFL));
  }
  if (!strcmp(way, "careless")) {
    /* Leaves its streams in a state that a next process should not find. */
    char buffer[3];
    sink = read(0, buffer, 3) + write(0, "junk", 4);
    for (int fd = 0; fd < 3; fd++) fcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND);
    printf("careless %s", getcwd(buffer, 1) ? "" : "\n");
    fflush(stdout);
    sink = chdir("/") + nice(1);
    umask(0);
  }
  return 0;
}
