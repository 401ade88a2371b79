//! Applications of an operator to two arguments that were made lately.
//!
//! Scripts ask about the same tests again and again. An application that is found here was checked
//! and built before; the constructor need not be asked again. Each application has one place, and
//! the later one of two takes it: what is forgotten is built again.

use super::words::Word;
use crate::term::Term;

/// The most applications that are remembered.
const MOST: usize = 1 << 13;

#[derive(Clone, Copy)]
struct Made {
    operator: Word,
    arguments: [Term; 2],
    term: Term,
}

/// What was made lately.
#[derive(Default)]
pub(super) struct Seen {
    /// A power of two of places, or none.
    places: Vec<Option<Made>>,
}

impl Seen {
    /// Makes room that is in proportion to a text of that length.
    pub(super) fn grow(&mut self, text: usize) {
        let count = (text / 64).next_power_of_two().min(MOST);
        if count > self.places.len() {
            self.places.clear();
            self.places.resize(count, None);
        }
    }

    fn place(&self, operator: Word, [a, b]: [Term; 2]) -> usize {
        let both = (a.index() as u64) << 32 | b.index() as u64;
        let hash = (both ^ (operator.index() as u64) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 40) as usize & self.places.len().wrapping_sub(1)
    }

    /// What the operator gave for these arguments, if it is remembered.
    pub(super) fn find(&self, operator: Word, arguments: [Term; 2]) -> Option<Term> {
        let made = (*self.places.get(self.place(operator, arguments))?)?;
        (made.operator == operator && made.arguments == arguments).then_some(made.term)
    }

    /// Remembers what the operator gave for these arguments.
    pub(super) fn add(&mut self, operator: Word, arguments: [Term; 2], term: Term) {
        let place = self.place(operator, arguments);
        if let Some(place) = self.places.get_mut(place) {
            *place = Some(Made { operator, arguments, term });
        }
    }
}
