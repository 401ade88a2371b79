//! `roundps` and its family, in plain Rust: the host may not have them.
//!
//! A lane becomes the integer that the constant or MXCSR says. Always: NaNs stay, made quiet.

use crate::code::Float as F;

use super::vector_lanes::{doubles, from_doubles, from_quads, quads};

const INVALID: u32 = 1;
const PRECISION: u32 = 1 << 5;
const DENORMALS_ARE_ZEROS: u32 = 1 << 6;

/// Rounds the lanes of `b`; scalar forms keep the rest of `a`.
pub(super) fn round(f: F, a: u128, b: u128, imm: u8, control: u32) -> (u128, u32) {
    let mode = if imm & 4 != 0 { control >> 13 & 3 } else { u32::from(imm) & 3 };
    let zeros = control & DENORMALS_ARE_ZEROS != 0;
    let mut raised = 0;
    let mut single = |x: u32| single(x, mode, zeros, &mut raised);
    let value = match f {
        F::Roundss => a & !0xffff_ffff | u128::from(single(b as u32)),
        F::Roundps => from_doubles(doubles(b).map(single)),
        _ => {
            let mut double = |x: u64| double(x, mode, zeros, &mut raised);
            match f {
                F::Roundsd => a & !u128::from(u64::MAX) | u128::from(double(b as u64)),
                _ => from_quads(quads(b).map(double)),
            }
        }
    };
    // The constant can keep the loss to itself.
    (value, if imm & 8 != 0 { raised & !PRECISION } else { raised })
}

fn single(bits: u32, mode: u32, zeros: bool, raised: &mut u32) -> u32 {
    const QUIET: u32 = 1 << 22;
    let x = f32::from_bits(bits);
    if x.is_nan() {
        if bits & QUIET == 0 {
            *raised |= INVALID;
        }
        return bits | QUIET;
    }
    if zeros && x.is_subnormal() {
        return bits & 1 << 31;
    }
    let r = match mode {
        0 => x.round_ties_even(),
        1 => x.floor(),
        2 => x.ceil(),
        _ => x.trunc(),
    };
    if r != x {
        *raised |= PRECISION;
    }
    r.to_bits()
}

fn double(bits: u64, mode: u32, zeros: bool, raised: &mut u32) -> u64 {
    const QUIET: u64 = 1 << 51;
    let x = f64::from_bits(bits);
    if x.is_nan() {
        if bits & QUIET == 0 {
            *raised |= INVALID;
        }
        return bits | QUIET;
    }
    if zeros && x.is_subnormal() {
        return bits & 1 << 63;
    }
    let r = match mode {
        0 => x.round_ties_even(),
        1 => x.floor(),
        2 => x.ceil(),
        _ => x.trunc(),
    };
    if r != x {
        *raised |= PRECISION;
    }
    r.to_bits()
}
