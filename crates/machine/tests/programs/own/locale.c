/* Locales, wide and multibyte characters, conversion between encodings, formats. */
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

int main(void)
{
	printf("%s\n", setlocale(LC_ALL, ""));
	printf("%s %s %zu\n", nl_langinfo(CODESET), localeconv()->decimal_point, MB_CUR_MAX);
	wchar_t wide[64];
	size_t n = mbstowcs(wide, "façade 漢字 Ω", 64);
	printf("%zu", n);
	for (size_t i = 0; i < n; i++) printf(" %x/%d/%x", (unsigned)wide[i], wcwidth(wide[i]), (unsigned)towupper(wide[i]));
	printf("\n%ls|%10ls|%-4lc|\n", wide, L"Ωmega", L'é');
	printf("%d %d %d\n", iswalpha(L'é') != 0, iswdigit(L'٣') != 0, iswspace(0x3000) != 0);
	char *in = "na\xc3\xafve \xe2\x82\xac", out[64], *from = in, *to = out;
	size_t left = strlen(in), room = sizeof out;
	iconv_t c = iconv_open("UTF-16LE", "UTF-8");
	size_t r = iconv(c, &from, &left, &to, &room);
	printf("iconv %zd %zu:", (ssize_t)r, sizeof out - room);
	for (char *p = out; p < to; p++) printf(" %02x", (unsigned char)*p);
	iconv_close(c);
	c = iconv_open("ISO-8859-15//TRANSLIT", "UTF-8");
	from = in; left = strlen(in); to = out; room = sizeof out;
	r = iconv(c, &from, &left, &to, &room);
	printf("\niconv %zd %02x %02x\n", (ssize_t)r, (unsigned char)out[2], (unsigned char)to[-1]);
	time_t t = 1577923200;
	char text[128];
	strftime(text, sizeof text, "%A %d %B %Y %H:%M:%S %Z %j %U %G-W%V", gmtime(&t));
	puts(text);
	printf("%d %d\n", strcoll("a", "B") > 0, wcscoll(L"é", L"z") > 0);
	printf("%s\n", setlocale(LC_ALL, "xx_XX") ? "there" : "absent");
	return 0;
}
