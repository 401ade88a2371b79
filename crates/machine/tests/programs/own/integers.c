/* Integer arithmetic in all widths, 128-bit products and quotients, bit tricks, checked overflow. */
#include <stdint.h>
#include <stdio.h>

static uint64_t state = 88172645463325252u, hash;
static uint64_t next(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state >> (state % 61); }
static void add(uint64_t value) { hash = (hash ^ value) * 1099511628211u; }

#define CASE(T, U) do { \
	T a = (T)next(), b = (T)next(), r; U ua = (U)a, ub = (U)b; int s = (int)(next() % (8 * sizeof(T))); \
	add((U)(ua + ub)); add((U)(ua - ub)); add((U)(ua * ub)); add((U)(ua << s)); add((U)(ua >> s)); add((U)(a >> s)); \
	add((U)((ua << s) | (ua >> ((8 * sizeof(T) - s) % (8 * sizeof(T)))))); \
	if (ub) { add(ua / ub); add(ua % ub); } if (b && b != -1) { add((U)(a / b)); add((U)(a % b)); } \
	add(a < b); add(ua < ub); add(a == b); add((U)(ua & ub)); add((U)(ua | ub)); add((U)(ua ^ ub)); add((U)~ua); add((U)-ua); \
	add(__builtin_add_overflow(a, b, &r)); add((U)r); add(__builtin_sub_overflow(a, b, &r)); add((U)r); add(__builtin_mul_overflow(a, b, &r)); add((U)r); \
	} while (0)

int main(void)
{
	for (int i = 0; i < 20000; i++) {
		CASE(int8_t, uint8_t); CASE(int16_t, uint16_t); CASE(int32_t, uint32_t); CASE(int64_t, uint64_t);
		if (i % 5000 == 0) printf("%d %016llx\n", i, (unsigned long long)hash);
	}
	for (int i = 0; i < 5000; i++) {
		unsigned __int128 a = (unsigned __int128)next() << 64 | next(), b = next(), p = a * b;
		if (b) { add((uint64_t)(a / b)); add((uint64_t)(a % b)); add((uint64_t)((__int128)a / (__int128)b)); }
		add((uint64_t)p); add((uint64_t)(p >> 64)); add((uint64_t)(a >> (b % 128))); add((uint64_t)(a << (b % 128))); add(a < p);
		uint64_t x = next(), y = next();
		add(__builtin_popcountll(x)); add(__builtin_bswap64(x)); add(__builtin_bswap32((uint32_t)x)); add((uint16_t)__builtin_bswap16((uint16_t)x));
		if (x) { add(__builtin_clzll(x)); add(__builtin_ctzll(x)); add(__builtin_ffsll((long long)x)); } add(__builtin_parityll(x));
		uint64_t old = x; add(__sync_fetch_and_add(&x, y)); add(__sync_val_compare_and_swap(&x, old + y, old)); add(x); add(__sync_lock_test_and_set(&x, 3)); add(__sync_fetch_and_xor(&x, y)); add(x);
		double d = (double)(int64_t)y, u = (double)y; add((uint64_t)(int64_t)d); add((uint64_t)(u / 2)); add((uint64_t)(int64_t)(float)(int32_t)y);
	}
	printf("end %016llx\n", (unsigned long long)hash);
	int dense = 0;
	for (int i = 0; i < 40; i++)
		switch (i) { case 0: dense += 5; break; case 1: dense ^= 9; break; case 2: dense *= 3; break; case 3: dense -= 8; break; case 4: dense |= 64; break; case 5: dense += i; break; case 17: dense += 100; break; case 18: dense <<= 1; break; default: dense += 2; }
	printf("switch %d\n", dense);
	return 0;
}
