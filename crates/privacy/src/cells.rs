//! Level 1: is a double of a double drawn from the same set?
//!
//! If it always is, the sets partition the inputs that fail: whoever sees a double knows the
//! set and nothing else, and the figure holds for the single report, not just on average. It needs
//! no list of inputs. (The double is drawn uniformly from the set, so this is a random input of the
//! claimed set, and at the same time the question whether anonymising twice is anonymising once.)

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_search::Share;

use crate::anonymiser::{Algorithm, Problem, report};
use crate::programs::Program;

/// How often the set of a double is that of its original: so many tries, on originals from a list.
///
/// # Errors
/// An original has no double.
pub fn same_again(
    algorithm: Algorithm,
    program: &'static Program,
    originals: &[Vec<u8>],
    tries: u32,
) -> Result<Share, Problem> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut results = Vec::new();
    for _ in 0..tries {
        let own = &originals[rng.gen_range(0..originals.len())];
        let first = report(algorithm, program, own, rng.r#gen())?;
        let second = report(algorithm, program, &first.double, rng.r#gen())?;
        results.push(first.set == second.set);
    }
    let mut share = Share::default();
    share.add(&results);
    Ok(share)
}
