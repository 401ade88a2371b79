//! Interval tests: `x in [first, last]` modulo 2^width, the one form of every comparison with a
//! constant.
//!
//! `x = c`, `x <u c`, `x <s c`, the range check `x - lo <u n` and their negations all are interval
//! tests. As intervals on the circle of 2^width values they can be shifted, reflected, narrowed
//! and intersected by the same few rules. The printed form is the familiar one: equality where the
//! interval is one value, `Ult` or `Slt` where a bound is the least or greatest value, and
//! `x - first <u n` otherwise.

use super::Rule;
use super::ask::{Ask, Step};
use crate::pool::Pool;
use crate::term::{Op, Sort, Term, mask};
use crate::value;

/// An interval on the circle of `2^width` values, from `first` upwards to `last`, both included.
/// It is never the whole circle and never empty.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Interval {
    pub(super) first: u128,
    pub(super) last: u128,
}

/// What is left of an interval.
enum Cut {
    Nothing,
    Everything,
    One(Interval),
    Several,
}

impl Interval {
    /// How many steps lead from `first` to `last`: the size less one.
    fn steps(self, width: u8) -> u128 {
        value::sub(width, self.last, self.first)
    }

    pub(super) fn contains(self, width: u8, v: u128) -> bool {
        value::sub(width, v, self.first) <= self.steps(width)
    }

    fn complement(self, width: u8) -> Interval {
        Interval { first: value::add(width, self.last, 1), last: value::sub(width, self.first, 1) }
    }

    /// The intersection with another interval.
    fn intersect(self, width: u8, other: Interval) -> Cut {
        // Turn the circle so that `self` begins at zero.
        let turn = |v| value::sub(width, v, self.first);
        let (end, first, last) = (self.steps(width), turn(other.first), turn(other.last));
        let back = |first, last| {
            Cut::One(Interval {
                first: value::add(width, first, self.first),
                last: value::add(width, last, self.first),
            })
        };
        if first <= last {
            if first > end { Cut::Nothing } else { back(first, last.min(end)) }
        } else if first <= end {
            // `other` wraps: it covers [0, last] and [first, ..].
            if last.checked_add(1) == Some(first) { back(0, end) } else { Cut::Several }
        } else {
            back(0, last.min(end))
        }
    }

    /// The part within `[0, max]`, a segment that starts at zero.
    fn within(self, width: u8, max: u128) -> Cut {
        if max == mask(width) {
            return Cut::One(self);
        }
        match (Interval { first: 0, last: max }).intersect(width, self) {
            Cut::One(Interval { first: 0, last }) if last == max => Cut::Everything,
            cut => cut,
        }
    }

    /// The part within the values of a sign extension, as narrow values. These values are one arc
    /// of the circle, in the same order as the narrow values; it begins at the least negative.
    fn within_sign_extension(self, width: u8, narrow: u8) -> Cut {
        let least = value::sign_extend(narrow, width, 1 << (narrow - 1));
        let turned = Interval {
            first: value::sub(width, self.first, least),
            last: value::sub(width, self.last, least),
        };
        match turned.within(width, mask(narrow)) {
            Cut::One(Interval { first, last }) => {
                let back = |v| value::extract(narrow, 0, value::add(width, v, least));
                Cut::One(Interval { first: back(first), last: back(last) })
            }
            cut => cut,
        }
    }
}

impl Pool {
    /// The tested term and interval, if `literal` is an interval test in normal form.
    pub(super) fn as_interval(&self, literal: Term) -> Option<(Term, Interval)> {
        let (test, negated) = match self.op(literal) {
            Op::Not(inner) => (inner, true),
            _ => (literal, false),
        };
        let (term, c) = match self.op(test) {
            Op::Eq(x, c) | Op::Ult(x, c) | Op::Slt(x, c) if !self.is_bool(x) => {
                (x, self.as_const(c)?)
            }
            _ => return None,
        };
        let width = self.width(term);
        let (term, interval) = match self.op(test) {
            Op::Eq(..) => (term, Interval { first: c, last: c }),
            Op::Ult(..) => {
                let (x, shift) = self.split_sum(term);
                let first = value::neg(width, shift);
                (x, Interval { first, last: value::add(width, first, c - 1) })
            }
            _ => (term, Interval { first: 1 << (width - 1), last: value::sub(width, c, 1) }),
        };
        Some((term, if negated { interval.complement(width) } else { interval }))
    }

    /// `x` and `c` of `x + c`; the term itself and 0 if it is no such sum.
    pub(super) fn split_sum(&self, term: Term) -> (Term, u128) {
        match self.op(term) {
            Op::Add(x, c) => match self.as_const(c) {
                Some(c) => (x, c),
                None => (term, 0),
            },
            _ => (term, 0),
        }
    }

    /// The conjunction of two interval tests of one term, if it is one test or false.
    pub(super) fn merge_intervals(&mut self, a: Term, b: Term) -> Option<Term> {
        let ((x, left), (y, right)) = (self.as_interval(a)?, self.as_interval(b)?);
        if x != y {
            return None;
        }
        match left.intersect(self.width(x), right) {
            Cut::Nothing => Some(self.boolean(false)),
            Cut::One(both) => Some(self.answer(Ask::In(x, both))),
            Cut::Everything | Cut::Several => None,
        }
    }

    /// The test that `term` is in an interval from `first` up to `last`, modulo 2^width; the whole
    /// circle if `last + 1 = first`.
    pub(super) fn in_range(&mut self, term: Term, first: u128, last: u128) -> Term {
        let ask = self.range(term, first, last);
        self.answer(ask)
    }

    /// The same as a question.
    pub(super) fn range(&mut self, term: Term, first: u128, last: u128) -> Ask {
        if value::add(self.width(term), last, 1) == first {
            return Ask::Is(self.boolean(true));
        }
        Ask::In(term, Interval { first, last })
    }

    /// The test of a narrow term, given what of an interval and of its complement is left. An
    /// arc cut by an arc may fall in two; then its complement does not.
    fn in_cut(&mut self, narrow: Term, inside: Cut, outside: Cut) -> Step {
        let rule = Rule::IntervalNarrow;
        match (inside, outside) {
            (Cut::Nothing, _) => Step::same(rule, Ask::Is(self.boolean(false))),
            (Cut::Everything, _) => Step::same(rule, Ask::Is(self.boolean(true))),
            (Cut::One(interval), _) => Step::same(rule, Ask::In(narrow, interval)),
            (Cut::Several, Cut::One(interval)) => Step::not(rule, Ask::In(narrow, interval)),
            (Cut::Several, _) => unreachable!("what an arc leaves of an arc is an arc"),
        }
    }

    /// One step towards the test that `term` is in `interval`.
    pub(super) fn interval_step(&mut self, term: Term, interval: Interval) -> Step {
        let width = self.width(term);
        let Interval { first, last } = interval;
        let facts = self.facts(term);
        // A value outside what the facts allow is neither here nor there.
        if facts.min == facts.max {
            return Step::Is(self.boolean(interval.contains(width, facts.min)));
        }
        let complement = interval.complement(width);
        // One value left out; and one atom for a bit, so that both its values meet in it.
        let is_exclusion = first != last && complement.first == complement.last;
        if is_exclusion || width == 1 && first == 0 {
            return Step::Other { rule: None, ask: Ask::In(term, complement), negated: true };
        }
        if let Some(step) = self.in_choices(term, interval) {
            return step;
        }
        match self.op(term) {
            Op::Add(x, c) => {
                if let Some(c) = self.as_const(c) {
                    let ask =
                        self.range(x, value::sub(width, first, c), value::sub(width, last, c));
                    return Step::same(Rule::IntervalShift, ask);
                }
            }
            Op::Neg(x) => return self.reflected(x, 0, interval),
            Op::Not(x) => return self.reflected(x, mask(width), interval),
            Op::Sub(c, x) if self.as_const(c).is_some() => {
                let c = self.as_const(c).expect("asked above");
                return self.reflected(x, c, interval);
            }
            Op::ZeroExtend(x) => {
                let cut = |interval: Interval| interval.within(width, mask(self.width(x)));
                let (inside, outside) = (cut(interval), cut(complement));
                return self.in_cut(x, inside, outside);
            }
            Op::SignExtend(x) => {
                let narrow = self.width(x);
                let cut = |interval: Interval| interval.within_sign_extension(width, narrow);
                return self.in_cut(x, cut(interval), cut(complement));
            }
            Op::Sub(x, y) => {
                if let Some(step) = self.difference_sign(x, y, interval) {
                    return step;
                }
            }
            // High bits in an interval: the whole term in one. (The sign flag, the lead byte of a
            // UTF-8 sequence.)
            Op::Extract { lo, arg } if lo + width == self.width(arg) => {
                let ask = self.range(arg, first << lo, last << lo | mask(lo));
                return Step::same(Rule::IntervalOfHigh, ask);
            }
            // The bits above the extract are zero in every value.
            Op::Extract { lo: 0, arg } if self.facts(arg).max <= mask(width) => {
                let Interval { first, last } = if first <= last { interval } else { complement };
                let ask = self.range(arg, first, last);
                let negated = first != interval.first;
                return Step::Other { rule: Some(Rule::IntervalLow), ask, negated };
            }
            Op::Extract { lo: 0, arg } => {
                if let Some(sum) = self.low_bits(width, arg) {
                    return Step::same(Rule::IntervalLowBits, Ask::In(sum, interval));
                }
            }
            Op::Concat(a, b) => {
                let low = self.width(b);
                if first & mask(low) == 0 && last & mask(low) == mask(low) {
                    let ask = self.range(a, first >> low, last >> low);
                    return Step::same(Rule::IntervalHigh, ask);
                }
                if let Some(low_value) = self.as_const(b) {
                    return self.in_scaled(a, low, low_value, interval, complement);
                }
            }
            Op::UDiv(x, c) => {
                if let Some(c) = self.as_const(c) {
                    return self.in_quotient(x, c, interval, complement);
                }
            }
            Op::Table(table, index) => {
                if let Some(step) = self.in_table(table, index, interval) {
                    return step;
                }
            }
            Op::Ite(condition, a, b) => {
                if let Some(step) = self.in_ite(condition, a, b, interval) {
                    return step;
                }
            }
            _ => {}
        }
        if first == last
            && let Some(step) = self.equals_const(term, first)
        {
            return step;
        }
        // Bounds beyond the facts are pushed to the ends of the number line.
        if facts.min > 0 || facts.max < mask(width) {
            let (rule, allowed) =
                (Rule::IntervalFacts, Interval { first: facts.min, last: facts.max });
            match allowed.intersect(width, interval) {
                Cut::Nothing => return Step::same(rule, Ask::Is(self.boolean(false))),
                Cut::One(inside) if inside == allowed => {
                    return Step::same(rule, Ask::Is(self.boolean(true)));
                }
                Cut::One(inside) => {
                    // All but one of the values that there are; of two, the test is for the larger.
                    if let Cut::One(outside) = allowed.intersect(width, complement)
                        && outside.first == outside.last
                        && (inside.first != inside.last || inside.first < outside.first)
                    {
                        return Step::not(rule, Ask::In(term, outside));
                    }
                    let first = if inside.first == facts.min { 0 } else { inside.first };
                    let last = if inside.last == facts.max { mask(width) } else { inside.last };
                    let wider =
                        if inside.first == inside.last { inside } else { Interval { first, last } };
                    if wider != interval {
                        return Step::same(rule, Ask::In(term, wider));
                    }
                }
                _ => {}
            }
        }
        Step::Is(self.interval_literal(term, interval))
    }

    /// `c - x in [first, last]` is `x in [c - last, c - first]`.
    fn reflected(&mut self, x: Term, c: u128, interval: Interval) -> Step {
        let width = self.width(x);
        let first = value::sub(width, c, interval.last);
        let ask = self.range(x, first, value::sub(width, c, interval.first));
        Step::same(Rule::IntervalReflect, ask)
    }

    /// The sign of `x - y`, where neither is negative and so the difference does not overflow.
    fn difference_sign(&self, x: Term, y: Term, interval: Interval) -> Option<Step> {
        let width = self.width(x);
        let (least, max) = (1u128 << (width - 1), mask(width));
        if self.facts(x).max >= least || self.facts(y).max >= least {
            return None;
        }
        let rule = Rule::IntervalDifference;
        Some(match (interval.first, interval.last) {
            (first, last) if (first, last) == (least, max) => Step::same(rule, Ask::Below(x, y)),
            (first, last) if (first, last) == (least, 0) => Step::not(rule, Ask::Below(y, x)),
            (0, last) if last == least - 1 => Step::not(rule, Ask::Below(x, y)),
            (1, last) if last == least - 1 => Step::same(rule, Ask::Below(y, x)),
            _ => return None,
        })
    }

    /// `a * 2^low + k in interval`, without overflow: `a` is in the interval of quotients.
    fn in_scaled(
        &mut self,
        a: Term,
        low: u8,
        k: u128,
        interval: Interval,
        complement: Interval,
    ) -> Step {
        let negated = interval.first > interval.last;
        let interval = if negated { complement } else { interval };
        // The least and greatest `a` with `first <= a * 2^low + k <= last`.
        let first = (interval.first >> low) + u128::from(interval.first & mask(low) > k);
        let last = (interval.last >> low).checked_sub(u128::from(interval.last & mask(low) < k));
        let ask = match last {
            Some(last) if first <= last => self.range(a, first, last),
            _ => Ask::Is(self.boolean(false)),
        };
        Step::Other { rule: Some(Rule::IntervalHigh), ask, negated }
    }

    /// `x / c in [first, last]` with a constant `c > 0` is `x in [first * c, last * c + c - 1]`.
    fn in_quotient(&mut self, x: Term, c: u128, interval: Interval, complement: Interval) -> Step {
        let negated = interval.first > interval.last;
        let interval = if negated { complement } else { interval };
        let max = mask(self.width(x));
        let first = interval.first.checked_mul(c).filter(|&first| first <= max);
        let last = interval.last.checked_mul(c).and_then(|last| last.checked_add(c - 1));
        let ask = match first {
            Some(first) => self.range(x, first, last.unwrap_or(max).min(max)),
            None => Ask::Is(self.boolean(false)),
        };
        Step::Other { rule: Some(Rule::IntervalQuotient), ask, negated }
    }

    /// The familiar literal for an interval.
    pub(super) fn interval_literal(
        &mut self,
        term: Term,
        Interval { first, last }: Interval,
    ) -> Term {
        let width = self.width(term);
        let (max, least) = (mask(width), 1u128 << (width - 1));
        let less = |pool: &mut Pool, op: fn(Term, Term) -> Op, x: Term, c: u128| {
            let c = pool.constant(width, c);
            pool.intern(Sort::Bool, op(x, c))
        };
        let complement = Interval { first, last }.complement(width);
        if first == last {
            return less(self, Op::Eq, term, first);
        }
        if first == 0 {
            return less(self, Op::Ult, term, last + 1);
        }
        if last == max {
            let below = less(self, Op::Ult, term, first);
            return self.not(below);
        }
        if first == least {
            return less(self, Op::Slt, term, value::add(width, last, 1));
        }
        if last == least - 1 {
            let below = less(self, Op::Slt, term, first);
            return self.not(below);
        }
        if first > last {
            let inside = self.interval_literal(term, complement);
            return self.not(inside);
        }
        let minus = self.constant(width, value::neg(width, first));
        let shifted = self.add(term, minus);
        if self.op(shifted) == Op::Add(term, minus) {
            return less(self, Op::Ult, shifted, last - first + 1);
        }
        // The sum has a simpler form of its own, which would hide the interval.
        let (above, below) =
            (less(self, Op::Ult, term, first), less(self, Op::Ult, term, last + 1));
        let above = self.not(above);
        let (a, b) = self.ordered(above, below);
        self.intern(Sort::Bool, Op::And(a, b))
    }
}
