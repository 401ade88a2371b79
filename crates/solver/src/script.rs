//! Answers to SMT-LIB scripts: assertions in scopes, and questions about them.
//!
//! A script asks as a search does: it builds up a condition, then asks about one more test. So
//! what was asserted up to the last question or scope is the condition, with the last model found
//! for it as the hint, and what came since is the question.

use stunt_models::Condition;
use stunt_terms::smtlib::{Script, Step};
use stunt_terms::{Assignment, Pool, Term};

use crate::chain::Solver;
use crate::query::Answer;

/// What is asserted in a scope and in those around it.
#[derive(Clone, Default)]
struct Scope {
    /// The assertions that were asked about, but for the last ones.
    settled: Condition,
    /// A model of `settled`, if one was found.
    hint: Option<Assignment>,
    /// The assertions since.
    fresh: Vec<Term>,
    /// The answer about all of them, if nothing was asserted after it.
    answer: Option<Answer>,
}

impl Scope {
    /// Whether the assertions hold together.
    fn ask(&mut self, solver: &mut Solver, pool: &Pool) -> Answer {
        let hint = self.hint.as_ref();
        let ask = || solver.satisfiable_all(pool, &self.settled, hint, &self.fresh);
        self.answer.get_or_insert_with(ask).clone()
    }

    /// Makes what was asked about part of the condition, and its model the hint. That is put off
    /// until more is asserted, because most scopes are left first.
    fn settle(&mut self, solver: &mut Solver, pool: &Pool) {
        let Some(answer) = self.answer.take() else { return };
        for literal in self.fresh.drain(..) {
            self.settled.push(pool, &mut solver.masks, literal);
        }
        self.hint = match answer {
            // Without a hint the model covers all that the condition constrains.
            Answer::Sat(model) => Some(model.overlay(&self.hint.take().unwrap_or_default())),
            Answer::Unsat | Answer::Unknown(_) => None,
        };
    }
}

/// Answers every `check-sat` of a script, in order.
pub fn answer_script(solver: &mut Solver, pool: &Pool, script: &Script) -> Vec<Answer> {
    let mut scopes = vec![Scope::default()];
    let mut answers = Vec::new();
    for step in &script.steps {
        let top = scopes.last_mut().expect("the outermost scope stays");
        match step {
            Step::Assert(term) => {
                top.settle(solver, pool);
                top.fresh.push(*term);
            }
            Step::Push(0) | Step::Pop(0) => {}
            Step::Push(count) => {
                if !top.fresh.is_empty() {
                    top.ask(solver, pool);
                    top.settle(solver, pool);
                }
                let inside = top.clone();
                scopes.extend(std::iter::repeat_n(inside, *count));
            }
            // A script that leaves more scopes than it entered leaves the outermost empty.
            Step::Pop(count) => {
                scopes.truncate(scopes.len().saturating_sub(*count));
                if scopes.is_empty() {
                    scopes.push(Scope::default());
                }
            }
            Step::CheckSat { assuming } if assuming.is_empty() => {
                answers.push(top.ask(solver, pool));
            }
            Step::CheckSat { assuming } => {
                let questions: Vec<Term> = top.fresh.iter().chain(assuming).copied().collect();
                let hint = top.hint.as_ref();
                answers.push(solver.satisfiable_all(pool, &top.settled, hint, &questions));
            }
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Budget, Truth};
    use stunt_terms::smtlib::parse_script;

    fn verdicts(text: &str) -> Vec<Truth> {
        let mut pool = Pool::new();
        let script = parse_script(&mut pool, text).expect("a script");
        let mut solver = Solver::new(Budget::default());
        answer_script(&mut solver, &pool, &script).iter().map(Answer::truth).collect()
    }

    #[test]
    fn scopes_come_and_go() {
        let text = "(declare-const in0@0 (_ BitVec 8)) (declare-const in0@1 (_ BitVec 8))
            (assert (bvult in0@0 #x10))
            (push 1) (assert (bvugt in0@0 #x20)) (check-sat) (pop 1)
            (push 1) (assert (= in0@1 in0@0)) (check-sat)
              (push 1) (assert (= in0@1 #x11)) (check-sat) (pop 1)
              (assert (= in0@1 #x0f)) (check-sat)
            (pop 1)
            (check-sat) (check-sat-assuming ((= in0@0 #x10)))";
        let (yes, no) = (Truth::Yes, Truth::No);
        assert_eq!(verdicts(text), [no, yes, no, yes, yes, no]);
    }

    #[test]
    fn nothing_holds_inside_a_contradiction() {
        let text = "(declare-const in0@0 (_ BitVec 8))
            (assert (= in0@0 #x10)) (assert (= in0@0 #x11))
            (push 1) (assert (= in0@0 #x10)) (check-sat) (pop 1) (check-sat)";
        assert_eq!(verdicts(text), [Truth::No, Truth::No]);
    }
}
