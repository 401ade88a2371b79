// Copies inside the kernel.
#include "t.h"

int main(void) {
    char b[100]; int p[2]; off_t o = 2, z = 0; pipe(p);
    int f = open("f", O_RDWR | O_CREAT, 0600), g = open("g", O_RDWR | O_CREAT, 0600);
    write(f, "0123456789", 10);
    T(sendfile(g, f, 0, 5)); T(lseek(f, 0, SEEK_SET)); T(sendfile(g, f, 0, 5));
    T(lseek(f, 0, SEEK_CUR)); T(sendfile(g, f, &o, 100)); T(o); T(lseek(f, 0, SEEK_CUR));
    T(pread(g, b, 99, 0)); S(b, 13); T(sendfile(p[1], f, &z, 4)); T(z); T(read(p[0], b, 99));
    S(b, 4); T(sendfile(g, p[0], 0, 4)); T(sendfile(99, f, 0, 4)); T(sendfile(g, 99, 0, 4));
    T(sendfile(g, f, BAD, 4)); z = -1; T(sendfile(g, f, &z, 4)); z = 0;
    T(copy_file_range(f, &z, g, 0, 3, 0)); T(z); z = 0; o = 8;
    T(copy_file_range(f, &z, f, &o, 2, 0)); T(o); z = 0; o = 1;
    T(copy_file_range(f, &z, f, &o, 5, 0)); T(copy_file_range(f, 0, g, 0, 5, 1));
    T(copy_file_range(p[0], 0, g, 0, 5, 0)); T(copy_file_range(f, 0, open("g", O_RDONLY), 0, 5, 0));
    T(copy_file_range(f, 0, g, 0, 0, 0)); int d = open(".", O_RDONLY);
    T(copy_file_range(d, 0, g, 0, 5, 0)); o = 500; T(copy_file_range(f, &o, g, 0, 5, 0));
    T(lseek(g, 0, SEEK_END)); T(pread(g, b, 99, 0)); S(b, 16);
    z = 0; T(splice(f, &z, p[1], 0, 6, 0)); T(z); T(splice(p[0], 0, g, 0, 100, 0));
    T(splice(f, 0, g, 0, 5, 0)); T(splice(p[0], &z, g, 0, 5, 0));
    T(splice(p[0], 0, g, 0, 5, SPLICE_F_NONBLOCK)); T(splice(p[0], 0, g, 0, 0, 0));
    T(splice(99, 0, g, 0, 5, 0)); T(splice(p[0], 0, g, 0, 5, 0xff)); z = 3; write(p[1], "AT", 2);
    T(splice(p[0], 0, g, &z, 5, 0)); T(z); T(pread(g, b, 99, 0)); S(b, 22);
    struct iovec v = {"spliced", 7}; T(vmsplice(p[1], &v, 1, 0)); T(read(p[0], b, 99)); S(b, 7);
    T(vmsplice(f, &v, 1, 0));
    // Much at once.
    size_t size = 5 << 20; char *m = malloc(size);
    for (size_t i = 0; i < size; i++) m[i] = i * 3 + (i >> 9);
    int h = open("h", O_RDWR | O_CREAT, 0600), k = open("k", O_RDWR | O_CREAT, 0600);
    write(h, m, size); z = 0; T(sendfile(k, h, &z, size + 9)); char *n = malloc(size);
    T(pread(k, n, size, 0)); T(memcmp(m, n, size)); z = 100; o = 0; long t = 0, r;
    while ((r = copy_file_range(h, &z, k, &o, size, 0)) > 0) t += r; T(t); T(pread(k, n, size, 0));
    T(memcmp(m + 100, n, size - 100));
    fflush(stdout); pid_t c = fork();
    if (!c) { close(p[0]); z = 0; T(sendfile(p[1], h, &z, 300000)); T(z); _exit(0); } close(p[1]);
    t = 0; while ((r = read(p[0], n + t, 5000)) > 0) t += r; wait(0); T(t); T(memcmp(m, n, t));
    int s[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, s); z = 0; T(sendfile(s[0], f, &z, 5));
    T(read(s[1], b, 9)); S(b, 5);
    char *map = mmap(0, 4096, PROT_READ, MAP_SHARED, g, 0); z = 0; o = 0;
    T(copy_file_range(h, &z, g, &o, 50, 0)); T(memcmp(map, m, 50));
    return 0;
}
