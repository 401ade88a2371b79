/* The C library beyond strings: sorting, patterns, dates, options, environment, numbers, modules. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fnmatch.h>
#include <ftw.h>
#include <getopt.h>
#include <glob.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void show(const void *node, VISIT visit, int level) { (void)level; if (visit == postorder || visit == leaf) printf("%s ", *(char *const *)node); }
static int sum(int n, ...) { va_list list; va_start(list, n); int total = 0; while (n--) total += va_arg(list, int); va_end(list); return total; }
static int walked; static long sizes;
static int visit(const char *path, const struct stat *st, int type, struct FTW *where) { (void)path; (void)where; walked++; if (type == FTW_F) sizes += st->st_size; return 0; }

int main(int argc, char **argv)
{
	int option;
	while ((option = getopt_long(argc, argv, "ab:", (struct option[]){ { "long", required_argument, NULL, 'l' }, { 0 } }, NULL)) != -1)
		printf("option %c %s\n", option, optarg ? optarg : "-");
	for (int i = optind; i < argc; i++) printf("word %s\n", argv[i]);
	int numbers[1000];
	srand(5); srandom(7);
	for (int i = 0; i < 1000; i++) numbers[i] = rand() % 5000;
	qsort(numbers, 1000, sizeof *numbers, compare);
	int key = numbers[500];
	printf("qsort %d %d %d %ld %ld\n", numbers[0], numbers[999], *(int *)bsearch(&key, numbers, 1000, sizeof key, compare) == key, random(), lrand48());
	void *root = NULL;
	const char *names[] = { "pear", "apple", "fig", "date" };
	for (int i = 0; i < 4; i++) tsearch(names[i], &root, (int (*)(const void *, const void *))strcmp);
	twalk(root, show);
	puts("");
	regex_t regex;
	regmatch_t match[3];
	regcomp(&regex, "([a-z]+)-([0-9]{2,})", REG_EXTENDED | REG_ICASE);
	printf("regex %d", regexec(&regex, "xx Stunt-42 yy", 3, match, 0));
	for (int i = 0; i < 3; i++) printf(" %d..%d", match[i].rm_so, match[i].rm_eo);
	printf(" %d %d\n", regexec(&regex, "none", 0, NULL, 0), fnmatch("*.[ch]", "file.c", 0));
	glob_t found;
	glob("*.text", 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) printf("%s ", found.gl_pathv[i]);
	wordexp_t words;
	setenv("WHO", "the sea", 1);
	wordexp("a \"$WHO\" *.csv", &words, WRDE_NOCMD);
	for (size_t i = 0; i < words.we_wordc; i++) printf("(%s)", words.we_wordv[i]);
	puts("");
	struct tm tm = { .tm_year = 120, .tm_mon = 1, .tm_mday = 30, .tm_hour = 25 };
	time_t t = timegm(&tm);
	char text[100];
	printf("%ld %s", (long)t, asctime(&tm));
	strptime("2021-03-04 05:06:07", "%Y-%m-%d %H:%M:%S", &tm);
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	time_t summer = 1625097600;
	strftime(text, sizeof text, "%c %Z %z", localtime(&summer));
	printf("%d %s\n", tm.tm_yday, text);
	printf("%d %s %d\n", sum(5, 1, 2, 3, 4, 5), getenv("WHO"), getenv("ABSENT") == NULL);
	void *module = dlopen("libm.so.6", RTLD_NOW);
	double (*cosine)(double) = (double (*)(double))dlsym(module, "cos");
	printf("dlsym %.6f %d\n", cosine(1.0), dlsym(module, "no_such_name") == NULL);
	printf("dlopen %d\n", dlopen("./libsum.so", RTLD_LAZY) != NULL);
	nftw("tree", visit, 8, FTW_PHYS);
	struct rlimit limit;
	struct utsname name;
	uname(&name);
	printf("walk %d %ld %s %s %d\n", walked, sizes, name.sysname, name.machine, getrlimit(RLIMIT_STACK, &limit));
	div_t q = div(-7, 2);
	printf("%d %d %jd %s\n", q.quot, q.rem, (intmax_t)5, ecvt(3.14159, 4, &option, &walked));
	printf("%*d|%-*s|%'d|%hhd %zu %jd %td %c %% %5.2s|%#o %#x\n", 6, 42, 5, "ab", 1234567, (char)300, sizeof(long), (intmax_t)-1, (ptrdiff_t)9, 'z', "long", 8, 255);
	printf("%2$s %1$s\n", "second", "first");
	return 0;
}
