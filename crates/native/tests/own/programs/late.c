/* Works for a while, does something that the first word names, and only then looks at its input: the
   file that the second word names, or standard input. What the start drew goes to standard error. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int *volatile nothing;
static volatile unsigned sink;
static char alternate[1 << 16];
static pthread_barrier_t barrier;

static void work(void) {
  for (unsigned i = 0; i < 5000000; i++) sink = sink * 31 + i;
}
static void on_fault(int signal) {
  char at;
  int aside = &at >= alternate && &at < alternate + sizeof alternate;
  dprintf(1, "handled %d %d\n", signal, aside);
  _exit(7);
}
static void *adds(void *argument) { sink += 1; return argument; }
static void *waits(void *argument) { pthread_barrier_wait(&barrier); return argument; }

int main(int argc, char **argv) {
  const char *way = argv[1], *path = argc > 2 ? argv[2] : 0;
  char text[64] = "", folder[4096];
  int before = 0, input = 0, kept = -1;
  int *page = 0;
  pid_t number = 0, thread_number = 0;
  pthread_mutex_t lock, checked;
  pthread_t thread;
  struct timespec started;
  struct stat status;
  unsigned long random;
  getrandom(&random, sizeof random, 0);
  work();

#define WAY(name) if (!strcmp(way, name))
  WAY("banner") { puts("reads its input now"); fflush(stdout); }
  WAY("number") { number = getpid(); thread_number = syscall(SYS_gettid); }
  WAY("number-as-text") sprintf(text, "%d", getpid());
  WAY("own-folder-of-proc") sprintf(text, "/proc/%d/stat", getpid());
  WAY("mutex") {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &kind);
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&checked);
  }
  WAY("thread-before") { pthread_create(&thread, 0, adds, 0); pthread_join(thread, 0); }
  WAY("thread-beside") {
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, waits, 0);
  }
  WAY("keeps-open") { kept = open(argv[0], O_RDONLY); before = read(kept, text, 4); }
  WAY("closes") { kept = open(argv[0], O_RDONLY); before = read(kept, text, 4); close(kept); }
  WAY("handler") {
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigset_t set;
    sigaltstack(&stack, 0);
    sigaction(SIGSEGV, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
  }
  WAY("signal") { signal(SIGUSR1, SIG_IGN); raise(SIGUSR1); }
  WAY("fstat") { fstat(0, &status); before = status.st_size; }
  WAY("statx") { struct statx x; statx(0, "", AT_EMPTY_PATH, STATX_SIZE, &x); before = x.stx_size; }
  WAY("seek") { before = lseek(0, 0, SEEK_END); lseek(0, 0, SEEK_SET); }
  WAY("maps-input") {
    char *mapped = mmap(0, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
    before = mapped == MAP_FAILED ? -1 : mapped[0];
  }
  WAY("stat") { stat(path, &status); before = status.st_size; }
  WAY("link") { before = readlink("/proc/self/cwd/input", text, sizeof text); path = "/proc/self/cwd/input"; }
  WAY("relative") path = "input";
  WAY("roundabout") path = "/usr/../proc/self/cwd/./input";
  WAY("folder") {
    DIR *all = opendir(".");
    struct dirent *entry;
    while ((entry = readdir(all)))
      if (entry->d_name[0] != '.') { fstatat(dirfd(all), entry->d_name, &status, 0); before += status.st_size; }
    closedir(all);
  }
  WAY("shared") page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  WAY("dontfork") {
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 40;
    madvise(page, 4096, MADV_DONTFORK);
  }
  WAY("wipe") {
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 40;
    madvise(page, 4096, 18 /* MADV_WIPEONFORK */);
  }
  WAY("clock") clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &started);
  WAY("timer") alarm(1000);
  WAY("fork") {
    pid_t child = fork();
    if (!child) _exit(9);
    waitpid(child, &before, 0);
  }
  WAY("chdir") chdir("/");
  WAY("flags") fcntl(0, F_SETFL, O_APPEND);
  WAY("loads") dlopen("libz.so.1", RTLD_NOW);
  WAY("often") for (int i = 0; i < 300000; i++) getuid();
  WAY("fails-before") before = *nothing;

  char bytes[4096] = "";
  if (path) input = open(path, O_RDONLY);
  ssize_t size = 0, more;
  while (size < 4000 && (more = read(input, bytes + size, 4000 - size)) > 0) size += more;
  dprintf(2, "%016lx", random);
  printf("%s %ld %d %d %d ", way, (long)size, bytes[0], before, input);
  WAY("number") {
    printf("%d %d ", number == getpid(), thread_number == syscall(SYS_gettid));
    printf("%d ", kill(number, 0));
  }
  WAY("number-as-text") printf("%d ", atoi(text) == getpid());
  WAY("own-folder-of-proc") printf("%d ", access(text, R_OK));
  WAY("mutex") {
    printf("%d %d ", pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock));
    printf("%d %d ", pthread_mutex_unlock(&lock), pthread_mutex_unlock(&lock));
    printf("%d %d ", pthread_mutex_lock(&checked), pthread_mutex_unlock(&checked));
  }
  WAY("thread-beside") { pthread_barrier_wait(&barrier); printf("%d ", pthread_join(thread, 0)); }
  WAY("keeps-open") printf("%ld %ld ", (long)lseek(kept, 0, SEEK_CUR), (long)read(kept, text, 4));
  WAY("handler") {
    sigset_t set;
    sigprocmask(SIG_BLOCK, 0, &set);
    printf("%d %d ", sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2));
  }
  if (page) printf("%d ", ++*page);
  WAY("clock") {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    long ran = (now.tv_sec - started.tv_sec) * 1000000000 + now.tv_nsec - started.tv_nsec;
    printf("%d ", ran >= 0 && ran < 500000000);
  }
  WAY("timer") printf("%d ", alarm(0) > 900);
  WAY("chdir") printf("%s ", getcwd(folder, sizeof folder));
  printf("\n");
  fflush(stdout);
  switch (bytes[0]) {
    case 'a': abort();
    case 'n': return *nothing;
    case 'f': free(bytes + 16); break;
    case 'e': return bytes[1];
  }
  return 0;
}
