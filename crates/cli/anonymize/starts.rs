//! Where a search starts: the input, near the original, whose path reveals least.
//!
//! The original's own path says what its fields, quotes and brackets were. An input that fails in the
//! same way, with one value wherever that will do, has a plainer path; which filler makes it plainest
//! depends on the program, so several are tried, and stretches that are free are made longer. Plainer
//! still is an input of which only what is needed was left, and that was filled up at one place.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use stunt_leakage::{Bits, ByteLeak};
use stunt_machine::symbolic::Relaxations;
use stunt_path::{Failure, Original};
use stunt_search::PathCondition;
use stunt_search::weaken::{Broken, Fillers, Place, blank, grow, pad};
use tracing::debug;

use super::job::Job;
use super::oracle::Runner;
use super::stage::Stage;
use super::weakening::SLOW;
use crate::follow::{Followed, follow_on};
use crate::interrupt;

/// The part of the effort and of the time that blanking the input may take: one in so many.
pub(super) const BLANKING: u32 = 3;
/// The same for blanking it in another way, and for growing what is free.
const TRYING_AGAIN: u32 = 6;
/// The part of the time that shortening may take, to be filled up again.
const PADDING: u32 = 5;
/// So many inputs that were filled up are followed.
const MOST_PADDED: usize = 4;

impl Job<'_> {
    /// Paths to start from, the best first: some that are known, and those of blanked inputs.
    pub(super) fn starts(
        &mut self,
        failure: &Failure,
        mut starts: Vec<Start>,
        oracle: &mut dyn Runner,
        begun: Instant,
    ) -> Result<Vec<Start>> {
        let time = self.time();
        let least = |starts: &[Start]| starts.iter().map(Start::bits).fold(f64::INFINITY, f64::min);
        // What was made shorter has little to blank: a slow program has better uses for its runs.
        let shortened = self.base.is_some();
        let spare = !shortened || self.pace.is_none_or(|pace| pace <= SLOW);
        let before = least(&starts);
        if starts.is_empty() || (spare && begun.elapsed() < time) {
            let blanked = self.blanked(Fillers::Letters, oracle, BLANKING)?;
            starts.extend(self.start_of(failure, &blanked)?);
        }
        let of_use = !shortened || least(&starts) < before - 1.0;
        if spare && of_use && begun.elapsed() < time / 4 {
            // The program is quick enough for another try.
            let blanked = self.blanked(Fillers::Text, oracle, TRYING_AGAIN)?;
            starts.extend(self.start_of(failure, &blanked)?);
        }
        starts.sort_by(|a, b| a.bits().total_cmp(&b.bits()));
        if !shortened {
            self.grown(failure, &mut starts, oracle, begun, time / 2)?;
        }
        Ok(starts)
    }

    /// An input that fails in the same way, with one value wherever that will do.
    pub(super) fn blanked(
        &self,
        fillers: Fillers,
        oracle: &mut dyn Runner,
        part: u32,
    ) -> Result<Original> {
        let (begun, time) = (Instant::now(), self.time() / part);
        self.progress.stage(Stage::Blank);
        let original = &self.base();
        let blanked = interrupt::search(|cancel| {
            let most = self.allowed.runs / u64::from(part);
            let over = || begun.elapsed() > time || cancel.load(Ordering::Relaxed);
            blank(&original.reveal(), &original.hidden(), fillers, oracle, most, &over)
        });
        let blanked = blanked.map_err(|error: Broken| anyhow!(error))?;
        Ok(original.with_bytes(blanked))
    }

    /// The better path of an input, with or without relaxations. None if it cannot be followed to
    /// the failure.
    fn start_of(&mut self, failure: &Failure, input: &Original) -> Result<Option<Start>> {
        let mut start: Option<Start> = None;
        for relax in [self.arguments.relaxations(), Relaxations::NONE] {
            let Ok(path) = follow_on(self.subject, Some(input), relax, self.checked)? else {
                continue;
            };
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

    /// Paths of inputs that were shortened, and filled up at one place, within so many runs.
    pub(super) fn padded(
        &mut self,
        failure: &Failure,
        oracle: &mut dyn Runner,
        runs: u64,
    ) -> Result<Vec<Start>> {
        let may = self.may_change();
        let (begun, time) = (Instant::now(), self.time() / PADDING);
        let shorter = self.shortest(&may, oracle, time, runs * 3 / 4)?.reveal();
        let original = &self.subject.original;
        let mut inputs = vec![shorter];
        self.progress.stage(Stage::Pad);
        for source in (0..may.len()).filter(|&source| may[source]) {
            let length = original.len_of(source);
            let padded = interrupt::search(|cancel| {
                let over = || begun.elapsed() > 2 * time || cancel.load(Ordering::Relaxed);
                pad(&inputs[0], source, length, oracle, runs / 4, &over)
            });
            let padded = padded.map_err(|error: Broken| anyhow!(error))?;
            if inputs[0][source].len() < length {
                inputs = padded;
            }
            if inputs.is_empty() {
                return Ok(Vec::new());
            }
        }
        inputs.truncate(MOST_PADDED);
        let mut starts = Vec::new();
        for input in inputs {
            let input = self.subject.original.with_bytes(input);
            starts.extend(self.start_of(failure, &input)?);
            if begun.elapsed() > time {
                break;
            }
        }
        Ok(starts)
    }

    /// Puts inputs before the starts whose free stretches have grown, as long as that reveals less.
    fn grown(
        &mut self,
        failure: &Failure,
        starts: &mut Vec<Start>,
        oracle: &mut dyn Runner,
        begun: Instant,
        time: Duration,
    ) -> Result<()> {
        self.progress.stage(Stage::Grow);
        let most = oracle.runs() + self.allowed.runs / u64::from(TRYING_AGAIN);
        while begun.elapsed() < time {
            let places = starts[0].places();
            let input = starts[0].input.clone();
            let left = most.saturating_sub(oracle.runs());
            let grown = interrupt::search(|cancel| {
                let over = || begun.elapsed() > time || cancel.load(Ordering::Relaxed);
                grow(&input.reveal(), &places, oracle, left, &over)
            });
            let Some(grown) = grown.map_err(|error: Broken| anyhow!(error))? else { break };
            let Some(start) = self.start_of(failure, &input.with_bytes(grown))? else { break };
            debug!(before = starts[0].bits(), bits = start.bits(), runs = oracle.runs(), "grown");
            if start.bits() >= starts[0].bits() {
                break;
            }
            starts.insert(0, start);
        }
        Ok(())
    }
}

/// An input that fails, and its path.
pub(super) struct Start {
    /// What the path reveals.
    pub(super) total: Bits,
    pub(super) path: Followed,
    pub(super) input: Original,
}

impl Start {
    pub(super) fn new(mut path: Followed, input: &Original) -> Self {
        let mut condition = PathCondition::new(&mut path.pool, &path.tests, input);
        condition.ease(input);
        let total = condition.total();
        debug!(bits = total.upper(), "a path to start from");
        Self { total, path, input: input.clone() }
    }

    /// What the path reveals at most.
    pub(super) fn bits(&self) -> f64 {
        self.total.upper()
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
    pub(super) fn or(self, path: Followed, input: &Original) -> Self {
        let other = Self::new(path, input);
        if other.bits() < self.bits() { other } else { self }
    }
}
