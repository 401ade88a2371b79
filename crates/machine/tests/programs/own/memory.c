/* Memory: the allocator under load, maps, protections, remaps, the break, discarded pages. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t state = 1;
static uint32_t next(void) { return state = state * 1664525u + 1013904223u; }

int main(void)
{
	enum { SLOTS = 500 };
	unsigned char *slots[SLOTS] = { 0 };
	size_t sizes[SLOTS] = { 0 };
	uint64_t sum = 0;
	for (int i = 0; i < 40000; i++) {
		int s = next() % SLOTS;
		for (size_t k = 0; k < sizes[s]; k += 97) sum = sum * 31 + slots[s][k];
		size_t size = next() % (i % 100 ? 2000 : 300000);
		if (next() % 3 == 0) { free(slots[s]); slots[s] = NULL; sizes[s] = 0; continue; }
		slots[s] = realloc(slots[s], size + 1);
		memset(slots[s], s, size + 1);
		sizes[s] = size + 1;
	}
	printf("allocator %016llx\n", (unsigned long long)sum);
	void *aligned;
	printf("aligned %d %d\n", posix_memalign(&aligned, 4096, 100), ((uintptr_t)aligned & 4095) == 0);
	int *zeroes = calloc(100000, sizeof *zeroes);
	long total = 0;
	for (int i = 0; i < 100000; i++) total += zeroes[i];
	printf("calloc %ld\n", total);

	size_t page = sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(area, 'x', 16 * page);
	printf("protect %d\n", mprotect(area + page, page, PROT_READ));
	int advised = madvise(area + 4 * page, page, MADV_DONTNEED);
	printf("discard %d %d %d\n", advised, area[4 * page], area[5 * page]);
	printf("unmap %d\n", munmap(area + 8 * page, page));
	char *moved = mremap(area + 9 * page, 7 * page, 40 * page, MREMAP_MAYMOVE);
	printf("remap %d %c %d\n", moved != MAP_FAILED, moved[0], moved[20 * page]);
	char *fixed = mmap(area, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	printf("fixed %d %d\n", fixed == area, area[0]);
	void *bad = mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("bad %d %d\n", bad == MAP_FAILED, errno == EINVAL);
	char *old = sbrk(0);
	char *before = sbrk(100000);
	printf("break %d %d\n", before == old, ((char *)sbrk(0)) == old + 100000);
	char *huge = mmap(NULL, 1ull << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (huge != MAP_FAILED) { huge[1ull << 39] = 5; printf("sparse %d\n", huge[1ull << 39] + huge[(1ull << 39) + 1]); }

	int fd = open("words.text", O_RDWR);
	char *file = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	file[0] = 'Q';
	char first;
	pread(fd, &first, 1, 0);
	printf("private %c %c end %d\n", file[0], first, file[page - 1]);
	char *both = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	both[1] = 'U';
	msync(both, page, MS_SYNC);
	char second[2];
	pread(fd, second, 2, 0);
	printf("shared %.2s\n", second);
	pwrite(fd, "z", 1, 2);
	printf("written %c\n", both[2]);
	return 0;
}
