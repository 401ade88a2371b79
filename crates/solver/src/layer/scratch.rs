//! Memory for evaluation that is kept from question to question.
//!
//! The assignment keeps old values of bytes that a part does not have; no literal of the part reads
//! them.

use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

use super::sheet::Marks;

/// An evaluator with an assignment of its own, and the marks of sheets.
pub(crate) struct Scratch {
    pub(crate) evaluator: Evaluator,
    pub(crate) assignment: Assignment,
    pub(crate) marks: Marks,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch {
            evaluator: Evaluator::new(),
            assignment: Assignment::new(),
            marks: Marks::default(),
        }
    }

    /// Takes over the values of bytes.
    pub(crate) fn assign(&mut self, values: &[(InputByte, u8)]) {
        for &(byte, value) in values {
            self.assignment.set(byte, value);
        }
    }

    /// Whether all literals hold under the values, which cover their bytes.
    pub(crate) fn all_hold(
        &mut self,
        pool: &Pool,
        literals: &[Term],
        values: &[(InputByte, u8)],
    ) -> bool {
        self.assign(values);
        self.evaluator.reset();
        let Scratch { evaluator, assignment, .. } = self;
        literals.iter().all(|&literal| evaluator.holds(pool, literal, assignment))
    }
}
