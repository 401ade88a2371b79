//! A leak figure as a report holds it: bits, of how many, and of which kind.
//!
//! Always: rounding never turns something into nothing, nor a bound into less than the truth.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Below this, in bits, nothing is revealed: it is the rounding of the arithmetic.
pub(crate) const NOTHING: f64 = 1e-9;

/// How a figure is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// That many bits.
    Exact,
    /// That many bits or fewer: a sound bound.
    AtMost,
    /// About that many bits, from samples of real runs.
    Estimate,
}

impl Kind {
    /// The word that is printed before the figure.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Exact => "exactly",
            Kind::AtMost => "at most",
            Kind::Estimate => "about",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How much is revealed of an input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Leak {
    /// The bits that are revealed.
    pub bits: f64,
    /// How many bits the input has; public bytes do not count.
    pub of: u64,
    /// `bits` in percent of `of`.
    pub percent: f64,
    /// How the figure is meant.
    pub kind: Kind,
    /// The figure as people read it, with its kind: `exactly 32.24 bits`. An estimate says its
    /// confidence here.
    pub words: String,
}

impl Leak {
    /// A figure of `bits` bits out of `of`. `words` is how the figure prints itself.
    pub fn new(bits: f64, of: u64, kind: Kind, words: impl Into<String>) -> Leak {
        let percent = if of == 0 { 0.0 } else { bits * 100.0 / of as f64 };
        Leak { bits, of, percent, kind, words: words.into() }.tidied()
    }

    /// The figure with what it is of: `exactly 32.24 bits of 200 (16.12 %)`.
    pub fn sentence(&self) -> String {
        let percent = rounded(self.percent, self.kind, 100.0);
        format!("{} of {} ({percent:.2} %)", self.words, self.of)
    }

    /// The figure to six digits after the point, a bound upwards, as it is written.
    pub fn tidied(&self) -> Leak {
        let mut leak = self.clone();
        leak.bits = rounded(self.bits, self.kind, 1e6);
        leak.percent = rounded(self.percent, self.kind, 1e6);
        leak
    }
}

/// Rounded to `1 / unit`: a bound upwards, anything else to the nearest. Never a negative zero,
/// and never nothing where something was.
pub(crate) fn rounded(value: f64, kind: Kind, unit: f64) -> f64 {
    if value <= NOTHING {
        return 0.0;
    }
    let nearest = (value * unit).round();
    // What lies above a step by less than a millionth of it is rounding of the arithmetic. A value
    // that is rounded already stays as it is.
    let steps = match kind {
        Kind::AtMost if nearest / unit != value => (value * unit - 1e-6).ceil(),
        Kind::Exact | Kind::AtMost | Kind::Estimate => nearest,
    };
    // From 2^53 on there are no fractions left to round.
    if steps >= 9e15 { value } else { steps.max(1.0) / unit }
}

/// The figure of one byte in hundredths: as [`rounded`], and eight bits only where it is eight.
pub(crate) fn of_a_byte(value: f64, kind: Kind) -> f64 {
    let shown = rounded(value, kind, 100.0).min(8.0);
    let all = value >= 8.0 - NOTHING;
    if shown >= 8.0 && !all && kind != Kind::AtMost { 7.99 } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_something_and_keeps_bounds() {
        assert_eq!(rounded(32.237_600_1, Kind::Exact, 100.0), 32.24);
        assert_eq!(rounded(20.001, Kind::AtMost, 100.0), 20.01);
        assert_eq!(rounded(20.000_000_000_01, Kind::AtMost, 100.0), 20.0);
        assert_eq!(rounded(0.000_7, Kind::Exact, 100.0), 0.01);
        assert_eq!(rounded(-0.0, Kind::Exact, 100.0), 0.0);
        assert_eq!(rounded(1e-12, Kind::AtMost, 100.0), 0.0);
        assert!(rounded(-1e-17, Kind::Exact, 100.0).is_sign_positive());
        assert_eq!(of_a_byte(7.999, Kind::Exact), 7.99);
        assert_eq!(of_a_byte(7.999, Kind::AtMost), 8.0);
        assert_eq!(of_a_byte(8.0, Kind::Exact), 8.0);
        assert_eq!(of_a_byte(9.5, Kind::AtMost), 8.0);
    }

    #[test]
    fn a_second_rounding_changes_nothing() {
        for kind in [Kind::Exact, Kind::AtMost, Kind::Estimate] {
            for step in 0..100_000 {
                let once = rounded(f64::from(step) * 0.003_337, kind, 100.0);
                assert_eq!(rounded(once, kind, 100.0), once, "{kind} {once}");
                let once = rounded(f64::from(step) * 7.003_337, kind, 1e6);
                assert_eq!(rounded(once, kind, 1e6), once, "{kind} {once}");
            }
        }
    }

    #[test]
    fn percent_is_of_the_bits_that_count() {
        let leak = Leak::new(32.0, 3520, Kind::Exact, "exactly 32.00 bits");
        assert_eq!(leak.percent, 0.909_091);
        assert_eq!(leak.sentence(), "exactly 32.00 bits of 3520 (0.91 %)");
        let bound = Leak::new(32.0, 3520, Kind::AtMost, "at most 32.00 bits");
        assert_eq!(bound.sentence(), "at most 32.00 bits of 3520 (0.91 %)");
        let bound = Leak::new(31.7, 3520, Kind::AtMost, "at most 31.70 bits");
        assert_eq!(bound.sentence(), "at most 31.70 bits of 3520 (0.91 %)", "upwards");
        assert_eq!(Leak::new(0.0, 0, Kind::Exact, "exactly 0.00 bits").percent, 0.0);
    }
}
