//! What terms are worth under another input.

use stunt_terms::{Support, Term};

use super::{
    Symbolic,
    shadow::{Meaning, give_values},
};
use crate::{cpu::Cpu, memory::Mark, tracer::Values};

/// The values of terms under the input that a run has now, after these bytes of it have changed.
pub(crate) struct NewValues<'a> {
    symbolic: &'a mut Symbolic,
    changes: &'a Support,
    /// The term that was asked for last: neighbours often belong to one.
    last: Option<(Term, Option<u128>)>,
}

impl<'a> NewValues<'a> {
    /// Nothing has been asked.
    pub(crate) fn new(symbolic: &'a mut Symbolic, changes: &'a Support) -> Self {
        Self { symbolic, changes, last: None }
    }
}

impl Values for NewValues<'_> {
    fn byte(&mut self, mark: Mark) -> Option<u8> {
        let Meaning::Piece(term, piece) = Meaning::of(mark)? else { return None };
        let word = match self.last {
            Some((same, word)) if same == term => word,
            _ if self.symbolic.depends_on(term, self.changes) => Some(self.symbolic.value(term)),
            _ => None,
        };
        self.last = Some((term, word));
        Some((word? >> (8 * u32::from(piece))) as u8)
    }

    fn give(&mut self, cpu: &mut Cpu) {
        give_values(cpu, &mut |term| self.symbolic.value(term));
    }
}
