/* Signals: handlers, masks, alternate stacks, faults that are caught, jumps out of handlers. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t seen, depth, on_alternate;
static char *alternate;
static size_t alternate_size;

static void count(int number) { (void)number; seen++; }
static void info(int number, siginfo_t *si, void *context)
{
	(void)context;
	seen = number;
	depth = si->si_code;
}
static void fault(int number, siginfo_t *si, void *context)
{
	(void)context;
	char here;
	on_alternate = &here >= alternate && &here < alternate + alternate_size;
	seen = number;
	depth = si->si_addr == (void *)16;
	siglongjmp(back, 1);
}
static int recurse(int n) { volatile char frame[4096]; frame[n % 4096] = 1; return n > 1 << 30 ? 0 : recurse(n + 1) + frame[n % 4096]; }
static int nested_seen;
static void nested(int number) { nested_seen++; if (nested_seen < 3) raise(number); }

int main(void)
{
	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_handler = count;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	printf("handled %d\n", seen);

	sigset_t set, old, pending;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	seen = 0;
	raise(SIGUSR1);
	raise(SIGUSR1);
	sigpending(&pending);
	printf("blocked %d pending %d\n", seen, sigismember(&pending, SIGUSR1));
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("unblocked %d\n", seen);

	action.sa_flags = SA_SIGINFO;
	action.sa_sigaction = info;
	sigaction(SIGUSR2, &action, NULL);
	kill(getpid(), SIGUSR2);
	printf("info %d user %d\n", seen == SIGUSR2, depth == SI_USER);
	union sigval value = { .sival_int = 77 };
	sigqueue(getpid(), SIGUSR2, value);
	printf("queued %d\n", depth == SI_QUEUE);

	alternate_size = 64 * 1024;
	alternate = malloc(alternate_size);
	stack_t stack = { .ss_sp = alternate, .ss_size = alternate_size };
	sigaltstack(&stack, NULL);
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	action.sa_sigaction = fault;
	int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) sigaction(faults[i], &action, NULL);
	if (!sigsetjmp(back, 1)) *(volatile int *)16 = 1;
	printf("segv %d at 16 %d alternate %d\n", seen == SIGSEGV, depth, on_alternate);
	volatile int zero = 0, one = 1;
	if (!sigsetjmp(back, 1)) zero = one / zero;
	printf("fpe %d alternate %d\n", seen == SIGFPE, on_alternate);
	if (!sigsetjmp(back, 1)) __asm__ volatile("ud2");
	printf("ill %d\n", seen == SIGILL);
	if (!sigsetjmp(back, 1)) recurse(0);
	printf("overflow %d alternate %d\n", seen == SIGSEGV, on_alternate);
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!sigsetjmp(back, 1)) page[5] = 1;
	printf("read only %d\n", seen == SIGSEGV);

	memset(&action, 0, sizeof action);
	action.sa_handler = nested;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGTERM, &action, NULL);
	raise(SIGTERM);
	printf("nested %d\n", nested_seen);
	action.sa_handler = count;
	action.sa_flags = SA_RESETHAND;
	sigaction(SIGHUP, &action, &action);
	raise(SIGHUP);
	sigaction(SIGHUP, NULL, &action);
	printf("reset %d\n", action.sa_handler == SIG_DFL);

	int ends[2];
	pipe(ends);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	ssize_t written = write(ends[1], "x", 1);
	printf("pipe %zd %d\n", written, errno == EPIPE);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGCHLD);
	int number = 0;
	int waited = sigwait(&set, &number);
	printf("sigwait %d %d\n", waited, number == SIGCHLD);
	fflush(stdout);
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
	return 1;
}
