/* The input of a program, however it comes: the file that the first argument names, the second
 * argument, the variable INPUT, or standard input. And the output, as bytes that nobody formats. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 4096
static unsigned char in[MOST + 16];
static int length;

static void get(int argc, char **argv) {
    if (argc > 2) {
        length = strlen(argv[2]);
        memcpy(in, argv[2], length);
    } else if (getenv("INPUT")) {
        length = strlen(getenv("INPUT"));
        memcpy(in, getenv("INPUT"), length);
    } else {
        int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
        length = read(fd, in, MOST);
    }
    if (length < 16) _exit(99);
}

static unsigned char out[65536];
static int written;

/* Eight bytes of output. */
static void put(uint64_t value) {
    memcpy(out + written, &value, 8);
    written += 8;
}

static int end(void) {
    write(1, out, written);
    return 0;
}

static uint64_t word(int k) {
    uint64_t value;
    memcpy(&value, in + 8 * k % (length - 8), 8);
    return value;
}
