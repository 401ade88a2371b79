// A server in several manners, and a client. It fails on what begins with "BUG", and answers everything else.
//   server MANNER PORT: single, fork, thread, daemon, epoll, six, twice (two clients at a time), sleepy
//   server client PORT: connects to an address outside
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int all;
__attribute__((noinline)) static void check(const char *text) {
  if(!strncmp(text, "BUG", 3)) *(volatile int *)text = *(volatile int *)8;
}
static void serve(int with) {
  char text[65536]; ssize_t n, have = 0;
  while((n = recv(with, text + have, sizeof text - 1 - have, 0)) > 0) have += n;
  text[have] = 0;
  check(text);
  all += have;
  printf("%zd bytes\n", have); fflush(stdout);
  send(with, text, have, MSG_NOSIGNAL);
  close(with);
}
static void *thread(void *with) { serve((int)(long)with); return 0; }
static int listening(int family, int port) {
  int s = socket(family, SOCK_STREAM, 0), yes = 1;
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
  setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  int bad = family == AF_INET ? bind(s, (void *)&four, sizeof four) : bind(s, (void *)&six, sizeof six);
  if(bad || listen(s, 4)) { perror("server"); exit(2); }
  return s;
}
static int client(int port) {
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = inet_addr("192.0.2.17")};
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if(connect(s, (void *)&there, sizeof there)) { perror("connect"); return 3; }
  send(s, "hello?", 6, 0);
  serve(s);
  return 0;
}
int main(int argc, char **argv) {
  const char *manner = argv[1]; int port = atoi(argv[2]);
  if(!strcmp(manner, "client")) return client(port);
  if(!strcmp(manner, "reach")) { // what a run with a network must not reach
    int u = socket(AF_UNIX, SOCK_STREAM, 0); printf("unix %d\n", u < 0 ? errno : 0);
    int n = socket(AF_NETLINK, SOCK_RAW, 0); printf("netlink %d\n", n < 0 ? errno : 0);
    struct sockaddr_in host = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    printf("connect %d\n", connect(s, (void *)&host, sizeof host) ? errno : 0);
    return 0;
  }
  if(!strcmp(manner, "daemon")) { if(fork()) _exit(0); setsid(); if(fork()) _exit(0); manner = "single"; }
  int server = listening(!strcmp(manner, "six") ? AF_INET6 : AF_INET, port);
  if(!strcmp(manner, "epoll")) {
    int e = epoll_create1(0); struct epoll_event it = {.events = EPOLLIN | EPOLLET, .data.fd = server};
    fcntl(server, F_SETFL, O_NONBLOCK); epoll_ctl(e, EPOLL_CTL_ADD, server, &it);
    for(;;) { if(epoll_wait(e, &it, 1, -1) > 0) { int with; while((with = accept4(server, 0, 0, 0)) >= 0) serve(with); } }
  }
  if(!strcmp(manner, "twice")) { int a = accept(server, 0, 0), b = accept(server, 0, 0); serve(b); serve(a); return all; }
  for(;;) {
    if(!strcmp(manner, "sleepy")) { struct pollfd p = {server, POLLIN}; if(poll(&p, 1, 50) < 1) continue; }
    int with = accept(server, 0, 0);
    if(!strcmp(manner, "fork")) { if(!fork()) { close(server); serve(with); _exit(0); } close(with); while(waitpid(-1, 0, WNOHANG) > 0) ; }
    else if(!strcmp(manner, "thread")) { pthread_t t; pthread_create(&t, 0, thread, (void *)(long)with); pthread_detach(t); }
    else serve(with);
  }
}
