//! Other paths to the same failure: what a search over paths is given, and what it gives back.
//!
//! The program is an [`Execution`](stunt_path::Execution), stopped before its first test and bound to the original. Each
//! strategy is a file: [`mpp`] finds all paths, [`reap`] and [`reap_rm`] make random detours,
//! [`respa`] looks for the path that leaks least between two points. All are bounded by tests
//! made, by time and by a flag, and return the best that they have found so far.
//!
//! What always holds: the first path of a [`Found`] is the original's; every path in it was walked
//! to its end, and ended in the failure; no two of them have an input in common. Whatever happens
//! there is a result: at worst, the original's path. The same randomness gives the same result,
//! unless time runs out.

mod heap;
mod mpp;
mod price;
mod reap;
mod reap_rm;
mod respa;
mod source;
mod spa;
mod trail;
mod tree;
mod windows;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rand::RngCore;
use stunt_leakage::{Bits, Fraction};
use stunt_path::{Failure, Original, Test};
use stunt_terms::{Assignment, Pool, Term};

pub use mpp::mpp;
pub use reap::{Manner, ReapOptions, reap};
pub use reap_rm::{ReapRmOptions, reap_rm};
pub use respa::{RespaOptions, respa};
pub use spa::Moment;
use trail::Trail;

/// Leaks that differ by less, in bits, are even: sums of some thousand logarithms are exact to this.
const LESS: f64 = 1e-9;

/// What a search may cost.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The most tests that are made, on all paths together. The original's own path is walked in
    /// any case.
    pub nodes: u64,
    /// The longest time.
    pub time: Duration,
    /// Tells what time it is.
    pub clock: &'a dyn Fn() -> Instant,
    /// Set from elsewhere to end the search.
    pub cancel: &'a AtomicBool,
}

/// How far a search is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Tests made so far.
    pub nodes: u64,
    /// What the best result so far reveals, in bits.
    pub best_bits: f64,
    /// Since the search began.
    pub seconds: f64,
}

/// What every strategy is given beside the program.
pub struct Task<'a> {
    /// The pool of the execution's terms.
    pub pool: &'a mut Pool,
    /// The private input, to which the execution is bound.
    pub original: &'a Original,
    /// The failure that other paths must lead to.
    pub target: &'a Failure,
    /// What holds of every input that can be handed over, and is no test of the program. Shares of
    /// paths are of those inputs.
    pub given: &'a [Term],
    /// What the search may cost.
    pub limits: Limits<'a>,
    /// Randomness: fresh for a report, seeded for a test.
    pub rng: &'a mut dyn RngCore,
    /// Told from time to time how far it is.
    pub progress: &'a mut dyn FnMut(Progress),
    /// Waits for so long, or until the search is to end. What it takes does not count as time of the
    /// search.
    pub pause: &'a mut dyn FnMut(Duration),
}

/// A path to the failure.
#[derive(Clone)]
pub struct Path {
    trail: Trail,
    witness: Assignment,
    fraction: Fraction,
}

impl Path {
    /// Its tests, in order: their conjunction is the path condition.
    #[must_use]
    pub fn tests(&self) -> Vec<Test> {
        self.trail.steps().into_iter().map(|step| step.test).collect()
    }

    /// How many tests it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.trail.len()
    }

    /// Whether the program fails without any test.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An input that takes it. It is made from the original, and as private.
    #[must_use]
    pub fn witness(&self) -> &Assignment {
        &self.witness
    }

    /// The share of all inputs that can be handed over and take it.
    #[must_use]
    pub fn fraction(&self) -> &Fraction {
        &self.fraction
    }

    /// What the path reveals.
    #[must_use]
    pub fn leak(&self) -> Bits {
        self.fraction.bits()
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Path({} tests, {})", self.len(), self.leak())
    }
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Tests made, on all paths together.
    pub nodes: u64,
    /// Other ways that a solver was asked for.
    pub turns: u64,
    /// Other ways of which it is not known whether there are any.
    pub unknown: u64,
    /// Paths on which the program could not be followed to its end.
    pub lost: u64,
    /// Different failing paths that were met.
    pub paths: u64,
    /// Attempts of reap.
    pub attempts: u64,
    /// Invocations of SPA.
    pub spa: u64,
    /// Invocations of HYBRID.
    pub hybrid: u64,
    /// Nodes that respa found to be needed for the failure.
    pub suspected: u64,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Failing paths that the result is about; the first is the original's.
    pub paths: Vec<Path>,
    /// The path from which the double is to be drawn, uniformly.
    pub chosen: usize,
    /// What the double reveals, as the strategy's paper argues.
    pub leak: Bits,
    /// Whether the search came to its own end. For mpp: whether `paths` are all failing paths.
    pub complete: bool,
    /// For respa: whether the chosen path leads to itself. None if that was not found out.
    pub fixed_point: Option<bool>,
    /// Whether what was found follows from the original's path alone: any other input of it would have
    /// led to the same, but for chance. Not so where a value was fixed on another path to that of the
    /// input at hand (a pin), a test had too many outcomes, or a question had no answer.
    pub by_path: bool,
    /// What it did.
    pub statistics: Statistics,
    /// What respa did step by step, if that was asked for.
    pub moments: Vec<Moment>,
}

impl Found {
    /// The path from which the double is to be drawn.
    #[must_use]
    pub fn chosen(&self) -> &Path {
        &self.paths[self.chosen]
    }
}

/// Why there is nothing to search around.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Astray {
    /// The original's path could not be followed.
    #[error("the program could not be followed on the original input: {0}")]
    Lost(String),
    /// The original does not lead to the failure.
    #[error("followed on the original input, the program does not end in the same failure")]
    OtherEnd,
    /// Ended from elsewhere before the original's path was known.
    #[error("ended before the original's path was known")]
    Cancelled,
}

/// The leak of the union of paths, which share no input.
fn union<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Bits {
    Fraction::disjoint_union(paths.into_iter().map(|path| &path.fraction)).bits()
}
