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

    /// Adds a value.
    pub fn insert(&mut self, value: u8) {
        self.0[usize::from(value >> 6)] |= 1 << (value & 63);
    }

    /// Whether the value is in the set.
    pub fn contains(&self, value: u8) -> bool {
        self.0[usize::from(value >> 6)] >> (value & 63) & 1 == 1
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
