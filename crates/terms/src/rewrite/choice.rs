//! Interval tests of choices: of an `ite`, of a minimum, of sums of truth values.
//!
//! Vector code computes with comparisons: a byte is 0xff where it matched and 0 elsewhere, the
//! least of four bytes is zero if one of them is, case is folded by adding 0x20 under a mask. A
//! test of such a number is a connective of the comparisons behind it.

use super::Rule;
use super::ask::{Ask, How, Step};
use super::interval::Interval;
use crate::pool::Pool;
use crate::term::{Op, Term};
use crate::value;

impl Pool {
    /// How many terms a minimum is taken of, at most, where a test of it is unfolded.
    const MOST_LEAVES: usize = 16;

    /// An `ite` with at least one constant branch, a minimum or maximum, or a choice by the very
    /// term that is chosen.
    pub(super) fn in_ite(&mut self, c: Term, a: Term, b: Term, interval: Interval) -> Option<Step> {
        let width = self.width(a);
        let inside = |pool: &Pool, t: Term| pool.as_const(t).map(|v| interval.contains(width, v));
        let rule = Rule::IntervalIte;
        Some(match (inside(self, a), inside(self, b)) {
            (Some(x), Some(y)) if x == y => Step::same(rule, Ask::Is(self.boolean(x))),
            (Some(true), Some(_)) => Step::same(rule, Ask::Is(c)),
            (Some(_), Some(_)) => Step::not(rule, Ask::Is(c)),
            (Some(then), None) => {
                let then = Ask::Is(self.boolean(then));
                Step::Join { rule, how: How::Ite(c), of: [then, Ask::In(b, interval)] }
            }
            (None, Some(other)) => {
                let other = Ask::Is(self.boolean(other));
                Step::Join { rule, how: How::Ite(c), of: [Ask::In(a, interval), other] }
            }
            (None, None) => {
                return self
                    .in_extreme(c, a, b, interval)
                    .or_else(|| self.in_either(c, a, b, interval));
            }
        })
    }

    /// An `ite` of which condition and both branches test one term: `tolower(x) = 'h'`.
    fn in_either(&mut self, c: Term, a: Term, b: Term, interval: Interval) -> Option<Step> {
        let (subject, _) = self.as_interval(c)?;
        if [a, b].iter().any(|&branch| self.split_sum(branch).0 != subject) {
            return None;
        }
        let of = [Ask::In(a, interval), Ask::In(b, interval)];
        Some(Step::Join { rule: Rule::IntervalIte, how: How::Cases(c), of })
    }

    /// `then` where `c`, `other` elsewhere; intervals of one term are merged.
    pub(super) fn by_cases(&mut self, c: Term, then: Term, other: Term) -> Term {
        let not = self.not(c);
        let (then, other) = (self.and(c, then), self.and(not, other));
        self.or(then, other)
    }

    /// A minimum or maximum against a bound: one of the two is within it, or both are.
    fn in_extreme(&mut self, c: Term, a: Term, b: Term, interval: Interval) -> Option<Step> {
        let (is_least, lowest) = self.extreme(c, a, b)?;
        let highest = value::sub(self.width(a), lowest, 1);
        let is_one_enough = if interval.first == lowest {
            is_least
        } else if interval.last == highest {
            !is_least
        } else {
            return None;
        };
        if self.leaves(a) + self.leaves(b) > Self::MOST_LEAVES {
            return None;
        }
        let how = if is_one_enough { How::Or } else { How::And };
        let of = [Ask::In(a, interval), Ask::In(b, interval)];
        Some(Step::Join { rule: Rule::IntervalExtreme, how, of })
    }

    /// Whether `ite c a b` is the lesser of the two (else the greater), and the lowest number in
    /// the order that decides; `None` if it is neither.
    fn extreme(&self, c: Term, a: Term, b: Term) -> Option<(bool, u128)> {
        let (x, y, lowest) = match self.op(c) {
            Op::Ult(x, y) => (x, y, 0),
            Op::Slt(x, y) => (x, y, 1 << (self.width(x) - 1)),
            _ => return None,
        };
        match (a, b) {
            _ if (x, y) == (a, b) => Some((true, lowest)),
            _ if (x, y) == (b, a) => Some((false, lowest)),
            _ => None,
        }
    }

    /// How many terms a tree of minima and maxima has at its ends, counted until there are too
    /// many. A term that occurs twice counts twice: the test of it does, too.
    fn leaves(&self, root: Term) -> usize {
        let mut leaves = 0;
        let mut stack = vec![root];
        while let Some(term) = stack.pop() {
            match self.op(term) {
                Op::Ite(c, a, b) if self.extreme(c, a, b).is_some() => stack.extend([a, b]),
                // What an interval test passes through.
                Op::ZeroExtend(x)
                | Op::SignExtend(x)
                | Op::Not(x)
                | Op::Neg(x)
                | Op::Extract { arg: x, .. } => stack.push(x),
                Op::Add(x, c) if self.as_const(c).is_some() => stack.push(x),
                Op::Sub(c, x) if self.as_const(c).is_some() => stack.push(x),
                _ => leaves += 1,
            }
            if leaves + stack.len() > Self::MOST_LEAVES {
                return leaves + stack.len();
            }
        }
        leaves
    }

    /// An operator on two choices between constants, or the sum of a term and a choice by that
    /// very term.
    pub(super) fn in_choices(&mut self, term: Term, interval: Interval) -> Option<Step> {
        let (Op::Add(x, y) | Op::Sub(x, y) | Op::And(x, y) | Op::Or(x, y) | Op::Xor(x, y)) =
            self.op(term)
        else {
            return None;
        };
        let width = self.width(term);
        if let (Some((c, k, l)), Some((d, m, n))) = (self.const_branches(x), self.const_branches(y))
        {
            let op = self.op(term);
            let inside = |pool: &mut Pool, v: u128, w: u128| {
                let value = match op {
                    Op::Add(..) => value::add(width, v, w),
                    Op::Sub(..) => value::sub(width, v, w),
                    Op::And(..) => v & w,
                    Op::Or(..) => v | w,
                    _ => v ^ w,
                };
                pool.boolean(interval.contains(width, value))
            };
            let [km, kn] = [m, n].map(|v| inside(self, k, v));
            let [lm, ln] = [m, n].map(|v| inside(self, l, v));
            let (then, other) = (self.ite(d, km, kn), self.ite(d, lm, ln));
            let test = self.ite(c, then, other);
            return Some(Step::same(Rule::IntervalChoices, Ask::Is(test)));
        }
        let is_sum = matches!(self.op(term), Op::Add(..));
        if !is_sum && !matches!(self.op(term), Op::Sub(..)) {
            return None;
        }
        let pairs = [(x, y), (y, x)];
        for (x, choice) in pairs.into_iter().take(if is_sum { 2 } else { 1 }) {
            let Some((c, k, l)) = self.const_branches(choice) else { continue };
            let Some((subject, _)) = self.as_interval(c) else { continue };
            if subject != self.strip_zero_extend(x) {
                continue;
            }
            let moved = |pool: &mut Pool, k: u128| {
                let back =
                    |v| if is_sum { value::sub(width, v, k) } else { value::add(width, v, k) };
                pool.range(x, back(interval.first), back(interval.last))
            };
            let of = [moved(self, k), moved(self, l)];
            return Some(Step::Join { rule: Rule::IntervalChoices, how: How::Cases(c), of });
        }
        None
    }
}
