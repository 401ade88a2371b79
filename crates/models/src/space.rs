//! What a stage is given and what it gives back.

use num_bigint::BigUint;
use rand::RngCore;
use stunt_terms::{InputByte, Pool, Term};

use crate::byteset::ByteSet;

/// One component of a condition: bytes that are connected by the literals.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// Where the terms live.
    pub pool: &'a Pool,
    /// The bytes, in order.
    pub bytes: &'a [InputByte],
    /// For each byte the values that its unary literals allow; none is empty.
    pub domains: &'a [ByteSet],
    /// The other literals: Bool terms, each over at least two of the bytes and no others.
    pub literals: &'a [Term],
}

/// The set of all solutions of a [`Problem`], exactly.
///
/// Solutions are written as one value per byte, in the order of `Problem::bytes`.
pub trait Space: Send + Sync {
    /// The name of the stage that built it, for statistics.
    fn stage(&self) -> &'static str;

    /// How many solutions there are.
    fn count(&self) -> &BigUint;

    /// Writes a solution, drawn uniformly from all of them, to `out`, one value per byte.
    ///
    /// # Panics
    /// May panic if there is no solution.
    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]);

    /// About how many things a draw looks at; 1 if it goes straight to its solution. For those who
    /// draw by the thousand.
    fn work(&self) -> usize {
        1
    }

    /// Whether it is known how often the byte at `position` has each value.
    fn has_marginal(&self, position: usize) -> bool {
        let _ = position;
        true
    }

    /// For each value of the byte at `position`: how many solutions have it there. 256 entries.
    ///
    /// # Panics
    /// May panic if this is not known: see [`Space::has_marginal`].
    fn marginal(&self, position: usize) -> Vec<BigUint>;
}
