/* All the ways in which a file can be read. */
#define _GNU_SOURCE
#include "input.h"
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* Something that depends on some bytes, and a branch on one. */
static void use(const unsigned char *at, int count) {
    uint64_t sum = 0;
    for (int k = 0; k < count; k++) sum = 31 * sum + at[k];
    put(sum);
    put(at[count / 2] > 'a' ? 1 : 2);
}

int main(int argc, char **argv) {
    int fd = open(argv[1], O_RDONLY);
    unsigned char a[64], b[64], c[64];
    length = 64;
    use(a, read(fd, a, 10));
    struct iovec parts[2] = {{a, 7}, {b, 9}};
    put(readv(fd, parts, 2)), use(a, 7), use(b, 9);
    put(pread(fd, c, 20, 30)), use(c, 20);
    put(preadv(fd, parts, 2, 40)), use(b, 9);
    lseek(fd, 5, SEEK_SET), put(read(fd, c, 3)), use(c, 3);
    struct stat st;
    fstat(fd, &st), put(st.st_size);
    unsigned char *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    use(map, 64), use(map + 33, 5);
    unsigned char *mine = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    mine[3] = mine[4] + 1, mine[64] = 5, use(mine, 66);
    mine = mremap(mine, 4096, 8192, MREMAP_MAYMOVE), use(mine, 64);
    use(map, 5);
    /* A child sees them, too. */
    unsigned char *heap = malloc(300000);
    memcpy(heap + 200000, map, 64), heap = realloc(heap, 900000), use(heap + 200000, 64);
    FILE *f = fopen(argv[1], "r");
    char *line = NULL;
    size_t room = 0;
    put(getdelim(&line, &room, '1', f)), use((unsigned char *)line, 3);
    put(fgetc(f)), put(getc_unlocked(f)), ungetc('x', f), put(fgetc(f));
    put(fread(a, 1, 6, f)), use(a, 6), fseek(f, 2, SEEK_SET), fgets((char *)b, 12, f), use(b, 8);
    fclose(f);
    /* Written to another file and read again: the machine keeps that, not what it stands for. */
    int copy = open("copy", O_RDWR | O_CREAT, 0600);
    write(copy, map + 8, 8), pread(copy, a, 8, 0), put(a[3]);
    int ends[2];
    pipe(ends), write(ends[1], map + 16, 8), read(ends[0], b, 8), put(b[5]);
    return end();
}
