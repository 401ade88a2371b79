//! Floating-point operations that are made of several others: sums of neighbours, alternating sums
//! and products summed up.
//!
//! The host may not have them, but it has their parts.

use crate::code::Float as F;

use super::{
    Exception,
    float::precise,
    vector_lanes::{doubles, from_doubles, from_quads, quads},
};

/// `f` in steps.
pub(super) fn in_steps(
    f: F,
    a: u128,
    b: u128,
    imm: u8,
    mxcsr: &mut u64,
) -> Result<u128, Exception> {
    let (step, a, b) = match f {
        F::Haddps => neighbours(F::Addps, a, b),
        F::Hsubps => neighbours(F::Subps, a, b),
        F::Haddpd => neighbouring_doubles(F::Addpd, a, b),
        F::Hsubpd => neighbouring_doubles(F::Subpd, a, b),
        F::Addsubps => {
            let mut lanes = doubles(b);
            for k in [0, 2] {
                if !f32::from_bits(lanes[k]).is_nan() {
                    lanes[k] ^= 1 << 31;
                }
            }
            (F::Addps, a, from_doubles(lanes))
        }
        F::Addsubpd => {
            let sign = if f64::from_bits(b as u64).is_nan() { 0 } else { 1 << 63 };
            (F::Addpd, a, b ^ sign)
        }
        F::Dpps => return dot_singles(a, b, imm, mxcsr),
        F::Dppd => return dot_doubles(a, b, imm, mxcsr),
        // It is a step itself.
        _ => (f, a, b),
    };
    precise(step, a, b, imm, mxcsr)
}

/// The even lanes of both, and the odd ones.
fn neighbours(step: F, a: u128, b: u128) -> (F, u128, u128) {
    let (x, y) = (doubles(a), doubles(b));
    let even = from_doubles([x[0], x[2], y[0], y[2]]);
    let odd = from_doubles([x[1], x[3], y[1], y[3]]);
    (step, even, odd)
}

fn neighbouring_doubles(step: F, a: u128, b: u128) -> (F, u128, u128) {
    let (x, y) = (quads(a), quads(b));
    (step, from_quads([x[0], y[0]]), from_quads([x[1], y[1]]))
}

/// The lanes of `v` that the bits of `lanes` select, and zeros.
fn keep(v: u128, lanes: u8, bits: u32) -> u128 {
    let ones = u128::MAX >> (128 - bits);
    (0..128 / bits).filter(|k| lanes >> k & 1 != 0).fold(0, |r, k| r | v & ones << (k * bits))
}

fn dot_singles(a: u128, b: u128, imm: u8, mxcsr: &mut u64) -> Result<u128, Exception> {
    let lanes = imm >> 4;
    let products = precise(F::Mulps, keep(a, lanes, 32), keep(b, lanes, 32), 0, mxcsr)?;
    let t = doubles(products);
    let (even, odd) = (from_doubles([t[0], t[2], 0, 0]), from_doubles([t[1], t[3], 0, 0]));
    let sums = precise(F::Addps, even, odd, 0, mxcsr)?;
    let total = precise(F::Addss, sums, sums >> 32, 0, mxcsr)?;
    Ok(keep(from_doubles([total as u32; 4]), imm & 15, 32))
}

fn dot_doubles(a: u128, b: u128, imm: u8, mxcsr: &mut u64) -> Result<u128, Exception> {
    let lanes = imm >> 4 & 3;
    let products = precise(F::Mulpd, keep(a, lanes, 64), keep(b, lanes, 64), 0, mxcsr)?;
    let total = precise(F::Addsd, products, products >> 64, 0, mxcsr)?;
    Ok(keep(from_quads([total as u64; 2]), imm & 3, 64))
}
