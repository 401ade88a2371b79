//! What is changed in an input at once: parts that are cut out, or become something else.
//!
//! What always holds: the parts of an edit are in order and do not overlap, and sums over what is changed are
//! made right again.

use std::ops::Range;

use crate::sums::Sum;

/// Parts of an input that are cut out, or become something else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edit {
    /// What is where, and what takes its place; in order, without overlap.
    changes: Vec<(Range<usize>, Vec<u8>)>,
}

impl Edit {
    pub(crate) fn cut(range: Range<usize>) -> Edit {
        Edit::instead(range, &[])
    }

    /// Something else in the place of a part.
    pub(crate) fn instead(range: Range<usize>, other: &[u8]) -> Edit {
        Edit { changes: vec![(range, other.to_vec())] }
    }

    /// A cut, and the new bytes of a number before it.
    pub(crate) fn counted(range: Range<usize>, at: usize, number: Vec<u8>) -> Edit {
        Edit { changes: vec![(at..at + number.len(), number), (range, Vec::new())] }
    }

    /// Two cuts.
    pub(crate) fn both(first: Range<usize>, second: Range<usize>) -> Edit {
        Edit { changes: vec![(first, Vec::new()), (second, Vec::new())] }
    }

    /// Several changes at once, in order and apart from each other.
    pub(crate) fn all(changes: Vec<(Range<usize>, Vec<u8>)>) -> Edit {
        Edit { changes }
    }

    /// One change more, elsewhere.
    pub(crate) fn and(mut self, range: Range<usize>, other: Vec<u8>) -> Edit {
        self.changes.push((range, other));
        self.changes.sort_by_key(|(range, _)| range.start);
        self
    }

    /// Where the first change is.
    pub(crate) fn start(&self) -> usize {
        self.changes[0].0.start
    }

    /// The input after it.
    pub(crate) fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let mut left = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for (range, other) in &self.changes {
            left.extend_from_slice(&bytes[at..range.start]);
            left.extend_from_slice(other);
            at = range.end;
        }
        left.extend_from_slice(&bytes[at..]);
        left
    }

    /// Where something that begins at a place begins after it, if that place is not within what was changed.
    fn moved(&self, place: usize) -> Option<usize> {
        let mut moved = place;
        for (range, other) in &self.changes {
            if range.start >= place {
                break;
            }
            if range.end > place {
                return None;
            }
            moved = moved + other.len() - range.len();
        }
        Some(moved)
    }

    /// Some sums after it: those whose own bytes it leaves alone.
    pub(crate) fn sums(&self, sums: &[Sum]) -> Vec<Sum> {
        let moved = |sum: &Sum| {
            let place = sum.place();
            let touched = |(range, _): &(Range<usize>, Vec<u8>)| {
                range.start < place.end && range.end > place.start
            };
            if self.changes.iter().any(touched) {
                return None;
            }
            let over = self.moved(sum.over.start)?..self.moved(place.start)?;
            (!over.is_empty()).then(|| sum.moved(over))
        };
        sums.iter().filter_map(moved).collect()
    }

    /// The input after it, with its sums made right.
    pub(crate) fn apply_with(&self, bytes: &[u8], sums: &[Sum]) -> Vec<u8> {
        let mut after = self.apply(bytes);
        for sum in self.sums(sums) {
            sum.repair(&mut after);
        }
        after
    }

    /// How many bytes fewer there are after it.
    pub(crate) fn taken(&self) -> usize {
        let (before, after) =
            self.changes.iter().fold((0, 0), |(before, after), (range, other)| {
                (before + range.len(), after + other.len())
            });
        before.saturating_sub(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::sums;

    #[test]
    fn places_move_with_what_is_cut_before_them() {
        let edit = Edit::counted(4..6, 1, vec![9]);
        assert_eq!(edit.apply(b"0123456789"), b"0\t236789");
        assert_eq!([0, 1, 2, 4, 6].map(|at| edit.moved(at)), [0, 1, 2, 4, 4].map(Some));
        assert_eq!(edit.moved(5), None);
    }

    #[test]
    fn sums_are_right_after_an_edit() {
        let mut bytes = b"##\x09part of itSUM!--behind".to_vec();
        let sum = sums(b"123456789\xcb\xf4\x39\x26")[0].moved(3..13);
        sum.repair(&mut bytes);
        // Within, before, and behind it.
        for (edit, over) in [(Edit::counted(5..7, 2, vec![8]), 3..11), (Edit::cut(0..2), 1..11)] {
            let after = edit.apply_with(&bytes, std::slice::from_ref(&sum));
            assert_eq!(sums(&after), [sum.moved(over)]);
        }
        let behind = Edit::cut(18..20).apply_with(&bytes, std::slice::from_ref(&sum));
        assert_eq!(sums(&behind), std::slice::from_ref(&sum));
        // What is cut into is left alone.
        assert_eq!(Edit::cut(12..14).sums(std::slice::from_ref(&sum)), []);
    }
}
