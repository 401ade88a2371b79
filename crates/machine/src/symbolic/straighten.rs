//! Conditions that have grown too large to be reasoned about, cut down to what the run did.
//!
//! A value that was chosen by a condition (`cmov`, the result of a comparison) is a term with both
//! alternatives. When such values choose further ones, as in a binary search without branches,
//! terms grow beyond use. Then it is said instead which alternative each choice took: that is a
//! stronger condition, in smaller pieces. Values that were fixed before are put in as constants.

use rustc_hash::{FxHashMap, FxHashSet};
use stunt_path::TestKind;
use stunt_terms::{Op, Pool, Term};

use super::Symbolic;

/// Terms of so many parts are left as they are.
const SMALL: usize = 160;
/// Terms of more parts than this are not taken apart.
const HUGE: usize = 50_000;

impl Symbolic {
    /// A condition that held, in a form that can be reasoned about.
    pub(super) fn straightened(&mut self, condition: Term) -> Term {
        if self.input.is_none() || self.pool.support(condition).len() < 2 {
            return condition;
        }
        let parts = parts(&self.pool, condition, HUGE);
        if parts <= SMALL || parts >= HUGE {
            return condition;
        }
        let mut memo = FxHashMap::default();
        let mut choices = Vec::new();
        let condition = self.cut(condition, &mut memo, &mut choices);
        for choice in choices {
            self.test(choice, TestKind::Choice);
        }
        condition
    }

    fn cut(
        &mut self,
        term: Term,
        memo: &mut FxHashMap<Term, Term>,
        choices: &mut Vec<Term>,
    ) -> Term {
        if let Some(&known) = memo.get(&term) {
            return known;
        }
        let width = self.pool.width(term);
        let result = if let Some(&value) = self.known.get(&term) {
            self.pool.constant(width, u128::from(value))
        } else {
            match self.pool.op(term) {
                Op::Const(_) | Op::Byte(_) => term,
                Op::Ite(condition, then, other) if self.pool.support(condition).len() > 1 => {
                    let holds = self.holds(condition);
                    let taken = if holds { then } else { other };
                    let condition = self.cut(condition, memo, choices);
                    let choice = if holds { condition } else { self.pool.not(condition) };
                    if self.pool.as_const(choice).is_none() && !choices.contains(&choice) {
                        choices.push(choice);
                    }
                    self.cut(taken, memo, choices)
                }
                _ => {
                    let operands: Vec<Term> = self.pool.operands(term).collect();
                    let cut: Vec<Term> =
                        operands.iter().map(|&operand| self.cut(operand, memo, choices)).collect();
                    if cut == operands {
                        term
                    } else {
                        let mut next = cut.into_iter();
                        self.pool
                            .with_operands(term, &mut |_, operand| next.next().unwrap_or(operand))
                    }
                }
            }
        };
        memo.insert(term, result);
        result
    }

    /// Whether a condition holds for the run's own input.
    fn holds(&mut self, condition: Term) -> bool {
        match &mut self.input {
            Some((input, evaluator)) => evaluator.holds(&self.pool, condition, input),
            None => false,
        }
    }
}

/// How many terms a term is made of, up to a limit.
fn parts(pool: &Pool, term: Term, limit: usize) -> usize {
    let mut seen = FxHashSet::default();
    let mut pending = vec![term];
    while let Some(term) = pending.pop() {
        if seen.len() >= limit {
            break;
        }
        if seen.insert(term) {
            pending.extend(pool.operands(term));
        }
    }
    seen.len()
}
