//! How likely a comparison holds, from the summaries of its operands.
//!
//! Castro, Costa and Martin's figure 7 gives the rule for "less than". Its count of images below
//! the other side's lower bound is right: of at least `f.lr` images, at most `f.h + 1 - g.l` lie in
//! `[g.l, f.h]`, so at least `g.l - (f.h + 1 - f.lr)` lie below. But as printed it divides by the
//! inputs of `f` alone. Where the count gives nothing and `g` is not constant, one accepted input
//! is one of the inputs of `f` *and* `g`, and with disjoint bytes `f.ld * g.ld` inputs are accepted
//! rather than `f.ld` for every value of `g`; the printed rule can thus give fewer bits than are
//! revealed. The rules below keep both sides' bytes in the account.
//!
//! Throughout, an event's *share* is a pair: a bound on `-log2` of its probability and a bound on
//! the probability of the opposite. The two say the same in different precision: near one only the
//! second has digits, near zero only the first.

use num_bigint::BigUint;

use super::truth::Truth;
use super::values::{Joint, Values};
use crate::rounding::{log2, log2_down, loss_of, plus, rejected_of, scaled, up};

/// A lower bound on the probability of an event, in two precisions.
#[derive(Clone, Copy)]
struct Share {
    /// The probability is at least `2^-loss`.
    loss: f64,
    /// The probability of the opposite is at most this.
    rejected: f64,
}

impl Share {
    const NONE: Share = Share { loss: f64::INFINITY, rejected: 1.0 };
    const ALL: Share = Share { loss: 0.0, rejected: 0.0 };

    fn new(loss: f64, rejected: f64) -> Share {
        let loss = loss.max(0.0);
        Share { loss: loss.min(loss_of(rejected)), rejected: rejected.min(rejected_of(loss)) }
    }

    /// Both bounds are of one event.
    fn best(self, other: Share) -> Share {
        Share { loss: self.loss.min(other.loss), rejected: self.rejected.min(other.rejected) }
    }

    /// Both of two independent events.
    fn both(self, other: Share) -> Share {
        Share::new(self.loss + other.loss, plus(self.rejected, other.rejected))
    }
}

/// The probability of `f <= t`, for any input.
///
/// Of at least `least` images at most `max - t` lie above `t`, so the others, each of probability
/// at least `2^-rarest`, do not. And the values above `t` have at most `commonest` each.
fn at_most(f: &Values, t: u128) -> Share {
    if t >= f.max {
        return Share::ALL;
    }
    if t < f.min {
        return Share::NONE;
    }
    beyond(f, f.max - t)
}

/// The probability of `f >= t`, for any input.
fn at_least(f: &Values, t: u128) -> Share {
    if t <= f.min {
        return Share::ALL;
    }
    if t > f.max {
        return Share::NONE;
    }
    beyond(f, t - f.min)
}

/// The probability that `f` is none of `excluded` values.
fn beyond(f: &Values, excluded: u128) -> Share {
    let images = f.least.saturating_sub(excluded);
    let loss = if images == 0 { f64::INFINITY } else { up(f.rarest) - log2_down(images) };
    Share::new(loss, scaled(excluded, f.commonest))
}

/// The probability of `f < g`, or of `f <= g`, for any input.
fn below(f: &Values, g: &Values, strict: bool, joint: Joint) -> Share {
    // f is below even the least g, or g is above even the greatest f: no independence needed.
    let gap = u128::from(strict);
    let mut share = Share::NONE;
    if let Some(t) = g.min.checked_sub(gap) {
        share = share.best(at_most(f, t));
    }
    if let Some(t) = f.max.checked_add(gap) {
        share = share.best(at_least(g, t));
    }
    if !joint.independent || f.is_fixed() || g.is_fixed() {
        return share;
    }
    if f.is_even() && g.is_even() {
        return share.best(even_below(f, g, strict));
    }
    // For any threshold: f is below it and g is not.
    let (from, to) = (f.min.max(g.min), f.max.min(g.max));
    if from < to {
        for eighth in 1..8 {
            let t = from + (to - from) / 8 * eighth + 1;
            share = share.best(at_most(f, t - gap).both(at_least(g, t)));
        }
    }
    share
}

/// The same, exactly, for independent operands that are uniform on intervals.
fn even_below(f: &Values, g: &Values, strict: bool) -> Share {
    let big = |v: u128| BigUint::from(v);
    let one = BigUint::from(1u32);
    let (f_count, g_count) = (big(f.max - f.min) + &one, big(g.max - g.min) + &one);
    // For a value y of g there are y - f.min (+ 1 if equality counts) values of f, but at most
    // f_count. `first` is the least y with one, `full` the least y with all of them.
    let extra = if strict { BigUint::ZERO } else { one.clone() };
    let first = big(f.min) + &one - &extra;
    let full = big(f.max) + &one - &extra;
    let (from, to) = (big(g.min).max(first), big(g.max));
    let mut pairs = BigUint::ZERO;
    if from < full && from <= to {
        let last = to.clone().min(&full - &one);
        let (low, high) = (&from + &extra - big(f.min), &last + &extra - big(f.min));
        pairs += (low + high) * (&last - &from + &one) / 2u32;
    }
    let from = from.max(full);
    if from <= to {
        pairs += &f_count * (&to - &from + &one);
    }
    let total = f_count * g_count;
    let part = |n: &BigUint| up((log2(n) - log2(&total)).exp2()) + f64::MIN_POSITIVE;
    if pairs == BigUint::ZERO {
        return Share::NONE;
    }
    let rejected = &total - &pairs;
    let loss = up(log2(&total)) - log2(&pairs);
    Share::new(loss, if rejected == BigUint::ZERO { 0.0 } else { part(&rejected) })
}

/// Unsigned `f < g`.
pub(super) fn less(f: &Values, g: &Values, joint: Joint) -> Truth {
    let (holds, fails) = (below(f, g, true, joint), below(g, f, false, joint));
    // If it holds for some input, it does for all inputs with the same two values.
    let once = if joint.independent { f.rarest + g.rarest } else { joint.size };
    Truth {
        loss: [fails.loss.min(once), holds.loss.min(once)],
        most: [holds.rejected, fails.rejected],
    }
    .settled(joint.size)
}

/// Signed `f < g`.
pub(super) fn signed_less(f: &Values, g: &Values, joint: Joint) -> Truth {
    less(&f.sign_flipped(), &g.sign_flipped(), joint)
}

/// `f = g`.
pub(super) fn equal(f: &Values, g: &Values, joint: Joint) -> Truth {
    if f.known().is_some() && f.known() == g.known() {
        return Truth::constant(true);
    }
    let apart = f.max < g.min || g.max < f.min || f.zeros & g.ones != 0 || f.ones & g.zeros != 0;
    if apart {
        return Truth::constant(false);
    }
    let once = if joint.independent { f.rarest + g.rarest } else { joint.size };
    let mut truth = Truth { loss: [once; 2], most: [1.0; 2] };
    if joint.independent {
        // The sum over v of P(f = v) P(g = v), so no more than either commonest value.
        truth.most[1] = f.commonest.min(g.commonest);
        for (cover, other) in [(f, g), (g, f)] {
            // All values of the one are images of the other: whichever comes, it is met.
            if cover.is_even() && cover.min <= other.min && other.max <= cover.max {
                truth.loss[1] = truth.loss[1].min(cover.rarest);
                truth.most[0] = truth.most[0].min(rejected_of(cover.rarest));
            }
        }
    }
    truth.settled(joint.size)
}
