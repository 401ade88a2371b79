/* Floating point: functions, conversions, rounding modes, exception flags, special values. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
static uint32_t bits32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }

int main(void)
{
	double (*functions[])(double) = { sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, exp, exp2, expm1, log, log2, log10, log1p, sqrt, cbrt, floor, ceil, round, trunc, rint, fabs, erf, tgamma, lgamma };
	double values[] = { 0.0, -0.0, 0.5, -0.75, 1.0, 2.5, -3.5, 10.0, 1e-10, 123.456, 1e15, -1e22, 5e-324, DBL_MAX, INFINITY, -INFINITY, NAN };
	uint64_t hash = 0;
	for (unsigned f = 0; f < sizeof functions / sizeof *functions; f++) {
		for (unsigned v = 0; v < sizeof values / sizeof *values; v++) {
			double r = functions[f](values[v]);
			hash = hash * 1099511628211u ^ (isnan(r) ? 1 : bits(r));
		}
		printf("%2u %016llx\n", f, (unsigned long long)hash);
	}
	for (unsigned a = 0; a < sizeof values / sizeof *values; a++)
		for (unsigned b = 0; b < sizeof values / sizeof *values; b++) {
			double x = values[a], y = values[b], r[] = { x + y, x - y, x * y, x / y, pow(x, y), fmod(x, y), atan2(x, y), hypot(x, y), fmin(x, y), fmax(x, y), fma(x, y, 1), copysign(x, y), nextafter(x, y), remainder(x, y) };
			for (unsigned i = 0; i < sizeof r / sizeof *r; i++) hash = hash * 1099511628211u ^ (isnan(r[i]) ? 1 : bits(r[i]));
			hash = hash * 31 + (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * isunordered(x, y);
		}
	printf("pairs %016llx\n", (unsigned long long)hash);
	int modes[] = { FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO };
	for (int m = 0; m < 4; m++) {
		fesetround(modes[m]);
		volatile double one = 1, three = 3, big = 2.5, neg = -2.5;
		volatile float f = 0.1;
		printf("mode %d: %016llx %08x %g %g %ld %ld %.3f %.1f\n", m, (unsigned long long)bits(one / three), bits32(f * f), rint(big), rint(neg), lrint(big), lrint(neg), one / three, big);
	}
	fesetround(FE_TONEAREST);
	volatile double zero = 0, one = 1, huge = DBL_MAX, tiny = DBL_MIN, minus = -1;
	volatile double sink;
	volatile int whole;
	struct { const char *name; int flag; } flags[] = { { "div", FE_DIVBYZERO }, { "inv", FE_INVALID }, { "over", FE_OVERFLOW }, { "under", FE_UNDERFLOW }, { "inexact", FE_INEXACT } };
	for (int i = 0; i < 6; i++) {
		feclearexcept(FE_ALL_EXCEPT);
		switch (i) { case 0: sink = one / zero; break; case 1: sink = sqrt(minus); break; case 2: sink = huge * huge; break; case 3: sink = tiny * tiny; break; case 4: sink = one / 3; break; case 5: whole = (int)huge; break; }
		for (int k = 0; k < 5; k++) if (fetestexcept(flags[k].flag)) printf("%s ", flags[k].name);
		puts("");
	}
	(void)sink; (void)whole;
	const char *texts[] = { "0.1", "1e308", "1e309", "2.2250738585072011e-308", "4.9e-324", "-0", "0x1.fffffffffffffp1023", "9007199254740993", "123456789012345678901234567890", "nan(12)", ".5e1x" };
	for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
		char *end;
		double d = strtod(texts[i], &end);
		printf("%s -> %.17g %a %g %08x rest '%s'\n", texts[i], d, d, d, bits32(strtof(texts[i], NULL)), end);
	}
	printf("%e|%12.4f|%-12g|%+.0f|%#.3g|%G|%.40f\n", 12345.678, 3.14159, 1e-5, 2.5, 1.0, 1e-10, 0.1);
	printf("%d %d %lld %llu %d\n", (int)-7.9, (int)2147483647.5, (long long)1e18, (unsigned long long)1.5e19, (signed char)(int)300.7);
	return 0;
}
