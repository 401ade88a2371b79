/* long double: arithmetic, conversion to and from text, functions, special values. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	const char *texts[] = { "0.1", "1e4932", "3.3621031431120935063e-4932", "-123456789.987654321", "0x1.8p+100", "inf", "nan", "1e-4950", "18446744073709551615" };
	for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
		long double x = strtold(texts[i], NULL);
		printf("%Lg %.25Le %La %d %d\n", x, x, x, fpclassify(x), signbit(x) != 0);
		printf("%.3f %d %lld %llu\n", (double)x, isfinite(x) && fabsl(x) < 1e9L ? (int)x : 0,
		       isfinite(x) && fabsl(x) < 9e18L ? (long long)x : 0LL, x >= 0 && x < 1.8e19L ? (unsigned long long)x : 0ULL);
	}
	long double pi = acosl(-1.0L), e = expl(1.0L);
	printf("%.18Lf %.18Lf %.18Lf %.18Lf\n", pi, e, sqrtl(2.0L), powl(2.0L, 0.5L));
	printf("%.18Lf %.18Lf %.18Lf %.18Lf\n", sinl(1e10L), logl(10.0L), fmodl(1e18L, 7.0L), cbrtl(27.5L));
	printf("%.18Lf %.18Lf %.18Lf %Lf\n", atan2l(1.0L, -3.0L), hypotl(3.0L, 4.5L), log2l(e), remainderl(17.5L, 4.0L));
	printf("%La %La %d\n", nextafterl(1.0L, 2.0L), LDBL_EPSILON, LDBL_MANT_DIG);
	int exponent;
	long double m = frexpl(1e100L, &exponent), whole, part = modfl(-3.75L, &whole);
	printf("%.20Lf %d %Lf %Lf %Lf\n", m, exponent, part, whole, ldexpl(0.75L, 20));
	printf("%Lf %Lf %Lf %Lf %ld %lld\n", floorl(-2.5L), ceill(-2.5L), roundl(2.5L), rintl(2.5L), lrintl(3.5L), llroundl(-2.5L));
	long double sum = 0;
	for (int i = 1; i <= 1000; i++) sum += 1.0L / i * (i & 1 ? 1 : -1);
	printf("%.20Lf %d %d\n", sum, sum < logl(2.0L), sum != sum);
	volatile long double a = 1.0L, b = 3.0L;
	volatile double d = a / b; volatile float f = a / b;
	printf("%.20f %.10f %.20Lf\n", d, f, a / b - (long double)d);
	return 0;
}
