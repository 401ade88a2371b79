//! How long a code word is: whole numbers of a small unit, so that sums are exact.
//!
//! What always holds: a choice that has the part `w` of `of` costs at least `log2(of / w)`. So the powers
//! `2^-cost` of all code words sum up to no more than 1, whatever `f64` rounds.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// A length, in parts of a bit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Cost(u64);

/// So many units are a bit.
const UNIT: f64 = (1u64 << 20) as f64;

impl Cost {
    /// Nothing.
    pub const ZERO: Cost = Cost(0);
    /// More than anything costs.
    pub const NEVER: Cost = Cost(u64::MAX / 4);

    /// Whole bits.
    #[must_use]
    pub const fn whole(bits: u64) -> Cost {
        Cost(bits << 20)
    }

    /// What it costs to name a part of that many parts: `log2(of / part)`, rounded up.
    ///
    /// The quotient and its logarithm are off by less than 2^-40 together, which is a millionth of the unit; one
    /// unit is added on top of rounding up.
    #[must_use]
    pub fn of(of: u64, part: u64) -> Cost {
        if part == 0 || of < part {
            return Cost::NEVER;
        }
        let whole = of / part;
        if of.is_multiple_of(part) && whole.is_power_of_two() {
            return Cost::whole(u64::from(whole.ilog2()));
        }
        Cost((((of as f64 / part as f64).log2() * UNIT).ceil() as u64) + 1)
    }

    /// Bits that were computed elsewhere, rounded up.
    #[must_use]
    pub fn of_bits(bits: f64) -> Cost {
        if bits.is_finite() { Cost((bits.max(0.0) * UNIT).ceil() as u64) } else { Cost::NEVER }
    }

    /// What was spent between two moments.
    #[must_use]
    pub fn difference(after: Cost, before: Cost) -> Cost {
        Cost(after.0.saturating_sub(before.0))
    }

    /// In bits. Exact: there are far fewer units than `f64` counts.
    #[must_use]
    pub fn bits(self) -> f64 {
        self.0 as f64 / UNIT
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(parts: I) -> Cost {
        parts.fold(Cost::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact_and_others_are_rounded_up() {
        assert_eq!(Cost::of(256, 1), Cost::whole(8));
        assert_eq!(Cost::of(48, 12), Cost::whole(2));
        assert_eq!(Cost::of(5, 5), Cost::ZERO);
        for of in 1..400u64 {
            let sum: f64 = (0..of).map(|_| (-Cost::of(of, 1).bits()).exp2()).sum();
            assert!(sum <= 1.0 && sum > 0.9999, "{of}: {sum}");
            for part in 1..=of {
                let (cost, exact) = (Cost::of(of, part).bits(), (of as f64 / part as f64).log2());
                assert!(cost >= exact && cost < exact + 3e-6, "{part} of {of}");
            }
        }
    }
}
