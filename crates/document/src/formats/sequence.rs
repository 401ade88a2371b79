//! Parts one after the other, with nothing computed: what formats without lengths are made of.

use std::sync::Arc;

use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Found, Piece};

/// A sequence, of a kind that says what of, behind a signature.
#[derive(Clone)]
pub(crate) struct Sequence {
    kind: Kind,
    signature: &'static [u8],
}

impl Sequence {
    pub fn found(kind: Kind, parts: Vec<Piece>) -> Found {
        Sequence::behind(b"", kind, parts)
    }

    pub fn behind(signature: &'static [u8], kind: Kind, parts: Vec<Piece>) -> Found {
        Found::container(Sequence { kind, signature }, parts)
    }
}

impl Form for Sequence {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        out.push(self.signature);
        for at in 0..parts.len() {
            parts.write(at, out);
        }
    }

    fn keep(&self, _: &[usize]) -> Arc<dyn Form> {
        Arc::new(self.clone())
    }
}
