//! Level 2: two originals of one set, and an attacker who has to say which of them a double is of.
//!
//! The attacker knows both originals and the algorithm, has seen many doubles of each, and takes the
//! original that made a double like this one more often. Where the set depends on the path alone, and
//! the double on the set alone, nothing beats a coin.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;
use stunt_search::Share;

use crate::anonymiser::{Algorithm, Problem, report};
use crate::programs::Program;

/// Plays so many rounds after so many lessons; the share that the attacker wins.
///
/// # Errors
/// An original has no double.
pub fn play(
    algorithm: Algorithm,
    program: &'static Program,
    originals: [&[u8]; 2],
    lessons: u64,
    rounds: u64,
) -> Result<Share, Problem> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut seen: [FxHashMap<Vec<u8>, u64>; 2] = Default::default();
    let mut alike: [FxHashMap<(usize, usize), u64>; 2] = Default::default();
    // At how many bytes a double is the same as either original.
    let likeness = |double: &[u8]| {
        let same = |own: &[u8]| double.iter().zip(own).filter(|(a, b)| a == b).count();
        (same(originals[0]), same(originals[1]))
    };
    for _ in 0..lessons {
        for which in 0..2 {
            let double = report(algorithm, program, originals[which], rng.r#gen())?.double;
            *alike[which].entry(likeness(&double)).or_default() += 1;
            *seen[which].entry(double).or_default() += 1;
        }
    }
    let mut results = Vec::new();
    for _ in 0..rounds {
        let which = rng.gen_range(0..2usize);
        let double = report(algorithm, program, originals[which], rng.r#gen())?.double;
        let same = likeness(&double);
        let count = |at: usize| {
            let exactly = seen[at].get(&double).copied().unwrap_or(0);
            (exactly, alike[at].get(&same).copied().unwrap_or(0))
        };
        // Doubles that were seen often enough speak for themselves; else what they have in common.
        let (zero, one) = (count(0), count(1));
        let (zero, one) = if zero.0 + one.0 >= 4 { (zero.0, one.0) } else { (zero.1, one.1) };
        let guess = match zero.cmp(&one) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => rng.gen_range(0..2),
        };
        results.push(guess == which);
    }
    let mut share = Share::default();
    share.add(&results);
    Ok(share)
}

/// A game in which the attacker has a dictionary of originals.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// How often the attacker named the original.
    pub won: Share,
    /// How often the figure allows it: nobody's chance grows by more than a factor of two for each bit.
    pub allowed: f64,
}

/// An attacker who knows that the original is one of these names the one that has most in common with the double:
/// most bytes at their places, and of these the longest words.
///
/// # Errors
/// An original has no double.
pub fn name_it(
    algorithm: Algorithm,
    program: &'static Program,
    originals: &[Vec<u8>],
    rounds: u64,
) -> Result<Named, Problem> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut results, mut most) = (Vec::new(), 0.0f64);
    for _ in 0..rounds {
        let which = rng.gen_range(0..originals.len());
        let made = report(algorithm, program, &originals[which], rng.r#gen())?;
        most = most.max(made.tells.upper());
        let alike = |own: &Vec<u8>| {
            let (mut same, mut run, mut longest) = (0, 0, 0);
            for (a, b) in own.iter().zip(&made.double) {
                run = if a == b { run + 1 } else { 0 };
                longest = longest.max(run);
                same += usize::from(a == b);
            }
            (same, longest)
        };
        let best = originals.iter().map(alike).max().unwrap_or_default();
        let tied: Vec<usize> =
            (0..originals.len()).filter(|&at| alike(&originals[at]) == best).collect();
        results.push(tied[rng.gen_range(0..tied.len())] == which);
    }
    let mut won = Share::default();
    won.add(&results);
    Ok(Named { won, allowed: (most.exp2() / originals.len() as f64).min(1.0) })
}
