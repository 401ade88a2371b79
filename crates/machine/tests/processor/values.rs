//! Values that are likely to find mistakes: corners of every width and kind, and random ones.

use rand::{Rng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// A word: a corner of some width, or random.
pub fn word(rng: &mut ChaCha8Rng) -> u64 {
    const CORNERS: [u64; 16] = [
        0x7f,
        0x80,
        0xff,
        0x100,
        0x7fff,
        0x8000,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x1_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        0xffff_ffff_8000_0000,
        0xffff_ffff_ffff_ff80,
    ];
    match rng.gen_range(0..10) {
        0 => rng.gen_range(0..4),
        1 => rng.gen_range(0..70),
        2 => !rng.gen_range(0..70u64),
        3 => 1 << rng.gen_range(0..64),
        4 => u64::MAX >> rng.gen_range(0..64),
        5 => *CORNERS.choose(rng).expect("not empty"),
        6 => u64::from(rng.r#gen::<u32>()),
        _ => rng.r#gen(),
    }
}

/// What a vector's lanes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// Integers.
    Integer,
    /// 32-bit floating point.
    Single,
    /// 64-bit floating point.
    Double,
}

fn single(rng: &mut ChaCha8Rng) -> u32 {
    const CORNERS: [u32; 12] = [
        0,
        1,
        0x007f_ffff, // the largest denormal
        0x0080_0000, // the least normal
        0x3f80_0000,
        0x7f7f_ffff, // the largest number
        0x7f80_0000, // infinity
        0x7fc0_0000, // a quiet NaN
        0x7f80_0001, // a signalling NaN
        0x7fff_ffff,
        0x4f00_0000, // 2^31
        0x5f00_0000, // 2^63
    ];
    let value = match rng.gen_range(0..8) {
        0..3 => *CORNERS.choose(rng).expect("not empty"),
        3 => (rng.gen_range(-40..40i32) as f32 * 0.5).to_bits(),
        4 => (rng.r#gen::<i32>() as f32 / 16.0).to_bits(),
        5 => rng.r#gen::<u32>() & 0x007f_ffff,
        6 => f32::to_bits(1.0).wrapping_add(rng.gen_range(-3..4i32) as u32),
        _ => rng.r#gen(),
    };
    if rng.r#gen() { value } else { value ^ 1 << 31 }
}

fn double(rng: &mut ChaCha8Rng) -> u64 {
    const CORNERS: [u64; 16] = [
        0,
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x7ff0_0000_0000_0001,
        0x7fff_ffff_ffff_ffff,
        0x41df_ffff_ffe0_0000, // 2^31 - 0.5
        0x41e0_0000_0000_0000, // 2^31
        0x43e0_0000_0000_0000, // 2^63
        0x47ef_ffff_f000_0000, // rounds to infinity as a single
        0x3690_0000_0000_0000, // rounds to the least denormal single
        0x380f_ffff_ffff_ffff, // rounds to the least normal single
    ];
    let value = match rng.gen_range(0..8) {
        0..3 => *CORNERS.choose(rng).expect("not empty"),
        3 => (f64::from(rng.gen_range(-40..40i32)) * 0.5).to_bits(),
        4 => (rng.r#gen::<i64>() as f64 / 1024.0).to_bits(),
        5 => rng.r#gen::<u64>() & 0x000f_ffff_ffff_ffff,
        6 => f64::to_bits(1.0).wrapping_add(rng.gen_range(-3..4i64) as u64),
        _ => rng.r#gen(),
    };
    if rng.r#gen() { value } else { value ^ 1 << 63 }
}

/// 128 bits, with lanes that usually are what the instruction expects.
pub fn lanes(rng: &mut ChaCha8Rng, expected: Lanes) -> u128 {
    let kind = match rng.gen_range(0..8) {
        0 => Lanes::Integer,
        1 => Lanes::Double,
        _ => expected,
    };
    match kind {
        Lanes::Single => (0..4).fold(0, |v, _| v << 32 | u128::from(single(rng))),
        Lanes::Double => u128::from(double(rng)) << 64 | u128::from(double(rng)),
        Lanes::Integer => match rng.gen_range(0..6) {
            0 => u128::from(word(rng)) << 64 | u128::from(word(rng)),
            1 => (0..4).fold(0, |v, _| v << 32 | u128::from(word(rng) as u32)),
            2 => (0..8).fold(0, |v, _| v << 16 | u128::from(word(rng) as u16)),
            3 => (0..16).fold(0, |v, _| v << 8 | u128::from(word(rng) as u8)),
            // Few letters: comparisons find something.
            4 => (0..16).fold(0, |v, _| v << 8 | u128::from(rng.gen_range(0..4u8))),
            _ => rng.r#gen(),
        },
    }
}

/// An 80-bit number: significand, then sign and exponent.
pub fn extended(rng: &mut ChaCha8Rng) -> (u64, u16) {
    const TOP: u64 = 1 << 63;
    let (significand, exponent) = match rng.gen_range(0..16) {
        0 => (0, 0),
        1 => (TOP, 0x7fff),                                   // infinity
        2 => (0xc000_0000_0000_0000, 0x7fff),                 // the indefinite number
        3 => (TOP | rng.r#gen::<u64>() >> 1, 0x7fff),         // a NaN
        4 => (TOP | 1, 0x7fff),                               // a signalling NaN
        5 => (rng.r#gen::<u64>() >> rng.gen_range(1..64), 0), // a denormal
        6 => (u64::MAX, 0x7ffe),                              // the largest number
        7 => (TOP, 1),                                        // the least normal number
        8 => (TOP, 0x3fff),                                   // one
        9 => (rng.r#gen(), rng.r#gen::<u16>() & 0x7fff),      // anything, also what is no number
        // Within the range of doubles and singles, with few or many bits.
        10 => (TOP | rng.r#gen::<u64>() >> 1 & !0x7ff, rng.gen_range(0x3fff - 1030..0x3fff + 1030)),
        11 => (TOP | rng.r#gen::<u64>() >> 1, rng.gen_range(0x3fff - 130..0x3fff + 130)),
        12 => (TOP | word(rng) >> 1, rng.gen_range(0x3fff - 2..0x3fff + 66)),
        13 => {
            let whole = rng.gen_range(1..100u64);
            let zeros = whole.leading_zeros();
            (whole << zeros, (0x3fff + 63 - zeros) as u16)
        }
        _ => (TOP | rng.r#gen::<u64>() >> 1, rng.gen_range(0x3fff - 20..0x3fff + 20)),
    };
    (significand, exponent | if rng.r#gen() { 0x8000 } else { 0 })
}

/// A value of MXCSR without reserved bits.
pub fn mxcsr(rng: &mut ChaCha8Rng) -> u32 {
    let mut value = 0x1f80;
    if rng.gen_bool(0.5) {
        value |= rng.r#gen::<u32>() & 0x3f;
    }
    if rng.gen_bool(0.5) {
        value |= rng.r#gen::<u32>() & 0x6000;
    }
    if rng.gen_bool(0.2) {
        value |= rng.r#gen::<u32>() & 0x8040;
    }
    if rng.gen_bool(0.1) {
        value &= !(rng.r#gen::<u32>() & 0x1f80);
    }
    value
}

/// What `fxrstor` reads, with lanes that usually are what the instruction expects.
pub fn vector_state(rng: &mut ChaCha8Rng, expected: Lanes) -> [u8; 512] {
    let mut area = [0; 512];
    let mut control = 0x37f;
    if rng.gen_bool(0.4) {
        control &= !0xf00;
        control |= *[0u16, 0x200, 0x300].choose(rng).expect("not empty");
        control |= rng.r#gen::<u16>() & 0xc00;
    }
    let mut status = 0;
    if rng.gen_bool(0.5) {
        status |= rng.r#gen::<u16>() & 0x473f;
    }
    if rng.gen_bool(0.05) {
        control &= !(rng.r#gen::<u16>() & 0x3f);
    }
    if status & !control & 0x3f != 0 {
        // An exception is waiting.
        status |= 0x8080;
    }
    status |= rng.gen_range(0..8) << 11;
    area[0..2].copy_from_slice(&control.to_le_bytes());
    area[2..4].copy_from_slice(&status.to_le_bytes());
    area[4] = *[0, 0xff, 0xff, rng.r#gen()].choose(rng).expect("not empty");
    area[24..28].copy_from_slice(&mxcsr(rng).to_le_bytes());
    area[28..32].copy_from_slice(&0xffffu32.to_le_bytes());
    for i in 0..8 {
        let (significand, exponent) = extended(rng);
        let at = 32 + 16 * i;
        area[at..at + 8].copy_from_slice(&significand.to_le_bytes());
        area[at + 8..at + 10].copy_from_slice(&exponent.to_le_bytes());
    }
    for i in 0..16 {
        let at = 160 + 16 * i;
        area[at..at + 16].copy_from_slice(&lanes(rng, expected).to_le_bytes());
    }
    area
}
