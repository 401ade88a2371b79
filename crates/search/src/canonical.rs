//! Canonical doubles: randomness that comes from the failure and the path condition alone.
//!
//! Two originals that take the same path get the same double, and so does one original that is
//! reported twice: a second report adds nothing to the first. The price: such a double is a function
//! of the path. Who knows stunt can try paths and see which one gives it, so whatever is made with
//! this randomness may tell the path, and its figure must be the path's.
//!
//! What always holds: the terms, the tests and the randomness depend on the text of the condition,
//! the lengths of the sources and the signature of the failure, and on nothing else. So the terms are
//! built anew, from that text: the pool in which a run has left them may number them differently.

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use sha2::{Digest, Sha256};
use stunt_path::Test;
use stunt_terms::Pool;
use stunt_terms::smtlib::{ParseError, parse_script, print_script};

/// A path condition by itself, and the randomness that belongs to it.
pub struct Canonical {
    /// The terms of the tests.
    pub pool: Pool,
    /// The tests.
    pub tests: Vec<Test>,
    /// The randomness for everything that is made of them.
    pub rng: ChaCha20Rng,
}

/// The condition of a path of a failure with this signature, over sources of these lengths.
///
/// # Errors
/// The text of the condition cannot be read back: a mistake in stunt.
pub fn canonical(
    signature: &str,
    lengths: &[usize],
    pool: &Pool,
    tests: &[Test],
) -> Result<Canonical, ParseError> {
    let literals: Vec<_> = tests.iter().map(|test| test.condition).collect();
    let text = print_script(pool, &literals, false);
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        // Lengths keep neighbours apart.
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(b"stunt canonical double 1");
    part(signature.as_bytes());
    for &length in lengths {
        part(&(length as u64).to_le_bytes());
    }
    part(text.as_bytes());
    let rng = ChaCha20Rng::from_seed(hash.finalize().into());
    let mut pool = Pool::new();
    let literals = parse_script(&mut pool, &text)?.assertions();
    let tests =
        tests.iter().zip(literals).map(|(test, condition)| Test { condition, ..*test }).collect();
    Ok(Canonical { pool, tests, rng })
}

#[cfg(test)]
mod tests {
    use rand::RngCore;
    use stunt_path::{Original, TestKind};
    use stunt_terms::Term;

    use super::*;
    use crate::{PathCondition, castro};

    fn test(condition: Term, address: u64) -> Test {
        Test { condition, address, kind: TestKind::Branch }
    }

    /// The first byte is small, the sum of the next two is 9; other terms come first, or do not.
    fn path(noise: u32, limit: u128) -> (Pool, Vec<Test>) {
        let mut pool = Pool::new();
        for offset in 0..noise {
            let (a, b) = (pool.input(1, offset), pool.input(0, 2));
            let _ = pool.add(a, b);
        }
        let (first, limit) = (pool.input(0, 0), pool.constant(8, limit));
        let small = pool.ult(first, limit);
        let (a, b, nine) = (pool.input(0, 1), pool.input(0, 2), pool.constant(8, 9));
        let sum = pool.add(a, b);
        let is_nine = pool.eq(sum, nine);
        (pool, vec![test(small, 1), test(is_nine, 2)])
    }

    fn double(signature: &str, own: &[u8], (pool, tests): &(Pool, Vec<Test>)) -> Vec<u8> {
        let mut original = Original::new();
        original.push(own.to_vec(), Vec::new());
        let mut made = canonical(signature, &[own.len()], pool, tests).expect("it can be read");
        let mut condition = PathCondition::new(&mut made.pool, &made.tests, &original);
        let double = castro(&mut condition, &original, &mut made.rng).expect("there is one");
        double.bytes[0].clone()
    }

    #[test]
    fn equal_conditions_give_equal_doubles_whatever_the_original() {
        let first = double("aa", &[3, 4, 5, 77], &path(0, 16));
        assert_eq!(first, double("aa", &[9, 250, 15, 1], &path(0, 16)));
        assert!(first[0] < 16 && first[1].wrapping_add(first[2]) == 9);
    }

    #[test]
    fn other_conditions_failures_and_lengths_give_others() {
        let first = double("aa", &[3, 4, 5, 77], &path(0, 16));
        assert_ne!(first, double("ab", &[3, 4, 5, 77], &path(0, 16)));
        assert_ne!(first, double("aa", &[3, 4, 5, 77], &path(0, 17)));
        assert_ne!(first[..], double("aa", &[3, 4, 5, 77, 1], &path(0, 16))[..4]);
    }

    #[test]
    fn places_stay_and_the_randomness_is_the_same_again() {
        let (pool, tests) = path(5, 16);
        let mut made = canonical("aa", &[4], &pool, &tests).expect("it can be read");
        assert_eq!(made.tests.iter().map(|test| test.address).collect::<Vec<_>>(), [1, 2]);
        let again = canonical("aa", &[4], &pool, &tests).expect("it can be read").rng.next_u64();
        assert_eq!(made.rng.next_u64(), again);
    }
}
