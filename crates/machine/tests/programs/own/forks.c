/* Processes: fork, wait, pipes, exec, memory shared after a fork, orphans of pipes, statuses. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child) { int status; return waitpid(child, &status, 0) == child ? status : -1; }

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int private = 1;
	pid_t child = fork();
	if (child == 0) { shared[0] = 42; private = 2; _exit(17); }
	int status = status_of(child);
	printf("exit %d %d shared %d private %d\n", WIFEXITED(status), WEXITSTATUS(status), shared[0], private);

	child = fork();
	if (child == 0) { raise(SIGKILL); _exit(0); }
	status = status_of(child);
	printf("signal %d %d\n", WIFSIGNALED(status), WTERMSIG(status));

	int ends[2];
	pipe(ends);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		dup2(ends[1], 1);
		close(ends[1]);
		execl("/bin/echo", "echo", "through", "a", "pipe", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	char text[64];
	ssize_t n = 0, got;
	while ((got = read(ends[0], text + n, sizeof text - n)) > 0) n += got;
	printf("read %.*s", (int)n, text);
	printf("exec %d\n", WEXITSTATUS(status_of(child)));

	/* A pipe holds 64 KiB: the writer must wait for the reader. */
	pipe(ends);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		char block[4096];
		for (int i = 0; i < 64; i++) { memset(block, i, sizeof block); if (write(ends[1], block, sizeof block) != sizeof block) _exit(1); }
		_exit(0);
	}
	close(ends[1]);
	unsigned long sum = 0, total = 0;
	unsigned char piece[1000];
	while ((got = read(ends[0], piece, sizeof piece)) > 0) { total += got; for (ssize_t i = 0; i < got; i++) sum += piece[i]; }
	printf("long pipe %lu %lu %d\n", total, sum, WEXITSTATUS(status_of(child)));

	/* Children count up a shared cell in turns. */
	pid_t children[4];
	volatile int *turn = shared + 1;
	for (int i = 0; i < 4; i++)
		if ((children[i] = fork()) == 0) { while (*turn != i) usleep(100); dprintf(1, "child %d\n", i); *turn = i + 1; _exit(i); }
	int codes = 0;
	for (int i = 0; i < 4; i++) codes += WEXITSTATUS(status_of(children[i]));
	printf("turns %d codes %d\n", *turn, codes);

	pid_t none = wait(NULL);
	printf("none left %d %d\n", none, errno == ECHILD);
	child = fork();
	if (child == 0) { pause(); _exit(0); }
	printf("running %d\n", waitpid(child, &status, WNOHANG) == 0);
	kill(child, SIGTERM);
	status = status_of(child);
	printf("terminated %d\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);

	FILE *command = popen("tr a-z A-Z; exit 3", "w");
	fputs("to a command\n", command);
	printf("pclose %d\n", WEXITSTATUS(pclose(command)));
	printf("system %d\n", WEXITSTATUS(system("exit 5")));
	execl("/no/such/program", "x", (char *)NULL);
	printf("no program %d\n", errno == ENOENT);
	return 0;
}
