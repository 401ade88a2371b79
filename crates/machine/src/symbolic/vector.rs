//! What vector operations on integer lanes mean on terms.
//!
//! A pure function, the mirror of `cpu/vector.rs`: the same names, the same operands that do not
//! matter. Each operand is cut into lanes once, and the result is joined once. There is no rule
//! for string comparisons; floating point has no operation here. Nothing here knows concrete
//! values, slots or paths.

pub(super) mod lanes;
mod steps;

use stunt_terms::{Pool, Term};

use self::lanes::{Lanes, each, join, join_pair, map, neighbours, split, split_pair};
use self::steps as lane;
use crate::code::VectorOp as V;

/// CF in `rflags`.
const CF: usize = 0;
/// ZF in `rflags`.
const ZF: usize = 6;

/// The pair of slots that `f` makes of the pairs `a` and `b`; `None` where there is no rule.
pub(crate) fn vector(
    pool: &mut Pool,
    f: V,
    a: [Term; 2],
    b: [Term; 2],
    imm: u8,
) -> Option<[Term; 2]> {
    let p = pool;
    Some(match f {
        V::Paddb => each(p, 8, a, b, Pool::add),
        V::Paddw => each(p, 16, a, b, Pool::add),
        V::Paddd => each(p, 32, a, b, Pool::add),
        V::Paddq => each(p, 64, a, b, Pool::add),
        V::Paddsb => each(p, 8, a, b, lane::add_signed),
        V::Paddsw => each(p, 16, a, b, lane::add_signed),
        V::Paddusb => each(p, 8, a, b, lane::add_unsigned),
        V::Paddusw => each(p, 16, a, b, lane::add_unsigned),
        V::Psubb => each(p, 8, a, b, Pool::sub),
        V::Psubw => each(p, 16, a, b, Pool::sub),
        V::Psubd => each(p, 32, a, b, Pool::sub),
        V::Psubq => each(p, 64, a, b, Pool::sub),
        V::Psubsb => each(p, 8, a, b, lane::sub_signed),
        V::Psubsw => each(p, 16, a, b, lane::sub_signed),
        V::Psubusb => each(p, 8, a, b, lane::sub_unsigned),
        V::Psubusw => each(p, 16, a, b, lane::sub_unsigned),
        V::Pcmpeqb => each(p, 8, a, b, lane::equal),
        V::Pcmpeqw => each(p, 16, a, b, lane::equal),
        V::Pcmpeqd => each(p, 32, a, b, lane::equal),
        V::Pcmpeqq => each(p, 64, a, b, lane::equal),
        V::Pcmpgtb => each(p, 8, a, b, lane::greater),
        V::Pcmpgtw => each(p, 16, a, b, lane::greater),
        V::Pcmpgtd => each(p, 32, a, b, lane::greater),
        V::Pcmpgtq => each(p, 64, a, b, lane::greater),
        V::Pminub => each(p, 8, a, b, lane::min_unsigned),
        V::Pminuw => each(p, 16, a, b, lane::min_unsigned),
        V::Pminud => each(p, 32, a, b, lane::min_unsigned),
        V::Pmaxub => each(p, 8, a, b, lane::max_unsigned),
        V::Pmaxuw => each(p, 16, a, b, lane::max_unsigned),
        V::Pmaxud => each(p, 32, a, b, lane::max_unsigned),
        V::Pminsb => each(p, 8, a, b, lane::min_signed),
        V::Pminsw => each(p, 16, a, b, lane::min_signed),
        V::Pminsd => each(p, 32, a, b, lane::min_signed),
        V::Pmaxsb => each(p, 8, a, b, lane::max_signed),
        V::Pmaxsw => each(p, 16, a, b, lane::max_signed),
        V::Pmaxsd => each(p, 32, a, b, lane::max_signed),
        V::Pavgb => each(p, 8, a, b, lane::average),
        V::Pavgw => each(p, 16, a, b, lane::average),
        V::Pmullw => each(p, 16, a, b, Pool::mul),
        V::Pmulld => each(p, 32, a, b, Pool::mul),
        V::Pmulhw => each(p, 16, a, b, |p, x, y| lane::high_product(p, true, x, y)),
        V::Pmulhuw => each(p, 16, a, b, |p, x, y| lane::high_product(p, false, x, y)),
        V::Pmulhrsw => each(p, 16, a, b, lane::rounded_product),
        V::Pmuludq => each(p, 64, a, b, |p, x, y| low_product(p, false, x, y)),
        V::Pmuldq => each(p, 64, a, b, |p, x, y| low_product(p, true, x, y)),
        V::Pmaddwd => multiply_add(p, a, b),
        V::Pmaddubsw => multiply_add_bytes(p, a, b),
        V::Psadbw => distances(p, a, b),
        V::Mpsadbw => windows(p, a, b, imm),
        V::Packsswb => pack(p, 16, a, b, lane::saturate_signed),
        V::Packssdw => pack(p, 32, a, b, lane::saturate_signed),
        V::Packuswb => pack(p, 16, a, b, lane::saturate_unsigned),
        V::Packusdw => pack(p, 32, a, b, lane::saturate_unsigned),
        V::Punpcklbw => interleave(p, 8, a[0], b[0]),
        V::Punpcklwd => interleave(p, 16, a[0], b[0]),
        V::Punpckldq => interleave(p, 32, a[0], b[0]),
        V::Punpckhbw => interleave(p, 8, a[1], b[1]),
        V::Punpckhwd => interleave(p, 16, a[1], b[1]),
        V::Punpckhdq => interleave(p, 32, a[1], b[1]),
        V::Psllw => shift(p, 16, a, b[0], imm, Pool::shl),
        V::Pslld => shift(p, 32, a, b[0], imm, Pool::shl),
        V::Psllq => shift(p, 64, a, b[0], imm, Pool::shl),
        V::Psrlw => shift(p, 16, a, b[0], imm, Pool::lshr),
        V::Psrld => shift(p, 32, a, b[0], imm, Pool::lshr),
        V::Psrlq => shift(p, 64, a, b[0], imm, Pool::lshr),
        V::Psraw => shift(p, 16, a, b[0], imm, Pool::ashr),
        V::Psrad => shift(p, 32, a, b[0], imm, Pool::ashr),
        V::Pslldq => bytes_from(p, [None, Some(a)], 16 - i32::from(imm.min(16))),
        V::Psrldq => bytes_from(p, [Some(a), None], i32::from(imm.min(16))),
        V::Palignr => bytes_from(p, [Some(b), Some(a)], i32::from(imm.min(32))),
        V::Pshufd => select(p, b, b, imm),
        V::Shufps => select(p, a, b, imm),
        V::Pshuflw => [shuffle_words(p, b[0], imm), b[1]],
        V::Pshufhw => [b[0], shuffle_words(p, b[1], imm)],
        V::Pshufb => shuffle_bytes(p, a, b),
        V::Pmovmskb => signs(p, 8, b),
        V::Movmskps => signs(p, 32, b),
        V::Movmskpd => signs(p, 64, b),
        V::SignMask => map(p, 8, b, |p, x| {
            let zero = p.constant(8, 0);
            lane::greater(p, zero, x)
        }),
        V::Pinsrb => put(p, 8, a, b, imm & 15),
        V::Pinsrw => put(p, 16, a, b, imm & 7),
        V::Pinsrd => put(p, 32, a, b, imm & 3),
        V::Pblendw => blend(p, a, b, imm),
        V::Insertps => insert_single(p, a, b, imm),
        V::Phaddw => neighbours(p, 16, a, b, Pool::add),
        V::Phaddd => neighbours(p, 32, a, b, Pool::add),
        V::Phaddsw => neighbours(p, 16, a, b, lane::add_signed),
        V::Phsubw => neighbours(p, 16, a, b, Pool::sub),
        V::Phsubd => neighbours(p, 32, a, b, Pool::sub),
        V::Phsubsw => neighbours(p, 16, a, b, lane::sub_signed),
        V::Pabsb => map(p, 8, b, lane::absolute),
        V::Pabsw => map(p, 16, b, lane::absolute),
        V::Pabsd => map(p, 32, b, lane::absolute),
        V::Psignb => each(p, 8, a, b, lane::signed_like),
        V::Psignw => each(p, 16, a, b, lane::signed_like),
        V::Psignd => each(p, 32, a, b, lane::signed_like),
        V::Pmovsxbw => extend(p, b, 8, 16, true),
        V::Pmovsxbd => extend(p, b, 8, 32, true),
        V::Pmovsxbq => extend(p, b, 8, 64, true),
        V::Pmovsxwd => extend(p, b, 16, 32, true),
        V::Pmovsxwq => extend(p, b, 16, 64, true),
        V::Pmovsxdq => extend(p, b, 32, 64, true),
        V::Pmovzxbw => extend(p, b, 8, 16, false),
        V::Pmovzxbd => extend(p, b, 8, 32, false),
        V::Pmovzxbq => extend(p, b, 8, 64, false),
        V::Pmovzxwd => extend(p, b, 16, 32, false),
        V::Pmovzxwq => extend(p, b, 16, 64, false),
        V::Pmovzxdq => extend(p, b, 32, 64, false),
        V::Phminposuw => smallest_word(p, b),
        V::Ptest => test(p, a, b),
        V::Pcmpistri | V::Pcmpistrm => return None,
    })
}

/// A number in the lower half, zero in the upper.
fn number(pool: &mut Pool, term: Term) -> [Term; 2] {
    [pool.zero_extend(64, term), pool.constant(64, 0)]
}

/// The product of the lower halves of two quad words.
fn low_product(pool: &mut Pool, signed: bool, x: Term, y: Term) -> Term {
    let [x, y] = [x, y].map(|t| pool.extract(31, 0, t));
    lane::product(pool, signed, x, y)
}

/// Sums of two products of neighbouring words.
fn multiply_add(pool: &mut Pool, a: [Term; 2], b: [Term; 2]) -> [Term; 2] {
    let (x, y) = (split_pair(pool, a, 16), split_pair(pool, b, 16));
    let products: Lanes =
        x.iter().zip(&y).map(|(&x, &y)| lane::product(pool, true, x, y)).collect();
    let sums: Lanes = products.chunks_exact(2).map(|pair| pool.add(pair[0], pair[1])).collect();
    join_pair(pool, &sums)
}

/// Saturated sums of two products of neighbouring bytes, those of `a` unsigned.
fn multiply_add_bytes(pool: &mut Pool, a: [Term; 2], b: [Term; 2]) -> [Term; 2] {
    // Enough bits for two products of an unsigned and a signed byte.
    const WIDE: u8 = 17;
    let (x, y) = (split_pair(pool, a, 8), split_pair(pool, b, 8));
    let products: Lanes = x
        .iter()
        .zip(&y)
        .map(|(&x, &y)| {
            let (x, y) = (pool.zero_extend(WIDE, x), pool.sign_extend(WIDE, y));
            pool.mul(x, y)
        })
        .collect();
    let sums: Lanes = products
        .chunks_exact(2)
        .map(|pair| {
            let sum = pool.add(pair[0], pair[1]);
            lane::saturate_signed(pool, sum, 16)
        })
        .collect();
    join_pair(pool, &sums)
}

/// The sum of the distances of bytes, 16 bits wide.
fn total_distance(pool: &mut Pool, x: &[Term], y: &[Term]) -> Term {
    let mut total = pool.constant(16, 0);
    for (&x, &y) in x.iter().zip(y) {
        let distance = lane::distance(pool, x, y);
        let distance = pool.zero_extend(16, distance);
        total = pool.add(total, distance);
    }
    total
}

fn distances(pool: &mut Pool, a: [Term; 2], b: [Term; 2]) -> [Term; 2] {
    [0, 1].map(|half| {
        let (x, y) = (split(pool, a[half], 8), split(pool, b[half], 8));
        let total = total_distance(pool, &x, &y);
        pool.zero_extend(64, total)
    })
}

/// Sums of distances of four bytes of `b` and eight windows of `a`.
fn windows(pool: &mut Pool, a: [Term; 2], b: [Term; 2], imm: u8) -> [Term; 2] {
    let (x, y) = (split_pair(pool, a, 8), split_pair(pool, b, 8));
    let (from, block) = (usize::from(imm >> 2 & 1) * 4, usize::from(imm & 3) * 4);
    let sums: Lanes = (0..8)
        .map(|k| total_distance(pool, &x[from + k..from + k + 4], &y[block..block + 4]))
        .collect();
    join_pair(pool, &sums)
}

/// The lanes of `a`, then those of `b`, at half their width.
fn pack(
    pool: &mut Pool,
    bits: u8,
    a: [Term; 2],
    b: [Term; 2],
    narrow: fn(&mut Pool, Term, u8) -> Term,
) -> [Term; 2] {
    [a, b].map(|v| {
        let lanes: Lanes =
            split_pair(pool, v, bits).into_iter().map(|x| narrow(pool, x, bits / 2)).collect();
        join(pool, &lanes)
    })
}

/// The lanes of two halves, in turn.
fn interleave(pool: &mut Pool, bits: u8, a: Term, b: Term) -> [Term; 2] {
    let (x, y) = (split(pool, a, bits), split(pool, b, bits));
    let lanes: Lanes = x.into_iter().zip(y).flat_map(|(x, y)| [x, y]).collect();
    join_pair(pool, &lanes)
}

/// Each lane shifted by the same count: the term plus the constant.
fn shift(
    pool: &mut Pool,
    bits: u8,
    a: [Term; 2],
    count: Term,
    imm: u8,
    f: fn(&mut Pool, Term, Term) -> Term,
) -> [Term; 2] {
    // What is as large as the lane shifts everything out, so the sum cannot overflow.
    let limit = pool.constant(64, u128::from(bits));
    let is_small = pool.ult(count, limit);
    let narrow = pool.extract(bits - 1, 0, count);
    let (more, all) = (pool.constant(bits, u128::from(imm)), pool.constant(bits, u128::from(bits)));
    let sum = pool.add(narrow, more);
    let by = pool.ite(is_small, sum, all);
    map(pool, bits, a, |pool, x| f(pool, x, by))
}

/// Sixteen of the 32 bytes of two vectors, from byte `from` on; zeros stand for no vector, and
/// follow behind both.
fn bytes_from(pool: &mut Pool, parts: [Option<[Term; 2]>; 2], from: i32) -> [Term; 2] {
    let zero = pool.constant(8, 0);
    let mut bytes = Vec::with_capacity(48);
    for part in parts {
        match part {
            Some(pair) => bytes.extend(split_pair(pool, pair, 8)),
            None => bytes.extend([zero; 16]),
        }
    }
    bytes.extend([zero; 16]);
    let from = from as usize;
    join_pair(pool, &bytes[from..from + 16])
}

/// Two double words of `a` and two of `b`, as the constant selects them.
fn select(pool: &mut Pool, a: [Term; 2], b: [Term; 2], imm: u8) -> [Term; 2] {
    let (x, y) = (split_pair(pool, a, 32), split_pair(pool, b, 32));
    let place = |k: u8| usize::from(imm >> (2 * k) & 3);
    join_pair(pool, &[x[place(0)], x[place(1)], y[place(2)], y[place(3)]])
}

/// The four words of a half, as the constant selects them.
fn shuffle_words(pool: &mut Pool, half: Term, imm: u8) -> Term {
    let words = split(pool, half, 16);
    let lanes: Lanes = (0..4).map(|k| words[usize::from(imm >> (2 * k) & 3)]).collect();
    join(pool, &lanes)
}

/// The bytes of `a` that the bytes of `b` select.
fn shuffle_bytes(pool: &mut Pool, a: [Term; 2], b: [Term; 2]) -> [Term; 2] {
    let (from, selectors) = (split_pair(pool, a, 8), split_pair(pool, b, 8));
    let constants: Option<Vec<u64>> =
        from.iter().map(|&byte| pool.as_const(byte).map(|v| v as u64)).collect();
    let zero = pool.constant(8, 0);
    let lanes: Lanes = selectors
        .iter()
        .map(|&s| match (pool.as_const(s), &constants) {
            (Some(s), _) if s & 0x80 != 0 => zero,
            (Some(s), _) => from[s as usize & 15],
            (None, Some(bytes)) => {
                let entry = |s: usize| if s & 0x80 != 0 { 0 } else { bytes[s & 15] };
                let table = pool.add_table(8, (0..256).map(entry).collect::<Vec<u64>>());
                pool.table(table, s)
            }
            (None, None) => {
                let chosen = choose(pool, &from, s);
                let none = pool.slt(s, zero);
                pool.ite(none, zero, chosen)
            }
        })
        .collect();
    join_pair(pool, &lanes)
}

/// The one of sixteen terms that the four lowest bits of `s` select.
fn choose(pool: &mut Pool, from: &[Term], s: Term) -> Term {
    let mut left: Lanes = from.iter().copied().collect();
    for k in 0..4 {
        let (bit, one) = (pool.extract(k, k, s), pool.constant(1, 1));
        let odd = pool.eq(bit, one);
        left = left.chunks_exact(2).map(|pair| pool.ite(odd, pair[1], pair[0])).collect();
    }
    left[0]
}

/// The signs of the lanes, as a number.
fn signs(pool: &mut Pool, bits: u8, v: [Term; 2]) -> [Term; 2] {
    let mut lanes = split_pair(pool, v, bits);
    for lane in &mut lanes {
        *lane = lane::sign(pool, *lane);
    }
    let mask = join(pool, &lanes);
    number(pool, mask)
}

/// `a` with the lowest lane of `b` in lane `k`.
fn put(pool: &mut Pool, bits: u8, a: [Term; 2], b: [Term; 2], k: u8) -> [Term; 2] {
    let mut lanes = split_pair(pool, a, bits);
    lanes[usize::from(k)] = pool.extract(bits - 1, 0, b[0]);
    join_pair(pool, &lanes)
}

fn blend(pool: &mut Pool, a: [Term; 2], b: [Term; 2], imm: u8) -> [Term; 2] {
    let (mut lanes, y) = (split_pair(pool, a, 16), split_pair(pool, b, 16));
    for k in (0..8).filter(|k| imm >> k & 1 != 0) {
        lanes[k] = y[k];
    }
    join_pair(pool, &lanes)
}

/// A lane of `b` to a lane of `a`, and zeros to others.
fn insert_single(pool: &mut Pool, a: [Term; 2], b: [Term; 2], imm: u8) -> [Term; 2] {
    let (mut lanes, y) = (split_pair(pool, a, 32), split_pair(pool, b, 32));
    lanes[usize::from(imm >> 4 & 3)] = y[usize::from(imm >> 6)];
    let zero = pool.constant(32, 0);
    for k in (0..4).filter(|k| imm >> k & 1 != 0) {
        lanes[k] = zero;
    }
    join_pair(pool, &lanes)
}

/// The lowest lanes of `from` bits, extended to `to` bits.
fn extend(pool: &mut Pool, v: [Term; 2], from: u8, to: u8, signed: bool) -> [Term; 2] {
    // All of them are in the lower half.
    let lanes: Lanes = split(pool, v[0], from)
        .into_iter()
        .take(usize::from(128 / to))
        .map(|x| if signed { pool.sign_extend(to, x) } else { pool.zero_extend(to, x) })
        .collect();
    join_pair(pool, &lanes)
}

/// The smallest word and where it is.
fn smallest_word(pool: &mut Pool, v: [Term; 2]) -> [Term; 2] {
    let words = split_pair(pool, v, 16);
    let (mut best, mut place) = (words[0], pool.constant(16, 0));
    for (k, &word) in words.iter().enumerate().skip(1) {
        let less = pool.ult(word, best);
        let here = pool.constant(16, k as u128);
        best = pool.ite(less, word, best);
        place = pool.ite(less, here, place);
    }
    let both = pool.concat(place, best);
    number(pool, both)
}

/// The flags of `ptest`, in their places in `rflags`.
fn test(pool: &mut Pool, a: [Term; 2], b: [Term; 2]) -> [Term; 2] {
    let zero = pool.constant(64, 0);
    let mut none_shared = pool.boolean(true);
    let mut none_outside = pool.boolean(true);
    for (&x, &y) in a.iter().zip(&b) {
        let not = pool.not(x);
        let (shared, outside) = (pool.and(x, y), pool.and(not, y));
        let (shared, outside) = (pool.eq(shared, zero), pool.eq(outside, zero));
        none_shared = pool.and(none_shared, shared);
        none_outside = pool.and(none_outside, outside);
    }
    let off = pool.constant(1, 0);
    let mut flags = [off; 8];
    flags[ZF] = pool.truth_as_bits(1, none_shared);
    flags[CF] = pool.truth_as_bits(1, none_outside);
    let flags = join(pool, &flags);
    number(pool, flags)
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) mod trial;
