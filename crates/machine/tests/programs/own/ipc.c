/* Waiting for several things: poll, select, epoll, eventfd, socket pairs, timers that are over. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	int ends[2], pair[2];
	char buffer[64];
	int n;
	pipe(ends);
	struct pollfd fds[2] = { { ends[0], POLLIN, 0 }, { ends[1], POLLOUT, 0 } };
	n = (int)poll(fds, 2, 0);
	printf("poll %d %x %x\n", n, fds[0].revents, fds[1].revents);
	write(ends[1], "abc", 3);
	n = (int)poll(fds, 2, 1000);
	printf("poll %d %x %x\n", n, fds[0].revents, fds[1].revents);
	fd_set set;
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	struct timeval limit = { 1, 0 };
	n = (int)select(ends[0] + 1, &set, NULL, NULL, &limit);
	printf("select %d %d\n", n, FD_ISSET(ends[0], &set) != 0);
	read(ends[0], buffer, 3);
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	limit = (struct timeval){ 0, 1000 };
	printf("select %d\n", select(ends[0] + 1, &set, NULL, NULL, &limit));

	printf("socketpair %d\n", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	printf("send %zd\n", send(pair[0], "hello", 5, 0));
	printf("peek %zd\n", recv(pair[1], buffer, 3, MSG_PEEK));
	n = (int)recv(pair[1], buffer, 64, 0);
	printf("recv %d %.5s\n", n, buffer);
	n = (int)recv(pair[1], buffer, 64, MSG_DONTWAIT);
	printf("again %d %d\n", n, errno == EAGAIN);
	int events = eventfd(3, EFD_NONBLOCK);
	int poller = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 1 }, ready[4];
	epoll_ctl(poller, EPOLL_CTL_ADD, events, &event);
	event.data.u32 = 2;
	epoll_ctl(poller, EPOLL_CTL_ADD, pair[1], &event);
	n = epoll_wait(poller, ready, 4, 0);
	printf("epoll %d %u\n", n, ready[0].data.u32);
	eventfd_t value;
	eventfd_read(events, &value);
	printf("eventfd %lu\n", (unsigned long)value);
	n = (int)eventfd_read(events, &value);
	printf("empty %d %d\n", n, errno == EAGAIN);

	if (fork() == 0) { write(pair[0], "child", 5); shutdown(pair[0], SHUT_WR); _exit(0); }
	n = epoll_wait(poller, ready, 4, -1);
	printf("epoll %d %u\n", n, ready[0].data.u32);
	size_t got = 0;
	ssize_t r;
	while ((r = read(pair[1], buffer + got, sizeof buffer - got)) > 0) got += r;
	printf("from child %.*s\n", (int)got, buffer);
	wait(NULL);

	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec when = { .it_value = { 0, 1000000 } };
	timerfd_settime(timer, 0, &when, NULL);
	unsigned long long expired;
	n = (int)read(timer, &expired, 8);
	printf("timer %d %d\n", n, expired >= 1);
	struct timespec before, after, pause = { 0, 2000000 };
	clock_gettime(CLOCK_MONOTONIC, &before);
	printf("sleep %d\n", nanosleep(&pause, NULL));
	clock_gettime(CLOCK_MONOTONIC, &after);
	long passed = (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec;
	printf("passed %d\n", passed >= 2000000);

	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
	n = (int)bind(server, (struct sockaddr *)&name, sizeof name);
	printf("bind %d listen %d\n", n, listen(server, 1));
	printf("connect %d\n", connect(client, (struct sockaddr *)&name, sizeof name));
	int accepted = accept(server, NULL, NULL);
	write(client, "over a name", 11);
	n = (int)read(accepted, buffer, 64);
	printf("accepted %.*s\n", n, buffer);
	unlink("socket");
	return 0;
}
