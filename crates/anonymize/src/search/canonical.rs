//! What a search starts from, if that is not the original itself; here the canonical input of its path,
//! and what the figure owes to that. Shorter inputs are in `reduced.rs`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::Rng;
use rand_chacha::ChaCha20Rng;
use stunt_leakage::Claim;
use stunt_machine::symbolic::Relaxations;
use stunt_search::{PathCondition, canonical, castro};

use super::{Found, Search, drawn_again};
use crate::options::Method;
use crate::refusal::{Error, Refusal};
use crate::stage::Stage;
use crate::target::Target;

/// The most solutions of a path that are tried until one fails natively.
const MOST_DRAWS: u32 = 12;
/// How often a delay looks whether it should end.
const NAP: Duration = Duration::from_millis(50);

impl<T: Target> Search<'_, T> {
    /// Goes over to the canonical input of the original's path. Gives the randomness for all that
    /// comes after, or says why there is none.
    pub(super) fn make_canonical(&mut self) -> Result<ChaCha20Rng, Error> {
        if self.target.not_followed().is_some() || self.options.method == Method::Blackbox {
            return Err(Error::NoPath);
        }
        let original = self.target.original();
        // From a place of stunt's own: the path of the user's file may show in addresses.
        self.base = Some(original.clone());
        let followed = self.follow(Relaxations::NONE)?;
        let lengths: Vec<usize> =
            (0..original.sources()).map(|source| original.len_of(source)).collect();
        let mut own = canonical(
            &self.target.failure().signature(),
            &lengths,
            &followed.pool,
            &followed.tests,
        )
        .map_err(|error| Error::Canonical(error.into()))?;
        let mut condition = PathCondition::new(&mut own.pool, &own.tests, original);
        for _ in 0..MOST_DRAWS {
            let double = castro(&mut condition, original, &mut own.rng)?;
            if self.proved(&double)?.is_some() {
                self.canonical = Some(condition.measure());
                self.base = Some(original.with_bytes(double.bytes));
                return Ok(own.rng);
            }
        }
        Err(Refusal::Unproved { drawn: MOST_DRAWS, only_watched: self.target.only_watched() }
            .into())
    }

    /// The figure with what it owes, and a sentence about it.
    pub(super) fn settled(&self, mut found: Found) -> Found {
        if let Some(of_path) = &self.canonical {
            found.drawn.measured = of_path.clone();
            // The double is a function of the path, and no set has it.
            let draws = found.drawn.draws;
            found.drawn.claim = drawn_again(Claim::of_set(of_path.total), draws);
            found.drawn.set = None;
            found.path_leak = Some(of_path.total);
            found.notes.push(
                "The double is canonical: equal paths give equal doubles, so it may tell which path \
                 the original took, and no more; another report of the same adds nothing. The figure \
                 is that of the path, whatever the search came to."
                    .to_owned(),
            );
        }
        found
    }

    /// Waits for some time, so that how long all took says nothing.
    pub(super) fn delay(&self, rng: &mut ChaCha20Rng) {
        let Some(longest) = self.options.paths.hide_time else { return };
        self.stage(Stage::Wait);
        let time = longest.mul_f64(rng.gen_range(0.0..=1.0));
        self.searching(|cancel| wait(time, cancel));
    }
}

/// Waits, unless the user has had enough.
pub(super) fn wait(time: Duration, cancel: &AtomicBool) {
    let begun = Instant::now();
    while begun.elapsed() < time && !cancel.load(Ordering::Relaxed) {
        std::thread::sleep(NAP.min(time.saturating_sub(begun.elapsed())));
    }
}
