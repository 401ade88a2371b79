//! What a search starts from, if that is not the original itself; here the canonical input of its path
//! (`--canonical`), and what the figure owes to that. Shorter inputs are in `lengths.rs`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rand::Rng;
use rand_chacha::ChaCha20Rng;
use stunt_machine::symbolic::Relaxations;
use stunt_path::{Failure, Original};
use stunt_search::{PathCondition, canonical, castro};

use super::Choice;
use super::job::{Found, Halt, Job};
use super::stage::Stage;
use crate::interrupt;
use crate::outcome::Outcome;

/// The most solutions of a path that are tried until one fails natively.
const MOST_DRAWS: u32 = 12;
/// How often a delay looks whether it should end.
const NAP: Duration = Duration::from_millis(50);

impl Job<'_> {
    /// The input that the search starts from.
    pub(super) fn base(&self) -> Original {
        self.base.as_ref().unwrap_or(&self.subject.original).clone()
    }

    /// Goes over to the canonical input of the original's path. Gives the randomness for all that
    /// comes after, or says why there is none.
    pub(super) fn make_canonical(
        &mut self,
        failure: &Failure,
    ) -> Result<Result<ChaCha20Rng, Halt>> {
        if self.subject.is_script() || self.arguments.algorithm == Choice::Blackbox {
            bail!(
                "--canonical is for programs that can be followed: equal paths give equal doubles. \
                 Leave it out, or choose another --algorithm"
            );
        }
        let original = &self.subject.original;
        // From a place of stunt's own: the path of the user's file may show in addresses.
        self.base = Some(original.clone());
        let followed = match self.follow(failure, Relaxations::NONE)? {
            Ok(followed) => followed,
            Err(halt) => return Ok(Err(halt)),
        };
        let lengths: Vec<usize> =
            (0..original.sources()).map(|source| original.len_of(source)).collect();
        let mut own = canonical(&failure.signature(), &lengths, &followed.pool, &followed.tests)
            .context("the path condition cannot be read back; this is a mistake in stunt")?;
        let mut condition = PathCondition::new(&mut own.pool, &own.tests, original);
        for _ in 0..MOST_DRAWS {
            let double = castro(&mut condition, original, &mut own.rng)?;
            if self.proved(failure, &double)?.is_some() {
                self.canonical = Some(condition.measure());
                self.base = Some(original.with_bytes(double.bytes));
                return Ok(Ok(own.rng));
            }
        }
        let why = format!(
            "no double could be proved: {MOST_DRAWS} solutions of the path condition do not fail natively \
             as the original does. Nothing is handed out."
        );
        Ok(Err(Halt { outcome: Outcome::Unproved, why }))
    }

    /// The figure with what it owes, and a sentence about it.
    pub(super) fn settled(&self, mut found: Found) -> Found {
        if let Some(of_path) = &self.canonical {
            found.drawn.measured = of_path.clone();
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
        let Some(longest) = self.arguments.search.hide_time else { return };
        self.progress.stage(Stage::Wait);
        let time = Duration::from_secs_f64(rng.gen_range(0.0..=longest as f64));
        interrupt::search(|cancel| wait(time, cancel));
    }
}

/// Waits, unless the user has had enough.
pub(super) fn wait(time: Duration, cancel: &AtomicBool) {
    let begun = Instant::now();
    while begun.elapsed() < time && !cancel.load(Ordering::Relaxed) {
        std::thread::sleep(NAP.min(time.saturating_sub(begun.elapsed())));
    }
}
