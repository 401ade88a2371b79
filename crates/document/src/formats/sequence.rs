//! Parts one after the other, with nothing computed: what formats without lengths are made of.

use std::sync::Arc;

use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Found, Piece};

/// A sequence, of a kind that says what of.
pub(crate) struct Sequence(pub Kind);

impl Sequence {
    pub fn found(kind: Kind, parts: Vec<Piece>) -> Found {
        Found::container(Sequence(kind), parts)
    }
}

impl Form for Sequence {
    fn kind(&self) -> Kind {
        self.0
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        for at in 0..parts.len() {
            parts.write(at, out);
        }
    }

    fn keep(&self, _: &[usize]) -> Arc<dyn Form> {
        Arc::new(Sequence(self.0))
    }
}
