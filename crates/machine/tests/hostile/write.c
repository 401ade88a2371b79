// Tries to change the directory that it is in, and starts programs that do. To it, all of that works.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#define DO(e) do { if ((long)(e) == -1) { perror(#e); return 1; } } while (0)

int main(int argc, char **argv) {
    int fd = open("new", O_WRONLY | O_CREAT, 0600);
    DO(fd); DO(write(fd, "new", 3)); DO(close(fd));
    DO(fd = open("old", O_RDWR)); DO(write(fd, "OVERWRITTEN", 11)); DO(ftruncate(fd, 5));
    char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    DO(p); p[0] = 'M'; DO(msync(p, 4096, MS_SYNC)); DO(close(fd));
    DO(chmod("old", 0777)); DO(rename("old", "older")); DO(link("older", "hard"));
    DO(symlink("older", "soft")); DO(mkdir("made", 0700)); DO(unlink("gone")); DO(rmdir("empty"));
    DO(utime("older", 0)); DO(truncate("kept", 0)); DO(mkfifo("fifo", 0600));
    DO(fd = open("kept", O_WRONLY | O_APPEND)); DO(write(fd, "more", 4)); DO(fallocate(fd, 0, 0, 9999));
    pid_t child = fork();
    if (child == 0) {
        char *words[] = {"touch", "touched", 0};
        execve("/usr/bin/touch", words, 0);
        _exit(9);
    }
    int status; DO(waitpid(child, &status, 0));
    if (status) return 2;
    DO(access("touched", F_OK));
    child = fork();
    if (child == 0) {
        char *words[] = {"sh", "-c", "echo x > shell; rm -rf folder; kill -9 $PPID_OF_HOST 2>/dev/null; exit 0", 0};
        execve("/bin/sh", words, 0);
        _exit(9);
    }
    DO(waitpid(child, &status, 0));
    if (status) return 3;
    DO(access("shell", F_OK));
    if (access("folder", F_OK) == 0) return 4;
    puts("all done");
    return 0;
}
