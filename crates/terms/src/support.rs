//! Which input bytes a term depends on, as a sorted list of ranges.
//!
//! A checksum over a long message depends on one range, not on a million bytes, so the set of a
//! term that grows byte by byte stays small. Ranges never touch or overlap, and never cross a
//! source. Over-approximation is allowed (`x & 0` is a constant and has no support, but a subtler
//! cancellation may keep its bytes); leaving out a byte that matters is not.

use crate::term::InputByte;

/// A run of bytes of one source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Run {
    /// The source.
    pub source: u16,
    /// The first offset.
    pub start: u32,
    /// One past the last offset.
    pub end: u32,
}

/// A set of input bytes.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Support {
    runs: Box<[Run]>,
}

impl Support {
    /// The set of that one byte.
    pub fn of(byte: InputByte) -> Support {
        let run = Run { source: byte.source, start: byte.offset, end: byte.offset + 1 };
        Support { runs: Box::new([run]) }
    }

    /// The runs, in order.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Whether no byte is in the set.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many bytes are in the set.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|run| (run.end - run.start) as usize).sum()
    }

    /// The byte, if it is just one.
    pub fn single(&self) -> Option<InputByte> {
        match *self.runs {
            [run] if run.end - run.start == 1 => Some(InputByte::new(run.source, run.start)),
            _ => None,
        }
    }

    /// The bytes, in order of source and offset.
    pub fn iter(&self) -> impl Iterator<Item = InputByte> + '_ {
        self.runs
            .iter()
            .flat_map(|run| (run.start..run.end).map(|offset| InputByte::new(run.source, offset)))
    }

    /// Whether `byte` is in the set.
    pub fn contains(&self, byte: InputByte) -> bool {
        let after =
            self.runs.partition_point(|run| (run.source, run.start) <= (byte.source, byte.offset));
        after > 0 && {
            let run = self.runs[after - 1];
            run.source == byte.source && byte.offset < run.end
        }
    }

    /// Whether the two sets share a byte.
    pub fn intersects(&self, other: &Support) -> bool {
        let (mut i, mut j) = (0, 0);
        while i < self.runs.len() && j < other.runs.len() {
            let (a, b) = (self.runs[i], other.runs[j]);
            if (a.source, a.end) <= (b.source, b.start) {
                i += 1;
            } else if (b.source, b.end) <= (a.source, a.start) {
                j += 1;
            } else {
                return true;
            }
        }
        false
    }

    /// The bytes of either set.
    pub fn union(&self, other: &Support) -> Support {
        let mut runs: Vec<Run> = Vec::with_capacity(self.runs.len() + other.runs.len());
        let (mut left, mut right) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        loop {
            let from_left = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(a), Some(b)) => a <= b,
                (a, _) => a.is_some(),
            };
            let run = *if from_left { left.next() } else { right.next() }.expect("peeked");
            match runs.last_mut() {
                Some(last) if last.source == run.source && run.start <= last.end => {
                    last.end = last.end.max(run.end);
                }
                _ => runs.push(run),
            }
        }
        Support { runs: runs.into() }
    }
}

impl FromIterator<InputByte> for Support {
    fn from_iter<I: IntoIterator<Item = InputByte>>(bytes: I) -> Support {
        let mut bytes: Vec<InputByte> = bytes.into_iter().collect();
        bytes.sort_unstable();
        let mut runs: Vec<Run> = Vec::new();
        for byte in bytes {
            match runs.last_mut() {
                Some(last) if last.source == byte.source && byte.offset <= last.end => {
                    last.end = last.end.max(byte.offset + 1);
                }
                _ => {
                    let (source, start) = (byte.source, byte.offset);
                    runs.push(Run { source, start, end: start + 1 });
                }
            }
        }
        Support { runs: runs.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn set(bytes: &[(u16, u32)]) -> Support {
        bytes.iter().map(|&(source, offset)| InputByte::new(source, offset)).collect()
    }

    #[test]
    fn agrees_with_plain_sets() {
        // Every pair of subsets of a few bytes over two sources, adjacent and apart.
        let universe = [(0, 0), (0, 1), (0, 3), (1, 0), (1, 4)];
        let subsets: Vec<Vec<(u16, u32)>> = (0..1 << universe.len())
            .map(|bits: u32| {
                (0..universe.len()).filter(|i| bits >> i & 1 == 1).map(|i| universe[i]).collect()
            })
            .collect();
        for a in &subsets {
            for b in &subsets {
                let (x, y) = (set(a), set(b));
                let plain: BTreeSet<(u16, u32)> = a.iter().chain(b).copied().collect();
                let union = x.union(&y);
                assert_eq!(
                    union.iter().map(|v| (v.source, v.offset)).collect::<BTreeSet<_>>(),
                    plain
                );
                assert_eq!(union, plain.iter().map(|&(s, o)| InputByte::new(s, o)).collect());
                assert_eq!(union.len(), plain.len());
                assert_eq!(x.intersects(&y), a.iter().any(|v| b.contains(v)));
                for &(s, o) in &universe {
                    assert_eq!(x.contains(InputByte::new(s, o)), a.contains(&(s, o)));
                }
            }
        }
    }

    #[test]
    fn a_growing_checksum_stays_one_run() {
        let mut sum = Support::default();
        for offset in 0..1000 {
            sum = sum.union(&Support::of(InputByte::new(0, offset)));
        }
        assert_eq!((sum.runs().len(), sum.len()), (1, 1000));
    }
}
