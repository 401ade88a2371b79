/* String functions at every alignment, with the end of memory right behind the text. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <wchar.h>

static uint64_t hash = 14695981039346656037u;
static void add(long value) { hash = (hash ^ (uint64_t)value) * 1099511628211u; }
static long sign(int value) { return (value > 0) - (value < 0); }
static long at(const void *found, const void *base) { return found ? (const char *)found - (const char *)base : -1; }

int main(void)
{
	size_t page = 4096;
	char *area = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(area + 3 * page, page, PROT_NONE);
	char *end = area + 3 * page;
	static char other[400], needle[8];
	for (int length = 0; length < 150; length++) {
		for (int place = 0; place < 3; place++) {
			char *text = place == 0 ? end - length - 1 : area + page + (place == 1 ? length * 7 % 64 : 0);
			for (int i = 0; i < length; i++) text[i] = 'a' + (i * i + length) % 23;
			text[length] = 0;
			add(strlen(text)); add(strnlen(text, length / 2));
			add(at(strchr(text, 'k'), text)); add(at(strrchr(text, 'k'), text)); add(at(memchr(text, 'q', length), text));
			add(at(memrchr(text, 'c', length), text)); add(at(strchrnul(text, 'Z'), text)); add(at(rawmemchr(text, 0), text));
			strcpy(other + length % 16, text);
			char *copy = other + length % 16;
			add(sign(strcmp(text, copy))); add(sign(memcmp(text, copy, length)));
			if (length) { copy[length - 1] ^= 1; add(sign(strcmp(text, copy))); add(sign(memcmp(text, copy, length))); add(sign(strncmp(text, copy, length - 1))); copy[length / 2] -= 32; add(sign(strcasecmp(text, copy))); add(sign(strncasecmp(text, copy, length - 1))); }
			memcpy(needle, length > 10 ? text + length - 6 : "xyz", 4); needle[4] = 0;
			add(at(strstr(text, needle), text)); add(at(memmem(text, length, needle, 4), text)); add(at(strcasestr(text, "KLM"), text));
			add(strspn(text, "abcdefghijkl")); add(strcspn(text, "wvu")); add(at(strpbrk(text, "wvu"), text));
			memmove(other + 5, other, length); memmove(other, other + 3, length); memset(other + length, length, 17);
			add(at(stpcpy(other + 200, text), other)); strncpy(other + 200, text, 190); strcat(other, ""); add(at(mempcpy(other + 1, text, length), other));
			for (int i = 0; i < 390; i++) add(other[i]);
			other[399] = 0;
		}
	}
	printf("narrow %016llx\n", (unsigned long long)hash);
	wchar_t wide[200], second[200];
	for (int length = 0; length < 120; length++) {
		for (int i = 0; i < length; i++) wide[i] = 0x100 + (i * 31 + length) % 57;
		wide[length] = 0;
		wcscpy(second, wide);
		if (length) second[length - 1]++;
		add(wcslen(wide)); add(at(wcschr(wide, 0x110), wide)); add(sign(wcscmp(wide, second))); add(sign(wmemcmp(wide, second, length)));
		add(at(wcsrchr(wide, 0x110), wide)); add(at(wmemchr(wide, 0x120, length), wide)); add(wcsnlen(wide, 50));
	}
	printf("wide %016llx\n", (unsigned long long)hash);
	char line[] = "one, two;three  four", *state, *word;
	for (word = strtok_r(line, ", ;", &state); word; word = strtok_r(NULL, ", ;", &state)) printf("<%s>", word);
	char colons[] = "a::b:c", *rest = colons;
	while ((word = strsep(&rest, ":"))) printf("[%s]", word);
	printf(" %s %s\n", strerror(2), strsignal(11));
	char *copy = strdup("duplicate"), *made;
	int length = asprintf(&made, "%s-%d", copy, 7);
	printf("%s %s %d %s\n", copy, strndup(copy, 3), length, made);
	printf("%ld %lu %lld %ld\n", strtol("-0x7fz", NULL, 0), strtoul("777", NULL, 8), strtoll("zz", NULL, 36), strtol("99999999999999999999", NULL, 10));
	printf("%d %d %d\n", atoi("  42x"), strverscmp("a10", "a9") > 0, ffsl(0x1000));
	return 0;
}
