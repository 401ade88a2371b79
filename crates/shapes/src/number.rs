//! Numbers in bytes: binary fields of either endianness, and decimal digits.

use stunt_terms::{Pool, Term};

/// The bytes as one number, the first byte lowest.
///
/// # Panics
/// If there is no byte or there are more than 16.
pub fn little_endian(pool: &mut Pool, bytes: &[Term]) -> Term {
    let joined = bytes.iter().copied().reduce(|low, byte| pool.concat(byte, low));
    joined.expect("a field has bytes")
}

/// The bytes as one number, the first byte highest.
///
/// # Panics
/// If there is no byte or there are more than 16.
pub fn big_endian(pool: &mut Pool, bytes: &[Term]) -> Term {
    let joined = bytes.iter().copied().reduce(|high, byte| pool.concat(high, byte));
    joined.expect("a field has bytes")
}

/// `low <= term < high`, unsigned.
pub fn in_range(pool: &mut Pool, term: Term, low: u128, high: u128) -> Term {
    let width = pool.width(term);
    let (low, high) = (pool.constant(width, low), pool.constant(width, high));
    let (above, below) = (pool.ule(low, term), pool.ult(term, high));
    pool.and(above, below)
}

/// That every byte is an ASCII digit: one condition a byte.
pub fn digits(pool: &mut Pool, bytes: &[Term]) -> Vec<Term> {
    bytes.iter().map(|&byte| in_range(pool, byte, 0x30, 0x3a)).collect()
}

/// The value of ASCII digits as `atoi` computes it: `value * 10 + (byte - '0')` in 32 bits.
pub fn decimal(pool: &mut Pool, bytes: &[Term]) -> Term {
    numeral(pool, bytes, 10)
}

/// The value of ASCII digits in a base of at most ten: `value * base + (byte - '0')` in 32 bits.
pub fn numeral(pool: &mut Pool, bytes: &[Term], base: u8) -> Term {
    let mut value = pool.constant(32, 0);
    for &byte in bytes {
        let (base, zero) = (pool.constant(32, u128::from(base)), pool.constant(32, 0x30));
        let digit = pool.zero_extend(32, byte);
        let digit = pool.sub(digit, zero);
        let shifted = pool.mul(value, base);
        value = pool.add(shifted, digit);
    }
    value
}
