//! Conditions that have grown too large to be reasoned about, cut down to what the run did.
//!
//! A value that was chosen by a condition (`cmov`, the result of a comparison) is a term with both
//! alternatives. When such values choose further ones, as in a binary search without branches,
//! terms grow beyond use. Then it is said instead which alternative each choice took: that is a
//! stronger condition, in smaller pieces. Values that were fixed before are put in as constants.

use rustc_hash::FxHashSet;
use stunt_path::TestKind;
use stunt_terms::{Op, Term};

use super::{Symbolic, layers::Layers};

/// Terms of so many parts, each counted as often as it is used, are left as they are.
const SMALL: u32 = 400;

/// What is still to be done for a term.
enum Work {
    /// Look whether it must be cut down.
    Look(Term),
    /// Its condition is cut down: ask which alternative was taken, and go on with that.
    Ask(Term, Term),
    /// The alternative is cut down.
    Take(Term, Term),
    /// All operands are cut down.
    Make(Term),
}

/// Choices in the order in which they were made, each once.
#[derive(Default)]
struct Choices {
    made: Vec<Term>,
    seen: FxHashSet<Term>,
}

impl Symbolic {
    /// A condition that held, in a form that can be reasoned about.
    pub(super) fn straightened(&mut self, condition: Term) -> Term {
        if self.input.is_none() || self.pool.support(condition).len() < 2 {
            return condition;
        }
        if self.parts(condition) <= SMALL {
            return condition;
        }
        let mut choices = Choices::default();
        let mut memo = std::mem::take(&mut self.cuts);
        let mut cut = Vec::new();
        let condition = if self.keeps_tests() {
            self.cut_in_order(condition, &mut memo, &mut cut, &mut choices)
        } else {
            self.cut(condition, &mut memo, &mut cut, &mut choices)
        };
        self.cuts = memo;
        for choice in choices.made {
            self.test(choice, TestKind::Choice);
        }
        let tests = self.tests.len();
        self.cut_at.extend(cut.into_iter().map(|term| (tests, term)));
        condition
    }

    /// A term, cut down. Nothing recurses: terms can be as deep as an input is long.
    fn cut(
        &mut self,
        term: Term,
        memo: &mut Layers<Term, Term>,
        cut: &mut Vec<Term>,
        choices: &mut Choices,
    ) -> Term {
        // From above: which terms are needed, with only the alternatives that were taken.
        let mut needed = FxHashSet::default();
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            if memo.contains_key(&term) || !needed.insert(term) || self.known.contains_key(&term) {
                continue;
            }
            match self.chosen(term) {
                Some((condition, _, taken)) => pending.extend([condition, taken]),
                None => pending.extend(self.pool.operands(term)),
            }
        }
        // From below: operands have smaller handles than their users.
        let mut order: Vec<Term> = needed.into_iter().collect();
        order.sort_unstable();
        for term in order {
            let result = self.cut_one(term, memo, choices);
            memo.insert(term, result);
            cut.push(term);
        }
        memo[&term]
    }

    /// A term, cut down, with the choices in the order in which a program would make them: which one
    /// comes next depends on the answers so far alone, so that each can be answered otherwise.
    fn cut_in_order(
        &mut self,
        term: Term,
        memo: &mut Layers<Term, Term>,
        cut: &mut Vec<Term>,
        choices: &mut Choices,
    ) -> Term {
        let mut pending = vec![Work::Look(term)];
        while let Some(work) = pending.pop() {
            match work {
                Work::Look(term) if memo.contains_key(&term) => {}
                Work::Look(term) if self.known.contains_key(&term) => {
                    pending.push(Work::Make(term));
                }
                Work::Look(term) => match self.chosen(term) {
                    Some((condition, _, taken)) => {
                        pending.extend([Work::Ask(term, taken), Work::Look(condition)]);
                    }
                    None => {
                        pending.push(Work::Make(term));
                        let from = pending.len();
                        pending.extend(self.pool.operands(term).map(Work::Look));
                        pending[from..].reverse();
                    }
                },
                Work::Ask(term, taken) => {
                    if let Some((condition, holds, _)) = self.chosen(term) {
                        self.ask(memo[&condition], holds, choices);
                    }
                    pending.extend([Work::Take(term, taken), Work::Look(taken)]);
                }
                Work::Take(term, taken) => {
                    memo.insert(term, memo[&taken]);
                    cut.push(term);
                }
                Work::Make(term) => {
                    let result = self.cut_one(term, memo, choices);
                    memo.insert(term, result);
                    cut.push(term);
                }
            }
        }
        memo[&term]
    }

    /// Notes a choice that is none yet.
    fn ask(&mut self, condition: Term, holds: bool, choices: &mut Choices) {
        let choice = if holds { condition } else { self.pool.not(condition) };
        if self.pool.as_const(choice).is_none() && choices.seen.insert(choice) {
            choices.made.push(choice);
        }
    }

    /// One term, whose operands are cut down already.
    fn cut_one(&mut self, term: Term, memo: &Layers<Term, Term>, choices: &mut Choices) -> Term {
        if let Some(&value) = self.known.get(&term) {
            let width = self.pool.width(term);
            return self.pool.constant(width, u128::from(value));
        }
        if let Some((condition, holds, taken)) = self.chosen(term) {
            self.ask(memo[&condition], holds, choices);
            return memo[&taken];
        }
        if self.pool.operands(term).all(|operand| memo[&operand] == operand) {
            return term;
        }
        self.pool.with_operands(term, &mut |_, operand| memo[&operand])
    }

    /// For a value that was chosen by a condition on several bytes: the condition, whether it held,
    /// and what was taken.
    fn chosen(&mut self, term: Term) -> Option<(Term, bool, Term)> {
        let Op::Ite(condition, then, other) = self.pool.op(term) else { return None };
        if self.pool.support(condition).len() < 2 {
            return None;
        }
        let holds = self.holds(condition);
        Some((condition, holds, if holds { then } else { other }))
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
    pub(super) fn parts(&mut self, term: Term) -> u32 {
        for index in self.sizes.len()..=term.index() {
            let at = self.pool.at(index);
            let operands = self.pool.operands(at).map(|operand| self.sizes[operand.index()]);
            let size = operands.fold(1u32, u32::saturating_add);
            self.sizes.push(size);
        }
        self.sizes[term.index()]
    }
}
