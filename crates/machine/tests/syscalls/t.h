// What the programs share: T makes a call and prints its answer; S prints bytes.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <linux/fs.h>

static long tell(int line, const char *text, long result, int error) {
    printf("%d %s = %ld %s\n", line, text, result, result == -1 ? strerrorname_np(error) : "");
    fflush(stdout);
    return result;
}
#define T(e) ({ errno = 0; long r_ = (long)(e); tell(__LINE__, #e, r_, errno); })
// Made, but the answer may differ: only whether it failed is told.
#define Q(e) ({ errno = 0; long r_ = (long)(e); tell(__LINE__, #e, r_ == -1 ? -1 : 0, errno); r_; })
#define S(p, n) (printf("%d [%.*s]\n", __LINE__, (int)(n), (const char *)(p)), fflush(stdout))
#define BAD ((void *)8)

static void *guarded(void) {
    // A page, and behind it nothing.
    char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p + 4096, 4096);
    return p;
}
