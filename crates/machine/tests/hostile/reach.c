// Tries to read a file of the host that is not allowed. Tells what it got hold of.
// Arguments: the file, the text in it, and the allowed directory, which has two links that lead out.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *text;
static int tried, reached;

static void look(int fd, const char *how) {
    static char buffer[1 << 16];
    tried++;
    if (fd < 0) return;
    long have = read(fd, buffer, sizeof buffer - 1);
    if (have > 0 && memmem(buffer, have, text, strlen(text))) {
        reached++;
        printf("REACHED by %s\n", how);
    }
    close(fd);
}

static void path(const char *p) {
    char copy[5000];
    struct stat s;
    look(open(p, O_RDONLY), p);
    if (stat(p, &s) == 0 && S_ISREG(s.st_mode)) { reached++; printf("SEEN %s\n", p); }
    int handle = open(p, O_PATH);
    if (handle >= 0) {
        sprintf(copy, "/proc/self/fd/%d", handle);
        look(open(copy, O_RDONLY), "a handle");
        close(handle);
    }
}

int main(int argc, char **argv) {
    char p[5000];
    const char *file = argv[1], *base = strrchr(file, '/') + 1;
    text = argv[2];
    path(file);
    const char *before[] = {"/proc/self/root", "/proc/1/root", "/proc/1000/root", "/proc/self/cwd/../../../../../..",
        "/proc/self/task/1000/root", "/proc/thread-self/root", "../../../../../../../../../..", "/..", "/../..",
        "/dev/fd/../../..", "/proc/self/fd/../../../..", "/tmp/..", "/dev/..", "//", "/./"};
    for (unsigned i = 0; i < sizeof before / sizeof *before; i++) {
        snprintf(p, sizeof p, "%s%s", before[i], file);
        path(p);
    }
    snprintf(p, sizeof p, "%s/link", argv[3]); path(p);
    snprintf(p, sizeof p, "%s/folder/%s", argv[3], base); path(p);
    snprintf(p, sizeof p, "%s/relative", argv[3]); path(p);
    // Links of its own.
    symlink(file, "/tmp/own"); path("/tmp/own");
    symlink("/proc/self/root", "/tmp/root"); snprintf(p, sizeof p, "/tmp/root%s", file); path(p);
    link(file, "/tmp/hard"); path("/tmp/hard");
    rename(file, "/tmp/moved"); path("/tmp/moved");
    // Up from a directory.
    if (chdir(argv[3]) == 0) {
        for (int i = 0; i < 12; i++) {
            snprintf(p, sizeof p, ".%s", file); path(p);
            snprintf(p, sizeof p, "outside/%s", base); path(p);
            if (chdir("..")) break;
        }
    }
    int directory = open(argv[3], O_RDONLY | O_DIRECTORY);
    snprintf(p, sizeof p, "../outside/%s", base);
    look(openat(directory, p, O_RDONLY), "openat");
    fchdir(directory); path(p);
    chroot("."); chroot(".."); chroot("/"); path(file);
    unshare(CLONE_NEWNS | CLONE_NEWUSER); mount(file, "/tmp", 0, MS_BIND, 0); path(file); path("/tmp");
    // The rest of the host.
    const char *rest[] = {"/proc/kcore", "/dev/mem", "/proc/1/environ", "/proc/1/maps", "/proc/1/mem", "/dev/sda",
        "/dev/vda", "/proc/mounts", "/sys/block"};
    for (unsigned i = 0; i < sizeof rest / sizeof *rest; i++) look(open(rest[i], O_RDONLY), rest[i]);
    // By executing it as a script, or through an interpreter.
    symlink(file, "/tmp/program");
    char *words[] = {"x", (char *)file, 0};
    execve(file, words, 0); execve("/tmp/program", words, 0);
    printf("%d tried, %d reached\n", tried, reached);
    return reached != 0;
}
