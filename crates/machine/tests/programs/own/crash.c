/* Ends in the way that its argument names. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int overflow(int n) { volatile char frame[1000]; frame[0] = (char)n; return overflow(n + 1) + frame[0]; }
static void smash(const char *text) { char small[8]; strcpy(small, text); printf("%c\n", small[0]); }
static void *in_thread(void *argument) { *(volatile int *)8 = 1; return argument; }
static void at_end(void) { puts("at exit"); }

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	volatile int zero = argc - 2, one = 1;
	atexit(at_end);
	printf("before\n");
	if (strcmp(way, "unflushed")) fflush(stdout);
	if (!strcmp(way, "null")) *(volatile int *)0 = 1;
	if (!strcmp(way, "unflushed")) *(volatile int *)0 = 1;
	if (!strcmp(way, "read-only")) *(char *)(long)"constant" = 'C';
	if (!strcmp(way, "noncanonical")) return *(volatile int *)0x8000000000000000;
	if (!strcmp(way, "jump")) ((void (*)(void))0x10)();
	if (!strcmp(way, "no-execute")) ((void (*)(void))malloc(16))();
	if (!strcmp(way, "divide")) return one / zero;
	if (!strcmp(way, "minimum")) { volatile int low = -2147483647 - 1, minus = zero - 1; return low / minus; }
	if (!strcmp(way, "abort")) abort();
	if (!strcmp(way, "assert")) assert(zero != 0 && "the argument");
	if (!strcmp(way, "illegal")) __asm__ volatile("ud2");
	if (!strcmp(way, "trap")) __asm__ volatile("int3");
	if (!strcmp(way, "halt")) __asm__ volatile("hlt");
	if (!strcmp(way, "stack")) return overflow(0);
	if (!strcmp(way, "smash")) smash("much longer than eight bytes, really, and then some more");
	if (!strcmp(way, "double-free")) { char *p = malloc(100); free(p); free(p); }
	if (!strcmp(way, "bad-free")) { char *p = malloc(100); free(p + 3); }
	if (!strcmp(way, "thread")) { pthread_t t; pthread_create(&t, NULL, in_thread, NULL); pthread_join(t, NULL); }
	if (!strcmp(way, "kill")) kill(getpid(), SIGKILL);
	if (!strcmp(way, "pipe")) { int ends[2]; if (pipe(ends)) return 1; close(ends[0]); if (write(ends[1], "x", 1)) return 2; }
	if (!strcmp(way, "bus")) { FILE *f = fopen("empty.file", "w+"); char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(f), 0); return p[0]; }
	if (!strcmp(way, "quick")) _exit(200);
	if (!strcmp(way, "exit")) exit(-1);
	return 7;
}
