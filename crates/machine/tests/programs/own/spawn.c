/* posix_spawn with file actions, and vfork. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(void)
{
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "words.text", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "spawned.text", O_WRONLY | O_CREAT | O_TRUNC, 0640);
	char *sort[] = { "sort", "-u", NULL };
	pid_t child;
	int status = -1;
	int error = posix_spawnp(&child, "sort", &actions, NULL, sort, environ);
	waitpid(child, &status, 0);
	printf("spawned %d %d\n", error, WEXITSTATUS(status));
	char *absent[] = { "absent", NULL };
	printf("absent %s\n", strerror(posix_spawn(&child, "/no/such/program", NULL, NULL, absent, environ)));
	fflush(stdout);
	child = vfork();
	if (child == 0) { execlp("head", "head", "-n", "2", "spawned.text", (char *)NULL); _exit(127); }
	waitpid(child, &status, 0);
	printf("vforked %d\n", WEXITSTATUS(status));
	return 0;
}
