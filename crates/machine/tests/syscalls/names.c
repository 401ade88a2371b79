// Names: directories, links, renaming.
#include "t.h"

static int order(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }

static void list(const char *path) {
    char *names[64]; int n = 0;
    DIR *d = opendir(path); struct dirent *e;
    if (!d) { printf("no %s: %s\n", path, strerrorname_np(errno)); return; }
    while ((e = readdir(d)) && n < 64) { char t[300]; sprintf(t, "%s/%d", e->d_name, e->d_type); names[n++] = strdup(t); }
    closedir(d);
    qsort(names, n, sizeof *names, order);
    for (int i = 0; i < n; i++) printf("%s ", names[i]);
    printf("\n");
}

int main(void) {
    char b[4096];
    struct stat s;
    umask(022);
    T(mkdir("d", 0777)); T(mkdir("d", 0777)); T(mkdir("d/e", 0700)); T(mkdir("x/y", 0700));
    T(mkdir("", 0)); T(mkdir(BAD, 0)); T(mkdir("d/f/", 0755));
    T(stat("d", &s)); printf("%o %d\n", s.st_mode, (int)s.st_nlink);
    T(close(open("d/a", O_CREAT | O_WRONLY, 0666))); T(stat("d/a", &s)); printf("%o\n", s.st_mode);
    T(symlink("a", "d/l")); T(symlink("a", "d/l")); T(symlink("", "d/m"));
    T(symlink("nowhere", "d/dangling")); T(symlink("loop", "loop"));
    T(readlink("d/l", b, 10)); S(b, 1); T(readlink("d/a", b, 10)); T(readlink("d/dangling", b, 3));
    S(b, 3); T(readlink("d/l", b, 0)); T(readlink("d/l", BAD, 9)); T(readlink("no", b, 9));
    T(open("loop", O_RDONLY)); T(open("d/dangling", O_RDONLY));
    T(open("d/l", O_RDONLY | O_NOFOLLOW)); T(access("d/l", F_OK));
    T(link("d/a", "d/b")); T(stat("d/b", &s)); printf("%d\n", (int)s.st_nlink);
    T(link("d/a", "d/b")); T(link("d", "d2")); T(link("no", "d/c"));
    T(link("d/l", "d/ll")); T(lstat("d/ll", &s)); printf("%o\n", s.st_mode & S_IFMT);
    T(linkat(AT_FDCWD, "d/l", AT_FDCWD, "d/lf", AT_SYMLINK_FOLLOW)); T(lstat("d/lf", &s));
    printf("%o\n", s.st_mode & S_IFMT); T(linkat(AT_FDCWD, "d/l", AT_FDCWD, "d/lx", 1));
    list("d");
    T(rename("d/b", "d/c")); T(rename("d/no", "d/c")); T(rename("d/e", "d/c"));
    T(rename("d/c", "d/e")); T(rename("d", "d/e/in")); T(rename("d/e", "d/f")); T(rename(".", "q"));
    T(renameat2(AT_FDCWD, "d/a", AT_FDCWD, "d/c", RENAME_NOREPLACE));
    T(renameat2(AT_FDCWD, "d/a", AT_FDCWD, "d/f", RENAME_EXCHANGE));
    T(renameat2(AT_FDCWD, "d/a", AT_FDCWD, "d/f", 99));
    list("d");
    T(unlink("d/c")); T(unlink("d/c")); T(unlink("d")); T(rmdir("d")); T(rmdir("d/l"));
    T(rmdir("d/a")); T(rmdir(".")); T(rmdir("d/..")); T(unlink("d/f/"));
    int d = open("d", O_RDONLY | O_DIRECTORY); int f = open("d/f", O_RDWR);
    T(mkdirat(d, "sub", 0755)); T(mkdirat(99, "sub", 0755)); T(mkdirat(f, "sub", 0755));
    T(openat(d, "sub/x", O_CREAT | O_RDWR, 0600) >= 0); T(openat(f, "x", O_RDONLY));
    T(openat(99, "x", O_RDONLY)); T(openat(99, "/dev/null", O_RDONLY) >= 0);
    T(symlinkat("t", d, "s")); T(readlinkat(d, "s", b, 9)); T(linkat(d, "f", d, "g", 0));
    T(renameat(d, "g", d, "h")); T(unlinkat(d, "h", 0)); T(unlinkat(d, "sub", 0));
    T(unlinkat(d, "sub", AT_REMOVEDIR)); T(unlinkat(d, "sub/x", 0));
    T(unlinkat(d, "sub", AT_REMOVEDIR)); T(unlinkat(d, "f", 77));
    int l = open("d/s", O_PATH | O_NOFOLLOW); T(readlinkat(l, "", b, 9));
    T(readlinkat(d, "", b, 9));
    T(linkat(f, "", AT_FDCWD, "bypath", AT_EMPTY_PATH) == 0 || errno == ENOENT);
    T(mknod("fifo", S_IFIFO | 0644, 0)); T(mknod("reg", S_IFREG | 0640, 0));
    T(mknod("reg", S_IFREG | 0640, 0)); T(mknod("x", S_IFDIR, 0));
    T(mknodat(d, "sock", S_IFSOCK | 0600, 0)); T(mknod("x", 0170000, 0)); T(stat("fifo", &s));
    printf("%o\n", s.st_mode); T(stat("reg", &s)); printf("%o\n", s.st_mode);
    list("d"); list("."); list("no"); list("reg");
    T(chdir("d")); T(chdir("f")); T(chdir("no")); T(access("f", F_OK)); T(getcwd(b, 4096) != 0);
    S(strrchr(b, '/'), 9); T(getcwd(b, 3)); T(syscall(SYS_getcwd, b, 0)); T(fchdir(f));
    T(fchdir(99));
    T(mkdir("gone", 0755)); int g = open("gone", O_RDONLY); T(chdir("gone")); T(rmdir("../gone"));
    T(getcwd(b, 4096)); T(open("x", O_CREAT | O_RDWR, 0644)); T(mkdir("y", 0));
    T(syscall(SYS_getdents64, g, b, 4096)); T(fchdir(d)); T(chdir("..")); T(access("d/f", F_OK));
    T(umask(077)); T(umask(0777)); T(umask(0)); T(close(open("m", O_CREAT | O_RDWR, 0666)));
    T(stat("m", &s)); printf("%o\n", s.st_mode);
    T(syscall(SYS_getdents64, d, b, 5)); T(syscall(SYS_getdents64, f, b, 500));
    T(syscall(SYS_getdents64, 99, b, 500)); T(syscall(SYS_getdents64, d, BAD, 500));
    // The old layout has the type at the end of each entry.
    int o = open("d", O_RDONLY); long n = syscall(SYS_getdents, o, b, 4096); int dots = 0;
    for (long p = 0; p < n; p += *(unsigned short *)(b + p + 16)) if (b[p + 18] == '.' && b[p + *(unsigned short *)(b + p + 16) - 1] == DT_DIR) dots++;
    T(dots); T(syscall(SYS_getdents, o, b, 4096)); T(lseek(o, 0, SEEK_SET));
    T(syscall(SYS_getdents, o, b, 4096) == n);
    char deep[5000]; memset(deep, 'a', 4999); deep[4999] = 0; T(open(deep, O_RDONLY));
    deep[300] = 0; T(open(deep, O_RDONLY)); T(mkdir(deep, 0700)); deep[255] = 0;
    T(mkdir(deep, 0700)); T(rmdir(deep));
    T(unlink("fifo")); T(unlink("")); T(unlink(BAD)); T(rmdir("")); T(rename("", "x"));
    T(symlink("x", ""));
    return 0;
}
