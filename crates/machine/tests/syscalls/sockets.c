// Sockets of one process, and messages between two.
#include "t.h"

static int pass(int sock, int fd, int *more, int n) {
    char c[CMSG_SPACE(64)] = {0}; struct iovec v = {"f", 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = c, .msg_controllen = CMSG_SPACE(4 * (1 + n))};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m); h->cmsg_level = SOL_SOCKET; h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(4 * (1 + n)); memcpy(CMSG_DATA(h), &fd, 4);
    if (n) memcpy(CMSG_DATA(h) + 4, more, 4 * n);
    return sendmsg(sock, &m, 0);
}

int main(void) {
    int s[2], none[2], x; char b[300] = {0}; socklen_t l; struct sockaddr_storage a = {0};
    signal(SIGPIPE, SIG_IGN);
    T(socketpair(AF_UNIX, SOCK_STREAM, 0, s)); T(socketpair(AF_INET, SOCK_STREAM, 0, none));
    T(socketpair(AF_UNIX, SOCK_STREAM, 0, BAD)); T(socketpair(AF_UNIX, 77, 0, none));
    T(socket(77, 1, 0)); T(socket(AF_INET, 77, 0));
    T(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); T(fcntl(5, F_GETFL));
    T(fcntl(5, F_GETFD)); close(5);
    T(write(s[0], "hello", 5)); T(ioctl(s[1], FIONREAD, &x)); T(x); T(recv(s[1], b, 3, MSG_PEEK));
    S(b, 3); T(recv(s[1], b, 300, 0)); S(b, 5); T(recv(s[1], b, 300, MSG_DONTWAIT));
    T(send(s[0], "abc", 3, MSG_NOSIGNAL)); T(read(s[1], b, 2)); T(read(s[1], b, 2));
    T(lseek(s[0], 0, 0)); T(pread(s[0], b, 1, 0)); T(send(0, "x", 1, 0)); T(recv(99, b, 1, 0));
    T(recv(s[0], BAD, 5, MSG_DONTWAIT) < 0);
    l = sizeof a; T(getsockname(s[0], (void *)&a, &l)); T(l); T(a.ss_family); l = sizeof a;
    T(getpeername(s[0], (void *)&a, &l)); T(l); T(getsockname(0, (void *)&a, &l));
    T(getsockname(s[0], (void *)&a, BAD)); l = -1; T(getsockname(s[0], (void *)&a, &l));
    struct iovec v[2] = {{"one", 3}, {"two", 3}}; struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
    T(sendmsg(s[0], &m, 0)); char u[4], w[10]; struct iovec r[2] = {{u, 4}, {w, 10}};
    struct msghdr n = {.msg_iov = r, .msg_iovlen = 2, .msg_name = &a, .msg_namelen = 99};
    T(recvmsg(s[1], &n, 0)); S(u, 4); S(w, 2); T(n.msg_namelen); T(n.msg_flags);
    T(sendmsg(s[0], BAD, 0)); m.msg_iovlen = 5000; T(sendmsg(s[0], &m, 0)); m.msg_iovlen = 2;
    // Files in messages.
    int f = open("f", O_CREAT | O_RDWR, 0600); write(f, "content", 7); T(pass(s[0], f, 0, 0));
    T(pass(s[0], 99, 0, 0)); char c[CMSG_SPACE(64)]; r[0].iov_len = 1;
    n = (struct msghdr){.msg_iov = r, .msg_iovlen = 1, .msg_control = c, .msg_controllen = sizeof c};
    T(recvmsg(s[1], &n, MSG_CMSG_CLOEXEC)); T(n.msg_controllen); T(n.msg_flags);
    struct cmsghdr *h = CMSG_FIRSTHDR(&n); T(h->cmsg_type); T(h->cmsg_len); int g;
    memcpy(&g, CMSG_DATA(h), 4); T(g); T(fcntl(g, F_GETFD)); T(lseek(f, 2, SEEK_SET));
    T(read(g, b, 9)); S(b, 5); close(g);
    T(pass(s[0], f, (int[]){0, 1}, 2)); n.msg_controllen = CMSG_LEN(8); T(recvmsg(s[1], &n, 0));
    T(n.msg_flags); T(CMSG_FIRSTHDR(&n)->cmsg_len); close(6); close(7); T(pass(s[0], f, 0, 0));
    T(recv(s[1], b, 1, 0)); T(pass(s[0], f, 0, 0)); n.msg_control = 0; n.msg_controllen = 0;
    T(recvmsg(s[1], &n, 0)); T(n.msg_flags);
    x = 1; T(setsockopt(s[1], SOL_SOCKET, SO_PASSCRED, &x, 4)); T(send(s[0], "c", 1, 0));
    n.msg_control = c; n.msg_controllen = sizeof c; T(recvmsg(s[1], &n, 0)); T(n.msg_controllen);
    T(CMSG_FIRSTHDR(&n)->cmsg_type); T(*(int *)CMSG_DATA(CMSG_FIRSTHDR(&n)) == getpid());
    T(shutdown(s[0], SHUT_WR)); T(read(s[1], b, 9)); T(write(s[0], "x", 1));
    T(send(s[0], "x", 1, MSG_NOSIGNAL)); T(write(s[1], "back", 4)); T(read(s[0], b, 9));
    T(shutdown(s[0], 7)); T(shutdown(0, 1)); close(s[1]); T(write(s[0], "x", 1));
    T(read(s[0], b, 1)); close(s[0]);
    // Datagrams.
    T(socketpair(AF_UNIX, SOCK_DGRAM, 0, s)); T(send(s[0], "datagram", 8, 0));
    T(send(s[0], "", 0, 0)); T(send(s[0], "last", 4, 0)); T(recv(s[1], b, 3, MSG_TRUNC));
    T(recv(s[1], b, 30, 0)); r[0].iov_len = 2; T(recvmsg(s[1], &n, 0)); T(n.msg_flags & MSG_TRUNC);
    struct mmsghdr mm[3] = {{{.msg_iov = v, .msg_iovlen = 1}}, {{.msg_iov = v, .msg_iovlen = 2}}, {{.msg_iov = v, .msg_iovlen = 1}}};
    T(sendmmsg(s[0], mm, 3, 0)); T(mm[1].msg_len); char q[3][10]; struct iovec qv[3];
    struct mmsghdr rm[4] = {0};
    for (int i = 0; i < 3; i++) { qv[i] = (struct iovec){q[i], 10}; rm[i].msg_hdr.msg_iov = qv + i; rm[i].msg_hdr.msg_iovlen = 1; } T(recvmmsg(s[1], rm, 2, 0, 0));
    T(rm[1].msg_len); T(recvmmsg(s[1], rm, 3, MSG_WAITFORONE, 0));
    T(recvmmsg(s[1], rm, 3, MSG_DONTWAIT, 0)); close(s[0]); close(s[1]);
    // Local names.
    struct sockaddr_un p = {AF_UNIX, "listen.sock"};
    int k = socket(AF_UNIX, SOCK_STREAM, 0), d = socket(AF_UNIX, SOCK_STREAM, 0); l = sizeof p;
    T(connect(d, (void *)&p, l)); T(listen(k, 5)); T(bind(k, (void *)&p, l));
    T(bind(d, (void *)&p, l)); T(bind(k, (void *)&p, l)); T(bind(d, BAD, l));
    T(bind(d, (void *)&p, 1)); T(connect(d, (void *)&p, l)); T(accept(k, 0, 0)); T(listen(k, 5));
    struct stat st; T(stat("listen.sock", &st)); T(S_ISSOCK(st.st_mode));
    T(open("listen.sock", O_RDWR)); T(connect(d, (void *)&p, l)); T(connect(d, (void *)&p, l));
    l = sizeof a; int e = accept4(k, (void *)&a, &l, SOCK_CLOEXEC); T(e); T(l);
    T(fcntl(e, F_GETFD)); T(write(d, "via name", 8)); T(read(e, b, 99)); S(b, 8); l = sizeof a;
    T(getpeername(d, (void *)&a, &l)); T(l); S(((struct sockaddr_un *)&a)->sun_path, 11);
    T(fcntl(k, F_SETFL, O_NONBLOCK)); T(accept(k, 0, 0)); T(accept4(k, 0, 0, 99));
    T(accept(f, 0, 0)); T(listen(f, 1)); T(unlink("listen.sock"));
    l = 4; T(getsockopt(k, SOL_SOCKET, SO_TYPE, &x, &l)); T(x); T(l);
    T(getsockopt(k, SOL_SOCKET, SO_ACCEPTCONN, &x, &l)); T(x);
    T(getsockopt(k, SOL_SOCKET, SO_ERROR, &x, &l)); T(x);
    T(getsockopt(k, SOL_SOCKET, SO_DOMAIN, &x, &l)); T(x); l = 2;
    T(getsockopt(k, SOL_SOCKET, SO_TYPE, &x, &l)); T(l); l = -1;
    T(getsockopt(k, SOL_SOCKET, SO_TYPE, &x, &l)); T(getsockopt(f, SOL_SOCKET, SO_TYPE, &x, &l));
    T(setsockopt(k, SOL_SOCKET, SO_REUSEADDR, &x, 2));
    T(setsockopt(k, SOL_SOCKET, SO_REUSEADDR, BAD, 4));
    T(setsockopt(f, SOL_SOCKET, SO_REUSEADDR, &x, 4));
    struct timeval tv = {0, 5000}; T(setsockopt(e, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv));
    T(recv(e, b, 1, 0)); T(read(e, b, 1)); close(e); close(d); close(k);
    // The Internet, which is this machine only.
    struct sockaddr_in i = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}};
    k = socket(AF_INET, SOCK_STREAM, 0); d = socket(AF_INET, SOCK_STREAM, 0); x = 1;
    T(setsockopt(k, SOL_SOCKET, SO_REUSEADDR, &x, 4));
    T(setsockopt(d, IPPROTO_TCP, TCP_NODELAY, &x, 4)); T(bind(k, (void *)&i, sizeof i));
    T(listen(k, 3)); l = sizeof i; T(getsockname(k, (void *)&i, &l)); T(l); T(i.sin_port != 0);
    T(getpeername(k, (void *)&a, &l)); T(connect(d, (void *)&i, sizeof i)); l = sizeof a;
    e = accept(k, (void *)&a, &l); T(e >= 0); T(l); T(a.ss_family); T(send(d, "tcp", 3, 0));
    T(recv(e, b, 99, 0)); T(close(e)); T(recv(d, b, 1, 0)); close(d); close(k);
    d = socket(AF_INET, SOCK_STREAM, 0); T(connect(d, (void *)&i, sizeof i)); T(send(d, "x", 1, 0));
    T(recv(d, b, 1, 0)); close(d);
    k = socket(AF_INET, SOCK_DGRAM, 0); d = socket(AF_INET, SOCK_DGRAM, 0); i.sin_port = 0;
    T(bind(k, (void *)&i, sizeof i)); l = sizeof i; getsockname(k, (void *)&i, &l);
    T(sendto(d, "udp", 3, 0, (void *)&i, sizeof i)); l = sizeof a;
    T(recvfrom(k, b, 99, 0, (void *)&a, &l)); S(b, 3); T(l); T(a.ss_family);
    T(sendto(k, "answer", 6, 0, (void *)&a, l)); T(recv(d, b, 99, 0)); T(send(d, "x", 1, 0));
    T(connect(d, (void *)&i, sizeof i)); T(send(d, "x", 1, 0)); T(recv(k, b, 1, 0));
    T(listen(k, 1)); T(accept(k, 0, 0)); T(sendto(d, "x", 1, 0, (void *)&i, 3));
    T(sendto(d, "x", 1, 0, BAD, sizeof i)); T(sendto(d, BAD, 5, 0, (void *)&i, sizeof i));
    return 0;
}
