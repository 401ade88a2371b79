//! Evaluation of a part's literals under candidate values.
//!
//! The scratch assignment keeps old values of bytes that a part does not have; no literal of the
//! part reads them.

use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

use super::Part;

/// An evaluator with an assignment of its own.
pub(crate) struct Scratch {
    pub(crate) evaluator: Evaluator,
    pub(crate) assignment: Assignment,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch { evaluator: Evaluator::new(), assignment: Assignment::new() }
    }

    /// Whether the values, one for each byte of the part, satisfy it.
    pub(crate) fn satisfies(
        &mut self,
        pool: &Pool,
        part: &Part<'_>,
        values: &[(InputByte, u8)],
    ) -> bool {
        part.in_domains(values) && self.all_hold(pool, part.component.literals(), values)
    }

    /// Whether all literals hold under the values, which cover their bytes.
    pub(crate) fn all_hold(
        &mut self,
        pool: &Pool,
        literals: impl IntoIterator<Item = Term>,
        values: &[(InputByte, u8)],
    ) -> bool {
        for &(byte, value) in values {
            self.assignment.set(byte, value);
        }
        self.evaluator.reset();
        let Scratch { evaluator, assignment } = self;
        literals.into_iter().all(|literal| evaluator.holds(pool, literal, assignment))
    }
}
