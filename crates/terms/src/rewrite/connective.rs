//! `not` on anything, and the Boolean `and` and `or`.
//!
//! Bool terms are in negation normal form: `Not` stands on comparisons only. Interval tests of
//! one term (`lo <= x`, `x < hi`, `x != c`) are merged where the result is one interval.

use super::Rule;
use crate::memo::Question;
use crate::pool::Pool;
use crate::term::{Op, Sort, Term};
use crate::value;

impl Pool {
    /// Complement: of every bit, or of a truth value.
    pub fn not(&mut self, a: Term) -> Term {
        self.remembered(Question::Not, [a, a], |pool| pool.not_anew(a))
    }

    fn not_anew(&mut self, a: Term) -> Term {
        let sort = self.sort(a);
        match self.op(a) {
            Op::Const(value) => return self.constant_of(sort, !value & sort.mask()),
            Op::Not(x) => return self.by(Rule::NotNot, x),
            Op::And(..) | Op::Or(..) | Op::Ite(..) if sort == Sort::Bool => return self.negate(a),
            _ if sort == Sort::Bool => return self.intern(sort, Op::Not(a)),
            _ => {}
        }
        let width = sort.bits();
        match self.op(a) {
            Op::Neg(x) => {
                let minus_one = self.constant(width, sort.mask());
                let sum = self.add(x, minus_one);
                return self.by(Rule::NotNeg, sum);
            }
            Op::Add(x, c) => {
                if let Some(c) = self.as_const(c) {
                    let from = self.constant(width, !c);
                    let difference = self.sub(from, x);
                    return self.by(Rule::NotSum, difference);
                }
            }
            Op::Sub(c, x) => {
                if let Some(c) = self.as_const(c) {
                    let by = self.constant(width, value::neg(width, c).wrapping_sub(1));
                    let sum = self.add(x, by);
                    return self.by(Rule::NotDifference, sum);
                }
            }
            _ => {}
        }
        if let Some(lifted) = self.lift_unary(sort, a, |x| !x & sort.mask()) {
            return lifted;
        }
        self.intern(sort, Op::Not(a))
    }

    /// The negation of a connective, by De Morgan, without recursion over its depth. A condition that
    /// grows clause by clause is negated clause by clause: what was negated before is known.
    fn negate(&mut self, root: Term) -> Term {
        let is_connective = |pool: &Pool, t: Term| {
            pool.is_bool(t) && matches!(pool.op(t), Op::And(..) | Op::Or(..) | Op::Ite(..))
        };
        let mut stack = vec![root];
        while let Some(&top) = stack.last() {
            if self.negations.contains_key(&top) {
                stack.pop();
                continue;
            }
            // The condition of an ite stays as it is.
            let (condition, parts) = match self.op(top) {
                Op::Ite(c, a, b) => (Some(c), [a, b]),
                Op::And(a, b) | Op::Or(a, b) => (None, [a, b]),
                _ => unreachable!("only connectives are pushed"),
            };
            let pending = stack.len();
            for part in parts {
                if !is_connective(self, part) {
                    self.not(part);
                } else if !self.negations.contains_key(&part) {
                    stack.push(part);
                }
            }
            if stack.len() > pending {
                continue;
            }
            let [a, b] = parts.map(|part| match self.negations.get(&part) {
                Some(&known) => known,
                None => self.not(part),
            });
            let result = match (self.op(top), condition) {
                (Op::And(..), _) => self.or(a, b),
                (Op::Or(..), _) => self.and(a, b),
                (_, Some(c)) => self.ite(c, a, b),
                (_, None) => unreachable!("only connectives are pushed"),
            };
            self.by(Rule::NotConnective, result);
            self.negations.insert(top, result);
            stack.pop();
        }
        self.negations[&root]
    }

    /// Whether one is the complement of the other.
    pub(crate) fn are_complements(&self, a: Term, b: Term) -> bool {
        self.op(a) == Op::Not(b) || self.op(b) == Op::Not(a)
    }

    /// The conjunction of two Bools.
    pub(super) fn and_bool(&mut self, a: Term, b: Term) -> Term {
        self.simpler_conjunction(a, b).unwrap_or_else(|| {
            let (a, b) = self.ordered(a, b);
            self.intern(Sort::Bool, Op::And(a, b))
        })
    }

    /// The disjunction of two Bools.
    pub(super) fn or_bool(&mut self, a: Term, b: Term) -> Term {
        let (truth, falsity) = (self.boolean(true), self.boolean(false));
        if a == truth || b == truth {
            return truth;
        }
        if a == falsity || a == b {
            return b;
        }
        if b == falsity {
            return a;
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.op(y) {
                Op::And(p, q) if p == x || q == x => return self.by(Rule::OrAbsorb, x),
                Op::Or(p, q) if p == x || q == x => return self.by(Rule::OrAbsorb, y),
                _ => {}
            }
        }
        if self.is_literal(a) && self.is_literal(b) {
            let (not_a, not_b) = (self.not(a), self.not(b));
            if let Some(neither) = self.simpler_conjunction(not_a, not_b) {
                let either = self.not(neither);
                return self.by(Rule::OrDual, either);
            }
        }
        let (a, b) = self.ordered(a, b);
        self.intern(Sort::Bool, Op::Or(a, b))
    }

    /// Whether a Bool is a comparison or its negation.
    fn is_literal(&self, term: Term) -> bool {
        matches!(self.op(term), Op::Eq(..) | Op::Ult(..) | Op::Slt(..) | Op::Not(_))
    }

    /// The conjunction, if it is simpler than an `And`.
    fn simpler_conjunction(&mut self, a: Term, b: Term) -> Option<Term> {
        let (truth, falsity) = (self.boolean(true), self.boolean(false));
        if a == falsity || b == falsity {
            return Some(falsity);
        }
        if a == truth {
            return Some(b);
        }
        if b == truth {
            return Some(a);
        }
        if a == b {
            return Some(self.by(Rule::AndSame, a));
        }
        if self.are_complements(a, b) {
            return Some(self.by(Rule::AndComplement, falsity));
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.op(y) {
                Op::Or(p, q) if p == x || q == x => return Some(self.by(Rule::AndAbsorb, x)),
                Op::And(p, q) if p == x || q == x => return Some(self.by(Rule::AndAbsorb, y)),
                Op::And(p, q) if self.are_complements(p, x) || self.are_complements(q, x) => {
                    return Some(self.by(Rule::AndComplement, falsity));
                }
                Op::Or(p, q) => {
                    for (gone, left) in [(p, q), (q, p)] {
                        if self.are_complements(gone, x) {
                            let both = self.and(x, left);
                            return Some(self.by(Rule::AndResolve, both));
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(strict) = self.strict_order(a, b) {
            return Some(self.by(Rule::AndStrict, strict));
        }
        let merged = self.merge_intervals(a, b)?;
        Some(self.by(Rule::AndIntervals, merged))
    }

    /// `not (x < y) and not (x = y)` is `y < x`; `x < y` needs no `not (x = y)`, and denies `x = y`.
    fn strict_order(&mut self, a: Term, b: Term) -> Option<Term> {
        for (order, other) in [(a, b), (b, a)] {
            let (test, is_not_less) = match self.op(order) {
                Op::Not(test) => (test, true),
                _ => (order, false),
            };
            let (Op::Ult(x, y) | Op::Slt(x, y)) = self.op(test) else { continue };
            let (p, q) = self.ordered(x, y);
            match self.op(other) {
                Op::Not(equal) if self.op(equal) == Op::Eq(p, q) && is_not_less => {
                    return Some(match self.op(test) {
                        Op::Ult(..) => self.ult(y, x),
                        _ => self.slt(y, x),
                    });
                }
                Op::Not(equal) if self.op(equal) == Op::Eq(p, q) => return Some(order),
                Op::Eq(v, w) if (v, w) == (p, q) => {
                    return Some(if is_not_less { other } else { self.boolean(false) });
                }
                _ => {}
            }
        }
        None
    }
}
