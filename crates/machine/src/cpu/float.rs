//! Floating-point operations and what MXCSR has to do with them.
//!
//! Ordinary values take the fast way; everything else runs on the host's vector unit under the
//! guest's control bits. Always: an operation that fails changes nothing but the exception flags.

use crate::code::Float as F;

use super::{
    Exception,
    float_exact::inexact,
    float_fast::fast,
    float_host::{FLAGS, MASKS, run},
    float_steps::in_steps,
};

const INVALID: u32 = 1;
const DENORMAL: u32 = 1 << 1;
const ZERO_DIVIDE: u32 = 1 << 2;
const OVERFLOW: u32 = 1 << 3;
const UNDERFLOW: u32 = 1 << 4;
const PRECISION: u32 = 1 << 5;
/// What is found before anything is computed.
const EARLY: u32 = INVALID | DENORMAL | ZERO_DIVIDE;

const DENORMALS_ARE_ZEROS: u32 = 1 << 6;
const ROUNDING: u32 = 3 << 13;
const FLUSH_TO_ZERO: u32 = 1 << 15;

/// `f` of two vectors of floating-point lanes; exceptions are noted in `mxcsr`.
///
/// # Errors
/// An exception that is not masked.
#[inline]
pub(super) fn float(f: F, a: u128, b: u128, imm: u8, mxcsr: &mut u64) -> Result<u128, Exception> {
    match fast(f, a, b, imm, *mxcsr as u32) {
        Some(value) => Ok(value),
        None => precise(f, a, b, imm, mxcsr),
    }
}

/// The precise way.
#[inline(never)]
pub(super) fn precise(f: F, a: u128, b: u128, imm: u8, mxcsr: &mut u64) -> Result<u128, Exception> {
    let guest = *mxcsr as u32;
    let unmasked = !(guest >> 7) & FLAGS;
    let mut control = guest & (ROUNDING | DENORMALS_ARE_ZEROS | FLUSH_TO_ZERO) | MASKS;
    if unmasked & UNDERFLOW != 0 {
        // Who wants to hear of underflow gets no zeros for it.
        control &= !FLUSH_TO_ZERO;
    }
    let Some((value, mut raised)) = run(f, a, b, imm, control) else {
        return in_steps(f, a, b, imm, mxcsr);
    };
    if unmasked & UNDERFLOW != 0 && tiny(f, value) {
        // Masked, a tiny result counts only if it is also inexact.
        raised |= UNDERFLOW;
    }
    let open = raised & unmasked;
    if open & EARLY != 0 {
        raised &= EARLY;
    } else if open & (OVERFLOW | UNDERFLOW) != 0 {
        raised = raised & !PRECISION | precision(f, a, b, control, unmasked);
    }
    *mxcsr |= u64::from(raised);
    if open != 0 {
        // All that are set and not masked, also from before: that is how kernels find the reason.
        return Err(Exception::VectorFloat((*mxcsr as u32 & unmasked) as u8));
    }
    Ok(value)
}

/// The precision flag, where an overflow or underflow is not masked: lane by lane.
fn precision(f: F, a: u128, b: u128, control: u32, unmasked: u32) -> u32 {
    let (scalar, lanes, bits) = match f {
        F::Addps => (F::Addss, 4, 32),
        F::Subps => (F::Subss, 4, 32),
        F::Mulps => (F::Mulss, 4, 32),
        F::Divps => (F::Divss, 4, 32),
        F::Addpd => (F::Addsd, 2, 64),
        F::Subpd => (F::Subsd, 2, 64),
        F::Mulpd => (F::Mulsd, 2, 64),
        F::Divpd => (F::Divsd, 2, 64),
        F::Cvtpd2ps => (F::Cvtsd2ss, 2, 64),
        scalar => (scalar, 1, 64),
    };
    (0..lanes).fold(0, |found, k| {
        let (x, y) = (a >> (k * bits), b >> (k * bits));
        let Some((value, mut raised)) = run(scalar, x, y, 0, control) else { return found };
        if unmasked & UNDERFLOW != 0 && tiny(scalar, value) {
            raised |= UNDERFLOW;
        }
        if raised & unmasked & (OVERFLOW | UNDERFLOW) == 0 {
            found | raised & PRECISION
        } else if inexact(scalar, x, y) {
            found | PRECISION
        } else {
            found
        }
    })
}

/// Whether a result of arithmetic is too small to be normal.
fn tiny(f: F, value: u128) -> bool {
    let single = |k: u32| f32::from_bits((value >> (32 * k)) as u32).is_subnormal();
    let double = |k: u32| f64::from_bits((value >> (64 * k)) as u64).is_subnormal();
    match f {
        F::Addss | F::Subss | F::Mulss | F::Divss | F::Cvtsd2ss => single(0),
        F::Addsd | F::Subsd | F::Mulsd | F::Divsd => double(0),
        F::Cvtpd2ps => single(0) || single(1),
        F::Addps | F::Subps | F::Mulps | F::Divps => (0..4).any(single),
        F::Addpd | F::Subpd | F::Mulpd | F::Divpd => (0..2).any(double),
        _ => false,
    }
}
