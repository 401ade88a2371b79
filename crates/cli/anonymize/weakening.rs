//! `weaken`: a condition of a plain path, weakened as far as real runs allow.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use rand_chacha::ChaCha20Rng;
use serde_json::{Value, json};
use stunt_machine::symbolic::Relaxations;
use stunt_path::Failure;
use stunt_search::PathCondition;
use stunt_search::weaken::{Limits, MOST_MEASURED, Progress, Weakened, weaken};
use tracing::{debug, info, info_span, trace};

use super::job::{Found, Halt, Job, Proved};
use super::starts::Start;
use crate::follow::Followed;
use crate::interrupt;

/// The part of the effort that shortening and filling up may take: one in so many.
const PADDING: u64 = 4;

/// So many runs measure the result; a program that is too slow for them is not weakened.
pub(super) const MEASURING: u32 = 300;

/// A program that takes longer than this, among many runs, is weakened once only.
pub(super) const SLOW: Duration = Duration::from_millis(10);

impl Job<'_> {
    /// A double of a weakened condition, or one on the path, if that is better.
    pub(super) fn weakened(
        &mut self,
        failure: &Failure,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        let time = self.allowed.time;
        let Some(mut oracle) = self.runner(failure)? else { return self.on_path(failure, rng) };
        let pace = self.pace(&mut *oracle)?;
        if pace * MEASURING > time {
            info!(?pace, "too slow for runs by the hundred: more with --time");
            return self.on_path(failure, rng);
        }
        let time = if pace > SLOW { self.without_measuring(pace) } else { time };
        let relax = self.arguments.relaxations();
        let followed = match self.follow(failure, relax)? {
            Ok(followed) => followed,
            Err(halt) => return self.blackbox(failure, &halt.why, rng),
        };
        let span = info_span!("weaken").entered();
        let original = &self.base();
        let mut own = Start::new(followed, original);
        let (size, relaxed) = (8 * original.hidden().len(), own.total);
        let mut path_leak = relaxed;
        if let Ok(mut plain) = self.follow(failure, Relaxations::NONE)? {
            let mut condition = PathCondition::new(&mut plain.pool, &plain.tests, original);
            path_leak = condition.total();
            own = own.or(plain, original);
        }
        let (begun, before) = (Instant::now(), self.seconds.parts());
        let mut known = vec![own];
        if self.base.is_none() && pace <= SLOW {
            known.extend(self.padded(failure, &mut *oracle, self.allowed.runs / PADDING)?);
        }
        let starts = self.starts(failure, known, &mut *oracle, begun)?;
        self.progress.stage("weakening the condition");
        let mut best: Option<(Weakened, Followed)> = None;
        for (number, mut start) in starts.into_iter().enumerate() {
            // Another start is for programs that are quick to run: it has to be measured as well.
            if number > 0 && (begun.elapsed() > time * 2 / 3 || pace > SLOW) {
                break;
            }
            if self.measured >= MOST_MEASURED {
                break;
            }
            self.measured += 1;
            // The first gets the greater part of what is left.
            let until = if number == 0 { time * 2 / 3 } else { time };
            let runs = self.allowed.runs.saturating_sub(oracle.runs());
            let runs = if number == 0 { runs * 2 / 3 } else { runs };
            let line = &self.progress;
            let worth = best.as_ref().map_or(self.allowed.worth, |(best, _)| {
                best.measured.total.value().min(self.allowed.worth)
            });
            let weakened = interrupt::search(|cancel| {
                let left = until.saturating_sub(begun.elapsed());
                let limits = Limits { time: left, runs, cancel, worth };
                let (pool, tests) = (&mut start.path.pool, &start.path.tests);
                let mut falling = |at: Progress| {
                    line.falling(at.bits, at.runs, "runs");
                    trace!(pass = at.pass, "accepted");
                };
                weaken(pool, tests, &start.input, &mut *oracle, limits, rng, &mut falling)
            });
            let Some(weakened) = weakened.map_err(|error| anyhow!(error))? else { continue };
            let bits = weakened.measured.total.upper();
            debug!(number, bits, runs = oracle.runs(), "weakened");
            if best.as_ref().is_none_or(|(best, _)| bits < best.measured.total.upper()) {
                best = Some((weakened, start.path));
            }
        }
        let runs = oracle.runs();
        self.seconds.searched(begun.elapsed().as_secs_f64(), before);
        drop(span);
        let Some((weakened, followed)) = best else { return self.on_path(failure, rng) };
        info!(runs, kept = weakened.kept.0, of = weakened.kept.1, "weakened");
        let Some(seen) = self.proved(failure, &weakened.double)? else {
            return self.on_path(failure, rng);
        };
        if weakened.measured.total.upper() > relaxed.upper().min(path_leak.upper()) {
            return self.on_path(failure, rng);
        }
        let (facts, notes) = (facts(&weakened, runs), notes(&weakened));
        let Weakened { double, measured, .. } = weakened;
        let drawn = Proved { double, failure: seen, measured, size, draws: 1 };
        Ok(Ok(Found { drawn, path_leak, followed, relax, facts, notes, shorter_than: None }))
    }

    /// The time for a search whose result is measured within what is allowed: that takes long if the
    /// program is slow. At least half of it is left.
    pub(super) fn without_measuring(&self, pace: Duration) -> Duration {
        let all = self.allowed.time;
        all - (pace * MEASURING).min(all / 2)
    }
}

/// What weakening took and found, for programs.
pub(super) fn facts(weakened: &Weakened, runs: u64) -> BTreeMap<&'static str, Value> {
    let (kept, all) = weakened.kept;
    let share = weakened.share;
    [
        ("runs", json!(runs)),
        ("conditions", json!({ "kept": kept, "all": all })),
        ("share", json!({ "failed": share.hits, "of": share.runs })),
        ("gaps", json!(weakened.gaps)),
    ]
    .into()
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
