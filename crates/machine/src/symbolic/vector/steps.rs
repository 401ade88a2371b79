//! What vector operations do to single lanes.
//!
//! Always: a lane that is constant on both sides comes out constant. A comparison comes out as
//! all ones or zero, chosen by the plain comparison, and a choice between such masks stays one:
//! that is what gives the comparison back to whoever tests the mask.

use stunt_terms::{Op, Pool, Term, mask};

/// All ones where the condition holds, else zero.
pub(super) fn choice(pool: &mut Pool, width: u8, condition: Term) -> Term {
    let (ones, zero) = (pool.constant(width, mask(width)), pool.constant(width, 0));
    pool.ite(condition, ones, zero)
}

pub(super) fn equal(pool: &mut Pool, x: Term, y: Term) -> Term {
    let test = pool.eq(x, y);
    choice(pool, pool.width(x), test)
}

pub(super) fn greater(pool: &mut Pool, x: Term, y: Term) -> Term {
    let test = pool.sgt(x, y);
    choice(pool, pool.width(x), test)
}

/// Whether a lane is all ones or zero, whatever the input.
fn is_mask(pool: &Pool, lane: Term) -> bool {
    let ones = mask(pool.width(lane));
    let end = |t: Term| pool.as_const(t).is_some_and(|v| v == 0 || v == ones);
    matches!(pool.op(lane), Op::Ite(_, a, b) if end(a) && end(b))
}

/// One order for one pair, so that equal minima are equal terms.
fn ordered(pool: &Pool, x: Term, y: Term) -> (Term, Term) {
    let key = |t: Term| (pool.as_const(t).is_some(), t);
    if key(x) <= key(y) { (x, y) } else { (y, x) }
}

pub(super) fn min_unsigned(pool: &mut Pool, x: Term, y: Term) -> Term {
    if is_mask(pool, x) || is_mask(pool, y) {
        return pool.and(x, y);
    }
    let (x, y) = ordered(pool, x, y);
    let less = pool.ult(x, y);
    pool.ite(less, x, y)
}

pub(super) fn max_unsigned(pool: &mut Pool, x: Term, y: Term) -> Term {
    if is_mask(pool, x) || is_mask(pool, y) {
        return pool.or(x, y);
    }
    let (x, y) = ordered(pool, x, y);
    let less = pool.ult(x, y);
    pool.ite(less, y, x)
}

pub(super) fn min_signed(pool: &mut Pool, x: Term, y: Term) -> Term {
    let (x, y) = ordered(pool, x, y);
    let less = pool.slt(x, y);
    pool.ite(less, x, y)
}

pub(super) fn max_signed(pool: &mut Pool, x: Term, y: Term) -> Term {
    let (x, y) = ordered(pool, x, y);
    let less = pool.slt(x, y);
    pool.ite(less, y, x)
}

/// `x`, signed, brought into `[least, greatest]` (signed numbers of its width) and cut.
pub(super) fn clamp(pool: &mut Pool, x: Term, least: i128, greatest: i128, to: u8) -> Term {
    let width = pool.width(x);
    let [low, high] = [least, greatest].map(|v| pool.constant(width, v as u128));
    let [bottom, top] = [least, greatest].map(|v| pool.constant(to, v as u128));
    let cut = pool.extract(to - 1, 0, x);
    let (above, below) = (pool.slt(high, x), pool.slt(x, low));
    let inside = pool.ite(above, top, cut);
    pool.ite(below, bottom, inside)
}

/// `x`, signed, as the nearest signed number of `to` bits.
pub(super) fn saturate_signed(pool: &mut Pool, x: Term, to: u8) -> Term {
    let limit = 1i128 << (to - 1);
    clamp(pool, x, -limit, limit - 1, to)
}

/// `x`, signed, as the nearest unsigned number of `to` bits.
pub(super) fn saturate_unsigned(pool: &mut Pool, x: Term, to: u8) -> Term {
    clamp(pool, x, 0, (1i128 << to) - 1, to)
}

pub(super) fn add_signed(pool: &mut Pool, x: Term, y: Term) -> Term {
    let width = pool.width(x);
    let [x, y] = [x, y].map(|t| pool.sign_extend(width + 1, t));
    let sum = pool.add(x, y);
    saturate_signed(pool, sum, width)
}

pub(super) fn sub_signed(pool: &mut Pool, x: Term, y: Term) -> Term {
    let width = pool.width(x);
    let [x, y] = [x, y].map(|t| pool.sign_extend(width + 1, t));
    let difference = pool.sub(x, y);
    saturate_signed(pool, difference, width)
}

pub(super) fn add_unsigned(pool: &mut Pool, x: Term, y: Term) -> Term {
    let width = pool.width(x);
    let (x, y) = ordered(pool, x, y);
    let sum = pool.add(x, y);
    // The carry. Of a sum with a constant, it is an interval of the other operand.
    let carry = match pool.as_const(y) {
        Some(c) => {
            let last = pool.constant(width, mask(width) - c);
            pool.ult(last, x)
        }
        None => pool.ult(sum, x),
    };
    let ones = pool.constant(width, mask(width));
    pool.ite(carry, ones, sum)
}

pub(super) fn sub_unsigned(pool: &mut Pool, x: Term, y: Term) -> Term {
    let zero = pool.constant(pool.width(x), 0);
    let (less, difference) = (pool.ult(x, y), pool.sub(x, y));
    pool.ite(less, zero, difference)
}

/// The mean, rounded up.
pub(super) fn average(pool: &mut Pool, x: Term, y: Term) -> Term {
    let width = pool.width(x);
    let [x, y] = [x, y].map(|t| pool.zero_extend(width + 1, t));
    let (sum, one) = (pool.add(x, y), pool.constant(width + 1, 1));
    let sum = pool.add(sum, one);
    pool.extract(width, 1, sum)
}

pub(super) fn absolute(pool: &mut Pool, x: Term) -> Term {
    let zero = pool.constant(pool.width(x), 0);
    let (negative, minus) = (pool.slt(x, zero), pool.neg(x));
    pool.ite(negative, minus, x)
}

/// `x` with the sign of `y`: zero where `y` is.
pub(super) fn signed_like(pool: &mut Pool, x: Term, y: Term) -> Term {
    let zero = pool.constant(pool.width(x), 0);
    let (negative, minus) = (pool.slt(y, zero), pool.neg(x));
    let (none, signed) = (pool.eq(y, zero), pool.ite(negative, minus, x));
    pool.ite(none, zero, signed)
}

/// The distance of two unsigned numbers.
pub(super) fn distance(pool: &mut Pool, x: Term, y: Term) -> Term {
    let (x, y) = ordered(pool, x, y);
    let (less, up, down) = (pool.ult(x, y), pool.sub(y, x), pool.sub(x, y));
    pool.ite(less, up, down)
}

/// The product at twice the width.
pub(super) fn product(pool: &mut Pool, signed: bool, x: Term, y: Term) -> Term {
    let width = 2 * pool.width(x);
    let [x, y] = [x, y].map(|t| match signed {
        true => pool.sign_extend(width, t),
        false => pool.zero_extend(width, t),
    });
    pool.mul(x, y)
}

/// The upper half of the product.
pub(super) fn high_product(pool: &mut Pool, signed: bool, x: Term, y: Term) -> Term {
    let width = pool.width(x);
    let product = product(pool, signed, x, y);
    pool.extract(2 * width - 1, width, product)
}

/// The product of signed fractions, rounded.
pub(super) fn rounded_product(pool: &mut Pool, x: Term, y: Term) -> Term {
    let product = product(pool, true, x, y);
    let high = pool.extract(31, 14, product);
    let one = pool.constant(18, 1);
    let rounded = pool.add(high, one);
    pool.extract(16, 1, rounded)
}

/// The sign of a lane, as one bit.
pub(super) fn sign(pool: &mut Pool, lane: Term) -> Term {
    let top = pool.width(lane) - 1;
    let bit = pool.extract(top, top, lane);
    match pool.op(bit) {
        // Of a number that was computed, the comparison says more than the bit.
        Op::Extract { arg, .. } if !matches!(pool.op(arg), Op::Byte(_)) => {
            let zero = pool.constant(top + 1, 0);
            let negative = pool.slt(lane, zero);
            pool.truth_as_bits(1, negative)
        }
        _ => bit,
    }
}
