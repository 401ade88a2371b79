//! Changes of bytes: what removing, shortening or replacing elements comes to.

use std::fmt;
use std::ops::Range;

use super::{Structure, lengths};
use crate::content::Content;

/// Some bytes in the place of others.
#[derive(Clone, PartialEq, Eq)]
pub struct Change {
    /// What is replaced.
    pub range: Range<usize>,
    /// What stands there instead.
    pub bytes: Content,
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} -> {:?}", self.range, self.bytes)
    }
}

/// The bytes with the changes made. Changes are in order and do not overlap.
pub fn apply(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut changed = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for change in changes {
        changed.extend_from_slice(&bytes[at..change.range.start]);
        changed.extend_from_slice(&change.bytes);
        at = change.range.end;
    }
    changed.extend_from_slice(&bytes[at..]);
    changed
}

impl Structure {
    /// The changes that remove these elements: with the separators that are left over, and with the
    /// lengths around them.
    pub fn without(&self, bytes: &[u8], elements: &[usize]) -> Vec<Change> {
        let mut gone = vec![false; self.elements.len()];
        for &element in elements {
            gone[element] = true;
        }
        let mut changes = Vec::new();
        // Siblings lie between these numbers; what is inside something that is gone is not looked at.
        let mut waiting = vec![(0, self.elements.len())];
        while let Some((first, end)) = waiting.pop() {
            let siblings: Vec<usize> = self.siblings(first, end).collect();
            let mut kept = None;
            for (at, &sibling) in siblings.iter().enumerate() {
                let element = &self.elements[sibling];
                if !gone[sibling] {
                    kept = Some(sibling);
                    waiting.push((sibling + 1, element.end));
                    continue;
                }
                let range = match (element.separated, kept, siblings.get(at + 1)) {
                    (true, Some(_), _) => {
                        self.elements[siblings[at - 1]].range.end..element.range.end
                    }
                    (true, None, Some(&next)) => {
                        element.range.start..self.elements[next].range.start
                    }
                    _ => element.range.clone(),
                };
                changes.push(Change { range, bytes: element.rest.into() });
            }
        }
        self.with_lengths(bytes, changes)
    }

    /// The changes that remove some of the elements that stand side by side, given all of these and which of them
    /// go. The same as [`Structure::without`], without a look at anything else.
    pub fn without_siblings(
        &self,
        bytes: &[u8],
        siblings: &[usize],
        gone: Range<usize>,
    ) -> Vec<Change> {
        let range = |at: usize| self.elements[siblings[at]].range.clone();
        let mut changes = Vec::with_capacity(gone.len());
        for at in gone.clone() {
            let element = &self.elements[siblings[at]];
            let range = match element.separated {
                true if gone.start > 0 => range(at - 1).end..element.range.end,
                true if at + 1 < siblings.len() => element.range.start..range(at + 1).start,
                _ => element.range.clone(),
            };
            changes.push(Change { range, bytes: element.rest.into() });
        }
        self.with_lengths(bytes, changes)
    }

    /// The changes that put other bytes in the place of elements, with the lengths around them. Of
    /// elements inside one another, the outer one counts.
    pub fn replacing<'a>(
        &self,
        bytes: &[u8],
        edits: impl IntoIterator<Item = (usize, &'a [u8])>,
    ) -> Vec<Change> {
        let change = |(element, by): (usize, &[u8])| Change {
            range: self.elements[element].range.clone(),
            bytes: by.into(),
        };
        self.with_lengths(bytes, edits.into_iter().map(change).collect())
    }

    /// The changes that put an element in the place of one that it lies in, or of any other.
    pub fn hoisting(&self, bytes: &[u8], place: usize, element: usize) -> Vec<Change> {
        self.replacing(bytes, [(place, &bytes[self.elements[element].range.clone()])])
    }

    /// The same changes, and those of the lengths around them. A change inside another one is left out.
    pub fn with_lengths(&self, bytes: &[u8], mut changes: Vec<Change>) -> Vec<Change> {
        changes.sort_by_key(|change| (change.range.start, std::cmp::Reverse(change.range.end)));
        let mut end = 0;
        changes.retain(|change| {
            let outside = change.range.start >= end;
            end = end.max(change.range.end);
            outside && change.range.end <= bytes.len()
        });
        lengths::follow(self, bytes, changes)
    }
}
