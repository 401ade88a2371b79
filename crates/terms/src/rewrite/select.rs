//! `ite`: `cmov`, `setcc`, and the joins of branches.

use super::Rule;
use crate::pool::Pool;
use crate::term::{Op, Term};

/// Pieces of a term that are looked at: as many bytes as a word has, and some bits.
const MOST_PIECES: usize = 10;

impl Pool {
    /// `then` if `condition`, else `other`.
    ///
    /// # Panics
    /// If the condition is no Bool or the branches differ in sort (in debug builds).
    pub fn ite(&mut self, condition: Term, then: Term, other: Term) -> Term {
        debug_assert!(self.is_bool(condition), "a condition is a Bool");
        debug_assert_eq!(self.sort(then), self.sort(other), "both branches have one sort");
        if let Some(value) = self.as_const(condition) {
            return if value == 1 { then } else { other };
        }
        if then == other {
            return self.by(Rule::IteSame, then);
        }
        if let Op::Not(c) = self.op(condition) {
            let swapped = self.ite(c, other, then);
            return self.by(Rule::IteNot, swapped);
        }
        let simpler = if self.is_bool(then) {
            self.bool_selection(condition, then, other)
        } else {
            self.bits_selection(condition, then, other)
        };
        if let Some((rule, selected)) =
            simpler.or_else(|| self.nested_selection(condition, then, other))
        {
            return self.by(rule, selected);
        }
        let sort = self.sort(then);
        self.intern(sort, Op::Ite(condition, then, other))
    }

    fn bool_selection(&mut self, c: Term, then: Term, other: Term) -> Option<(Rule, Term)> {
        let selected = match (self.as_const(then), self.as_const(other)) {
            (Some(1), _) => self.or(c, other),
            (Some(_), _) => {
                let not = self.not(c);
                self.and(not, other)
            }
            (_, Some(0)) => self.and(c, then),
            (_, Some(_)) => {
                let not = self.not(c);
                self.or(not, then)
            }
            _ if c == then => self.or(c, other),
            _ if c == other => self.and(c, then),
            _ if self.are_complements(then, other) => self.eq(c, then),
            _ => return None,
        };
        Some((Rule::IteBool, selected))
    }

    fn nested_selection(&mut self, c: Term, then: Term, other: Term) -> Option<(Rule, Term)> {
        if let Op::Ite(d, x, _) = self.op(then)
            && c == d
        {
            return Some((Rule::IteNested, self.ite(c, x, other)));
        }
        if let Op::Ite(d, x, y) = self.op(other) {
            if c == d {
                return Some((Rule::IteNested, self.ite(c, then, y)));
            }
            if x == then {
                let either = self.or(c, d);
                return Some((Rule::IteChain, self.ite(either, then, y)));
            }
        }
        None
    }

    fn bits_selection(&mut self, c: Term, then: Term, other: Term) -> Option<(Rule, Term)> {
        if let Op::Eq(x, y) = self.op(c)
            && ((x, y) == (then, other) || (y, x) == (then, other))
        {
            return Some((Rule::IteEqual, other));
        }
        if let Some(selected) = self.bit_selection(c, then, other) {
            return Some((Rule::IteXor, selected));
        }
        let width = self.width(then);
        match (self.op(then), self.op(other)) {
            (Op::ZeroExtend(x), Op::ZeroExtend(y)) => {
                let narrow = self.width(x).max(self.width(y));
                let (x, y) = (self.zero_extend(narrow, x), self.zero_extend(narrow, y));
                let selected = self.ite(c, x, y);
                Some((Rule::IteExtend, self.zero_extend(width, selected)))
            }
            (Op::SignExtend(x), Op::SignExtend(y)) if self.width(x) == self.width(y) => {
                let selected = self.ite(c, x, y);
                Some((Rule::IteExtend, self.sign_extend(width, selected)))
            }
            (Op::Concat(a, x), Op::Concat(b, y)) if a == b => {
                let selected = self.ite(c, x, y);
                Some((Rule::IteConcat, self.concat(a, selected)))
            }
            (Op::Concat(x, a), Op::Concat(y, b)) if a == b => {
                let selected = self.ite(c, x, y);
                Some((Rule::IteConcat, self.concat(selected, a)))
            }
            _ => None,
        }
    }

    /// A bit that decides whether others are turned round, as in a checksum: linear, and no choice.
    fn bit_selection(&mut self, c: Term, then: Term, other: Term) -> Option<Term> {
        let Op::Eq(x, y) = self.op(c) else { return None };
        let (bit, value) = match (self.as_const(x), self.as_const(y)) {
            (None, Some(value)) => (x, value),
            (Some(value), None) => (y, value),
            _ => return None,
        };
        if self.width(bit) != 1 || !(self.has_turned_bits(then) || self.has_turned_bits(other)) {
            return None;
        }
        let turned = self.xor(then, other);
        self.as_const(turned)?;
        let mask = self.sign_extend(self.width(then), bit);
        let mask = self.and(mask, turned);
        Some(self.xor(if value == 1 { other } else { then }, mask))
    }

    /// Whether a term, or one of its first pieces, is another one with some bits turned round.
    fn has_turned_bits(&self, mut term: Term) -> bool {
        for _ in 0..MOST_PIECES {
            match self.op(term) {
                Op::Concat(high, low) => {
                    if self.is_turned(high) {
                        return true;
                    }
                    term = low;
                }
                Op::ZeroExtend(low) => term = low,
                _ => return self.is_turned(term),
            }
        }
        false
    }

    fn is_turned(&self, term: Term) -> bool {
        match self.op(term) {
            Op::Xor(a, b) => self.as_const(a).is_some() || self.as_const(b).is_some(),
            Op::Not(_) => true,
            _ => false,
        }
    }
}
