/* A small parser of HTTP requests, on which other engines were measured (`cargo xtask bench trace`).
 * The path of a GET request is copied into a stack buffer of 200 bytes without a bound. It reads one
 * request from standard input, or from the file that the first argument names, and fails with
 * SIGSEGV where serve() returns: the return address is bytes of the path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <fcntl.h>
static char req[131072];
struct hdr { const char *name; size_t nlen; const char *val; size_t vlen; };
static int lower(int c) { return (c >= 'A' && c <= 'Z') ? c + 32 : c; }
static int ieq(const char *a, size_t n, const char *lit) {
    size_t i;
    for (i = 0; i < n && lit[i]; i++)
        if (lower((unsigned char)a[i]) != lit[i]) return 0;
    return i == n && !lit[i];
}
static int hexv(int c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = lower(c);
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}
__attribute__((noinline)) static int serve(const char *url, size_t n, long clen, int keep) {
    char path[200];
    size_t i, o = 0;
    for (i = 0; i < n; i++) {                       /* no bound on o: the bug */
        if (url[i] == '%' && i + 2 < n) {
            int h = hexv((unsigned char)url[i+1]), l = hexv((unsigned char)url[i+2]);
            if (h < 0 || l < 0) return 400;
            path[o++] = (char)(h * 16 + l);
            i += 2;
        } else path[o++] = url[i];
    }
    path[o] = 0;
    if (strstr(path, "..")) return 403;
    printf("open %zu bytes, clen=%ld keep=%d first=%c\n", o, clen, keep, path[0]);
    return 200;
}
static int handle(char *p, size_t len) {
    char *end = p + len, *q, *url;
    size_t ulen; long clen = 0; int keep = 0, host = 0;
    if (len < 16) return 400;
    if (memcmp(p, "GET ", 4) && memcmp(p, "PUT ", 4)) return 405;
    url = p + 4;
    for (q = url; q < end && *q != ' '; q++)
        if (*q == '\r' || *q == '\n' || *q == 0) return 400;
    if (q == end || *url != '/') return 400;
    ulen = q - url; q++;
    if (end - q < 10 || memcmp(q, "HTTP/1.", 7)) return 505;
    if (q[7] != '0' && q[7] != '1') return 505;
    if (q[8] != '\r' || q[9] != '\n') return 400;
    q += 10;
    for (;;) {
        struct hdr h;
        if (q + 1 >= end) return 400;
        if (q[0] == '\r' && q[1] == '\n') break;
        h.name = q;
        while (q < end && *q != ':') { if (*q <= ' ') return 400; q++; }
        if (q == end) return 400;
        h.nlen = q - h.name; q++;
        while (q < end && *q == ' ') q++;
        h.val = q;
        while (q < end && *q != '\r') q++;
        if (q + 1 >= end || q[1] != '\n') return 400;
        h.vlen = q - h.val; q += 2;
        if (ieq(h.name, h.nlen, "host")) host = 1;
        else if (ieq(h.name, h.nlen, "connection")) keep = ieq(h.val, h.vlen, "keep-alive");
        else if (ieq(h.name, h.nlen, "content-length")) {
            size_t i; clen = 0;
            for (i = 0; i < h.vlen; i++) {
                if (h.val[i] < '0' || h.val[i] > '9') return 400;
                clen = clen * 10 + (h.val[i] - '0');
            }
            if (clen > 65536) return 413;
        }
    }
    if (!host) return 400;
    return serve(url, ulen, clen, keep);
}
int main(int argc, char **argv) {
    int fd = 0; size_t n = 0; ssize_t r;
    if (argc > 1 && (fd = open(argv[1], O_RDONLY)) < 0) return 2;
    while (n < sizeof req && (r = read(fd, req + n, sizeof req - n)) > 0) n += r;
    printf("status %d\n", handle(req, n));
    return 0;
}
