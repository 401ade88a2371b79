//! Level 5: secrets planted in fields that the failure does not need.
//!
//! A byte that is free is the original's once in 256 doubles, by chance. More often, and the original
//! shines through. Less often, and the double avoids it, which tells what the original is not.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_search::Share;

use crate::anonymiser::{Algorithm, Problem, report};
use crate::programs::{FREE, Program};

/// How often a free byte of a double is the original's: so many doubles, each of an original with a
/// new secret.
///
/// # Errors
/// An original has no double.
pub fn kept(
    algorithm: Algorithm,
    program: &'static Program,
    failing: &[u8],
    doubles: u32,
) -> Result<Share, Problem> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut share = Share::default();
    for _ in 0..doubles {
        let mut own = failing.to_vec();
        rng.fill(&mut own[FREE]);
        let double = report(algorithm, program, &own, rng.r#gen())?.double;
        let same: Vec<bool> = FREE.map(|at| own[at] == double[at]).collect();
        share.add(&same);
    }
    Ok(share)
}

/// The share that chance gives.
pub const CHANCE: f64 = 1.0 / 256.0;
