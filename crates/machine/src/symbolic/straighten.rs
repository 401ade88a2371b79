//! Conditions that have grown too large to be reasoned about, cut down to what the run did.
//!
//! A value that was chosen by a condition (`cmov`, the result of a comparison) is a term with both
//! alternatives. When such values choose further ones, as in a binary search without branches,
//! terms grow beyond use. Then it is said instead which alternative each choice took: that is a
//! stronger condition, in smaller pieces. Values that were fixed before are put in as constants.

use rustc_hash::FxHashMap;
use stunt_path::TestKind;
use stunt_terms::{Op, Term};

use super::Symbolic;

/// Terms of so many parts, each counted as often as it is used, are left as they are.
const SMALL: u32 = 400;

impl Symbolic {
    /// A condition that held, in a form that can be reasoned about.
    pub(super) fn straightened(&mut self, condition: Term) -> Term {
        if self.input.is_none() || self.pool.support(condition).len() < 2 {
            return condition;
        }
        if self.parts(condition) <= SMALL {
            return condition;
        }
        let mut choices = Vec::new();
        let mut memo = std::mem::take(&mut self.cuts);
        let condition = self.cut(condition, &mut memo, &mut choices);
        self.cuts = memo;
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

    /// How many parts a term has, each counted as often as it is used. Operands come before their
    /// users, so that every term is looked at once.
    fn parts(&mut self, term: Term) -> u32 {
        for index in self.sizes.len()..=term.index() {
            let at = self.pool.at(index);
            let operands = self.pool.operands(at).map(|operand| self.sizes[operand.index()]);
            let size = operands.fold(1u32, u32::saturating_add);
            self.sizes.push(size);
        }
        self.sizes[term.index()]
    }
}
