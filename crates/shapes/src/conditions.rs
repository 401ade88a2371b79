//! Whole conditions over the first bytes of source 0, most with a known number of solutions.
//!
//! Each is a list of literals, as a run of a parser would leave them. The number of solutions
//! stands with each; this file does not count them.

use stunt_terms::{Pool, Term};

/// `GET ` and 21 bytes that are neither space nor newline: `254^21` of `256^25`.
pub fn request_line(pool: &mut Pool) -> Vec<Term> {
    let bytes = crate::input(pool, 0, 25);
    let mut literals = crate::equals(pool, &bytes[..4], b"GET ");
    for &byte in &bytes[4..] {
        literals.extend(crate::none_of(pool, byte, b" \n"));
    }
    literals
}

/// A 32-bit little-endian field in [100, 4096): 3996 of `256^4`.
pub fn field_in_range(pool: &mut Pool) -> Vec<Term> {
    let field = crate::field(pool, 0, 4);
    vec![crate::in_range(pool, field, 100, 4096)]
}

/// Two 32-bit little-endian fields with `offset <= 10000` and `length <= 10000 - offset`:
/// `10001 * 10002 / 2` of `256^8`.
pub fn offset_and_length(pool: &mut Pool) -> Vec<Term> {
    let (offset, length) = (crate::field(pool, 0, 4), crate::field(pool, 4, 4));
    let size = pool.constant(32, 10_000);
    let rest = pool.sub(size, offset);
    vec![pool.ule(offset, size), pool.ule(length, rest)]
}

/// Five digits with a value above 255: `10^5 - 256` of `256^5`.
pub fn five_digits(pool: &mut Pool) -> Vec<Term> {
    let bytes = crate::input(pool, 0, 5);
    let mut literals = crate::digits(pool, &bytes);
    let (value, limit) = (crate::decimal(pool, &bytes), pool.constant(32, 255));
    literals.push(pool.ugt(value, limit));
    literals
}

/// That many digits that pass the Luhn check: a tenth of all that are digits.
pub fn card_number(pool: &mut Pool, digits: u32) -> Vec<Term> {
    let bytes = crate::input(pool, 0, digits);
    let mut literals = crate::digits(pool, &bytes);
    literals.push(crate::luhn(pool, &bytes));
    literals
}

/// Sixteen bytes and sixteen more that are equal to them, one by one: `256^16` of `256^32`.
pub fn equal_pairs(pool: &mut Pool) -> Vec<Term> {
    let bytes = crate::input(pool, 0, 32);
    (0..16).map(|i| pool.eq(bytes[i], bytes[16 + i])).collect()
}

/// A function of the first `length` bytes has a value (cut to its width).
pub fn checksum_is(
    pool: &mut Pool,
    length: u32,
    of: impl FnOnce(&mut Pool, &[Term]) -> Term,
    value: u128,
) -> Vec<Term> {
    let bytes = crate::input(pool, 0, length);
    let sum = of(pool, &bytes);
    let value = pool.constant(pool.width(sum), value);
    vec![pool.eq(sum, value)]
}

/// The sum of 32 bytes as six octal digits behind them, as in headers of `tar`: each sum is
/// written in one way, so `256^32` of `256^38`.
pub fn octal_sum(pool: &mut Pool) -> Vec<Term> {
    let (bytes, digits) = (crate::input(pool, 0, 32), crate::input(pool, 32, 38));
    let mut literals: Vec<Term> =
        digits.iter().map(|&digit| crate::in_range(pool, digit, 0x30, 0x38)).collect();
    let (sum, value) = (crate::sum(pool, &bytes, 32), crate::numeral(pool, &digits, 8));
    literals.push(pool.eq(sum, value));
    literals
}
