//! A set of byte values, as 256 bits.

use std::fmt;

/// A set of byte values.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// All 256 values.
    pub const ALL: ByteSet = ByteSet([u64::MAX; 4]);
    /// No value.
    pub const NONE: ByteSet = ByteSet([0; 4]);

    /// The values for which `test` holds.
    pub fn filter(mut test: impl FnMut(u8) -> bool) -> ByteSet {
        let mut set = ByteSet::NONE;
        for value in 0..=255 {
            if test(value) {
                set.insert(value);
            }
        }
        set
    }

    /// The values from `first` upwards to `last`, both included; past 255 it goes on at 0.
    pub fn range(first: u8, last: u8) -> ByteSet {
        if first > last {
            // What is left out is a range that does not wrap, or nothing.
            return match first - last {
                1 => ByteSet::ALL,
                _ => ByteSet::range(last + 1, first - 1).complement(),
            };
        }
        ByteSet(std::array::from_fn(|i| {
            let base = i as u32 * 64;
            let (low, high) = (u32::from(first).max(base), u32::from(last).min(base + 63));
            if low > high { 0 } else { u64::MAX >> (63 - (high - low)) << (low - base) }
        }))
    }

    /// Adds a value.
    pub fn insert(&mut self, value: u8) {
        self.0[usize::from(value >> 6)] |= 1 << (value & 63);
    }

    /// Whether the value is in the set.
    pub fn contains(&self, value: u8) -> bool {
        self.0[usize::from(value >> 6)] >> (value & 63) & 1 == 1
    }

    /// What is in one of both.
    #[must_use]
    pub fn union(&self, other: &ByteSet) -> ByteSet {
        self.complement().intersect(&other.complement()).complement()
    }

    /// The values in both sets.
    #[must_use]
    pub fn intersect(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// The values that are not in the set.
    #[must_use]
    pub fn complement(&self) -> ByteSet {
        ByteSet(self.0.map(|word| !word))
    }

    /// How many values are in the set, 0 to 256.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether no value is in the set.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=255).filter(|&value| self.contains(value))
    }

    /// The value of rank `rank` in order, if there are so many.
    pub fn nth(&self, rank: u32) -> Option<u8> {
        let mut rank = rank;
        for (i, &word) in self.0.iter().enumerate() {
            let here = word.count_ones();
            if rank < here {
                let mut word = word;
                for _ in 0..rank {
                    word &= word - 1;
                }
                return Some((i as u32 * 64 + word.trailing_zeros()) as u8);
            }
            rank -= here;
        }
        None
    }

    /// The four words, values 0 to 63 first.
    pub fn words(&self) -> [u64; 4] {
        self.0
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ByteSet({} values)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_go_round() {
        for first in (0..=255).step_by(5) {
            for last in 0..=255u8 {
                let inside = |v: u8| v.wrapping_sub(first) <= last.wrapping_sub(first);
                assert_eq!(ByteSet::range(first, last), ByteSet::filter(inside));
            }
        }
    }

    #[test]
    fn agrees_with_a_plain_list() {
        let sets = [
            ByteSet::ALL,
            ByteSet::NONE,
            ByteSet::filter(|v| v % 7 == 3),
            ByteSet::filter(|v| v == 255),
        ];
        for a in sets {
            let plain: Vec<u8> = (0..=255).filter(|&v| a.contains(v)).collect();
            assert_eq!(a.iter().collect::<Vec<_>>(), plain);
            assert_eq!(a.len() as usize, plain.len());
            for rank in 0..257 {
                assert_eq!(a.nth(rank), plain.get(rank as usize).copied());
            }
            assert!(a.complement().intersect(&a).is_empty());
            assert_eq!(a.complement().len() + a.len(), 256);
        }
    }
}
