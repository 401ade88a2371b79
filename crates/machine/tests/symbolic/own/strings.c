/* The string functions of the C library, which use SSE2, on strings that the input decides. */
#define _GNU_SOURCE
#include "input.h"
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include <wchar.h>

static int sign(int k) { return (k > 0) - (k < 0); }

static int ascending(const void *a, const void *b) {
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

int main(int argc, char **argv) {
    get(argc, argv);
    char *s = (char *)in, copy[MOST + 32];
    put(strlen(s)), put(strnlen(s, 20));
    strcpy(copy, s), strncpy(copy + 100, s + 3, 40), stpcpy(copy + 200, s + 5);
    put(copy[7]), put(copy[110]), put(copy[210]);
    memcpy(copy, s, length + 1), memmove(copy + 3, copy, length), put(copy[9]);
    put(sign(strcmp(s, "The ferry leaves"))), put(sign(strcmp(copy + 3, s)));
    put(sign(strncmp(s, "The ferry leaves never", 17))), put(sign(strcasecmp(s, "the FERRY")));
    put(sign(strncasecmp(s, "THE fERRY", 9))), put(sign(memcmp(s, s + 1, 30)));
    put(strchr(s, 'f') ? strchr(s, 'f') - s : -1), put(strrchr(s, '7') ? strrchr(s, '7') - s : -1);
    put((char *)memchr(s, '-', length) - s), put((char *)memrchr(s, '2', length) - s);
    put(strstr(s, "12") ? strstr(s, "12") - s : -1), put((char *)rawmemchr(s, 0) - s);
    put((char *)memmem(s, length, "45", 2) - s), put(strcasestr(s, "PIER") ? 1 : 0);
    put(strspn(s, "0123456789")), put(strcspn(s, ",;-")), put(strpbrk(s, ":*") ? 1 : 0);
    put(strtol(s + 20, NULL, 10)), put(strtoul(s, NULL, 16)), put(atoi(s + 11));
    char *save, *token = strtok_r(strcpy(copy, s), " ,-", &save);
    for (int k = 0; token && k < 4; k++, token = strtok_r(NULL, " ,-", &save)) put(strlen(token));
    int letters = 0, digits = 0;
    for (int k = 0; k < length; k++) letters += !!isalpha(in[k]), digits += !!isdigit(in[k]);
    put(letters), put(digits), put(toupper(in[4])), put(tolower(in[0]));
    int a = -1, b = -1;
    put(sscanf(s + 20, "%d:%d", &a, &b)), put(a), put(b);
    char text[200];
    put(snprintf(text, sizeof text, "%d %s %x", in[3], s + 50, in[5])), put(text[2]);
    memcpy(copy, s, 24), qsort(copy, 24, 1, ascending);
    for (int k = 0; k < 24; k += 5) put(copy[k]);
    memset(copy, in[9], 70), put(copy[69]), strcat(strcpy(copy, s + 40), s + 30), put(copy[30]);
    return end();
}
