//! `weaken`: a condition of a plain path, weakened as far as real runs allow.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use rand_chacha::ChaCha20Rng;
use serde_json::{Value, json};
use stunt_leakage::ByteLeak;
use stunt_machine::symbolic::Relaxations;
use stunt_path::{Failure, Original};
use stunt_search::PathCondition;
use stunt_search::weaken::{
    Broken, Fillers, Limits, Place, Progress, Weakened, blank, grow, weaken,
};
use tracing::{debug, info, info_span, trace};

use super::job::{Found, Halt, Job, Proved};
use super::oracle::NativeOracle;
use crate::follow::{Followed, follow_on};
use crate::interrupt;

/// The part of the effort and of the time that blanking the input may take: one in so many.
pub(super) const BLANKING: u32 = 3;
/// The same for blanking it in another way, and for growing what is free.
const TRYING_AGAIN: u32 = 6;

/// So many runs measure the result; a program that is too slow for them is not weakened.
const MEASURING: u32 = 300;

/// A program that takes longer than this, among many runs, is weakened once only.
pub(super) const SLOW: Duration = Duration::from_millis(10);

impl Job<'_> {
    /// A double of a weakened condition, or one on the path, if that is better.
    pub(super) fn weakened(
        &mut self,
        failure: &Failure,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        if self.checked {
            // Only the machine sees it fail.
            return self.on_path(failure, rng);
        }
        let time = self.allowed.time;
        let mut oracle = NativeOracle::new(self, failure);
        if !oracle.agrees().map_err(|error| anyhow!(error))? {
            info!("the program does not fail in a contained run");
            return self.on_path(failure, rng);
        }
        let pace = oracle.pace().map_err(|error| anyhow!(error))?;
        if pace * MEASURING > time {
            info!(?pace, "too slow for runs by the hundred: more with --time");
            return self.on_path(failure, rng);
        }
        let relax = self.arguments.relaxations();
        let mut followed = match self.follow(failure, relax)? {
            Ok(followed) => followed,
            Err(halt) => return self.blackbox(failure, &halt.why, rng),
        };
        let span = info_span!("weaken").entered();
        let original = &self.base();
        let mut condition = PathCondition::new(&mut followed.pool, &followed.tests, original);
        condition.ease(original);
        let (size, relaxed) = (condition.size(), condition.total());
        let mut own = Start { bits: relaxed.upper(), path: followed, input: original.clone() };
        let mut path_leak = relaxed;
        if let Ok(mut plain) = self.follow(failure, Relaxations::NONE)? {
            let mut condition = PathCondition::new(&mut plain.pool, &plain.tests, original);
            path_leak = condition.total();
            own = own.or(plain, original);
        }
        let begun = Instant::now();
        let blanked = self.blanked(Fillers::Letters, &mut oracle, BLANKING)?;
        let mut starts = self.starts(failure, own, &blanked)?;
        if begun.elapsed() < time / 4 {
            // The program is quick enough for another try.
            let blanked = self.blanked(Fillers::Text, &mut oracle, TRYING_AGAIN)?;
            starts.extend(self.start_of(failure, &blanked)?);
            starts.sort_by(|a, b| a.bits.total_cmp(&b.bits));
        }
        self.grown(failure, &mut starts, &mut oracle, begun, time / 2)?;
        self.progress.stage("weakening the condition");
        let mut best: Option<(Weakened, Followed)> = None;
        for (number, mut start) in starts.into_iter().enumerate() {
            // Another start is for programs that are quick to run: it has to be measured as well.
            if number > 0 && (begun.elapsed() > time * 2 / 3 || pace > SLOW) {
                break;
            }
            // The first gets the greater part of what is left.
            let until = if number == 0 { time * 2 / 3 } else { time };
            let runs = self.allowed.runs.saturating_sub(oracle.runs);
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
                weaken(pool, tests, &start.input, &mut oracle, limits, rng, &mut falling)
            });
            let Some(weakened) = weakened.map_err(|error| anyhow!(error))? else { continue };
            let bits = weakened.measured.total.upper();
            debug!(number, bits, runs = oracle.runs, "weakened");
            if best.as_ref().is_none_or(|(best, _)| bits < best.measured.total.upper()) {
                best = Some((weakened, start.path));
            }
        }
        let runs = oracle.runs;
        self.seconds.search += begun.elapsed().as_secs_f64();
        drop(span);
        let Some((weakened, followed)) = best else { return self.on_path(failure, rng) };
        info!(runs, kept = weakened.kept.0, of = weakened.kept.1, "weakened");
        if !self.proved(failure, &weakened.double)? {
            return self.on_path(failure, rng);
        }
        if weakened.measured.total.upper() > relaxed.upper().min(path_leak.upper()) {
            return self.on_path(failure, rng);
        }
        let (facts, notes) = (facts(&weakened, runs), notes(&weakened));
        let drawn = Proved { double: weakened.double, measured: weakened.measured, size, draws: 1 };
        Ok(Ok(Found { drawn, path_leak, followed, relax, facts, notes, shorter_than: None }))
    }

    /// An input that fails in the same way, with one value wherever that will do.
    pub(super) fn blanked(
        &self,
        fillers: Fillers,
        oracle: &mut NativeOracle<'_>,
        part: u32,
    ) -> Result<Original> {
        let (begun, time) = (Instant::now(), self.allowed.time / part);
        self.progress.stage("blanking the input");
        let original = &self.base();
        let blanked = interrupt::search(|cancel| {
            let most = self.allowed.runs / u64::from(part);
            let over = || begun.elapsed() > time || cancel.load(Ordering::Relaxed);
            blank(&original.reveal(), &original.hidden(), fillers, oracle, most, &over)
        });
        let blanked = blanked.map_err(|error: Broken| anyhow!(error))?;
        Ok(original.with_bytes(blanked))
    }

    /// Paths to start from, the best first: that of the original, and that of a blanked input with or
    /// without relaxations.
    fn starts(&mut self, failure: &Failure, own: Start, blanked: &Original) -> Result<Vec<Start>> {
        let other = self.start_of(failure, blanked)?;
        let mut starts: Vec<Start> = [Some(own), other].into_iter().flatten().collect();
        starts.sort_by(|a, b| a.bits.total_cmp(&b.bits));
        Ok(starts)
    }

    /// The better path of an input, with or without relaxations. None if it cannot be followed to
    /// the failure.
    fn start_of(&mut self, failure: &Failure, input: &Original) -> Result<Option<Start>> {
        let mut start: Option<Start> = None;
        for relax in [self.arguments.relaxations(), Relaxations::NONE] {
            let Ok(path) = follow_on(self.subject, Some(input), relax, false)? else { continue };
            self.seconds.trace += path.seconds;
            if self.fails_if.is_none() && path.failure.as_ref() != Some(failure) {
                continue;
            }
            start = Some(match start {
                Some(start) => start.or(path, input),
                None => Start::new(path, input),
            });
        }
        Ok(start)
    }

    /// Puts inputs before the starts whose free stretches have grown, as long as that reveals less.
    fn grown(
        &mut self,
        failure: &Failure,
        starts: &mut Vec<Start>,
        oracle: &mut NativeOracle<'_>,
        begun: Instant,
        time: Duration,
    ) -> Result<()> {
        self.progress.stage("growing what is free");
        let most = oracle.runs + self.allowed.runs / u64::from(TRYING_AGAIN);
        while begun.elapsed() < time {
            let places = starts[0].places();
            let input = starts[0].input.clone();
            let left = most.saturating_sub(oracle.runs);
            let grown = interrupt::search(|cancel| {
                let over = || begun.elapsed() > time || cancel.load(Ordering::Relaxed);
                grow(&input.reveal(), &places, oracle, left, &over)
            });
            let Some(grown) = grown.map_err(|error: Broken| anyhow!(error))? else { break };
            let Some(start) = self.start_of(failure, &input.with_bytes(grown))? else { break };
            debug!(before = starts[0].bits, bits = start.bits, runs = oracle.runs, "grown");
            if start.bits >= starts[0].bits {
                break;
            }
            starts.insert(0, start);
        }
        Ok(())
    }
}

/// An input that fails, and its path.
struct Start {
    /// What the path reveals.
    bits: f64,
    path: Followed,
    input: Original,
}

impl Start {
    fn new(mut path: Followed, input: &Original) -> Self {
        let mut condition = PathCondition::new(&mut path.pool, &path.tests, input);
        condition.ease(input);
        let bits = condition.total().upper();
        debug!(bits, "a path to start from");
        Self { bits, path, input: input.clone() }
    }

    /// What the path reveals about each byte.
    fn places(&mut self) -> Vec<Place> {
        let mut condition = PathCondition::new(&mut self.path.pool, &self.path.tests, &self.input);
        condition.ease(&self.input);
        let place = |leak: &ByteLeak| Place { byte: leak.byte, bits: leak.bits.upper() };
        condition.measure().bytes.iter().map(place).collect()
    }

    /// This one, or that path of an input, if it reveals less: a relaxed condition says less, but
    /// what it says can be harder to solve.
    fn or(self, path: Followed, input: &Original) -> Self {
        let other = Self::new(path, input);
        if other.bits < self.bits { other } else { self }
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
