//! The part of all inputs that a condition keeps, and what that part reveals.
//!
//! Where it is known exactly it is kept as a rational number, a count over a power of two, so that
//! products and unions of exact fractions are exact. Otherwise only a bound in bits is left. A
//! fraction never forgets which of the two it is.

use num_bigint::BigUint;

use crate::bits::Bits;
use crate::rounding::{log2_ratio, up};

/// The part `α` of all inputs of one length that are kept.
#[derive(Clone, PartialEq, Debug)]
pub enum Fraction {
    /// `count / 2^size`.
    Exact {
        /// How many inputs are kept.
        count: BigUint,
        /// `log2` of how many inputs there are: eight times the bytes in question.
        size: u64,
    },
    /// At least `2^-loss`.
    AtLeast {
        /// The bits that are revealed at most.
        loss: f64,
    },
    /// About `2^-loss`, as sampling found.
    Estimate {
        /// The bits that are probably revealed.
        loss: f64,
        /// The bits that are revealed at most, with the confidence below.
        at_most: f64,
        /// The probability, over the samples, that `at_most` holds.
        confidence: f64,
    },
}

impl Fraction {
    /// Everything is kept.
    pub fn whole() -> Fraction {
        Fraction::exact(BigUint::from(1u32), 0)
    }

    /// Nothing is kept.
    pub fn empty() -> Fraction {
        Fraction::exact(BigUint::ZERO, 0)
    }

    /// `count` out of `2^size` inputs.
    pub fn exact(count: BigUint, size: u64) -> Fraction {
        Fraction::Exact { count, size }
    }

    /// The leak: `-log2 α`.
    pub fn bits(&self) -> Bits {
        match self {
            Fraction::Exact { count, size } => {
                Bits::Exact(log2_ratio(&(BigUint::from(1u32) << *size), count))
            }
            Fraction::AtLeast { loss } => Bits::AtMost(*loss),
            &Fraction::Estimate { loss, at_most, confidence } => {
                Bits::Estimate { value: loss, at_most, confidence }
            }
        }
    }

    /// A fraction of which only a figure is known. An exact figure, being rounded, becomes a bound.
    fn rough(bits: Bits) -> Fraction {
        match bits {
            Bits::Exact(loss) => Fraction::AtLeast { loss: up(loss) },
            Bits::AtMost(loss) => Fraction::AtLeast { loss },
            Bits::Estimate { value, at_most, confidence } => {
                Fraction::Estimate { loss: value, at_most, confidence }
            }
        }
    }

    /// The inputs that are kept by both of two conditions over different bytes.
    #[must_use]
    pub fn and_independent(&self, other: &Fraction) -> Fraction {
        match (self, other) {
            (Fraction::Exact { count: a, size: s }, Fraction::Exact { count: b, size: t }) => {
                Fraction::exact(a * b, s + t)
            }
            _ => Fraction::rough(self.bits() + other.bits()),
        }
    }

    /// The inputs that one of several conditions keeps, no two of which keep the same input (the
    /// paths of a program, say): `α` is the sum.
    ///
    /// The union of exact fractions is exact. If there are others, it is a bound, or an estimate
    /// if an estimate is among them.
    pub fn disjoint_union<'a>(parts: impl IntoIterator<Item = &'a Fraction>) -> Fraction {
        let (mut count, mut size) = (BigUint::ZERO, 0);
        let mut others: Vec<Bits> = Vec::new();
        for part in parts {
            match part {
                Fraction::Exact { count: more, size: wide } => {
                    if *wide > size {
                        count <<= wide - size;
                        size = *wide;
                    }
                    count += more << (size - wide);
                }
                Fraction::AtLeast { .. } | Fraction::Estimate { .. } => others.push(part.bits()),
            }
        }
        let exact = Fraction::exact(count, size);
        if others.is_empty() {
            return exact;
        }
        others.push(exact.bits());
        let loss = sum(others.iter().map(|bits| bits.value()));
        let at_most = up(sum(others.iter().map(|bits| bits.upper())));
        let doubts = others.iter().filter_map(|bits| match bits {
            Bits::Estimate { confidence, .. } => Some(1.0 - confidence),
            Bits::Exact(_) | Bits::AtMost(_) => None,
        });
        if doubts.clone().next().is_none() {
            return Fraction::AtLeast { loss: at_most };
        }
        Fraction::Estimate { loss, at_most, confidence: (1.0 - doubts.sum::<f64>()).max(0.0) }
    }
}

/// `-log2` of the sum of `2^-loss`; at least zero, infinite if there is nothing to add.
fn sum(losses: impl Iterator<Item = f64> + Clone) -> f64 {
    let least = losses.clone().fold(f64::INFINITY, f64::min);
    if least == f64::INFINITY {
        return least;
    }
    let relative: f64 = losses.map(|loss| (least - loss).exp2()).sum();
    (least - relative.log2()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(count: u32, size: u64) -> Fraction {
        Fraction::exact(BigUint::from(count), size)
    }

    #[test]
    fn unions_of_exact_fractions_are_exact() {
        let union = Fraction::disjoint_union(&[exact(1, 8), exact(3, 2), exact(1, 16)]);
        assert_eq!(union, exact(256 + 3 * 16384 + 1, 16));
        assert!(union.bits().is_exact());
        let all = Fraction::disjoint_union(&[exact(1, 1), exact(1, 1)]);
        assert_eq!(all.bits(), Bits::Exact(0.0));
        assert_eq!(Fraction::disjoint_union([]).bits(), Bits::Exact(f64::INFINITY));
        assert_eq!(Fraction::empty().bits(), Bits::Exact(f64::INFINITY));
    }

    #[test]
    fn products_of_exact_fractions_are_exact() {
        let product = exact(254, 8).and_independent(&exact(1, 8));
        assert_eq!(product, exact(254, 16));
        assert_eq!(product.and_independent(&Fraction::whole()), product);
    }

    #[test]
    fn kinds_are_passed_on() {
        let (known, bound) = (exact(1, 8), Fraction::AtLeast { loss: 8.0 });
        let guess = Fraction::Estimate { loss: 8.0, at_most: 9.0, confidence: 0.99 };
        match Fraction::disjoint_union([&known, &bound]).bits() {
            Bits::AtMost(bits) => assert!((7.0..7.000_001).contains(&bits)),
            other => panic!("a bound, not {other}"),
        }
        match Fraction::disjoint_union([&known, &bound, &guess]).bits() {
            Bits::Estimate { value, at_most, confidence } => {
                assert!((value - (256.0f64 / 3.0).log2()).abs() < 1e-9);
                assert!((at_most - (512.0f64 / 5.0).log2()).abs() < 1e-9);
                assert_eq!(confidence, 0.99);
            }
            other => panic!("an estimate, not {other}"),
        }
        assert!(matches!(known.and_independent(&bound).bits(), Bits::AtMost(16.0)));
        assert!(matches!(bound.and_independent(&guess).bits(), Bits::Estimate { .. }));
    }

    #[test]
    fn nothing_underflows() {
        let tiny = Fraction::AtLeast { loss: 5000.0 };
        let union = Fraction::disjoint_union([&tiny, &tiny]);
        assert!((union.bits().value() - 4999.0).abs() < 1e-6);
    }
}
