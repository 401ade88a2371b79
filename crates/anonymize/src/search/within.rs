//! Documents: what is in their leaves is weakened, and the bytes around them follow.
//!
//! After reducing, what is left of a document is a small document. Its leaves are what a search may change; whoever
//! runs the program gets them written as a document, so lengths and checksums are right in every candidate. A
//! program that can be followed says what it asks of the leaves; of others each byte is what it is, to begin with.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use stunt_machine::symbolic::Relaxations;
use stunt_reduce::Rendering;
use stunt_search::weaken::{
    DrawnFrom, Limits, MOST_MEASURED, Price, Progress, Weakened, blackbox_leaves, weaken_leaves,
};
use tracing::info_span;

use super::weakened::{MEASURING, notes, searched};
use super::{Found, Origin, Proved, Search};
use crate::refusal::{Error, Refusal};
use crate::stage::Stage;
use crate::target::Target;

impl<T: Target> Search<'_, T> {
    /// What a search over leaves may take that has so much time, and so many runs behind it.
    fn limits<'l>(
        &'l self,
        time: Duration,
        runs: u64,
        cancel: &'l AtomicBool,
        price: Price<'l>,
    ) -> Limits<'l> {
        Limits {
            time,
            runs: self.allowed.runs.saturating_sub(runs),
            cancel,
            worth: f64::INFINITY,
            lengths: self.lengths,
            without: &self.options.without,
            readable: self.options.readable,
            price,
        }
    }

    /// The leaves of the input that the search starts from, if it is a document.
    pub(super) fn leaves(&self) -> Option<Rendering> {
        let is_left_out = self.options.without.iter().any(|it| it == "documents");
        if is_left_out || !self.options.method.weakens() || self.options.canonical {
            return None;
        }
        Rendering::of(&self.base().reveal(), &self.target.may_change())
    }

    /// A double of a document; `alone` is why the program is not followed, if it is not.
    pub(super) fn within_document(
        &mut self,
        rendering: &Rendering,
        alone: Option<&str>,
        rng: &mut ChaCha20Rng,
    ) -> Result<Found, Error> {
        let Some(mut oracle) = self.runner()? else {
            let why = alone.unwrap_or_default().to_owned();
            return Err(Refusal::Uncontained { why }.into());
        };
        let pace = self.pace(&mut *oracle)?;
        let too_slow = pace * MEASURING * 2 > self.time() && self.base.is_some();
        if too_slow || self.measured >= MOST_MEASURED {
            return Err(self.unproved(alone.unwrap_or_default()));
        }
        self.measured += 1;
        let time = self.without_measuring(pace);
        let (begun, before) = (Instant::now(), self.seconds.parts());
        let mut why = alone.map(str::to_owned);
        let mut followed = None;
        if why.is_none() {
            match self.follow(self.options.relaxations()) {
                Ok(path) => followed = Some(path),
                Err(Error::Refused(refusal)) => why = Some(refusal.to_string()),
                Err(error) => return Err(error),
            }
        }
        let span = info_span!("weaken").entered();
        self.stage(if followed.is_some() { Stage::Weaken } else { Stage::Alone });
        let original = self.base();
        let target = self.target;
        let price = |from: &DrawnFrom| target.price(&from.set);
        let mut weakened = None;
        if let Some(path) = &mut followed {
            weakened = self.searching(|cancel| {
                let limits = self.limits(
                    time.saturating_sub(begun.elapsed()),
                    oracle.runs(),
                    cancel,
                    &price,
                );
                let mut falling = |at: Progress| self.observer.better(at.bits, at.runs, "runs");
                let (pool, tests) = (&mut path.pool, &path.tests);
                weaken_leaves(
                    pool,
                    tests,
                    &original,
                    rendering,
                    &mut *oracle,
                    limits,
                    rng,
                    &mut falling,
                )
            })?;
        }
        if weakened.is_none() {
            // What the path asks of the leaves alone was too little: runs tell what is needed.
            followed = None;
            weakened = self.searching(|cancel| {
                let limits = self.limits(
                    time.saturating_sub(begun.elapsed()),
                    oracle.runs(),
                    cancel,
                    &price,
                );
                let mut falling = |at: Progress| self.observer.better(at.bits, at.runs, "runs");
                blackbox_leaves(&original, rendering, &mut *oracle, limits, rng, &mut falling)
            })?;
        }
        let runs = oracle.runs();
        self.seconds.searched(begun.elapsed().as_secs_f64(), before);
        drop(span);
        let why = why.unwrap_or_default();
        let Some(weakened) = weakened else { return Err(self.unproved(&why)) };
        let Some(seen) = self.proved(&weakened.double)? else {
            return Err(self.unproved(&why));
        };
        let (searched, mut notes) = (searched(&weakened, runs), notes(&weakened));
        if !why.is_empty() {
            notes.insert(0, format!("The double was found by running the program alone: {why}"));
        }
        let Weakened { double, measured, claim, drawn, .. } = weakened;
        let size = 8 * measured.bytes.len();
        let set = Some(drawn);
        let drawn = Proved { double, failure: seen, measured, claim, set, size, draws: 1 };
        let origin = followed.map_or(Origin::Runs, |path| Origin::Run(Box::new(path)));
        Ok(Found { searched, notes, ..Found::new(drawn, origin, Relaxations::ALL) })
    }
}
