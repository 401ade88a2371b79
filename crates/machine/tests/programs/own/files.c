/* Files: every ordinary call, and what it answers when it cannot. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SAY(call) do { errno = 0; long r = (long)(call); printf("%s = %ld %s\n", #call, r, errno ? strerrorname_np(errno) : ""); } while (0)
static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }
static void list(const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, by_name);
	printf("%s:", path);
	for (int i = 0; i < n; i++) printf(" %s%s", names[i]->d_name, names[i]->d_type == DT_DIR ? "/" : names[i]->d_type == DT_LNK ? "@" : "");
	puts("");
}

int main(void)
{
	char buffer[64];
	struct stat st;
	struct iovec parts[2] = { { "ab", 2 }, { "cdef", 4 } };
	int fd = open("new", O_RDWR | O_CREAT | O_EXCL, 0640);
	SAY(write(fd, "hello world", 11));
	SAY(lseek(fd, 6, SEEK_SET));
	SAY(write(fd, "W", 1));
	SAY(lseek(fd, 0, SEEK_CUR));
	SAY(pwritev(fd, parts, 2, 20));
	SAY(lseek(fd, 0, SEEK_END));
	SAY(pread(fd, buffer, 64, 0));
	for (int i = 0; i < 26; i++) putchar(buffer[i] ? buffer[i] : '.');
	puts("");
	SAY(ftruncate(fd, 8));
	SAY(fstat(fd, &st));
	printf("size %ld mode %o links %ld\n", (long)st.st_size, st.st_mode, (long)st.st_nlink);
	SAY(open("new", O_RDWR | O_CREAT | O_EXCL, 0640));
	SAY(open("absent", O_RDONLY));
	SAY(open("words.text/x", O_RDONLY));
	SAY(open("tree", O_WRONLY));
	SAY(read(fd, buffer, 0));
	SAY(close(fd));
	SAY(close(fd));
	fd = open("new", O_WRONLY | O_APPEND);
	SAY(write(fd, "!", 1));
	SAY(read(fd, buffer, 1));
	SAY(fcntl(fd, F_GETFL) & (O_APPEND | O_ACCMODE));
	SAY(fcntl(fd, F_SETFD, FD_CLOEXEC));
	SAY(fcntl(fd, F_GETFD));
	SAY(flock(fd, LOCK_EX | LOCK_NB));
	int copy = fcntl(fd, F_DUPFD, 50);
	SAY(copy);
	SAY(dup2(fd, 60));
	SAY(fsync(fd));
	SAY(mkdir("d", 0750));
	SAY(mkdir("d", 0750));
	SAY(mkdir("no/d", 0750));
	SAY(link("new", "d/hard"));
	SAY(symlink("../words.text", "d/soft"));
	SAY(symlink("loop", "loop"));
	SAY(open("loop", O_RDONLY));
	SAY(readlink("d/soft", buffer, 5));
	SAY(lstat("d/soft", &st));
	printf("link %d %ld\n", S_ISLNK(st.st_mode), (long)st.st_size);
	SAY(stat("d/soft", &st));
	printf("file %d %ld\n", S_ISREG(st.st_mode), (long)st.st_size);
	SAY(chmod("d/hard", 0600));
	SAY(stat("new", &st));
	printf("mode %o links %ld\n", st.st_mode, (long)st.st_nlink);
	SAY(rmdir("d"));
	SAY(unlink("d"));
	SAY(rename("d/hard", "moved"));
	SAY(rename("d", "words.text"));
	SAY(rename("tree/deep", "d/deep"));
	SAY(rename("d", "d/deep/inside"));
	list("d");
	list("d/deep/er");
	SAY(unlink("d/soft"));
	SAY(access("moved", R_OK | W_OK));
	SAY(access("moved", X_OK) == 0 || errno == EACCES);
	SAY(faccessat(AT_FDCWD, "absent", F_OK, 0));
	int dir = open("tree", O_RDONLY | O_DIRECTORY);
	SAY(openat(dir, "a.text", O_RDONLY) > 0);
	SAY(mkdirat(dir, "made", 0700));
	SAY(unlinkat(dir, "made", AT_REMOVEDIR));
	SAY(read(dir, buffer, 1));
	SAY(fchdir(dir));
	SAY(access("b.sh", F_OK));
	SAY(chdir(".."));
	struct timespec times[2] = { { 1000000000, 5 }, { 1100000000, 7 } };
	SAY(utimensat(AT_FDCWD, "moved", times, 0));
	SAY(stat("moved", &st));
	printf("times %ld %ld %ld\n", (long)st.st_atime, (long)st.st_mtime, (long)st.st_mtim.tv_nsec);
	char *cwd = getcwd(NULL, 0), *real = realpath("tree/../poem.text", NULL);
	printf("below %d\n", strncmp(cwd, real, strlen(cwd)) == 0);
	int gone = open("gone", O_RDWR | O_CREAT, 0600);
	SAY(unlink("gone"));
	SAY(write(gone, "still", 5));
	SAY(pread(gone, buffer, 64, 0));
	SAY(fstat(gone, &st));
	printf("links %ld\n", (long)st.st_nlink);
	int ends[2];
	SAY(pipe2(ends, O_NONBLOCK));
	SAY(read(ends[0], buffer, 1));
	SAY(lseek(ends[0], 0, SEEK_CUR));
	SAY(write(ends[1], buffer, 3));
	SAY(read(ends[0], buffer, 64));
	close(ends[1]);
	SAY(read(ends[0], buffer, 64));
	SAY(truncate("poem.text", 100));
	SAY(open("/dev/null", O_RDWR) > 0);
	FILE *f = fopen("stream", "w+");
	fprintf(f, "%d %s\n%5.1f", 42, "text", 2.25);
	rewind(f);
	int number; char word[10]; double real_number;
	printf("scanned %d", fscanf(f, "%d %9s %lf", &number, word, &real_number));
	printf(" %d %s %g %d\n", number, word, real_number, feof(f) != 0);
	fclose(f);
	umask(077);
	close(open("masked", O_CREAT | O_WRONLY, 0666));
	char name[] = "tempXXXXXX";
	int temporary = mkstemp(name);
	SAY(temporary > 0);
	SAY(unlink(name));
	return 0;
}
