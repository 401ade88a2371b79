//! `blackbox`: weakening without a path, for whatever can be run: scripts, programs in other languages,
//! and programs that need what the machine does not have.

use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use stunt_machine::symbolic::Relaxations;
use stunt_search::weaken::{Limits, MOST_MEASURED, Progress, Weakened, blackbox};
use tracing::{info, info_span};

use super::weakened::{notes, searched};
use super::{Allowed, Found, Origin, Proved, Search};
use crate::refusal::{Error, Refusal};
use crate::stage::Stage;
use crate::target::Target;

impl<T: Target> Search<'_, T> {
    /// A double that nothing but runs were needed for; `why` is said to the user.
    pub(super) fn blackbox(&mut self, why: &str, rng: &mut ChaCha20Rng) -> Result<Found, Error> {
        info!(why, "without the machine");
        let natively = self.target.natively()?;
        let Some(native) = natively else {
            return Err(Refusal::Uncontained { why: why.to_owned() }.into());
        };
        let mut oracle = self.quicker(native)?;
        if self.measured >= MOST_MEASURED {
            return Err(self.unproved(why));
        }
        self.measured += 1;
        let begun = Instant::now();
        let span = info_span!("weaken").entered();
        let pace = self.pace(&mut *oracle)?;
        let time = self.without_measuring(pace);
        // What was reduced is plain already.
        let start = match self.base.clone() {
            Some(base) => base,
            None => self.blanked(&mut *oracle)?,
        };
        self.stage(Stage::Alone);
        let weakened = self.searching(|cancel| {
            let left = time.saturating_sub(begun.elapsed());
            let Allowed { runs, .. } = self.allowed;
            let limits = Limits {
                time: left,
                runs,
                cancel,
                worth: f64::INFINITY,
                lengths: self.lengths,
                without: &self.options.without,
                readable: self.options.readable,
                price: &|from| self.target.price(&from.set),
            };
            let mut falling = |at: Progress| self.observer.better(at.bits, at.runs, "runs");
            blackbox(&start, &mut *oracle, limits, rng, &mut falling)
        });
        let weakened = weakened?;
        let runs = oracle.runs();
        self.seconds.search += begun.elapsed().as_secs_f64();
        drop(span);
        let Some(weakened) = weakened else { return Err(self.unproved(why)) };
        let Some(seen) = self.proved(&weakened.double)? else {
            return Err(self.unproved(why));
        };
        let size = 8 * weakened.measured.bytes.len();
        let mut all_notes = notes(&weakened);
        if !why.is_empty() {
            all_notes
                .insert(0, format!("The double was found by running the program alone: {why}"));
        }
        let searched = searched(&weakened, runs);
        let Weakened { double, measured, claim, drawn, filled: is_filled, .. } = weakened;
        let set = Some(drawn);
        let drawn = Proved { double, failure: seen, measured, claim, set, size, draws: 1 };
        let found = Found::new(drawn, Origin::Runs, Relaxations::ALL);
        Ok(Found { searched, notes: all_notes, is_filled, ..found })
    }

    pub(super) fn unproved(&self, why: &str) -> Error {
        Refusal::UnprovedAlone { why: why.to_owned(), only_watched: self.target.only_watched() }
            .into()
    }
}
