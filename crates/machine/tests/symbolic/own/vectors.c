/* SSE2 by intrinsics, as compilers and people use it on text and numbers. */
#include "input.h"
#include <emmintrin.h>

static void show(__m128i v) {
    uint64_t parts[2];
    _mm_storeu_si128((__m128i *)parts, v);
    put(parts[0]), put(parts[1]);
}

static __attribute__((noinline)) void pair(__m128i a, __m128i b) {
#define TWO(name) show(name(a, b));
    TWO(_mm_add_epi8) TWO(_mm_add_epi16) TWO(_mm_add_epi32) TWO(_mm_add_epi64) TWO(_mm_adds_epi8)
    TWO(_mm_adds_epi16) TWO(_mm_adds_epu8) TWO(_mm_adds_epu16) TWO(_mm_sub_epi8) TWO(_mm_sub_epi16)
    TWO(_mm_sub_epi32) TWO(_mm_sub_epi64) TWO(_mm_subs_epi8) TWO(_mm_subs_epi16) TWO(_mm_subs_epu8)
    TWO(_mm_subs_epu16) TWO(_mm_avg_epu8) TWO(_mm_avg_epu16) TWO(_mm_madd_epi16) TWO(_mm_max_epi16)
    TWO(_mm_max_epu8) TWO(_mm_min_epi16) TWO(_mm_min_epu8) TWO(_mm_mulhi_epi16) TWO(_mm_mulhi_epu16)
    TWO(_mm_mullo_epi16) TWO(_mm_mul_epu32) TWO(_mm_sad_epu8) TWO(_mm_and_si128) TWO(_mm_andnot_si128)
    TWO(_mm_or_si128) TWO(_mm_xor_si128) TWO(_mm_cmpeq_epi8) TWO(_mm_cmpeq_epi16) TWO(_mm_cmpeq_epi32)
    TWO(_mm_cmpgt_epi8) TWO(_mm_cmpgt_epi16) TWO(_mm_cmpgt_epi32) TWO(_mm_packs_epi16)
    TWO(_mm_packs_epi32) TWO(_mm_packus_epi16) TWO(_mm_unpackhi_epi8) TWO(_mm_unpackhi_epi16)
    TWO(_mm_unpackhi_epi32) TWO(_mm_unpackhi_epi64) TWO(_mm_unpacklo_epi8) TWO(_mm_unpacklo_epi16)
    TWO(_mm_unpacklo_epi32) TWO(_mm_unpacklo_epi64)
    __m128i n = _mm_and_si128(b, _mm_set_epi32(0, 0, 0, 31));
#define BY(name) show(name(a, n));
    BY(_mm_sll_epi16) BY(_mm_sll_epi32) BY(_mm_sll_epi64) BY(_mm_srl_epi16) BY(_mm_srl_epi32)
    BY(_mm_srl_epi64) BY(_mm_sra_epi16) BY(_mm_sra_epi32)
    show(_mm_slli_epi16(a, 3)), show(_mm_srai_epi32(a, 9)), show(_mm_srli_epi64(a, 33));
    show(_mm_slli_si128(a, 5)), show(_mm_srli_si128(a, 11)), show(_mm_shuffle_epi32(a, 0x1b));
    show(_mm_shufflehi_epi16(a, 0x4e)), show(_mm_shufflelo_epi16(a, 0xe1));
    show(_mm_insert_epi16(a, 77, 3)), put(_mm_extract_epi16(a, 5)), put(_mm_cvtsi128_si64(a));
    show(_mm_cvtsi64_si128(_mm_cvtsi128_si64(b))), put(_mm_cvtsi128_si32(b));
    show(_mm_set1_epi8(_mm_cvtsi128_si32(a)));
    put(_mm_movemask_epi8(a)), put(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)));
    put(_mm_movemask_pd((__m128d)a)), put(_mm_movemask_ps((__m128)b));
}

int main(int argc, char **argv) {
    get(argc, argv);
    __m128i *all = (__m128i *)in;
    pair(_mm_loadu_si128(all), _mm_loadu_si128(all + 1));
    pair(_mm_loadu_si128((__m128i *)(in + 5)), _mm_loadu_si128((__m128i *)(in + 40)));
    /* Where the first of some characters is, as a library looks for it. */
    for (int c = '0'; c < '4'; c++) {
        int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(all + c - '0'), _mm_set1_epi8(c)));
        put(mask ? __builtin_ctz(mask) : 99);
        if (mask & 0xf0) put(1);
    }
    /* Floating point, which fixes its operands. */
    double d = in[3] * 1.5 + (int)word(1);
    float f = (float)in[4] / 3;
    put(d), put((int)(f * 100)), put(d > f);
    return end();
}
