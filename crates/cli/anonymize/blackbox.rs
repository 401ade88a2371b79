//! `blackbox`: weakening without a path, for whatever can be run: scripts, programs in other languages,
//! and programs that need what the machine does not have.

use std::time::Instant;

use anyhow::{Result, anyhow};
use rand_chacha::ChaCha20Rng;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Failure;
use stunt_search::weaken::{Limits, MOST_MEASURED, Progress, Weakened, blackbox};
use stunt_terms::Pool;
use tracing::{info, info_span};

use super::job::{Allowed, Found, Halt, Job, Proved};
use super::natively::NativeOracle;
use super::oracle::Runner;
use super::stage::Stage;
use super::weakening::{facts, notes};
use crate::follow::Followed;
use crate::interrupt;
use crate::outcome::Outcome;

impl Job<'_> {
    /// A double that nothing but runs were needed for; `why` is said to the user.
    pub(super) fn blackbox(
        &mut self,
        failure: &Failure,
        why: &str,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        info!(why, "without the machine");
        let mut oracle = NativeOracle::new(self, failure);
        if !oracle.agrees().map_err(|error| anyhow!(error))? {
            return Ok(Err(uncontained(why)));
        }
        if self.measured >= MOST_MEASURED {
            return Ok(Err(unproved(why)));
        }
        self.measured += 1;
        let begun = Instant::now();
        let span = info_span!("weaken").entered();
        let pace = self.pace(&mut oracle)?;
        let time = self.without_measuring(pace);
        // What was reduced is plain already.
        let start = match self.base.clone() {
            Some(base) => base,
            None => self.blanked(&mut oracle)?,
        };
        self.progress.stage(Stage::Alone);
        let line = &self.progress;
        let weakened = interrupt::search(|cancel| {
            let left = time.saturating_sub(begun.elapsed());
            let Allowed { runs, worth, .. } = self.allowed;
            let limits = Limits {
                time: left,
                runs,
                cancel,
                worth,
                lengths: self.lengths,
                without: &self.arguments.without,
            };
            let mut falling = |at: Progress| line.falling(at.bits, at.runs, "runs");
            blackbox(&start, &mut oracle, limits, rng, &mut falling)
        });
        let weakened = weakened.map_err(|error| anyhow!(error))?;
        let runs = oracle.runs();
        self.seconds.search += begun.elapsed().as_secs_f64();
        drop(span);
        let Some(weakened) = weakened else { return Ok(Err(unproved(why))) };
        let Some(seen) = self.proved(failure, &weakened.double)? else {
            return Ok(Err(unproved(why)));
        };
        let size = 8 * weakened.measured.bytes.len();
        let mut all_notes = notes(&weakened);
        if !why.is_empty() {
            all_notes
                .insert(0, format!("The double was found by running the program alone: {why}"));
        }
        let facts = facts(&weakened, runs);
        let Weakened { double, measured, filled: is_filled, .. } = weakened;
        let drawn = Proved { double, failure: seen, measured, size, draws: 1 };
        let followed = Followed::of_path(Pool::new(), Vec::new(), failure);
        let found = Found::new(drawn, followed, Relaxations::ALL);
        Ok(Ok(Found { facts, notes: all_notes, is_filled, ..found }))
    }
}

/// The program cannot be run on random inputs; `why` it was not followed either, if that was tried.
fn uncontained(why: &str) -> Halt {
    let alone = "the program does not fail in a run that is kept from writing to files and from the \
                 network, and random inputs are tried in no other way";
    if why.is_empty() {
        return Halt { outcome: Outcome::Unproved, why: alone.to_owned() };
    }
    // It is stunt that cannot go on: nothing was found out about doubles.
    Halt {
        outcome: Outcome::Unsupported,
        why: format!("{}; and {alone}", why.trim_end_matches('.')),
    }
}

fn unproved(why: &str) -> Halt {
    let mut all = String::new();
    if !why.is_empty() {
        all = format!("{}; and by running the program alone, ", why.trim_end_matches('.'));
    }
    all += "no double could be proved: the program does not fail natively as it does on the \
            original. Nothing is handed out.";
    Halt { outcome: Outcome::Unproved, why: all }
}
