//! Which values a byte may have.

/// A set of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Values([u64; 4]);

impl Values {
    /// No value.
    pub const NONE: Values = Values([0; 4]);
    /// All 256.
    pub const ALL: Values = Values([u64::MAX; 4]);

    /// One value.
    #[must_use]
    pub fn one(value: u8) -> Values {
        Values::NONE.with(value)
    }

    /// The values for which something holds.
    #[must_use]
    pub fn filter(holds: impl Fn(u8) -> bool) -> Values {
        (0..=255u8).filter(|&value| holds(value)).fold(Values::NONE, Values::with)
    }

    /// From the first to the last; none if they are in the wrong order.
    #[must_use]
    pub fn range(first: u8, last: u8) -> Values {
        Values::filter(|value| (first..=last).contains(&value))
    }

    /// With a value more.
    #[must_use]
    pub fn with(mut self, value: u8) -> Values {
        self.0[usize::from(value >> 6)] |= 1 << (value & 63);
        self
    }

    /// Whether a value is in it.
    #[must_use]
    pub fn contains(self, value: u8) -> bool {
        self.0[usize::from(value >> 6)] >> (value & 63) & 1 == 1
    }

    /// How many there are.
    #[must_use]
    pub fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Values::NONE
    }

    /// All values in order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..=255u8).filter(move |&value| self.contains(value))
    }

    /// The only value, if there is one.
    #[must_use]
    pub fn single(self) -> Option<u8> {
        if self.len() == 1 { self.iter().next() } else { None }
    }

    /// Whether all of these are in another set.
    #[must_use]
    pub fn is_in(self, other: Values) -> bool {
        self.0.iter().zip(other.0).all(|(mine, theirs)| mine & !theirs == 0)
    }

    /// These and those of another set.
    #[must_use]
    pub fn union(self, other: Values) -> Values {
        Values(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// All others.
    #[must_use]
    pub fn complement(self) -> Values {
        Values(self.0.map(|word| !word))
    }

    /// The letter, if these are one letter in either case.
    #[must_use]
    pub fn either_case(self) -> Option<u8> {
        let lower = self.iter().find(u8::is_ascii_lowercase)?;
        (self == Values::one(lower).with(lower.to_ascii_uppercase())).then_some(lower)
    }
}

/// How many there are, and not which: they may be private.
impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} values", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        let digits = Values::range(b'0', b'9');
        assert_eq!(digits.len(), 10);
        assert!(digits.is_in(Values::ALL) && !Values::ALL.is_in(digits));
        assert_eq!(digits.complement().len(), 246);
        assert_eq!(Values::one(255).single(), Some(255));
        assert_eq!(Values::one(b'a').with(b'A').either_case(), Some(b'a'));
        assert_eq!(digits.either_case(), None);
        assert_eq!(digits.union(Values::one(b'a')).len(), 11);
        assert_eq!(Values::range(3, 1), Values::NONE);
    }
}
