//! What each operator means on numbers: SMT-LIB's definitions, total, on `u128`.
//!
//! The constructors fold constants with this, the evaluator and operators on their own run it, and
//! the compiled form is tested against it. Values are always within their width; so are results.

use crate::term::{Sort, mask};

/// The value as a signed number.
#[inline]
pub(crate) fn signed(width: u8, value: u128) -> i128 {
    let unused = 128 - u32::from(width);
    ((value << unused) as i128) >> unused
}

/// The top bit of a value.
#[inline]
pub(crate) fn is_negative(width: u8, value: u128) -> bool {
    value >> (width - 1) & 1 == 1
}

#[inline]
pub(crate) fn neg(width: u8, a: u128) -> u128 {
    a.wrapping_neg() & mask(width)
}

#[inline]
pub(crate) fn add(width: u8, a: u128, b: u128) -> u128 {
    a.wrapping_add(b) & mask(width)
}

#[inline]
pub(crate) fn sub(width: u8, a: u128, b: u128) -> u128 {
    a.wrapping_sub(b) & mask(width)
}

#[inline]
pub(crate) fn mul(width: u8, a: u128, b: u128) -> u128 {
    a.wrapping_mul(b) & mask(width)
}

// Division of 128-bit numbers is a slow library call; nearly all numbers are short.
#[inline]
pub(crate) fn udiv(width: u8, a: u128, b: u128) -> u128 {
    let quotient = match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => a.checked_div(b).map(u128::from),
        _ => a.checked_div(b),
    };
    quotient.unwrap_or(mask(width))
}

#[inline]
pub(crate) fn urem(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => u128::from(a.checked_rem(b).unwrap_or(a)),
        _ => a.checked_rem(b).unwrap_or(a),
    }
}

/// The magnitude of a signed value: `|a|`, which fits the width unsigned.
#[inline]
fn magnitude(width: u8, a: u128) -> u128 {
    if is_negative(width, a) { neg(width, a) } else { a }
}

#[inline]
pub(crate) fn sdiv(width: u8, a: u128, b: u128) -> u128 {
    let quotient = udiv(width, magnitude(width, a), magnitude(width, b));
    if is_negative(width, a) == is_negative(width, b) { quotient } else { neg(width, quotient) }
}

#[inline]
pub(crate) fn srem(width: u8, a: u128, b: u128) -> u128 {
    let remainder = urem(magnitude(width, a), magnitude(width, b));
    if is_negative(width, a) { neg(width, remainder) } else { remainder }
}

#[inline]
pub(crate) fn shl(width: u8, a: u128, b: u128) -> u128 {
    if b < u128::from(width) { (a << b) & mask(width) } else { 0 }
}

#[inline]
pub(crate) fn lshr(width: u8, a: u128, b: u128) -> u128 {
    if b < u128::from(width) { a >> b } else { 0 }
}

#[inline]
pub(crate) fn ashr(width: u8, a: u128, b: u128) -> u128 {
    let by = b.min(u128::from(width) - 1);
    (signed(width, a) >> by) as u128 & mask(width)
}

#[inline]
pub(crate) fn concat(low_width: u8, high: u128, low: u128) -> u128 {
    high << low_width | low
}

#[inline]
pub(crate) fn extract(width: u8, lo: u8, a: u128) -> u128 {
    a >> lo & mask(width)
}

#[inline]
pub(crate) fn sign_extend(from: u8, to: u8, a: u128) -> u128 {
    signed(from, a) as u128 & mask(to)
}

#[inline]
pub(crate) fn slt(width: u8, a: u128, b: u128) -> bool {
    signed(width, a) < signed(width, b)
}

/// A value cut to its sort.
#[inline]
pub(crate) fn truncate(sort: Sort, value: u128) -> u128 {
    value & sort.mask()
}

/// The inverse of an odd number modulo 2^128, and so modulo every smaller power of two.
pub fn odd_inverse(odd: u128) -> u128 {
    debug_assert!(odd & 1 == 1, "an even number has no inverse");
    let mut x = odd; // right modulo 2^3; each step of Newton's iteration doubles the right bits
    for _ in 0..6 {
        x = x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x)));
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses() {
        for odd in [1u128, 3, 5, 0xcccc_cccd, u128::MAX, 0x1234_5678_9abc_def1] {
            assert_eq!(odd.wrapping_mul(odd_inverse(odd)), 1);
        }
    }

    #[test]
    fn division_by_zero_follows_smt_lib() {
        assert_eq!(udiv(8, 5, 0), 0xff);
        assert_eq!(urem(5, 0), 5);
        assert_eq!(sdiv(8, 5, 0), 0xff);
        assert_eq!(sdiv(8, 0xfb, 0), 1);
        assert_eq!(srem(8, 0xfb, 0), 0xfb);
    }

    #[test]
    fn signed_division_truncates_and_wraps() {
        assert_eq!(sdiv(8, 0xf9, 2), 0xfd); // -7 / 2 = -3
        assert_eq!(srem(8, 0xf9, 2), 0xff); // -7 rem 2 = -1
        assert_eq!(sdiv(8, 0x80, 0xff), 0x80); // -128 / -1 wraps
        assert_eq!(sdiv(128, 1 << 127, u128::MAX), 1 << 127);
    }

    #[test]
    fn shifts_past_the_width() {
        assert_eq!(shl(8, 1, 8), 0);
        assert_eq!(lshr(8, 0x80, 200), 0);
        assert_eq!(ashr(8, 0x80, 200), 0xff);
        assert_eq!(shl(128, 1, 127), 1 << 127);
        assert_eq!(ashr(128, 1 << 127, 127), u128::MAX);
    }
}
