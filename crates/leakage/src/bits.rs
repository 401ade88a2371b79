//! A leak figure, and the words that a report prints with it.
//!
//! A figure is exact, a sound upper bound, or an estimate, and it never loses that word: sums
//! keep the weakest kind of their parts. This crate makes exact figures and bounds only; an
//! estimate comes from whoever sampled real runs.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// How much is revealed, in bits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bits {
    /// That many bits, up to the rounding of `f64`. Infinite if no input is left at all.
    Exact(f64),
    /// That many bits or fewer.
    AtMost(f64),
    /// About that many bits, from samples of real runs.
    Estimate {
        /// The best guess.
        value: f64,
        /// The truth is at most this, with the confidence below.
        at_most: f64,
        /// The probability, over the samples, that `at_most` holds; 0 to 1.
        confidence: f64,
    },
}

impl Bits {
    /// Nothing is revealed.
    pub const ZERO: Bits = Bits::Exact(0.0);

    /// The figure itself: the exact value, the bound, or the best guess.
    pub fn value(self) -> f64 {
        match self {
            Bits::Exact(value) | Bits::AtMost(value) | Bits::Estimate { value, .. } => value,
        }
    }

    /// The largest value that the figure admits; for an estimate, with its confidence.
    pub fn upper(self) -> f64 {
        match self {
            Bits::Exact(value) | Bits::AtMost(value) => value,
            Bits::Estimate { at_most, .. } => at_most,
        }
    }

    /// Whether the figure is exact.
    pub fn is_exact(self) -> bool {
        matches!(self, Bits::Exact(_))
    }

    /// The figure's kind in one word, for programs: `exact`, `at-most` or `estimate`.
    pub fn kind(self) -> &'static str {
        match self {
            Bits::Exact(_) => "exact",
            Bits::AtMost(_) => "at-most",
            Bits::Estimate { .. } => "estimate",
        }
    }

    /// The figure in percent of an input of `bytes` bytes; an empty input reveals nothing.
    pub fn percent_of(self, bytes: usize) -> f64 {
        if bytes == 0 { 0.0 } else { self.value() * 100.0 / (8.0 * bytes as f64) }
    }

    /// The same figure, less by so many bits, which are known to be there more.
    #[must_use]
    pub fn less(self, bits: f64) -> Bits {
        match self {
            Bits::Exact(value) => Bits::Exact(value - bits),
            Bits::AtMost(value) => Bits::AtMost(value - bits),
            Bits::Estimate { value, at_most, confidence } => {
                Bits::Estimate { value: value - bits, at_most: at_most - bits, confidence }
            }
        }
    }

    /// The same figure, but never above `limit`, which is known to hold by itself.
    #[must_use]
    pub fn capped(self, limit: f64) -> Bits {
        match self {
            Bits::Exact(value) => Bits::Exact(value),
            Bits::AtMost(value) => Bits::AtMost(value.min(limit)),
            Bits::Estimate { value, at_most, confidence } => {
                Bits::Estimate { value: value.min(limit), at_most: at_most.min(limit), confidence }
            }
        }
    }
}

/// The sum for independent parts: their leaks add up.
impl Add for Bits {
    type Output = Bits;

    fn add(self, other: Bits) -> Bits {
        let value = self.value() + other.value();
        match (self, other) {
            (Bits::Exact(_), Bits::Exact(_)) => Bits::Exact(value),
            (Bits::Exact(_) | Bits::AtMost(_), Bits::Exact(_) | Bits::AtMost(_)) => {
                Bits::AtMost(value)
            }
            _ => {
                // Both limits hold at once at least as often as neither confidence fails.
                let doubt = |bits: Bits| match bits {
                    Bits::Estimate { confidence, .. } => 1.0 - confidence,
                    Bits::Exact(_) | Bits::AtMost(_) => 0.0,
                };
                Bits::Estimate {
                    value,
                    at_most: self.upper() + other.upper(),
                    confidence: (1.0 - doubt(self) - doubt(other)).max(0.0),
                }
            }
        }
    }
}

impl Sum for Bits {
    fn sum<I: Iterator<Item = Bits>>(parts: I) -> Bits {
        parts.fold(Bits::ZERO, Add::add)
    }
}

/// Rounded to the nearest hundredth; never a negative zero.
fn nearest(value: f64) -> f64 {
    (value * 100.0).round() / 100.0 + 0.0
}

/// Rounded up to a hundredth, so that a bound stays one in print. What lies above a hundredth by
/// less than a hundred-millionth of a bit is rounding of the arithmetic and does not count.
fn upward(value: f64) -> f64 {
    (value * 100.0 - 1e-6).ceil() / 100.0 + 0.0
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Bits::Exact(f64::INFINITY) => write!(f, "everything: no input is left"),
            Bits::Exact(value) => write!(f, "exactly {:.2} bits", nearest(value)),
            Bits::AtMost(value) => write!(f, "at most {:.2} bits", upward(value)),
            Bits::Estimate { value, at_most, confidence } => write!(
                f,
                "about {:.2} bits ({} % confident of at most {:.2})",
                nearest(value),
                // Rounded down: 99.99 % must not become 100 %.
                (confidence * 1000.0 + 1e-6).floor() / 10.0,
                upward(at_most)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUESS: Bits = Bits::Estimate { value: 2.0, at_most: 3.0, confidence: 0.99 };

    #[test]
    fn prints_the_kind_in_words() {
        assert_eq!(Bits::Exact(32.2376).to_string(), "exactly 32.24 bits");
        assert_eq!(Bits::AtMost(20.001).to_string(), "at most 20.01 bits");
        assert_eq!(Bits::AtMost(20.000_000_000_01).to_string(), "at most 20.00 bits");
        assert_eq!(GUESS.to_string(), "about 2.00 bits (99 % confident of at most 3.00)");
        assert_eq!(Bits::Exact(f64::INFINITY).to_string(), "everything: no input is left");
        let sure = Bits::Estimate { value: 2.0, at_most: 3.0, confidence: 0.999_99 };
        assert_eq!(sure.to_string(), "about 2.00 bits (99.9 % confident of at most 3.00)");
    }

    #[test]
    fn never_prints_a_negative_zero() {
        for value in [0.0, -0.0, -1e-17, 1e-17, -0.001] {
            assert_eq!(Bits::Exact(value).to_string(), "exactly 0.00 bits");
            assert_eq!(Bits::AtMost(value).to_string(), "at most 0.00 bits");
            let guess = Bits::Estimate { value, at_most: value, confidence: 0.5 };
            assert_eq!(guess.to_string(), "about 0.00 bits (50 % confident of at most 0.00)");
        }
    }

    #[test]
    fn a_sum_has_the_weakest_kind() {
        assert_eq!(Bits::Exact(1.0) + Bits::Exact(2.0), Bits::Exact(3.0));
        assert_eq!(Bits::Exact(1.0) + Bits::AtMost(2.0), Bits::AtMost(3.0));
        assert_eq!(Bits::AtMost(1.0) + Bits::AtMost(2.0), Bits::AtMost(3.0));
        let sum = GUESS + Bits::AtMost(1.0);
        assert_eq!(sum, Bits::Estimate { value: 3.0, at_most: 4.0, confidence: 0.99 });
        match GUESS + GUESS {
            Bits::Estimate { value, at_most, confidence } => {
                assert_eq!((value, at_most), (4.0, 6.0));
                assert!((confidence - 0.98).abs() < 1e-12);
            }
            Bits::Exact(_) | Bits::AtMost(_) => panic!("estimates stay estimates"),
        }
        assert_eq!([].into_iter().sum::<Bits>(), Bits::ZERO);
    }

    #[test]
    fn percent_is_of_all_bits() {
        assert_eq!(Bits::Exact(20.0).percent_of(10), 25.0);
        assert_eq!(Bits::Exact(0.0).percent_of(0), 0.0);
    }

    #[test]
    fn a_cap_leaves_exact_figures_alone() {
        assert_eq!(Bits::AtMost(40.0).capped(8.0), Bits::AtMost(8.0));
        assert_eq!(Bits::Exact(7.0).capped(8.0), Bits::Exact(7.0));
    }
}
