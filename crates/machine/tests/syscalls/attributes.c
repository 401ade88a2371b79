// What is known about files.
#include "t.h"

static void show(struct stat *s) { printf("%o %d %ld %d %d %ld.%ld %ld.%ld\n", s->st_mode, (int)s->st_nlink, (long)s->st_size, s->st_uid == getuid(), s->st_gid == getgid(), s->st_atim.tv_sec, s->st_atim.tv_nsec, s->st_mtim.tv_sec, s->st_mtim.tv_nsec); }

int main(void) {
    struct stat s; struct statx x; struct statfs fs; char b[300];
    umask(022);
    int f = open("f", O_CREAT | O_RDWR, 0664); T(write(f, "12345", 5)); symlink("f", "l");
    mkdir("d", 0755); int d = open("d", O_RDONLY);
    struct timespec ts[2] = {{1000, 5}, {2000, 6}};
    T(futimens(f, ts)); T(fstat(f, &s)); show(&s); T(stat("l", &s)); show(&s); T(lstat("l", &s));
    printf("%o %ld\n", s.st_mode, (long)s.st_size);
    T(stat("no", &s)); T(stat("f/x", &s)); T(stat("f", BAD)); T(stat(BAD, &s)); T(stat("", &s));
    T(fstat(99, &s)); T(stat("l/", &s)); T(stat("d/", &s));
    T(fstatat(d, "../f", &s, 0)); show(&s); T(fstatat(f, "", &s, AT_EMPTY_PATH)); show(&s);
    T(fstatat(d, "", &s, 0)); T(fstatat(AT_FDCWD, "l", &s, AT_SYMLINK_NOFOLLOW));
    printf("%o\n", s.st_mode); T(fstatat(AT_FDCWD, "l", &s, 1)); T(fstatat(99, "l", &s, 0));
    T(fstatat(AT_FDCWD, "", &s, AT_EMPTY_PATH)); printf("%o\n", s.st_mode & S_IFMT);
    T(statx(AT_FDCWD, "f", 0, STATX_BASIC_STATS, &x));
    printf("%x %o %d %ld %ld.%d\n", x.stx_mask & 0x7ff, x.stx_mode, (int)x.stx_nlink, (long)x.stx_size, (long)x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec);
    T(statx(f, "", AT_EMPTY_PATH, STATX_SIZE, &x)); T(statx(AT_FDCWD, "f", 0, 0x80000000, &x));
    T(statx(AT_FDCWD, "f", 1, STATX_SIZE, &x)); T(statx(AT_FDCWD, "f", 0x6000, STATX_SIZE, &x));
    T(statx(AT_FDCWD, "f", 0, STATX_SIZE, BAD)); T(syscall(SYS_statx, AT_FDCWD, 0L, 0, 0xfff, 0L));
    T(statx(AT_FDCWD, "", 0, 0xfff, 0));
    T(chmod("f", 0600)); T(stat("f", &s)); show(&s); T(chmod("no", 0600)); T(fchmod(f, 04755));
    T(fstat(f, &s)); show(&s); T(fchmodat(d, "../f", 0640, 0)); T(fstat(f, &s)); show(&s);
    T(chmod("l", 0644)); T(stat("f", &s)); show(&s);
    T(chown("f", -1, -1)); T(chown("f", getuid(), getgid())); T(lchown("l", getuid(), -1));
    T(fchown(f, -1, getgid())); T(fchownat(d, "../f", -1, -1, 0));
    T(fchownat(f, "", -1, -1, AT_EMPTY_PATH)); T(fchownat(d, "../f", -1, -1, 77));
    T(chown("no", 1, 1));
    T(access("f", F_OK)); T(access("f", R_OK | W_OK)); T(access("no", F_OK)); T(access("f", 99));
    T(access("", 0)); T(access("d", X_OK)); T(faccessat(d, "../f", R_OK, 0));
    T(faccessat(d, "x", R_OK, 0));
    T(syscall(SYS_faccessat2, AT_FDCWD, "l", F_OK, AT_SYMLINK_NOFOLLOW));
    T(syscall(SYS_faccessat2, AT_FDCWD, "f", R_OK, AT_EACCESS));
    T(syscall(SYS_faccessat2, AT_FDCWD, "f", R_OK, 1));
    T(syscall(SYS_faccessat2, f, "", R_OK, AT_EMPTY_PATH));
    struct timeval tv[2] = {{11, 22}, {33, 44}}; T(utimes("f", tv)); T(stat("f", &s)); show(&s);
    tv[0].tv_usec = 1000000; T(utimes("f", tv)); tv[0].tv_usec = 1; T(futimesat(d, "../f", tv));
    T(stat("f", &s)); show(&s);
    struct utimbuf ub = {77, 88}; T(utime("f", &ub)); T(stat("f", &s)); show(&s);
    T(utime("no", &ub));
    ts[0].tv_nsec = UTIME_OMIT; T(utimensat(AT_FDCWD, "f", ts, 0)); T(stat("f", &s)); show(&s);
    ts[0].tv_nsec = 2000000000; T(utimensat(AT_FDCWD, "f", ts, 0));
    ts[0].tv_nsec = ts[1].tv_nsec = UTIME_OMIT; T(utimensat(AT_FDCWD, "no", ts, 0));
    T(utimensat(AT_FDCWD, "f", 0, 0)); T(utimensat(AT_FDCWD, "no", 0, 0));
    ts[0].tv_nsec = ts[1].tv_nsec = 3; T(utimensat(AT_FDCWD, "l", ts, AT_SYMLINK_NOFOLLOW));
    T(utimensat(AT_FDCWD, "l", ts, 3)); T(syscall(SYS_utimensat, AT_FDCWD, 0L, ts, 0));
    T(syscall(SYS_utimensat, f, 0L, ts, 0)); T(fstat(f, &s)); show(&s);
    T(utimensat(AT_FDCWD, "f", BAD, 0));
    T(statfs("f", &fs)); T(fstatfs(f, &fs)); T(statfs("no", &fs)); T(fstatfs(99, &fs));
    T(statfs("f", BAD)); T(statfs("/proc", &fs)); printf("%lx\n", (long)fs.f_type); int p[2];
    pipe(p); T(fstatfs(p[0], &fs)); printf("%lx\n", (long)fs.f_type);
    T(fstat(p[0], &s)); printf("%o %ld\n", s.st_mode, (long)s.st_size); int sv[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, sv); T(fstat(sv[0], &s)); printf("%o\n", s.st_mode);
    int e = eventfd(0, 0); T(fstat(e, &s)); printf("%o\n", s.st_mode); T(fchmod(p[0], 0600) <= 0);
    T(stat("/dev/null", &s)); printf("%o %lx\n", s.st_mode, (long)s.st_rdev);
    T(getxattr("f", "user.x", b, 99)); T(lgetxattr("l", "security.selinux", b, 99));
    T(fgetxattr(f, "user.x", b, 99)); T(getxattr("no", "user.x", b, 99));
    T(getxattr("f", "strange", b, 99)); T(getxattr("f", "", b, 99)); T(listxattr("f", b, 99));
    T(flistxattr(f, b, 0)); T(removexattr("f", "user.x")); T(getxattr("f", BAD, b, 99));
    T(truncate("f", 100)); T(stat("f", &s)); printf("%ld\n", (long)s.st_size); T(truncate("l", 3));
    T(fstat(f, &s)); printf("%ld\n", (long)s.st_size);
    return 0;
}
