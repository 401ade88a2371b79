//! SMT-LIB's operators that are abbreviations: complements of others, and the predicates that say
//! whether an operation overflows.
//!
//! The operands are bit vectors of one width; whoever calls has checked that.

use crate::pool::Pool;
use crate::term::{Term, mask};

pub(super) fn nand(pool: &mut Pool, a: Term, b: Term) -> Term {
    let and = pool.and(a, b);
    pool.not(and)
}

pub(super) fn nor(pool: &mut Pool, a: Term, b: Term) -> Term {
    let or = pool.or(a, b);
    pool.not(or)
}

pub(super) fn xnor(pool: &mut Pool, a: Term, b: Term) -> Term {
    let xor = pool.xor(a, b);
    pool.not(xor)
}

pub(super) fn comp(pool: &mut Pool, a: Term, b: Term) -> Term {
    let eq = pool.eq(a, b);
    pool.truth_as_bits(1, eq)
}

fn zero(pool: &mut Pool, like: Term) -> Term {
    pool.constant(pool.width(like), 0)
}

/// The most negative number of a term's width.
fn lowest(pool: &mut Pool, like: Term) -> Term {
    let width = pool.width(like);
    pool.constant(width, 1 << (width - 1))
}

pub(super) fn neg_overflows(pool: &mut Pool, a: Term) -> Term {
    let lowest = lowest(pool, a);
    pool.eq(a, lowest)
}

pub(super) fn unsigned_add_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let sum = pool.add(a, b);
    pool.ult(sum, a)
}

/// Whether `result` has another sign than `a`, given a condition on the signs of the operands.
fn sign_changed(pool: &mut Pool, condition: Term, a: Term, result: Term) -> Term {
    let zero = zero(pool, a);
    let (before, after) = (pool.slt(a, zero), pool.slt(result, zero));
    let changed = pool.xor(before, after);
    pool.and(condition, changed)
}

pub(super) fn signed_add_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let zero = zero(pool, a);
    let (x, y) = (pool.slt(a, zero), pool.slt(b, zero));
    let alike = pool.eq(x, y);
    let sum = pool.add(a, b);
    sign_changed(pool, alike, a, sum)
}

pub(super) fn signed_sub_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let zero = zero(pool, a);
    let (x, y) = (pool.slt(a, zero), pool.slt(b, zero));
    let differ = pool.xor(x, y);
    let difference = pool.sub(a, b);
    sign_changed(pool, differ, a, difference)
}

pub(super) fn signed_div_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let lowest = lowest(pool, a);
    let minus_one = pool.constant(pool.width(b), mask(pool.width(b)));
    let (x, y) = (pool.eq(a, lowest), pool.eq(b, minus_one));
    pool.and(x, y)
}

pub(super) fn unsigned_mul_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    // Dividing the product again gives the factor, unless bits were lost.
    let zero = zero(pool, b);
    let product = pool.mul(a, b);
    let back = pool.udiv(product, b);
    let (nonzero, lost) = (pool.ne(b, zero), pool.ne(back, a));
    pool.and(nonzero, lost)
}

pub(super) fn signed_mul_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let zero = zero(pool, b);
    let product = pool.mul(a, b);
    let back = pool.sdiv(product, b);
    let (nonzero, lost) = (pool.ne(b, zero), pool.ne(back, a));
    let differs = pool.and(nonzero, lost);
    // The lowest number times -1 wraps to itself, and so does the division.
    let wraps = signed_div_overflows(pool, a, b);
    pool.or(differs, wraps)
}
