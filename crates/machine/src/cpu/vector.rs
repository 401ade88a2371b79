//! What vector operations do to integer lanes.
//!
//! A pure function of two vectors and a constant. SSE2 is what every host has, so its operations
//! run as they are; those above it are in [`super::vector_lanes`].
#![expect(unsafe_code, reason = "the host's vector instructions")]

use std::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_add_epi16, _mm_add_epi32, _mm_add_epi64, _mm_adds_epi8,
    _mm_adds_epi16, _mm_adds_epu8, _mm_adds_epu16, _mm_avg_epu8, _mm_avg_epu16, _mm_cmpeq_epi8,
    _mm_cmpeq_epi16, _mm_cmpeq_epi32, _mm_cmpgt_epi8, _mm_cmpgt_epi16, _mm_cmpgt_epi32,
    _mm_cvtsi64_si128, _mm_madd_epi16, _mm_max_epi16, _mm_max_epu8, _mm_min_epi16, _mm_min_epu8,
    _mm_movemask_epi8, _mm_mul_epu32, _mm_mulhi_epi16, _mm_mulhi_epu16, _mm_mullo_epi16,
    _mm_packs_epi16, _mm_packs_epi32, _mm_packus_epi16, _mm_sad_epu8, _mm_setzero_si128,
    _mm_sll_epi16, _mm_sll_epi32, _mm_sll_epi64, _mm_sra_epi16, _mm_sra_epi32, _mm_srl_epi16,
    _mm_srl_epi32, _mm_srl_epi64, _mm_sub_epi8, _mm_sub_epi16, _mm_sub_epi32, _mm_sub_epi64,
    _mm_subs_epi8, _mm_subs_epi16, _mm_subs_epu8, _mm_subs_epu16, _mm_unpackhi_epi8,
    _mm_unpackhi_epi16, _mm_unpackhi_epi32, _mm_unpacklo_epi8, _mm_unpacklo_epi16,
    _mm_unpacklo_epi32,
};

use crate::code::VectorOp as V;

use super::{
    flags::{CF, ZF},
    vector_lanes::{
        each_byte, each_double, each_quad, each_word, extend, insertps, mpsadbw, neighbour_doubles,
        neighbour_words, packusdw, palignr, pblendw, phminposuw, pmaddubsw, pshufb, signed_like,
    },
    vector_strings,
};

#[inline(always)]
pub(super) fn host(v: u128) -> __m128i {
    // SAFETY: both are 16 bytes, and any bits are good for either.
    unsafe { std::mem::transmute::<u128, __m128i>(v) }
}

#[inline(always)]
pub(super) fn guest(v: __m128i) -> u128 {
    // SAFETY: both are 16 bytes, and any bits are good for either.
    unsafe { std::mem::transmute::<__m128i, u128>(v) }
}

/// `f` of two vectors.
#[inline]
pub(super) fn vector(f: V, a: u128, b: u128, imm: u8) -> u128 {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { lanes(f, a, b, imm) }
}

#[target_feature(enable = "sse2")]
fn lanes(f: V, a: u128, b: u128, imm: u8) -> u128 {
    macro_rules! two {
        ($op:ident) => {
            guest($op(host(a), host(b)))
        };
    }
    macro_rules! shift {
        ($op:ident) => {{
            let count = (b as u64).saturating_add(u64::from(imm)) as i64;
            guest($op(host(a), _mm_cvtsi64_si128(count)))
        }};
    }
    match f {
        V::Paddb => two!(_mm_add_epi8),
        V::Paddw => two!(_mm_add_epi16),
        V::Paddd => two!(_mm_add_epi32),
        V::Paddq => two!(_mm_add_epi64),
        V::Paddsb => two!(_mm_adds_epi8),
        V::Paddsw => two!(_mm_adds_epi16),
        V::Paddusb => two!(_mm_adds_epu8),
        V::Paddusw => two!(_mm_adds_epu16),
        V::Psubb => two!(_mm_sub_epi8),
        V::Psubw => two!(_mm_sub_epi16),
        V::Psubd => two!(_mm_sub_epi32),
        V::Psubq => two!(_mm_sub_epi64),
        V::Psubsb => two!(_mm_subs_epi8),
        V::Psubsw => two!(_mm_subs_epi16),
        V::Psubusb => two!(_mm_subs_epu8),
        V::Psubusw => two!(_mm_subs_epu16),
        V::Pcmpeqb => two!(_mm_cmpeq_epi8),
        V::Pcmpeqw => two!(_mm_cmpeq_epi16),
        V::Pcmpeqd => two!(_mm_cmpeq_epi32),
        V::Pcmpgtb => two!(_mm_cmpgt_epi8),
        V::Pcmpgtw => two!(_mm_cmpgt_epi16),
        V::Pcmpgtd => two!(_mm_cmpgt_epi32),
        V::Pminub => two!(_mm_min_epu8),
        V::Pmaxub => two!(_mm_max_epu8),
        V::Pminsw => two!(_mm_min_epi16),
        V::Pmaxsw => two!(_mm_max_epi16),
        V::Pavgb => two!(_mm_avg_epu8),
        V::Pavgw => two!(_mm_avg_epu16),
        V::Pmullw => two!(_mm_mullo_epi16),
        V::Pmulhw => two!(_mm_mulhi_epi16),
        V::Pmulhuw => two!(_mm_mulhi_epu16),
        V::Pmuludq => two!(_mm_mul_epu32),
        V::Pmaddwd => two!(_mm_madd_epi16),
        V::Psadbw => two!(_mm_sad_epu8),
        V::Packsswb => two!(_mm_packs_epi16),
        V::Packssdw => two!(_mm_packs_epi32),
        V::Packuswb => two!(_mm_packus_epi16),
        V::Punpcklbw => two!(_mm_unpacklo_epi8),
        V::Punpcklwd => two!(_mm_unpacklo_epi16),
        V::Punpckldq => two!(_mm_unpacklo_epi32),
        V::Punpckhbw => two!(_mm_unpackhi_epi8),
        V::Punpckhwd => two!(_mm_unpackhi_epi16),
        V::Punpckhdq => two!(_mm_unpackhi_epi32),
        V::Psllw => shift!(_mm_sll_epi16),
        V::Pslld => shift!(_mm_sll_epi32),
        V::Psllq => shift!(_mm_sll_epi64),
        V::Psrlw => shift!(_mm_srl_epi16),
        V::Psrld => shift!(_mm_srl_epi32),
        V::Psrlq => shift!(_mm_srl_epi64),
        V::Psraw => shift!(_mm_sra_epi16),
        V::Psrad => shift!(_mm_sra_epi32),
        V::Pslldq => a.checked_shl(u32::from(imm) * 8).unwrap_or(0),
        V::Psrldq => a.checked_shr(u32::from(imm) * 8).unwrap_or(0),
        V::Pshufd => select(b, imm) | select(b, imm >> 4) << 64,
        V::Shufps => select(a, imm) | select(b, imm >> 4) << 64,
        V::Pshuflw => b & !u128::from(u64::MAX) | u128::from(shuffle_words(b as u64, imm)),
        V::Pshufhw => u128::from(b as u64) | u128::from(shuffle_words((b >> 64) as u64, imm)) << 64,
        V::Pmovmskb => _mm_movemask_epi8(host(b)) as u32 as u128,
        V::Movmskps => (0..4).fold(0, |r, k| r | (b >> (32 * k + 31) & 1) << k),
        V::Movmskpd => b >> 63 & 1 | (b >> 127) << 1,
        V::Pinsrb => put(a, b, 8, imm & 15),
        V::Pinsrw => put(a, b, 16, imm & 7),
        V::Pinsrd => put(a, b, 32, imm & 3),
        V::SignMask => guest(_mm_cmpgt_epi8(_mm_setzero_si128(), host(b))),

        // ---- above SSE2 ----
        V::Pshufb => pshufb(a, b),
        V::Phaddw => neighbour_words(a, b, i16::wrapping_add),
        V::Phaddd => neighbour_doubles(a, b, u32::wrapping_add),
        V::Phaddsw => neighbour_words(a, b, i16::saturating_add),
        V::Phsubw => neighbour_words(a, b, i16::wrapping_sub),
        V::Phsubd => neighbour_doubles(a, b, u32::wrapping_sub),
        V::Phsubsw => neighbour_words(a, b, i16::saturating_sub),
        V::Pabsb => each_byte(b, b, |x, _| (x as i8).unsigned_abs()),
        V::Pabsw => each_word(b, b, |x, _| (x as i16).unsigned_abs()),
        V::Pabsd => each_double(b, b, |x, _| (x as i32).unsigned_abs()),
        V::Psignb => each_byte(a, b, |x, s| signed_like(i32::from(x), i32::from(s as i8)) as u8),
        V::Psignw => each_word(a, b, |x, s| signed_like(i32::from(x), i32::from(s as i16)) as u16),
        V::Psignd => each_double(a, b, |x, s| signed_like(x as i32, s as i32) as u32),
        V::Pmulhrsw => each_word(a, b, |x, y| {
            let product = i32::from(x as i16) * i32::from(y as i16);
            (((product >> 14) + 1) >> 1) as u16
        }),
        V::Pmaddubsw => pmaddubsw(a, b),
        V::Palignr => palignr(a, b, imm),
        V::Pblendw => pblendw(a, b, imm),
        V::Pmulld => each_double(a, b, u32::wrapping_mul),
        V::Pmuldq => each_quad(a, b, |x, y| (i64::from(x as i32) * i64::from(y as i32)) as u64),
        V::Pminsb => each_byte(a, b, |x, y| (x as i8).min(y as i8) as u8),
        V::Pminuw => each_word(a, b, u16::min),
        V::Pminsd => each_double(a, b, |x, y| (x as i32).min(y as i32) as u32),
        V::Pminud => each_double(a, b, u32::min),
        V::Pmaxsb => each_byte(a, b, |x, y| (x as i8).max(y as i8) as u8),
        V::Pmaxuw => each_word(a, b, u16::max),
        V::Pmaxsd => each_double(a, b, |x, y| (x as i32).max(y as i32) as u32),
        V::Pmaxud => each_double(a, b, u32::max),
        V::Pcmpeqq => each_quad(a, b, |x, y| if x == y { u64::MAX } else { 0 }),
        V::Pcmpgtq => each_quad(a, b, |x, y| if x as i64 > y as i64 { u64::MAX } else { 0 }),
        V::Packusdw => packusdw(a, b),
        V::Pmovsxbw => extend(b, 8, 16, true),
        V::Pmovsxbd => extend(b, 8, 32, true),
        V::Pmovsxbq => extend(b, 8, 64, true),
        V::Pmovsxwd => extend(b, 16, 32, true),
        V::Pmovsxwq => extend(b, 16, 64, true),
        V::Pmovsxdq => extend(b, 32, 64, true),
        V::Pmovzxbw => extend(b, 8, 16, false),
        V::Pmovzxbd => extend(b, 8, 32, false),
        V::Pmovzxbq => extend(b, 8, 64, false),
        V::Pmovzxwd => extend(b, 16, 32, false),
        V::Pmovzxwq => extend(b, 16, 64, false),
        V::Pmovzxdq => extend(b, 32, 64, false),
        V::Phminposuw => phminposuw(b),
        V::Mpsadbw => mpsadbw(a, b, imm),
        V::Insertps => insertps(a, b, imm),
        V::Ptest => {
            let zero = if a & b == 0 { ZF } else { 0 };
            let carry = if !a & b == 0 { CF } else { 0 };
            u128::from(zero | carry)
        }
        V::Pcmpistri => {
            let result = vector_strings::implicit(a, b, imm);
            u128::from(result.index) | u128::from(result.flags) << 64
        }
        V::Pcmpistrm => vector_strings::implicit(a, b, imm).mask,
    }
}

/// Two double words of `v`, selected by the lower four bits of `imm`.
#[inline(always)]
fn select(v: u128, imm: u8) -> u128 {
    let lane = |s: u8| {
        let half = if s & 2 != 0 { (v >> 64) as u64 } else { v as u64 };
        half >> (32 * u32::from(s & 1)) & 0xffff_ffff
    };
    u128::from(lane(imm & 3) | lane(imm >> 2 & 3) << 32)
}

/// The four words of `v`, as the constant selects them.
#[inline(always)]
fn shuffle_words(v: u64, imm: u8) -> u64 {
    let word = |k: u32| (v >> (16 * u32::from(imm >> (2 * k) & 3)) & 0xffff) << (16 * k);
    word(0) | word(1) | word(2) | word(3)
}

/// The lane `k` of `bits` bits of `a` becomes the lowest of `b`.
#[inline(always)]
fn put(a: u128, b: u128, bits: u32, k: u8) -> u128 {
    let (ones, at) = ((1u128 << bits) - 1, bits * u32::from(k));
    a & !(ones << at) | (b & ones) << at
}
