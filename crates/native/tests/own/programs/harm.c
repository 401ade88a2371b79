/* One way to do harm for each word. Prints what came of it: "done", or why not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int says(long result) {
  int error = errno;
  puts(result >= 0 ? "done" : strerrorname_np(error));
  fflush(stdout);
  return 0;
}
static int is(const char *a, const char *b) { return !strcmp(a, b); }
static int connects(int family, struct sockaddr *to, socklen_t size) {
  int fd = socket(family, SOCK_STREAM, 0);
  return fd < 0 ? fd : connect(fd, to, size);
}
static int asleep(void *unused) { (void)unused; for (;;) pause(); }

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  const char *target = argc > 2 ? argv[2] : "";
  int number = atoi(target);
  /* Files: the target is a path. */
  if (is(way, "write")) return says(open(target, O_WRONLY));
  if (is(way, "append")) return says(open(target, O_RDWR | O_APPEND));
  if (is(way, "create")) return says(open(target, O_CREAT | O_WRONLY, 0600));
  if (is(way, "unnamed")) return says(open(target, O_TMPFILE | O_WRONLY, 0600));
  if (is(way, "truncate")) return says(truncate(target, 0));
  if (is(way, "delete")) return says(unlink(target));
  if (is(way, "rmdir")) return says(rmdir(target));
  if (is(way, "mkdir")) return says(mkdir(target, 0700));
  if (is(way, "rename")) return says(rename(target, argv[3]));
  if (is(way, "link")) return says(link(target, argv[3]));
  if (is(way, "symlink")) return says(symlink("/etc/passwd", target));
  if (is(way, "fifo")) return says(mkfifo(target, 0600));
  if (is(way, "device")) return says(mknod(target, S_IFCHR | 0600, (1 << 8) | 3));
  if (is(way, "chmod")) return says(chmod(target, 0));
  if (is(way, "fchmod")) return says(fchmod(open(target, O_RDONLY), 0));
  if (is(way, "chown")) return says(chown(target, 12345, 12345));
  if (is(way, "touch")) return says(utimensat(AT_FDCWD, target, (struct timespec[2]){{1, 0}, {1, 0}}, 0));
  if (is(way, "attribute")) return says(setxattr(target, "user.stunt", "1", 1, 0));
  if (is(way, "read")) return says(open(target, O_RDONLY));
  if (is(way, "again")) {
    /* Through a descriptor of a descriptor: what may only be read may not be written. */
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", open(target, O_RDONLY));
    return says(open(path, O_WRONLY));
  }
  if (is(way, "memory")) {
    /* More than may be filled, in one piece, and not filled. */
    void *reserved = mmap(NULL, 4L << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *large = mmap(NULL, 3L << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return says(reserved != MAP_FAILED && large != MAP_FAILED ? 0 : reserved == MAP_FAILED ? (errno = EINVAL, -1) : -1);
  }
  if (is(way, "gorge")) {
    /* Half of a gigabyte at once, and then a little now and then, until somebody ends it. */
    size_t size = 512L << 20;
    char *large = malloc(size);
    if (!large) return says(-1);
    for (size_t at = 0; at < size; at += 4096) large[at] = 1;
    for (;;) { usleep(1000); large[rand() % size] = 1; }
  }
  if (is(way, "null")) return says(open("/dev/null", O_RDWR));
  if (is(way, "fill")) {
    /* As much as can be written to one file; the signal is ignored to see the error. */
    static char block[1 << 20];
    long written = 0, result;
    int fd = open(target, O_CREAT | O_WRONLY, 0600);
    signal(SIGXFSZ, SIG_IGN);
    while ((result = write(fd, block, sizeof block)) > 0) written += result;
    printf("%ld\n", written);
    return says(result);
  }
  if (is(way, "flood")) {
    /* One small file after the other, each within its limit. */
    static char block[1 << 20];
    for (int i = 0;; i++) {
      char name[32];
      snprintf(name, sizeof name, "file-%d", i);
      int fd = open(name, O_CREAT | O_WRONLY, 0600);
      if (write(fd, block, sizeof block) < 0) return says(-1);
      close(fd);
      usleep(1000);
    }
  }
  /* Processes: the target is a number. */
  if (is(way, "signal")) return says(kill(number, SIGTERM));
  if (is(way, "probe")) return says(kill(number, 0));
  if (is(way, "tgkill")) return says(syscall(SYS_tgkill, number, number, SIGTERM));
  if (is(way, "tkill")) return says(syscall(SYS_tkill, number, SIGTERM));
  if (is(way, "queue")) return says(sigqueue(number, SIGTERM, (union sigval){0}));
  if (is(way, "pidfd")) return says(syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, number, 0), SIGTERM, NULL, 0));
  if (is(way, "owner")) {
    int ends[2];
    pipe(ends);
    if (fcntl(ends[0], F_SETOWN, number) < 0) return says(-1);
    fcntl(ends[0], F_SETFL, O_ASYNC);
    return says(write(ends[1], "x", 1));
  }
  if (is(way, "renice")) return says(setpriority(PRIO_PROCESS, number, 19));
  if (is(way, "limit")) return says(prlimit(number, RLIMIT_NOFILE, &(struct rlimit){3, 3}, NULL));
  if (is(way, "trace")) return says(ptrace(PTRACE_ATTACH, number, 0, 0));
  if (is(way, "peek")) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", number);
    return says(open(path, O_RDONLY));
  }
  if (is(way, "group")) return says(setpgid(0, number));
  if (is(way, "escape")) {
    /* A child that whoever follows us does not hear of; it must not come into being. */
    static char stack[1 << 16];
    long pid = clone(asleep, stack + sizeof stack, CLONE_UNTRACED | SIGCHLD, NULL);
    printf("%ld\n", pid);
    return says(pid);
  }
  if (is(way, "clone3")) return says(syscall(SYS_clone3, NULL, 0));
  if (is(way, "own")) {
    /* What programs do to their own children. */
    int status, child = fork();
    if (child == 0) for (;;) pause();
    if (kill(child, SIGTERM) < 0) return says(-1);
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM) return 9;
    child = fork();
    if (child == 0) { setpgid(0, 0); for (;;) pause(); }
    while (getpgid(child) != child) usleep(100);
    if (kill(-child, SIGKILL) < 0) return says(-1);
    waitpid(child, &status, 0);
    signal(SIGUSR1, SIG_IGN);
    return says(kill(getpid(), SIGUSR1) | kill(0, SIGUSR1) | raise(SIGUSR1));
  }
  if (is(way, "abort")) abort();
  /* The host. */
  if (is(way, "socket")) return says(socket(number, SOCK_STREAM, 0));
  if (is(way, "pair")) { int ends[2]; return says(socketpair(AF_UNIX, SOCK_STREAM, 0, ends)); }
  if (is(way, "connect")) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(number), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return says(connects(AF_INET, (struct sockaddr *)&to, sizeof to));
  }
  if (is(way, "local")) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path, target, sizeof to.sun_path - 1);
    return says(connects(AF_UNIX, (struct sockaddr *)&to, sizeof to));
  }
  if (is(way, "mount")) return says(mount("none", target, "tmpfs", 0, NULL));
  if (is(way, "unshare")) return says(unshare(CLONE_NEWUSER | CLONE_NEWNS));
  if (is(way, "chroot")) return says(chroot("/"));
  if (is(way, "clock")) { struct timeval now; gettimeofday(&now, NULL); return says(settimeofday(&now, NULL)); }
  if (is(way, "hostname")) { char name[256]; gethostname(name, sizeof name); return says(sethostname(name, strlen(name))); }
  if (is(way, "shared")) return says(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
  if (is(way, "ring")) return says(syscall(SYS_io_uring_setup, 1, NULL));
  if (is(way, "flags")) { int flags = 0x10; return says(ioctl(open(target, O_RDONLY), 0x40086602, &flags)); }
  if (is(way, "urgent")) return says(sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){1}));
  if (is(way, "sooner")) return says(setpriority(PRIO_PROCESS, 0, -5));
  if (is(way, "raise")) return says(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}));
  if (is(way, "terminal")) return says(ioctl(open(target, O_RDWR | O_NOCTTY), TIOCSWINSZ, &(struct winsize){1, 1}));
  if (is(way, "rights")) return says(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && getpgrp() == getpid() ? 0 : -1);
  return 7;
}
