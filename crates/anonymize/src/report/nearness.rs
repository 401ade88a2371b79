//! Whether a double is one, or the original by another name.
//!
//! A double that tells nearly all of the original hides nothing, whatever it is called. Two figures say so:
//! the share that it reveals, and the share of its bytes that are the original's, where those are more than
//! chance gives. The user says how much is too much; what is too much is not handed out.

use stunt_path::Original;

use super::remains::too_much_remains;
use super::revealed;
use crate::crash::Crash;
use crate::refusal::Refusal;
use crate::search::Found;
use crate::target::Target;

/// The most that a double may tell, in percent of the original, if nothing is said.
pub const USUAL_SHARE: u8 = 90;

/// The most that a double may tell, in percent, if the user has cut the search short and nothing is said.
pub const USUAL_SHARE_CUT: u8 = 33;

/// What happens less often than once in two to the power of this is no chance.
const CHANCE: f64 = 20.0;

/// Why a double is too near to the original, if it is.
pub(crate) fn too_near(crash: &Crash<'_>, found: &Found) -> Option<Refusal> {
    let most = crash.job.options.max_share;
    let hidden = crash.original().hidden_len();
    if hidden == 0 || most >= 100 {
        return None;
    }
    let (revealed, share) = (revealed(crash, found), share(crash, found));
    if share > f64::from(most) {
        let is_original = found.drawn.double.bytes == crash.original().reveal();
        return Some(if is_original {
            Refusal::IsOriginal
        } else {
            Refusal::TellsTooMuch { share, most }
        });
    }
    if let Some(refusal) = too_much_remains(crash, found) {
        return Some(refusal);
    }
    let residue = residue(crash.original(), found);
    let same = (residue / 100.0 * hidden as f64).round();
    let chance = ways(hidden, same) + revealed.value() - 8.0 * same;
    let too_alike = residue > f64::from(most) && chance < -CHANCE;
    too_alike.then_some(Refusal::TooAlike { residue, most })
}

/// Why the double that a search had when the user cut it short is not worth having, if it is not.
pub(crate) fn not_worth_it(crash: &Crash<'_>, found: &Found) -> Option<Refusal> {
    let (share, most) = (share(crash, found), crash.job.options.max_share_cut);
    (share > f64::from(most)).then_some(Refusal::CutShort { share, most })
}

/// What a double tells of the original, in percent.
fn share(crash: &Crash<'_>, found: &Found) -> f64 {
    match crash.original().hidden_len() {
        0 => 0.0,
        hidden => 100.0 * (revealed(crash, found).upper() / (8.0 * hidden as f64)).min(1.0),
    }
}

/// The share of the original's bytes that a double has, in percent.
pub(super) fn residue(original: &Original, found: &Found) -> f64 {
    if !found.is_shorter {
        return original.residue(&found.drawn.double.bytes);
    }
    // Byte by byte with what the double was made from, which is a part of the original.
    let part = found.base.hidden_len() as f64 / original.hidden_len() as f64;
    found.base.residue(&found.drawn.double.bytes) * part
}

/// How many ways there are to choose some of all, as a power of two. Of all inputs that a figure of `b`
/// bits leaves, at most this many times 2 to the `b - 8 * some` have so many bytes of the original: the
/// others are free, and there are 2 to the `8 * all - b` inputs.
fn ways(all: usize, some: f64) -> f64 {
    let all = all as f64;
    factorial(all) - factorial(some) - factorial(all - some)
}

/// The logarithm of a factorial: factor by factor, and by Stirling's series where that is exact to the last digits.
fn factorial(number: f64) -> f64 {
    if number < 1000.0 {
        return (1..=number as usize).map(|factor| (factor as f64).log2()).sum();
    }
    let root = 0.5 * (std::f64::consts::TAU * number).ln();
    (number * number.ln() - number + root + 1.0 / (12.0 * number)) / std::f64::consts::LN_2
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
        let summed: f64 = (1..=5000).map(|factor| f64::from(factor).log2()).sum();
        assert!((factorial(5000.0) - summed).abs() < 1e-6);
    }
}
