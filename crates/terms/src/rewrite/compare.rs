//! Comparisons: `eq`, `ult`, `slt`. Those with a constant are interval tests (`interval.rs`).

use super::Rule;
use super::ask::{Ask, How, Step};
use crate::memo::Question;
use crate::pool::Pool;
use crate::term::{Op, Sort, Term, mask};
use crate::value;

impl Pool {
    /// Equality; of Bools too.
    ///
    /// # Panics
    /// If the sorts differ (in debug builds).
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        self.remembered(Question::Eq, [a, b], |pool| pool.eq_anew(a, b))
    }

    fn eq_anew(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "equality of one sort");
        if a == b {
            return self.boolean(true);
        }
        if self.is_bool(a) { self.eq_bool(a, b) } else { self.answer(Ask::Equal(a, b)) }
    }

    /// One step towards the equality of two bit vectors.
    pub(super) fn equality_step(&mut self, a: Term, b: Term) -> Step {
        if a == b {
            return Step::Is(self.boolean(true));
        }
        let (a, b) = self.ordered(a, b);
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => Step::Is(self.boolean(x == y)),
            (None, Some(c)) => Step::Other { rule: None, ask: self.range(a, c, c), negated: false },
            _ => match self.simpler_equality(a, b) {
                Some(step) => step,
                None => Step::Is(self.intern(Sort::Bool, Op::Eq(a, b))),
            },
        }
    }

    /// Unsigned `a < b`.
    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        self.remembered(Question::Ult, [a, b], |pool| pool.ult_anew(a, b))
    }

    fn ult_anew(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "comparison of one sort");
        self.answer(Ask::Below(a, b))
    }

    /// One step towards the unsigned comparison of two bit vectors.
    pub(super) fn order_step(&mut self, a: Term, b: Term) -> Step {
        if a == b {
            return Step::same(Rule::LessSame, Ask::Is(self.boolean(false)));
        }
        let max = mask(self.width(a));
        let within = |ask| Step::Other { rule: None, ask, negated: false };
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return Step::Is(self.boolean(x < y)),
            (_, Some(0)) => return Step::Is(self.boolean(false)),
            (_, Some(c)) => return within(self.range(a, 0, c - 1)),
            (Some(c), _) if c == max => return Step::Is(self.boolean(false)),
            (Some(c), _) => return within(self.range(b, c + 1, max)),
            (None, None) => {}
        }
        if let Some((x, y)) = self.narrowed_pair(a, b) {
            return Step::same(Rule::LessExtend, Ask::Below(x, y));
        }
        if let Some(step) = self.carry(a, b) {
            return step;
        }
        match self.shared_part(a, b) {
            Some((x, y, _)) => Step::same(Rule::LessHigh, Ask::Below(x, y)),
            None => Step::Is(self.intern(Sort::Bool, Op::Ult(a, b))),
        }
    }

    /// Signed `a < b`.
    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        self.remembered(Question::Slt, [a, b], |pool| pool.slt_anew(a, b))
    }

    fn slt_anew(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "comparison of one sort");
        if a == b {
            let falsity = self.boolean(false);
            return self.by(Rule::LessSame, falsity);
        }
        let width = self.width(a);
        let least = 1u128 << (width - 1);
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.boolean(value::slt(width, x, y)),
            (_, Some(c)) if c == least => return self.boolean(false),
            (_, Some(c)) => return self.in_range(a, least, value::sub(width, c, 1)),
            (Some(c), _) if c == least - 1 => return self.boolean(false),
            (Some(c), _) => return self.in_range(b, value::add(width, c, 1), least - 1),
            (None, None) => {}
        }
        if self.facts(a).zeros & self.facts(b).zeros & least != 0 {
            let less = self.ult(a, b);
            return self.by(Rule::SignedLessPositive, less);
        }
        if let (Op::SignExtend(x), Op::SignExtend(y)) = (self.op(a), self.op(b))
            && self.width(x) == self.width(y)
        {
            let less = self.slt(x, y);
            return self.by(Rule::LessExtend, less);
        }
        match self.shared_part(a, b) {
            Some((x, y, sign_is_here)) => {
                let less = if sign_is_here { self.slt(x, y) } else { self.ult(x, y) };
                self.by(Rule::LessHigh, less)
            }
            None => self.intern(Sort::Bool, Op::Slt(a, b)),
        }
    }

    fn eq_bool(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = self.ordered(a, b);
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.boolean(x == y),
            (None, Some(1)) => return self.by(Rule::EqBool, a),
            (None, Some(_)) => {
                let not = self.not(a);
                return self.by(Rule::EqBool, not);
            }
            _ => {}
        }
        match (self.op(a), self.op(b)) {
            (Op::Not(x), Op::Not(y)) => {
                let equal = self.eq(x, y);
                self.by(Rule::EqBool, equal)
            }
            (Op::Not(x), _) => {
                let equal = self.eq(x, b);
                let not = self.not(equal);
                self.by(Rule::EqBool, not)
            }
            (_, Op::Not(y)) => {
                let equal = self.eq(a, y);
                let not = self.not(equal);
                self.by(Rule::EqBool, not)
            }
            _ => self.intern(Sort::Bool, Op::Eq(a, b)),
        }
    }

    /// `term = c`, where the operator of `term` lets the constant through.
    pub(super) fn equals_const(&mut self, term: Term, c: u128) -> Option<Step> {
        let width = self.width(term);
        let join = |rule, how, of| Step::Join { rule, how, of };
        Some(match self.op(term) {
            Op::Sub(x, y) if c == 0 => Step::same(Rule::EqSub, Ask::Equal(x, y)),
            Op::Xor(x, y) => match self.as_const(y) {
                Some(k) => Step::same(Rule::EqXor, self.range(x, c ^ k, c ^ k)),
                None if c == 0 => Step::same(Rule::EqXor, Ask::Equal(x, y)),
                None if width == 1 => Step::not(Rule::EqXor, Ask::Equal(x, y)),
                None => return None,
            },
            Op::Or(x, y) if c == 0 => {
                join(Rule::EqOrZero, How::And, [self.range(x, 0, 0), self.range(y, 0, 0)])
            }
            Op::Or(x, y) if width == 1 => {
                join(Rule::EqBit, How::Or, [self.range(x, 1, 1), self.range(y, 1, 1)])
            }
            Op::And(x, y) => match self.as_const(y) {
                Some(m) => self.equals_under_mask(x, m, c)?,
                None if c == mask(width) => {
                    join(Rule::EqAndOnes, How::And, [self.range(x, c, c), self.range(y, c, c)])
                }
                None => return None,
            },
            Op::Concat(a, b) => {
                let low = self.width(b);
                let (high_c, low_c) = (c >> low, c & mask(low));
                let of = [self.range(a, high_c, high_c), self.range(b, low_c, low_c)];
                join(Rule::EqConcat, How::And, of)
            }
            Op::Mul(x, k) => {
                // k = 2^t * odd: the product's low t bits are zero, the others fix x's low bits.
                let k = self.as_const(k)?;
                let t = k.trailing_zeros() as u8;
                if c & mask(t) != 0 {
                    Step::same(Rule::EqProduct, Ask::Is(self.boolean(false)))
                } else {
                    let wanted = value::mul(width - t, c >> t, value::odd_inverse(k >> t));
                    let low = self.slice(0, width - t, x);
                    Step::same(Rule::EqProduct, self.range(low, wanted, wanted))
                }
            }
            _ => return None,
        })
    }

    /// `x & m = c`, run by run of `m`; only where it tells bytes apart.
    fn equals_under_mask(&mut self, x: Term, m: u128, c: u128) -> Option<Step> {
        const MOST_RUNS: usize = 16;
        if self.width(x) <= 8 {
            return None;
        }
        let mut runs = Vec::new();
        let mut rest = m;
        while rest != 0 {
            let lo = rest.trailing_zeros() as u8;
            let width = (rest >> lo).trailing_ones() as u8;
            runs.push((lo, width));
            rest &= !(mask(width) << lo);
        }
        if runs.len() > MOST_RUNS || c & !m != 0 {
            return None;
        }
        let part = |(lo, width): (u8, u8)| {
            let (part, wanted) = (self.slice(lo, width, x), value::extract(width, lo, c));
            self.range(part, wanted, wanted)
        };
        Some(Step::All { rule: Rule::EqMask, of: runs.into_iter().map(part).collect() })
    }

    fn simpler_equality(&mut self, a: Term, b: Term) -> Option<Step> {
        if let Some((x, y)) = self.narrowed_pair(a, b) {
            return Some(Step::same(Rule::EqExtend, Ask::Equal(x, y)));
        }
        if let Some(cut) = self.common_cut(a, b) {
            let width = self.width(a);
            let [high_a, high_b] = [a, b].map(|t| self.slice(cut, width - cut, t));
            let [low_a, low_b] = [a, b].map(|t| self.slice(0, cut, t));
            let of = [Ask::Equal(high_a, high_b), Ask::Equal(low_a, low_b)];
            return Some(Step::Join { rule: Rule::EqConcat, how: How::And, of });
        }
        if let (Some((c, k, l)), Some((d, m, n))) = (self.const_branches(a), self.const_branches(b))
        {
            // Equality of truth values asks nothing further.
            if (k, l) == (m, n) {
                return Some(Step::same(Rule::EqTruth, Ask::Is(self.eq(c, d))));
            }
            if (k, l) == (n, m) {
                return Some(Step::same(Rule::EqTruth, Ask::Is(self.xor(c, d))));
            }
        }
        for (choice, other) in [(a, b), (b, a)] {
            let Op::Ite(c, x, y) = self.op(choice) else { continue };
            let (c, left) = if x == other {
                (c, y)
            } else if y == other {
                (self.not(c), x)
            } else {
                continue;
            };
            let of = [Ask::Is(c), Ask::Equal(left, other)];
            return Some(Step::Join { rule: Rule::EqIte, how: How::Or, of });
        }
        match (self.op(a), self.op(b)) {
            (Op::Not(x), Op::Not(y)) | (Op::Neg(x), Op::Neg(y)) => {
                Some(Step::same(Rule::EqUnary, Ask::Equal(x, y)))
            }
            (Op::Sub(x, y), Op::Sub(v, w)) if x == v => {
                Some(Step::same(Rule::EqShared, Ask::Equal(y, w)))
            }
            (Op::Sub(x, y), Op::Sub(v, w)) if y == w => {
                Some(Step::same(Rule::EqShared, Ask::Equal(x, v)))
            }
            (Op::Add(x, y), Op::Add(v, w)) | (Op::Xor(x, y), Op::Xor(v, w)) => {
                let (x, y, v, w) = shared_first(x, y, v, w)?;
                (x == v).then(|| Step::same(Rule::EqShared, Ask::Equal(y, w)))
            }
            (Op::Add(x, y) | Op::Xor(x, y), _) if x == b || y == b => {
                let other = if x == b { y } else { x };
                Some(Step::same(Rule::EqShared, self.range(other, 0, 0)))
            }
            (_, Op::Add(x, y) | Op::Xor(x, y)) if x == a || y == a => {
                let other = if x == a { y } else { x };
                Some(Step::same(Rule::EqShared, self.range(other, 0, 0)))
            }
            _ => None,
        }
    }

    /// `x + y < x`, the carry of a sum, and `x < x + y`, where the constant or the facts tell when.
    fn carry(&mut self, a: Term, b: Term) -> Option<Step> {
        let (rule, max) = (Some(Rule::LessCarry), mask(self.width(a)));
        for (sum, x, carries) in [(a, b, true), (b, a, false)] {
            let Op::Add(p, q) = self.op(sum) else { continue };
            let Some(y) = (p == x).then_some(q).or((q == x).then_some(p)) else { continue };
            if let Some(c) = self.as_const(y) {
                // The sum wraps for the c greatest values of x.
                let ask = self.range(x, max - c + 1, max);
                return Some(Step::Other { rule, ask, negated: !carries });
            }
            let never_wraps =
                self.facts(x).max.checked_add(self.facts(y).max).is_some_and(|s| s <= max);
            if never_wraps {
                let ask = if carries { Ask::Is(self.boolean(false)) } else { self.range(y, 0, 0) };
                return Some(Step::Other { rule, ask, negated: !carries });
            }
        }
        None
    }

    /// The operands of two extensions of one kind, brought to one width.
    fn narrowed_pair(&mut self, a: Term, b: Term) -> Option<(Term, Term)> {
        match (self.op(a), self.op(b)) {
            (Op::ZeroExtend(x), Op::ZeroExtend(y)) => {
                let width = self.width(x).max(self.width(y));
                Some((self.zero_extend(width, x), self.zero_extend(width, y)))
            }
            // The order of sign extensions is that of the narrow terms, signed and unsigned.
            (Op::SignExtend(x), Op::SignExtend(y)) if self.width(x) == self.width(y) => {
                Some((x, y))
            }
            _ => None,
        }
    }

    /// What is left of two concatenations without a part that they share, and whether the sign
    /// bit is in what is left.
    fn shared_part(&self, a: Term, b: Term) -> Option<(Term, Term, bool)> {
        match (self.op(a), self.op(b)) {
            (Op::Concat(h, x), Op::Concat(g, y)) if h == g => Some((x, y, false)),
            (Op::Concat(x, l), Op::Concat(y, m)) if l == m => Some((x, y, true)),
            _ => None,
        }
    }
}

/// The four operands of two commutative operators with a shared one brought to the front.
fn shared_first(x: Term, y: Term, v: Term, w: Term) -> Option<(Term, Term, Term, Term)> {
    [(x, y, v, w), (y, x, v, w), (x, y, w, v), (y, x, w, v)].into_iter().find(|(x, _, v, _)| x == v)
}
