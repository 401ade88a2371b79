// Netlink: what the kernel tells about the loopback interface, and what it says to nonsense. Other
// interfaces and the state of this one may differ, and are not told.
#include "t.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

static int up, sequence = 100;
static char in[65536];
static struct { struct nlmsghdr h; char body[400]; } out;

// Asks, with a body of some bytes.
static long ask(int s, int type, int flags, const void *body, int size) {
    memset(&out, 0, sizeof out);
    out.h = (struct nlmsghdr){NLMSG_LENGTH(size), type, NLM_F_REQUEST | flags, ++sequence, 0};
    memcpy(out.body, body, size);
    return send(s, &out, NLMSG_ALIGN(out.h.nlmsg_len), 0);
}
static struct rtattr *find(void *from, int size, int type) {
    for (struct rtattr *a = from; RTA_OK(a, size); a = RTA_NEXT(a, size)) if (a->rta_type == type) return a;
    return 0;
}
static void link_of(struct nlmsghdr *h) {
    struct ifinfomsg *i = NLMSG_DATA(h); int n = h->nlmsg_len - NLMSG_LENGTH(sizeof *i);
    if (i->ifi_index != 1) return;
    up = i->ifi_flags & IFF_UP;
    printf("link family %d type %d loopback %d", i->ifi_family, i->ifi_type, !!(i->ifi_flags & IFF_LOOPBACK));
    int words[] = {IFLA_MTU, IFLA_TXQLEN, IFLA_NUM_TX_QUEUES, IFLA_GROUP};
    for (int k = 0; k < 4; k++) { struct rtattr *a = find(i + 1, n, words[k]); printf(" %d", a ? *(int *)RTA_DATA(a) : -1); }
    int sizes[] = {IFLA_IFNAME, IFLA_ADDRESS, IFLA_BROADCAST, IFLA_OPERSTATE, IFLA_STATS};
    for (int k = 0; k < 5; k++) { struct rtattr *a = find(i + 1, n, sizes[k]); printf(" %d", a ? a->rta_len : -1); }
    struct rtattr *name = find(i + 1, n, IFLA_IFNAME); printf(" [%s]\n", name ? (char *)RTA_DATA(name) : "");
}
static int v4, v6;
static void address_of(struct nlmsghdr *h) {
    struct ifaddrmsg *i = NLMSG_DATA(h); int n = h->nlmsg_len - NLMSG_LENGTH(sizeof *i);
    struct rtattr *a = find(i + 1, n, IFA_ADDRESS);
    static const char one[16] = {[15] = 1};
    if (i->ifa_index != 1 || !a || i->ifa_scope != RT_SCOPE_HOST || !(i->ifa_flags & IFA_F_PERMANENT)) return;
    if (i->ifa_family == AF_INET) v4 |= !memcmp(RTA_DATA(a), "\x7f\0\0\1", 4) && i->ifa_prefixlen == 8 && find(i + 1, n, IFA_LABEL);
    if (i->ifa_family == AF_INET6) v6 |= !memcmp(RTA_DATA(a), one, 16) && i->ifa_prefixlen == 128;
}
static int local4, main4;
static void route_of(struct nlmsghdr *h) {
    struct rtmsg *r = NLMSG_DATA(h); int n = h->nlmsg_len - NLMSG_LENGTH(sizeof *r);
    struct rtattr *oif = find(r + 1, n, RTA_OIF);
    if (!oif || *(int *)RTA_DATA(oif) != 1 || r->rtm_family != AF_INET) return;
    if (r->rtm_table == RT_TABLE_LOCAL) local4++; else main4++;
}
// Takes the answers; gives the error of the last.
static int take(int s, int more) {
    int port, result = 1000; struct sockaddr_nl a; socklen_t l = sizeof a;
    getsockname(s, (void *)&a, &l); port = a.nl_pid;
    while (result == 1000) {
        struct sockaddr_nl from = {0}; struct iovec v = {0, 0}; struct msghdr m = {&from, sizeof from, &v, 1};
        int flags = more ? 0 : MSG_DONTWAIT;
        int whole = recvmsg(s, &m, MSG_PEEK | MSG_TRUNC | flags);
        if (whole < 0) return errno;
        if (!(m.msg_flags & MSG_TRUNC)) puts("not cut?");
        v = (struct iovec){in, sizeof in}; m.msg_namelen = sizeof from;
        int size = recvmsg(s, &m, 0);
        if (size != whole || m.msg_flags || m.msg_namelen != 12 || from.nl_pid || from.nl_family != AF_NETLINK) puts("no message of the kernel");
        for (struct nlmsghdr *h = (void *)in; NLMSG_OK(h, size); h = NLMSG_NEXT(h, size)) {
            if (h->nlmsg_seq != sequence || h->nlmsg_pid != port) puts("not an answer to this");
            if (h->nlmsg_type == RTM_NEWLINK) link_of(h);
            if (h->nlmsg_type == RTM_NEWADDR) address_of(h);
            if (h->nlmsg_type == RTM_NEWROUTE) route_of(h);
            if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) result = -*(int *)NLMSG_DATA(h);
            if (h->nlmsg_type == NLMSG_ERROR) printf("error %d flags %x length %d\n", result, h->nlmsg_flags, h->nlmsg_len);
            if (!more && h->nlmsg_type < 1000 && h->nlmsg_type >= 16) result = 0;
        }
    }
    return result;
}

int main(void) {
    int s, t, x; socklen_t l; struct sockaddr_nl a = {AF_NETLINK}; char b[100];
    T(socket(AF_NETLINK, SOCK_STREAM, 0)); T(socket(AF_NETLINK, SOCK_RAW, 1)); T(socket(AF_NETLINK, SOCK_RAW, 77));
    T(socketpair(AF_NETLINK, SOCK_RAW, 0, (int[2]){}));
    T(s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)); T(t = socket(AF_NETLINK, SOCK_DGRAM, 0));
    // Names.
    l = sizeof a; T(getsockname(s, (void *)&a, &l)); T(l); T(a.nl_pid); T(a.nl_groups);
    T(bind(s, (void *)&a, 11)); a.nl_family = AF_UNIX; T(bind(s, (void *)&a, 12)); a = (struct sockaddr_nl){AF_NETLINK};
    T(bind(s, (void *)&a, 12)); T(bind(s, (void *)&a, 12)); a.nl_pid = 7; T(bind(s, (void *)&a, 12));
    l = sizeof a; T(getsockname(s, (void *)&a, &l)); T(a.nl_pid == getpid()); T(bind(t, (void *)&a, 12)); T(bind(s, (void *)&a, 12));
    a.nl_pid = 0; a.nl_groups = 0x11; T(bind(t, (void *)&a, sizeof a)); T(getsockname(t, (void *)&a, &l));
    T((int)a.nl_pid < 0); T(a.nl_groups); l = sizeof a; T(getpeername(s, (void *)&a, &l)); T(a.nl_pid); T(l);
    a = (struct sockaddr_nl){AF_NETLINK}; T(connect(s, (void *)&a, 12)); T(connect(s, (void *)&(struct sockaddr){AF_UNSPEC}, 12));
    T(listen(s, 1)); T(accept(s, 0, 0)); T(shutdown(s, 2));
    // Options.
    int names[] = {SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ERROR, SO_ACCEPTCONN, SO_RCVBUF, SO_SNDBUF};
    for (int k = 0; k < 7; k++) { l = 4; T(getsockopt(s, SOL_SOCKET, names[k], &x, &l)); T(x); }
    l = 4; T(getsockopt(t, SOL_SOCKET, SO_TYPE, &x, &l)); T(x);
    x = 1; for (int k = 10; k < 14; k++) { T(setsockopt(s, SOL_NETLINK, k, &x, 4)); l = 4; T(getsockopt(s, SOL_NETLINK, k, &x, &l)); T(x); x = 1; }
    x = 0; T(setsockopt(s, SOL_NETLINK, NETLINK_CAP_ACK, &x, 4)); T(setsockopt(s, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &x, 4));
    x = 32768; T(setsockopt(s, SOL_SOCKET, SO_SNDBUF, &x, 4)); l = 4; T(getsockopt(s, SOL_SOCKET, SO_SNDBUF, &x, &l)); T(x);
    x = 5; T(setsockopt(t, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &x, 4)); x = 0; T(setsockopt(t, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &x, 4));
    T(setsockopt(s, IPPROTO_IP, 1, &x, 4)); T(getsockopt(s, IPPROTO_IP, 1, &x, &l));
    // Nothing is there yet.
    struct pollfd p = {s, POLLIN | POLLOUT | POLLERR}; T(poll(&p, 1, 0)); T(p.revents);
    T(recv(s, b, 1, MSG_DONTWAIT)); T(ioctl(s, FIONREAD, &x)); T(recv(s, b, 1, MSG_OOB)); T(lseek(s, 0, 0));
    // Nonsense.
    T(send(s, b, 0, 0)); T(send(s, "abc", 3, 0)); T(send(s, b, 16, MSG_OOB)); T(send(s, BAD, 20, 0));
    static char big[300000]; T(send(s, big, sizeof big, 0)); T(send(s, big, 40000, 0));
    int lengths[] = {0, 8, 15, 17, 1000, -1, INT_MIN};
    for (int k = 0; k < 7; k++) { struct nlmsghdr h = {lengths[k], RTM_GETLINK, NLM_F_REQUEST, 1, 0}; T(send(s, &h, 16, 0)); }
    T(sendto(s, big, 20, 0, (void *)&(struct sockaddr){AF_UNIX}, 12)); T(sendto(s, big, 20, 0, (void *)&a, 5));
    T(recv(s, b, 1, MSG_DONTWAIT));
    // One link.
    struct ifinfomsg i = {0}; T(ask(s, RTM_GETLINK, 0, &i, sizeof i)); T(take(s, 1));
    i.ifi_index = 1; T(ask(s, RTM_GETLINK, 0, &i, sizeof i)); T(poll(&p, 1, 0)); T(p.revents); T(take(s, 0));
    T(ask(s, RTM_GETLINK, NLM_F_ACK, &i, sizeof i)); T(take(s, 1)); T(take(s, 0));
    i.ifi_index = 123456; T(ask(s, RTM_GETLINK, 0, &i, sizeof i)); T(take(s, 1)); T(ask(s, RTM_GETLINK, 0, &i, 9)); T(take(s, 1));
    struct { struct ifinfomsg i; struct rtattr a; char name[40]; } named = {{0}, {7, IFLA_IFNAME}, "lo"};
    T(ask(s, RTM_GETLINK, 0, &named, 24)); T(take(s, 0)); strcpy(named.name, "no"); T(ask(s, RTM_GETLINK, 0, &named, 24)); T(take(s, 1));
    // What more than an error is said about these changed from kernel to kernel.
    x = 0; T(setsockopt(s, SOL_NETLINK, NETLINK_EXT_ACK, &x, 4));
    named.a.rta_len = 4 + 30; memset(named.name, 'x', 30); T(ask(s, RTM_GETLINK, 0, &named, 52)); T(take(s, 1));
    named.a.rta_len = 4; T(ask(s, RTM_GETLINK, 0, &named, 20)); T(take(s, 1));
    named.a.rta_len = 2; T(ask(s, RTM_GETLINK, 0, &named, 20)); T(take(s, 1));
    named.a.rta_len = 999; T(ask(s, RTM_GETLINK, 0, &named, 20)); T(take(s, 1));
    // Of all kinds.
    T(ask(s, NLMSG_NOOP, NLM_F_ACK, "", 0)); T(take(s, 1)); T(ask(s, 1000, 0, "", 1)); T(take(s, 1)); T(ask(s, RTM_GETLINK, NLM_F_ACK, "", 0)); T(take(s, 1));
    out.h.nlmsg_flags = NLM_F_ACK; out.h.nlmsg_seq = ++sequence; T(send(s, &out, 16, 0)); T(take(s, 1));
    // Lists.
    i = (struct ifinfomsg){0}; T(ask(s, RTM_GETLINK, NLM_F_DUMP, &i, sizeof i)); T(take(s, 1)); T(ask(s, RTM_GETLINK, NLM_F_DUMP, "", 1)); T(take(s, 1));
    struct ifaddrmsg f = {0}; T(ask(s, RTM_GETADDR, NLM_F_DUMP, &f, sizeof f)); T(take(s, 1)); T(!up || v4); T(!up || v6 || access("/proc/net/if_inet6", F_OK)); v4 = v6 = 0;
    f.ifa_family = AF_INET; T(ask(s, RTM_GETADDR, NLM_F_DUMP, &f, sizeof f)); T(take(s, 1)); T(!up || v4); T(v6);
    struct rtmsg r = {AF_INET}; T(ask(s, RTM_GETROUTE, NLM_F_DUMP, &r, sizeof r)); T(take(s, 1)); T(!up || local4 >= 3); T(main4);
    T(ask(s, RTM_GETRULE, NLM_F_DUMP, &r, sizeof r)); T(take(s, 1)); T(ask(s, RTM_GETNEIGH, NLM_F_DUMP, &(struct ndmsg){0}, 12)); T(take(s, 1));
    // As `ip` asks: strictly.
    x = 1; T(setsockopt(s, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &x, 4)); i.ifi_index = 1; T(ask(s, RTM_GETLINK, NLM_F_DUMP, &i, sizeof i)); T(take(s, 1));
    f.ifa_index = 123456; T(ask(s, RTM_GETADDR, NLM_F_DUMP, &f, sizeof f)); T(take(s, 1)); f.ifa_index = 1; v4 = 0;
    T(ask(s, RTM_GETADDR, NLM_F_DUMP, &f, sizeof f)); T(take(s, 1)); T(!up || v4); f.ifa_prefixlen = 8; T(ask(s, RTM_GETADDR, NLM_F_DUMP, &f, sizeof f)); T(take(s, 1));
    T(ask(s, RTM_GETADDR, NLM_F_DUMP, &f, 3)); T(take(s, 1)); r.rtm_table = 77; T(ask(s, RTM_GETROUTE, NLM_F_DUMP, &r, sizeof r)); T(take(s, 1));
    // A list is under way: there is no second one. A copy is the same socket, here and in a child.
    int port = dup(s); i.ifi_index = 0; T(ask(s, RTM_GETLINK, NLM_F_DUMP, &i, sizeof i)); sequence--; T(ask(port, RTM_GETLINK, NLM_F_DUMP, &i, sizeof i));
    if (!fork()) { T(take(s, 1)); _exit(0); }
    wait(0); while (recv(port, in, sizeof in, MSG_DONTWAIT) > 0); T(recv(port, in, 1, MSG_DONTWAIT));
    int e = epoll_create1(0); struct epoll_event v = {EPOLLIN}; T(epoll_ctl(e, EPOLL_CTL_ADD, s, &v)); T(epoll_wait(e, &v, 1, 0));
    i.ifi_index = 1; ask(s, RTM_GETLINK, 0, &i, sizeof i); T(epoll_wait(e, &v, 1, 0)); T(v.events); T(write(t, &out, 32)); T(read(t, in, 20)); T(recv(t, in, 9, MSG_DONTWAIT));
    // Who said it, and to which group.
    x = 1; T(setsockopt(t, SOL_NETLINK, NETLINK_PKTINFO, &x, 4)); T(setsockopt(t, SOL_SOCKET, SO_PASSCRED, &x, 4)); ask(t, RTM_GETLINK, 0, &i, sizeof i);
    char more[100]; struct iovec place = {in, sizeof in}; struct msghdr beside = {0, 0, &place, 1, more, sizeof more}; T(recvmsg(t, &beside, 0) > 500); T(beside.msg_controllen);
    for (struct cmsghdr *k = CMSG_FIRSTHDR(&beside); k; k = CMSG_NXTHDR(&beside, k)) printf("level %d type %d length %zd value %d\n", k->cmsg_level, k->cmsg_type, k->cmsg_len, *(int *)CMSG_DATA(k));
    ask(t, RTM_GETLINK, 0, &i, sizeof i); beside.msg_controllen = 17; T(recvmsg(t, &beside, 0) > 500); T(beside.msg_flags);
    // The box is full: what is lost is told once.
    i.ifi_index = 123456; while (recv(t, in, 99, MSG_DONTWAIT) > 0);
    for (int k = 0; k < 3000; k++) ask(t, RTM_GETLINK, 0, &i, sizeof i);
    p.fd = t; T(poll(&p, 1, 0)); T(p.revents); T(recv(t, in, 999, 0)); T(recv(t, in, 999, 0)); while (recv(t, in, 99, MSG_DONTWAIT) > 0);
    T(ask(t, RTM_GETLINK, 0, &i, sizeof i)); T(recv(t, in, 999, 0)); close(s); close(t); close(port); close(e);
    // The older calls.
    int u = socket(AF_INET, SOCK_DGRAM, 0), w = socket(AF_UNIX, SOCK_STREAM, 0); struct ifreq q = {"lo"};
    T(ioctl(u, SIOCGIFINDEX, &q)); T(q.ifr_ifindex); T(ioctl(u, SIOCGIFFLAGS, &q)); T(q.ifr_flags & IFF_LOOPBACK); T(ioctl(w, SIOCGIFMTU, &q)); T(q.ifr_mtu);
    T(ioctl(w, SIOCGIFTXQLEN, &q)); T(q.ifr_qlen); T(ioctl(u, SIOCGIFHWADDR, &q)); T(q.ifr_hwaddr.sa_family); T(ioctl(u, SIOCGIFMETRIC, &q)); T(ioctl(w, SIOCGIFADDR, &q));
    memset(&q, 0, sizeof q); q.ifr_ifindex = 1; T(ioctl(w, SIOCGIFNAME, &q)); S(q.ifr_name, 3); q.ifr_ifindex = 0; T(ioctl(w, SIOCGIFNAME, &q));
    if (up) { strcpy(q.ifr_name, "lo"); int of[] = {SIOCGIFADDR, SIOCGIFNETMASK, SIOCGIFDSTADDR, SIOCGIFBRDADDR}; unsigned right[] = {0x7f000001, 0xff000000, 0x7f000001, 0};
        for (int k = 0; k < 4; k++) if (ioctl(u, of[k], &q) || ((struct sockaddr_in *)&q.ifr_addr)->sin_addr.s_addr != htonl(right[k])) printf("address %d\n", k); }
    strcpy(q.ifr_name, "none"); T(ioctl(u, SIOCGIFINDEX, &q)); T(ioctl(u, SIOCGIFFLAGS, &q)); T(ioctl(u, SIOCGIFADDR, &q)); T(ioctl(u, SIOCGIFFLAGS, BAD)); T(ioctl(0, SIOCGIFINDEX, &q));
    struct ifconf c = {0}; T(ioctl(u, SIOCGIFCONF, &c)); T(!up || c.ifc_len >= 40); struct ifreq list[50]; c.ifc_len = sizeof list; c.ifc_req = list; T(ioctl(u, SIOCGIFCONF, &c));
    int found = !up; for (int k = 0; k < c.ifc_len / 40; k++) found |= !strcmp(list[k].ifr_name, "lo"); T(found); c.ifc_len = 39; T(ioctl(u, SIOCGIFCONF, &c)); T(c.ifc_len);
    // The library's.
    T(if_nametoindex("lo")); T(if_nametoindex("none")); T(!strcmp(if_indextoname(1, b), "lo")); struct if_nameindex *n = if_nameindex();
    for (struct if_nameindex *k = n; k && k->if_index; k++) if (k->if_index == 1) printf("index [%s]\n", k->if_name);
    struct ifaddrs *all = 0; T(getifaddrs(&all)); v4 = v6 = x = 0;
    for (struct ifaddrs *k = all; k; k = k->ifa_next) if (!strcmp(k->ifa_name, "lo") && k->ifa_addr) {
        int family = k->ifa_addr->sa_family; v4 |= family == AF_INET && ((struct sockaddr_in *)k->ifa_netmask)->sin_addr.s_addr == htonl(0xff000000); v6 |= family == AF_INET6; x |= family == AF_PACKET; }
    T(!up || v4); T(x); struct addrinfo hints = {.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *found_at; Q(getaddrinfo("127.0.0.1", "80", &hints, &found_at));
    return 0;
}
