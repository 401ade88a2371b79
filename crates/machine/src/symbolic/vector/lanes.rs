//! Terms as lanes, and lanes as terms.
//!
//! Always: the lowest lane comes first, and splitting what was joined gives the same lanes back.
//! Cutting walks a concatenation once, from the top; that is what makes a vector operation on
//! symbolic bytes cost microseconds. What lanes mean is not known here.

use smallvec::SmallVec;
use stunt_terms::{Op, Pool, Term};

/// The lanes of a slot or a pair of slots.
pub(in crate::symbolic) type Lanes = SmallVec<[Term; 16]>;

/// The lanes of `bits` bits.
pub(in crate::symbolic) fn split(pool: &mut Pool, term: Term, bits: u8) -> Lanes {
    let mut lanes = Lanes::new();
    split_into(pool, term, bits, &mut lanes);
    lanes
}

/// Appends the lanes of `term`, whose width is a multiple of `bits`.
fn split_into(pool: &mut Pool, term: Term, bits: u8, lanes: &mut Lanes) {
    let start = lanes.len();
    let width = pool.width(term);
    // Filled from the top; what is left to cut are the lowest `top` lanes of `rest`.
    let mut top = usize::from(width / bits);
    lanes.resize(start + top, term);
    let mut rest = term;
    while top > 0 {
        let (high, border) = match pool.op(rest) {
            Op::Concat(high, low) => (Some((high, low)), pool.width(low)),
            Op::ZeroExtend(low) => (None, pool.width(low)),
            _ => break,
        };
        let below = usize::from(border / bits);
        for k in below..top {
            let lo = k as u8 * bits;
            lanes[start + k] = match high {
                // The lane lies on both sides of the border.
                _ if lo < border => pool.extract(lo + bits - 1, lo, rest),
                Some((high, _)) => pool.extract(lo - border + bits - 1, lo - border, high),
                None => pool.constant(bits, 0),
            };
        }
        top = top.min(below);
        rest = match pool.op(rest) {
            Op::Concat(_, low) | Op::ZeroExtend(low) => low,
            _ => unreachable!("asked above"),
        };
    }
    for k in 0..top {
        let lo = k as u8 * bits;
        lanes[start + k] = pool.extract(lo + bits - 1, lo, rest);
    }
}

/// The lanes of a pair.
pub(in crate::symbolic) fn split_pair(pool: &mut Pool, pair: [Term; 2], bits: u8) -> Lanes {
    let mut lanes = Lanes::new();
    for half in pair {
        split_into(pool, half, bits, &mut lanes);
    }
    lanes
}

/// The term of these lanes.
pub(in crate::symbolic) fn join(pool: &mut Pool, lanes: &[Term]) -> Term {
    let (&first, rest) = lanes.split_first().expect("a term has at least one lane");
    rest.iter().fold(first, |low, &lane| pool.concat(lane, low))
}

/// The pair of these lanes, 128 bits in all.
pub(in crate::symbolic) fn join_pair(pool: &mut Pool, lanes: &[Term]) -> [Term; 2] {
    let (low, high) = lanes.split_at(lanes.len() / 2);
    [join(pool, low), join(pool, high)]
}

/// `f` of each two lanes.
pub(in crate::symbolic) fn each(
    pool: &mut Pool,
    bits: u8,
    a: [Term; 2],
    b: [Term; 2],
    f: impl Fn(&mut Pool, Term, Term) -> Term,
) -> [Term; 2] {
    let (mut x, y) = (split_pair(pool, a, bits), split_pair(pool, b, bits));
    for (x, &y) in x.iter_mut().zip(&y) {
        *x = f(pool, *x, y);
    }
    join_pair(pool, &x)
}

/// `f` of each lane.
pub(in crate::symbolic) fn map(
    pool: &mut Pool,
    bits: u8,
    v: [Term; 2],
    f: impl Fn(&mut Pool, Term) -> Term,
) -> [Term; 2] {
    let mut lanes = split_pair(pool, v, bits);
    for lane in &mut lanes {
        *lane = f(pool, *lane);
    }
    join_pair(pool, &lanes)
}

/// `f` of neighbouring lanes: those of `a`, then those of `b`.
pub(in crate::symbolic) fn neighbours(
    pool: &mut Pool,
    bits: u8,
    a: [Term; 2],
    b: [Term; 2],
    f: impl Fn(&mut Pool, Term, Term) -> Term,
) -> [Term; 2] {
    let mut lanes = split_pair(pool, a, bits);
    lanes.extend(split_pair(pool, b, bits));
    let joined: Lanes = lanes.chunks_exact(2).map(|pair| f(pool, pair[0], pair[1])).collect();
    join_pair(pool, &joined)
}
