/* Characters that are checked by a condition of many clauses and copied, as libyaml's reader does. */
#include <stdlib.h>
#include <unistd.h>

static struct { unsigned char *at; unsigned long offset, count; unsigned char copy[64], *end; } reader;

int main(void) {
    unsigned char in[16];
    if (read(0, in, 12) != 12) return 9;
    reader.at = in, reader.end = reader.copy;
    for (int k = 0; k < 12; k++) {
        unsigned char octet = reader.at[0];
        unsigned width = (octet & 0x80) == 0 ? 1 : (octet & 0xe0) == 0xc0 ? 2 : 0;
        if (!width) return 2;
        unsigned value = (octet & 0x80) == 0 ? octet & 0x7f : (octet & 0xe0) == 0xc0 ? octet & 0x1f : 0;
        if (!(value == 0x09 || value == 0x0a || value == 0x0d || (value >= 0x20 && value <= 0x7e) ||
              value == 0x85 || (value >= 0xa0 && value <= 0xd7ff) ||
              (value >= 0xe000 && value <= 0xfffd) || (value >= 0x10000 && value <= 0x10ffff)))
            return 1;
        reader.at += width, reader.offset += width;
        if (value <= 0x7f) *reader.end++ = value;
        else return 3;
        reader.count++;
    }
    abort();
}
