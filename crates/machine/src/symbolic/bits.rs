//! What shifts, products, quotients and operations on single bits mean on terms.
//!
//! Pure functions, the mirror of `cpu/bits.rs`. Always: terms that come in and go out are 64 bits
//! wide, operands may have anything above their width, results are zero-extended. `None` says that
//! there is no rule. Nothing here knows concrete values, slots or paths: that a division does not
//! fault is for the caller to assert.
//!
//! Results are made for the tests that follow them. The position of a bit is a chain of `ite`s on
//! single bits, so that `bsf(x) = 3` unfolds to four tests of bits.

use stunt_terms::{Op, Pool, TableId, Term};

use super::{vector::lanes, words::low};
use crate::code::{BitOp, Shift, Width};

/// CF in `rflags`.
const CF: u64 = 1;
/// ZF in `rflags`.
const ZF: u64 = 1 << 6;
/// SF in `rflags`.
const SF: u64 = 1 << 7;

fn bits(w: Width) -> u8 {
    w.bits() as u8
}

/// A term with zeros in front.
fn full(pool: &mut Pool, term: Term) -> Term {
    pool.zero_extend(64, term)
}

/// The count that the processor makes of an operand, at the width.
fn count_of(pool: &mut Pool, w: Width, count: Term) -> Term {
    let used = if w == Width::W64 { 6 } else { 5 };
    let count = pool.extract(used - 1, 0, count);
    pool.zero_extend(bits(w), count)
}

/// A shift or rotation; there is no rule for those through the carry.
pub(crate) fn shift(pool: &mut Pool, f: Shift, w: Width, a: Term, count: Term) -> Option<Term> {
    let (a, n) = (low(pool, w, a), count_of(pool, w, count));
    let result = match f {
        Shift::Shl => pool.shl(a, n),
        Shift::Shr => pool.lshr(a, n),
        Shift::Sar => pool.ashr(a, n),
        Shift::Rol => rotate(pool, false, a, n),
        Shift::Ror => rotate(pool, true, a, n),
        Shift::Rcl | Shift::Rcr if pool.as_const(n) == Some(0) => a,
        Shift::Rcl | Shift::Rcr => return None,
    };
    Some(full(pool, result))
}

fn rotate(pool: &mut Pool, right: bool, a: Term, n: Term) -> Term {
    let width = pool.width(a);
    if let Some(n) = pool.as_const(n) {
        let n = (n % u128::from(width)) as u8;
        return if right { pool.rotate_right(n, a) } else { pool.rotate_left(n, a) };
    }
    // Widths are powers of two.
    let n = pool.extract(width.trailing_zeros() as u8 - 1, 0, n);
    let n = pool.zero_extend(width, n);
    let whole = pool.constant(width, u128::from(width));
    // A shift by the whole width, for a count of zero, leaves nothing.
    let back = pool.sub(whole, n);
    let (left, right) = if right { (back, n) } else { (n, back) };
    let (above, below) = (pool.shl(a, left), pool.lshr(a, right));
    pool.or(above, below)
}

/// `shld` or (`right`) `shrd`; there is no rule for a count that is not constant.
pub(crate) fn shift_double(
    pool: &mut Pool,
    right: bool,
    w: Width,
    a: Term,
    b: Term,
    count: Term,
) -> Option<Term> {
    if w == Width::W8 {
        return None;
    }
    let n = count_of(pool, w, count);
    let n = pool.as_const(n)? as u8;
    let (a, b, bits) = (low(pool, w, a), low(pool, w, b), bits(w));
    // At 16 bits, where the count may exceed the width, the first operand follows again.
    let (ring, from) = match (w, right) {
        (Width::W16, _) => {
            let below = pool.concat(b, a);
            (pool.concat(a, below), if right { n } else { 32 - n })
        }
        (_, true) => (pool.concat(b, a), n),
        (_, false) => (pool.concat(a, b), bits - n),
    };
    let result = pool.extract(from + bits - 1, from, ring);
    Some(full(pool, result))
}

/// The halves of a product.
pub(crate) fn multiply(pool: &mut Pool, w: Width, signed: bool, a: Term, b: Term) -> (Term, Term) {
    let (a, b, bits) = (low(pool, w, a), low(pool, w, b), bits(w));
    let lower = pool.mul(a, b);
    let [x, y] = [a, b].map(|t| match signed {
        true => pool.sign_extend(2 * bits, t),
        false => pool.zero_extend(2 * bits, t),
    });
    let wide = pool.mul(x, y);
    let upper = pool.extract(2 * bits - 1, bits, wide);
    (full(pool, lower), full(pool, upper))
}

/// Quotient and remainder of a division that does not fault. `high` and `low` are the halves of the
/// dividend, each in its lower `w` bits: `rdx` and `rax`, but at 8 bits `ah` (moved down) and `al`.
pub(crate) fn divide(
    pool: &mut Pool,
    w: Width,
    signed: bool,
    high: Term,
    low_half: Term,
    a: Term,
) -> Option<(Term, Term)> {
    let bits = bits(w);
    let (high, below, by) = (low(pool, w, high), low(pool, w, low_half), low(pool, w, a));
    // Compilers make the upper half from the lower one; then the narrow division is the same.
    let is_narrow = if signed {
        let extended = pool.sign_extend(2 * bits, below);
        pool.extract(2 * bits - 1, bits, extended) == high
    } else {
        pool.as_const(high) == Some(0)
    };
    let (dividend, divisor) = match (is_narrow, signed) {
        (true, _) => (below, by),
        (false, true) => (pool.concat(high, below), pool.sign_extend(2 * bits, by)),
        (false, false) => (pool.concat(high, below), pool.zero_extend(2 * bits, by)),
    };
    let (quotient, rest) = if signed {
        (pool.sdiv(dividend, divisor), pool.srem(dividend, divisor))
    } else {
        (pool.udiv(dividend, divisor), pool.urem(dividend, divisor))
    };
    let [quotient, rest] = [quotient, rest].map(|t| {
        let t = low(pool, w, t);
        full(pool, t)
    });
    Some((quotient, rest))
}

/// The result of a bit operation and, if it sets flags, their bits in their places in `rflags`:
/// ZF alone for the scans `bsf` and `bsr`, else all six, of which those not named are zero.
///
/// `old` is what a scan leaves for zero.
pub(crate) fn bit_op(
    pool: &mut Pool,
    f: BitOp,
    w: Width,
    old: Term,
    a: Term,
    b: Term,
) -> Option<(Term, Option<Term>)> {
    let n = bits(w);
    let (x, y) = (low(pool, w, a), low(pool, w, b));
    let zero = pool.constant(n, 0);
    let (result, flags) = match f {
        BitOp::Bsf | BitOp::Bsr => {
            let is_zero = pool.eq(x, zero);
            let flags = flag_bits(pool, &[(ZF, is_zero)]);
            let whole = full(pool, x);
            // A register that is scanned into itself stays zero.
            let left = if old == whole { pool.constant(64, 0) } else { old };
            return Some((scan(pool, f == BitOp::Bsr, x, left), Some(flags)));
        }
        BitOp::Tzcnt | BitOp::Lzcnt => {
            let reversed = f == BitOp::Lzcnt;
            let order = lanes::split(pool, x, 1);
            let order: Vec<Term> =
                if reversed { order.into_iter().rev().collect() } else { order.into_vec() };
            let none = pool.constant(8, u128::from(n));
            let result = first_set(pool, &order, |k| k, none);
            let (is_zero, starts) = (pool.eq(x, zero), is_set(pool, order[0]));
            (result, vec![(CF, is_zero), (ZF, starts)])
        }
        BitOp::Popcnt => {
            let is_zero = pool.eq(x, zero);
            (population(pool, x), vec![(ZF, is_zero)])
        }
        BitOp::Andn => {
            let not = pool.not(x);
            let r = pool.and(not, y);
            (r, zero_and_sign(pool, r))
        }
        BitOp::Blsi => {
            let minus = pool.neg(x);
            let r = pool.and(x, minus);
            let mut flags = zero_and_sign(pool, r);
            flags.push((CF, pool.ne(x, zero)));
            (r, flags)
        }
        BitOp::Blsr | BitOp::Blsmsk => {
            let one = pool.constant(n, 1);
            let less = pool.sub(x, one);
            let is_zero = pool.eq(x, zero);
            if f == BitOp::Blsr {
                let r = pool.and(x, less);
                let mut flags = zero_and_sign(pool, r);
                flags.push((CF, is_zero));
                (r, flags)
            } else {
                let r = pool.xor(x, less);
                let sign = is_negative(pool, r);
                (r, vec![(CF, is_zero), (SF, sign)])
            }
        }
        BitOp::Bextr => {
            let (start, length) = (pool.extract(7, 0, y), pool.extract(15, 8, y));
            let (wide, start) = (full(pool, x), full(pool, start));
            let shifted = pool.lshr(wide, start);
            let ones = low_ones(pool, 64, length);
            let r = pool.and(shifted, ones);
            let zero = pool.constant(64, 0);
            (r, vec![(ZF, pool.eq(r, zero))])
        }
        BitOp::Bzhi => {
            let from = pool.extract(7, 0, y);
            let ones = low_ones(pool, n, from);
            let r = pool.and(x, ones);
            let limit = pool.constant(8, u128::from(n));
            let mut flags = zero_and_sign(pool, r);
            flags.push((CF, pool.uge(from, limit)));
            (r, flags)
        }
        BitOp::Pdep | BitOp::Pext => {
            let mask = pool.as_const(y)? as u64;
            let chosen: Vec<u8> = (0..n).filter(|k| mask >> k & 1 != 0).collect();
            let from = lanes::split(pool, x, 1);
            let off = pool.constant(1, 0);
            let mut to = vec![off; usize::from(n)];
            for (k, &place) in chosen.iter().enumerate() {
                match f {
                    BitOp::Pdep => to[usize::from(place)] = from[k],
                    _ => to[k] = from[usize::from(place)],
                }
            }
            let r = lanes::join(pool, &to);
            return Some((full(pool, r), None));
        }
        BitOp::Crc32 => {
            let crc = pool.extract(31, 0, a);
            let r = checksum(pool, crc, y);
            return Some((full(pool, r), None));
        }
    };
    let flags = flag_bits(pool, &flags);
    Some((full(pool, result), Some(flags)))
}

/// The place of the first or last set bit, 64 bits wide; `none` if there is none.
fn scan(pool: &mut Pool, last: bool, x: Term, none: Term) -> Term {
    // Narrow where that is possible: it is less to solve.
    let end = match pool.as_const(none) {
        Some(value) if value < 64 => pool.constant(8, value),
        _ => none,
    };
    let mut order = lanes::split(pool, x, 1);
    let top = order.len() as u8 - 1;
    let chain = if last {
        order.reverse();
        first_set(pool, &order, |k| top - k, end)
    } else {
        first_set(pool, &order, |k| k, end)
    };
    full(pool, chain)
}

/// The number that `place` gives the first set bit; `none` if there is none.
fn first_set(pool: &mut Pool, order: &[Term], place: impl Fn(u8) -> u8, none: Term) -> Term {
    let width = pool.width(none);
    let mut chain = none;
    for (k, &bit) in order.iter().enumerate().rev() {
        if pool.as_const(bit) == Some(0) {
            continue;
        }
        let set = is_set(pool, bit);
        let value = pool.constant(width, u128::from(place(k as u8)));
        chain = pool.ite(set, value, chain);
    }
    chain
}

/// Whether a term of one bit is 1.
fn is_set(pool: &mut Pool, bit: Term) -> Term {
    let one = pool.constant(1, 1);
    pool.eq(bit, one)
}

fn is_negative(pool: &mut Pool, x: Term) -> Term {
    let zero = pool.constant(pool.width(x), 0);
    pool.slt(x, zero)
}

fn zero_and_sign(pool: &mut Pool, r: Term) -> Vec<(u64, Term)> {
    let zero = pool.constant(pool.width(r), 0);
    vec![(ZF, pool.eq(r, zero)), (SF, is_negative(pool, r))]
}

/// Truth values at their places in `rflags`, cut so that a test of one flag finds it.
fn flag_bits(pool: &mut Pool, flags: &[(u64, Term)]) -> Term {
    let off = pool.constant(1, 0);
    let mut places = [off; 8];
    for &(flag, truth) in flags {
        places[flag.trailing_zeros() as usize] = pool.truth_as_bits(1, truth);
    }
    let joined = lanes::join(pool, &places);
    full(pool, joined)
}

/// How many bits are set, 8 bits wide.
fn population(pool: &mut Pool, x: Term) -> Term {
    let mut sum = pool.constant(8, 0);
    for lane in lanes::split(pool, x, 8) {
        // A byte of many parts is a mask of truth values; one of one part is a number.
        if let Op::Concat(..) | Op::ZeroExtend(_) = pool.op(lane) {
            for bit in lanes::split(pool, lane, 1) {
                let bit = pool.zero_extend(8, bit);
                sum = pool.add(sum, bit);
            }
        } else {
            let entries: Vec<u64> = (0..256u64).map(|v| u64::from(v.count_ones())).collect();
            let table = pool.add_table(8, entries);
            let count = pool.table(table, lane);
            sum = pool.add(sum, count);
        }
    }
    sum
}

/// A number with as many low bits set as the byte says, `width` bits wide.
fn low_ones(pool: &mut Pool, width: u8, byte: Term) -> Term {
    let all = u64::MAX >> (64 - width);
    let entries: Vec<u64> =
        (0..256u32).map(|n| 1u64.checked_shl(n).map_or(all, |bit| (bit - 1) & all)).collect();
    let table = pool.add_table(width, entries);
    pool.table(table, byte)
}

/// CRC-32C of the bytes of `data`, lowest first, byte by byte through the usual table.
fn checksum(pool: &mut Pool, crc: Term, data: Term) -> Term {
    let table = checksum_table(pool);
    let mut crc = crc;
    for byte in lanes::split(pool, data, 8) {
        let (first, rest) = (pool.extract(7, 0, crc), pool.extract(31, 8, crc));
        let index = pool.xor(first, byte);
        let (read, rest) = (pool.table(table, index), pool.zero_extend(32, rest));
        crc = pool.xor(read, rest);
    }
    crc
}

fn checksum_table(pool: &mut Pool) -> TableId {
    let entries: Vec<u64> = (0..256u64)
        .map(|byte| {
            (0..8).fold(byte, |crc, _| crc >> 1 ^ if crc & 1 != 0 { 0x82f6_3b78 } else { 0 })
        })
        .collect();
    pool.add_table(32, entries)
}

#[cfg(test)]
mod tests;
