//! Comparisons of numbers that are read digit by digit, told digit by digit.
//!
//! A parser makes `x = 10 * y + d` of each digit. Where nothing overflows and `d` is below ten, `x`
//! is to `y` and `d` what a numeral is to its digits: `x = c` says what both are, and `x < c` is
//! decided by `y` unless `y` is just the quotient of `c`, and then by `d`. Told so, conditions of
//! long numbers are conditions of digits, which can be counted however many there are.
//!
//! What always holds: under the domains that the ranges come from, the result has the meaning of
//! the term.

use rustc_hash::FxHashMap;
use stunt_models::ByteSet;
use stunt_terms::{InputByte, Op, Pool, Term, mask};

use crate::ranges::Ranges;

/// A simpler form of a comparison with a constant; `None` if there is none.
pub(crate) fn told_by_digits(
    pool: &mut Pool,
    ranges: &mut Ranges,
    domains: &FxHashMap<InputByte, ByteSet>,
    term: Term,
) -> Option<Term> {
    match pool.op(term) {
        Op::Eq(number, constant) if !pool.is_bool(number) => {
            let value = pool.as_const(constant)?;
            let Parts { quotient, factor, digit } = parts(pool, ranges, domains, number)?;
            let (q, r) = (value / factor, value % factor);
            let first = equals(pool, quotient, q);
            let Some(digit) = digit else {
                return Some(if r == 0 { first } else { pool.boolean(false) });
            };
            let second = equals(pool, digit, r);
            Some(pool.and(first, second))
        }
        Op::Ult(number, constant) => {
            let bound = pool.as_const(constant)?;
            if let Op::Add(inner, shift) = pool.op(number)
                && let Some(shift) = pool.as_const(shift)
            {
                // A range check: from `low` on, so many.
                let most = mask(pool.width(number));
                let low = shift.wrapping_neg() & most;
                let end = low.checked_add(bound).filter(|&end| end <= most)?;
                parts(pool, ranges, domains, inner)?;
                let (low, end) = (below(pool, inner, low), below(pool, inner, end));
                let not_low = pool.not(low);
                return Some(pool.and(not_low, end));
            }
            let Parts { quotient, factor, digit } = parts(pool, ranges, domains, number)?;
            let (q, r) = (bound / factor, bound % factor);
            let Some(digit) = digit else {
                return Some(below(pool, quotient, if r == 0 { q } else { q + 1 }));
            };
            let less = below(pool, quotient, q);
            let equal = equals(pool, quotient, q);
            let rest = below(pool, digit, r);
            let last = pool.and(equal, rest);
            Some(pool.or(less, last))
        }
        _ => None,
    }
}

/// A number as `quotient * factor + digit` without overflow, the digit below the factor.
struct Parts {
    quotient: Term,
    factor: u128,
    /// None: it is always zero.
    digit: Option<Term>,
}

fn parts(
    pool: &Pool,
    ranges: &mut Ranges,
    domains: &FxHashMap<InputByte, ByteSet>,
    number: Term,
) -> Option<Parts> {
    let most = mask(pool.width(number));
    let product = |term: Term| match pool.op(term) {
        Op::Mul(quotient, factor) => Some((quotient, pool.as_const(factor)?)),
        _ => None,
    };
    let (quotient, factor, digit) = match pool.op(number) {
        Op::Add(a, b) => {
            let ((quotient, factor), digit) = match (product(a), product(b)) {
                (Some(product), _) => (product, b),
                (None, Some(product)) => (product, a),
                (None, None) => return None,
            };
            (quotient, factor, Some(digit))
        }
        _ => {
            let (quotient, factor) = product(number)?;
            (quotient, factor, None)
        }
    };
    if factor < 2 {
        return None;
    }
    let highest_digit = digit.map_or(0, |digit| ranges.of(pool, domains, digit).1);
    let highest = ranges.of(pool, domains, quotient).1.checked_mul(factor)?;
    let fits = highest_digit < factor && highest.checked_add(highest_digit)? <= most;
    fits.then_some(Parts { quotient, factor, digit })
}

/// That a term is the number; false if it is too large for the term.
fn equals(pool: &mut Pool, term: Term, value: u128) -> Term {
    let width = pool.width(term);
    if value > mask(width) {
        return pool.boolean(false);
    }
    let constant = pool.constant(width, value);
    pool.eq(term, constant)
}

/// That a term is below the number.
fn below(pool: &mut Pool, term: Term, bound: u128) -> Term {
    let width = pool.width(term);
    if bound > mask(width) {
        return pool.boolean(true);
    }
    let constant = pool.constant(width, bound);
    pool.ult(term, constant)
}
