//! `weaken`: a condition of a plain path, weakened as far as real runs allow.

use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use stunt_machine::symbolic::Relaxations;
use stunt_search::PathCondition;
use stunt_search::weaken::{Limits, MOST_MEASURED, Progress, Tally, Weakened, weaken};
use tracing::{debug, info, info_span, trace};

use super::starts::Start;
use super::{Found, Origin, Proved, Search, Searched};
use crate::job::Way;
use crate::refusal::{Error, unless_refused};
use crate::stage::Stage;
use crate::target::Target;

/// So many runs at least measure the result; a program that is too slow for them is not weakened.
pub(super) const MEASURING: u32 = 60;

/// A program that takes longer than this, among many runs, is weakened once only.
pub(super) const SLOW: Duration = Duration::from_millis(10);

impl<T: Target> Search<'_, T> {
    /// A double of a weakened condition, or one on the path, if that is better.
    pub(super) fn weakened(&mut self, rng: &mut ChaCha20Rng) -> Result<Found, Error> {
        let time = self.time();
        let Some(mut oracle) = self.runner()? else { return self.on_path(rng) };
        let pace = self.pace(&mut *oracle)?;
        if pace * MEASURING > time {
            info!(?pace, "too slow for runs by the hundred: more with --time");
            return self.on_path(rng);
        }
        let time = if pace > SLOW { self.without_measuring(pace) } else { time };
        let relax = self.options.relaxations();
        let followed = match self.follow(relax) {
            Err(Error::Refused(why)) => return self.blackbox(&why.to_string(), rng),
            followed => followed?,
        };
        let span = info_span!("weaken").entered();
        let original = &self.base();
        let mut own = Start::new(followed, original);
        let (relaxed, lengths) = (own.total, self.lengths);
        let mut path_leak = relaxed;
        if self.conditions.way != Way::Uncompared
            && let Some(mut plain) = unless_refused(self.follow(Relaxations::NONE))?
        {
            self.stage(Stage::Compare);
            let mut condition = PathCondition::new(&mut plain.pool, &plain.tests, original);
            path_leak = condition.total();
            own = own.or(plain, original);
        }
        // Following and counting have taken their part.
        let time = time.min(self.time());
        let (begun, before) = (Instant::now(), self.seconds.parts());
        let mut starts = vec![own];
        if self.base.is_none() && pace <= SLOW {
            // As long as the original, and plainer.
            let blanked = self.blanked(&mut *oracle)?;
            starts.extend(self.start_of(&blanked)?);
        }
        let start = starts.into_iter().min_by(|a, b| a.bits().total_cmp(&b.bits()));
        let Some(mut start) = start.filter(|_| self.measured < MOST_MEASURED) else {
            return self.on_path(rng);
        };
        self.measured += 1;
        self.stage(Stage::Weaken);
        let weakened = self.searching(|cancel| {
            let left = time.saturating_sub(begun.elapsed());
            let runs = self.allowed.runs.saturating_sub(oracle.runs());
            let limits = Limits {
                time: left,
                runs,
                cancel,
                worth: f64::INFINITY,
                lengths,
                without: &self.options.without,
                readable: self.options.readable,
                price: &|from| self.target.price(&from.set),
            };
            let (pool, tests) = (&mut start.path.pool, &start.path.tests);
            let mut falling = |at: Progress| {
                self.observer.better(at.bits, at.runs, "runs");
                trace!(bits = at.bits, "accepted");
            };
            weaken(pool, tests, &start.input, &mut *oracle, limits, rng, &mut falling)
        });
        let weakened = weakened?;
        let runs = oracle.runs();
        self.seconds.searched(begun.elapsed().as_secs_f64(), before);
        drop(span);
        let Some(weakened) = weakened else { return self.on_path(rng) };
        for Tally { name, runs, bits } in &weakened.tally {
            debug!(name, runs, bits, "a move");
        }
        let followed = start.path;
        info!(runs, kept = weakened.kept.0, of = weakened.kept.1, "weakened");
        let Some(seen) = self.proved(&weakened.double)? else {
            return self.on_path(rng);
        };
        let owed = if weakened.filled { lengths.full } else { lengths.short };
        let on_path = relaxed.upper().min(path_leak.upper()) + lengths.short;
        if weakened.measured.total.upper() + owed > on_path {
            return self.on_path(rng);
        }
        let (searched, notes) = (searched(&weakened, runs), notes(&weakened));
        let Weakened { double, measured, claim, drawn, filled: is_filled, .. } = weakened;
        let size = 8 * measured.bytes.len();
        let set = Some(drawn);
        let drawn = Proved { double, failure: seen, measured, claim, set, size, draws: 1 };
        let path_leak = Some(path_leak);
        let found = Found::new(drawn, Origin::Run(Box::new(followed)), relax);
        Ok(Found { path_leak, searched, notes, is_filled, ..found })
    }

    /// The time for a search whose result is measured within what is allowed: that takes long if the
    /// program is slow. At least half of it is left.
    pub(super) fn without_measuring(&self, pace: Duration) -> Duration {
        let all = self.time();
        all - (pace * MEASURING).min(all / 2)
    }
}

/// What weakening took and found.
pub(super) fn searched(weakened: &Weakened, runs: u64) -> Searched {
    let (kept, all) = weakened.kept;
    let Weakened { condition, share, draws, gaps, .. } = *weakened;
    Searched::Weakened { runs, kept, all, condition, share, draws, gaps }
}

/// The same in words, as far as it matters.
pub(super) fn notes(weakened: &Weakened) -> Vec<String> {
    let share = weakened.share;
    vec![format!(
        "{} of {} random solutions of what the failure needs failed in the same way; the figure counts \
         that.",
        share.hits, share.runs
    )]
}
