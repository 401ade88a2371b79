//! Whether a double is one, or the original by another name.
//!
//! A double that tells nearly all of the original hides nothing, whatever it is called. Two figures say so:
//! the share that it reveals, and the share of its bytes that are the original's, where those are more than
//! chance gives. The user says how much is too much; what is too much is not handed out.

use super::job::{Found, Job};

/// The most that a double may tell, in percent of the original, if nothing is said.
pub(super) const USUAL: u8 = 90;

/// What happens less often than once in two to the power of this is no chance.
const CHANCE: f64 = 20.0;

impl Job<'_> {
    /// Why a double is too near to the original, if it is.
    pub(super) fn too_near(&self, found: &Found) -> Option<String> {
        let most = f64::from(self.arguments.max_share);
        let hidden = self.subject.original.hidden().len();
        if hidden == 0 || most >= 100.0 {
            return None;
        }
        let revealed = self.revealed(found);
        let share = 100.0 * (revealed.upper() / (8.0 * hidden as f64)).min(1.0);
        let options = "Nothing is handed out; more --time may help, and --max-share allows more.";
        let is_original = found.drawn.double.bytes == self.subject.original.reveal();
        if is_original && share > most {
            return Some(format!(
                "the failure needs every bit of this input, as far as was found: a double would be the \
                 original itself. {options}"
            ));
        }
        if share > most {
            return Some(format!(
                "the double would tell {share:.1} % of the original, and above {most} % it is none. \
                 {options}"
            ));
        }
        let residue = self.residue(found);
        let same = (residue / 100.0 * hidden as f64).round();
        let chance = ways(hidden, same) + revealed.value() - 8.0 * same;
        (residue > most && chance < -CHANCE).then(|| {
            format!(
                "{residue:.1} % of the double's bytes are the original's, and above {most} % it is none. \
                 {options}"
            )
        })
    }

    /// The share of the original's bytes that a double has, in percent.
    pub(super) fn residue(&self, found: &Found) -> f64 {
        if !found.is_shorter {
            return self.subject.original.residue(&found.drawn.double.bytes);
        }
        // Byte by byte with what the double was made from, which is a part of the original.
        let base = self.base();
        let part = base.hidden().len() as f64 / self.subject.original.hidden().len() as f64;
        base.residue(&found.drawn.double.bytes) * part
    }
}

/// How many ways there are to choose some of all, as a power of two. Of all inputs that a figure of `b`
/// bits leaves, at most this many times 2 to the `b - 8 * some` have so many bytes of the original: the
/// others are free, and there are 2 to the `8 * all - b` inputs.
fn ways(all: usize, some: f64) -> f64 {
    let rest = all as f64 - some;
    let factors = (1..=all).map(|number| number as f64);
    // all! / (some! rest!), factor by factor.
    factors
        .map(|number| {
            let mut bits = number.log2();
            if number <= some {
                bits -= number.log2();
            }
            if number <= rest {
                bits -= number.log2();
            }
            bits
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_counted() {
        for (all, some, count) in [(4, 2.0, 6.0), (5, 0.0, 1.0), (5, 5.0, 1.0), (10, 3.0, 120.0f64)]
        {
            assert!((ways(all, some) - count.log2()).abs() < 1e-9, "{all} {some}");
        }
    }
}
