//! What each part of a small container is for: its name, its time, its content.
//!
//! Parts can vanish, so a writer asks for the part with some role, and copes with its absence.

use crate::node::Parts;
use crate::out::Out;

/// The roles of parts, in the order of the parts.
#[derive(Clone)]
pub(crate) struct Roles<R>(pub Vec<R>);

impl<R: Copy + PartialEq> Roles<R> {
    pub fn keep(&self, kept: &[usize]) -> Roles<R> {
        Roles(kept.iter().filter_map(|&at| self.0.get(at).copied()).collect())
    }

    /// Which part has the role.
    pub fn place(&self, role: R, parts: &Parts<'_>) -> Option<usize> {
        self.0.iter().position(|&r| r == role).filter(|&at| at < parts.len())
    }

    /// Writes the part with the role, if there is one, and says how long it is.
    pub fn write(&self, role: R, parts: &Parts<'_>, out: &mut Out) -> usize {
        let before = out.len();
        if let Some(at) = self.place(role, parts) {
            parts.write(at, out);
        }
        out.len() - before
    }

    /// Writes the part with the role with so many bytes: cut, or filled up with zeros.
    pub fn write_exactly(&self, role: R, length: usize, parts: &Parts<'_>, out: &mut Out) {
        let mut part = out.fresh();
        self.write(role, parts, &mut part);
        out.append_range(&part, 0..part.len().min(length));
        out.push(&vec![0; length.saturating_sub(part.len())]);
    }
}
