/* Loops that compilers turn into vector code, over all element types, and intrinsics of SSE2. */
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash;
static void add(const void *data, size_t n) { const unsigned char *p = data; for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 1099511628211u; }
enum { N = 251 };
static int bounded(int x) { return x > 100 ? 100 : x < -100 ? -100 : x; }

#define KIND(T, name) \
	__attribute__((noinline)) static void name(T *restrict a, const T *restrict b, const T *restrict c) { \
		for (int i = 0; i < N; i++) a[i] = b[i] + c[i]; \
		for (int i = 0; i < N; i++) a[i] -= b[i] * 3; \
		for (int i = 0; i < N; i++) a[i] = a[i] > c[i] ? a[i] : c[i]; \
		T sum = 0, low = b[0]; \
		for (int i = 0; i < N; i++) { sum += a[i]; low = b[i] < low ? b[i] : low; } \
		a[0] = sum; a[1] = low; \
		for (int i = 2; i + 4 < N; i += 4) { a[i] = b[i + 3]; a[i + 1] = b[i + 2]; a[i + 2] += b[i + 1]; a[i + 3] = b[i]; } \
	}
KIND(int8_t, bytes) KIND(uint8_t, ubytes) KIND(int16_t, shorts) KIND(uint16_t, ushorts) KIND(int32_t, ints) KIND(uint32_t, uints) KIND(int64_t, longs) KIND(float, floats) KIND(double, doubles)

#define RUN(T, name) do { T a[N], b[N], c[N]; for (int i = 0; i < N; i++) { b[i] = (T)bounded(i * 7 % 201 - 90); c[i] = (T)bounded(i * i % 177 - 80); } name(a, b, c); add(a, sizeof a); printf(#name " %016llx\n", (unsigned long long)hash); } while (0)

int main(void)
{
	RUN(int8_t, bytes); RUN(uint8_t, ubytes); RUN(int16_t, shorts); RUN(uint16_t, ushorts); RUN(int32_t, ints); RUN(uint32_t, uints); RUN(int64_t, longs); RUN(float, floats); RUN(double, doubles);
	__m128i x = _mm_set_epi32(0x80017fff, 0x01020304, -5, 0x7fffffff), y = _mm_set_epi32(0x0001ffff, 0x7f80ff00, 12, -1), r[40];
	int n = 0;
	r[n++] = _mm_adds_epi16(x, y); r[n++] = _mm_subs_epu8(x, y); r[n++] = _mm_mulhi_epi16(x, y); r[n++] = _mm_mulhi_epu16(x, y); r[n++] = _mm_madd_epi16(x, y); r[n++] = _mm_mul_epu32(x, y);
	r[n++] = _mm_sad_epu8(x, y); r[n++] = _mm_avg_epu8(x, y); r[n++] = _mm_avg_epu16(x, y); r[n++] = _mm_packs_epi32(x, y); r[n++] = _mm_packus_epi16(x, y); r[n++] = _mm_packs_epi16(x, y);
	r[n++] = _mm_unpacklo_epi8(x, y); r[n++] = _mm_unpackhi_epi16(x, y); r[n++] = _mm_unpacklo_epi64(x, y); r[n++] = _mm_shuffle_epi32(x, 0x1b); r[n++] = _mm_shufflelo_epi16(x, 0x93); r[n++] = _mm_shufflehi_epi16(y, 0x4e);
	r[n++] = _mm_slli_si128(x, 5); r[n++] = _mm_srli_si128(y, 3); r[n++] = _mm_srai_epi16(x, 3); r[n++] = _mm_srl_epi64(x, _mm_cvtsi32_si128(13)); r[n++] = _mm_sll_epi32(y, _mm_cvtsi32_si128(40)); r[n++] = _mm_sra_epi32(x, _mm_cvtsi32_si128(99));
	r[n++] = _mm_cmpgt_epi8(x, y); r[n++] = _mm_cmpeq_epi16(x, x); r[n++] = _mm_max_epu8(x, y); r[n++] = _mm_min_epi16(x, y); r[n++] = _mm_andnot_si128(x, y); r[n++] = _mm_insert_epi16(x, 77, 5);
	add(r, n * sizeof *r);
	__m128d d = _mm_set_pd(2.5, -7.75), e = _mm_set_pd(1e10, 0.1);
	__m128 f = _mm_set_ps(1.5f, -2.5f, 3.25f, 1e9f), g = _mm_set_ps(0.1f, 4, -8, 2);
	__m128d dd[] = { _mm_add_pd(d, e), _mm_div_pd(d, e), _mm_sqrt_pd(e), _mm_min_pd(d, e), _mm_cmplt_pd(d, e), _mm_shuffle_pd(d, e, 1), _mm_unpackhi_pd(d, e), _mm_cvtps_pd(f), _mm_max_sd(d, e), _mm_cvtepi32_pd(y), _mm_xor_pd(d, e) };
	__m128 ff[] = { _mm_mul_ps(f, g), _mm_sub_ss(f, g), _mm_sqrt_ps(g), _mm_max_ps(f, g), _mm_cmpneq_ps(f, g), _mm_shuffle_ps(f, g, 0x72), _mm_movehl_ps(f, g), _mm_cvtpd_ps(e), _mm_cvtepi32_ps(x), _mm_unpacklo_ps(f, g), _mm_div_ps(f, g) };
	__m128i ii[] = { _mm_cvtps_epi32(f), _mm_cvttps_epi32(g), _mm_cvtpd_epi32(d), _mm_cvttpd_epi32(d) };
	ff[2] = _mm_setzero_ps();
	add(dd, sizeof dd); add(ff, sizeof ff); add(ii, sizeof ii);
	printf("masks %x %x %x %d %d %d\n", _mm_movemask_epi8(x), _mm_movemask_pd(d), _mm_movemask_ps(f), _mm_comilt_sd(d, e), _mm_extract_epi16(x, 3), _mm_cvtsd_si32(d));
	printf("end %016llx\n", (unsigned long long)hash);
	return 0;
}
