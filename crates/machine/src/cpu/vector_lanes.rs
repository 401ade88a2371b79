//! Lane operations above SSE2, in plain Rust: the host may not have them.
//!
//! They are rare, so they stay out of line.

use std::array::from_fn;

/// A vector as bytes, and back.
pub(super) fn bytes(v: u128) -> [u8; 16] {
    v.to_le_bytes()
}

pub(super) fn from_bytes(v: [u8; 16]) -> u128 {
    u128::from_le_bytes(v)
}

/// A vector as words, and back.
pub(super) fn words(v: u128) -> [u16; 8] {
    from_fn(|k| (v >> (16 * k)) as u16)
}

pub(super) fn from_words(v: [u16; 8]) -> u128 {
    (0..8).fold(0, |r, k| r | u128::from(v[k]) << (16 * k))
}

/// A vector as double words, and back.
pub(super) fn doubles(v: u128) -> [u32; 4] {
    from_fn(|k| (v >> (32 * k)) as u32)
}

pub(super) fn from_doubles(v: [u32; 4]) -> u128 {
    (0..4).fold(0, |r, k| r | u128::from(v[k]) << (32 * k))
}

/// A vector as quad words, and back.
pub(super) fn quads(v: u128) -> [u64; 2] {
    [v as u64, (v >> 64) as u64]
}

pub(super) fn from_quads(v: [u64; 2]) -> u128 {
    u128::from(v[0]) | u128::from(v[1]) << 64
}

#[inline(never)]
pub(super) fn each_byte(a: u128, b: u128, f: impl Fn(u8, u8) -> u8) -> u128 {
    let (a, b) = (bytes(a), bytes(b));
    from_bytes(from_fn(|k| f(a[k], b[k])))
}

#[inline(never)]
pub(super) fn each_word(a: u128, b: u128, f: impl Fn(u16, u16) -> u16) -> u128 {
    let (a, b) = (words(a), words(b));
    from_words(from_fn(|k| f(a[k], b[k])))
}

#[inline(never)]
pub(super) fn each_double(a: u128, b: u128, f: impl Fn(u32, u32) -> u32) -> u128 {
    let (a, b) = (doubles(a), doubles(b));
    from_doubles(from_fn(|k| f(a[k], b[k])))
}

#[inline(never)]
pub(super) fn each_quad(a: u128, b: u128, f: impl Fn(u64, u64) -> u64) -> u128 {
    let (a, b) = (quads(a), quads(b));
    from_quads(from_fn(|k| f(a[k], b[k])))
}

/// Neighbouring words of `a`, then of `b`.
#[inline(never)]
pub(super) fn neighbour_words(a: u128, b: u128, f: impl Fn(i16, i16) -> i16) -> u128 {
    let (a, b) = (words(a), words(b));
    from_words(from_fn(|k| {
        let (v, k) = if k < 4 { (&a, k) } else { (&b, k - 4) };
        f(v[2 * k] as i16, v[2 * k + 1] as i16) as u16
    }))
}

/// Neighbouring double words of `a`, then of `b`.
#[inline(never)]
pub(super) fn neighbour_doubles(a: u128, b: u128, f: impl Fn(u32, u32) -> u32) -> u128 {
    let (a, b) = (doubles(a), doubles(b));
    from_doubles([f(a[0], a[1]), f(a[2], a[3]), f(b[0], b[1]), f(b[2], b[3])])
}

#[inline(never)]
pub(super) fn pshufb(a: u128, b: u128) -> u128 {
    let table = bytes(a);
    let select = bytes(b);
    from_bytes(select.map(|s| if s & 0x80 != 0 { 0 } else { table[usize::from(s & 15)] }))
}

/// `a` with the sign of `b`: zero where `b` is.
pub(super) fn signed_like(a: i32, b: i32) -> i32 {
    match b.signum() {
        0 => 0,
        1 => a,
        _ => a.wrapping_neg(),
    }
}

#[inline(never)]
pub(super) fn pmaddubsw(a: u128, b: u128) -> u128 {
    let (a, b) = (bytes(a), bytes(b));
    let product = |k: usize| i32::from(a[k]) * i32::from(b[k] as i8);
    from_words(from_fn(|k| {
        let sum = product(2 * k) + product(2 * k + 1);
        sum.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as u16
    }))
}

/// The bytes of `a:b` (with `b` below) from byte `imm` on.
pub(super) fn palignr(a: u128, b: u128, imm: u8) -> u128 {
    let n = u32::from(imm) * 8;
    match n {
        0 => b,
        1..128 => b >> n | a << (128 - n),
        128..256 => a >> (n - 128),
        _ => 0,
    }
}

#[inline(never)]
pub(super) fn pblendw(a: u128, b: u128, imm: u8) -> u128 {
    let (a, b) = (words(a), words(b));
    from_words(from_fn(|k| if imm >> k & 1 != 0 { b[k] } else { a[k] }))
}

#[inline(never)]
pub(super) fn packusdw(a: u128, b: u128) -> u128 {
    let (a, b) = (doubles(a), doubles(b));
    from_words(from_fn(|k| {
        let value = if k < 4 { a[k] } else { b[k - 4] };
        (value as i32).clamp(0, 0xffff) as u16
    }))
}

/// The smallest word and where it is.
#[inline(never)]
pub(super) fn phminposuw(b: u128) -> u128 {
    let lanes = words(b);
    let mut best = 0;
    for k in 1..8 {
        if lanes[k] < lanes[best] {
            best = k;
        }
    }
    u128::from(lanes[best]) | (best as u128) << 16
}

/// Sums of absolute differences of four bytes of `b` with eight windows of `a`.
#[inline(never)]
pub(super) fn mpsadbw(a: u128, b: u128, imm: u8) -> u128 {
    let (a, b) = (bytes(a), bytes(b));
    let (from, block) = (usize::from(imm >> 2 & 1) * 4, usize::from(imm & 3) * 4);
    from_words(from_fn(|k| (0..4).map(|j| u16::from(a[from + k + j].abs_diff(b[block + j]))).sum()))
}

/// A lane of `b` to a lane of `a`, and zeros to others.
#[inline(never)]
pub(super) fn insertps(a: u128, b: u128, imm: u8) -> u128 {
    let mut lanes = doubles(a);
    lanes[usize::from(imm >> 4 & 3)] = doubles(b)[usize::from(imm >> 6)];
    from_doubles(from_fn(|k| if imm >> k & 1 != 0 { 0 } else { lanes[k] }))
}

/// The lowest lanes of `from` bits, extended to `to` bits.
#[inline(never)]
pub(super) fn extend(v: u128, from: u32, to: u32, signed: bool) -> u128 {
    let ones = |bits: u32| u64::MAX >> (64 - bits);
    (0..128 / to).fold(0, |r, k| {
        let lane = (v >> (k * from)) as u64 & ones(from);
        let lane = if signed {
            ((lane << (64 - from)) as i64 >> (64 - from)) as u64 & ones(to)
        } else {
            lane
        };
        r | u128::from(lane) << (k * to)
    })
}
