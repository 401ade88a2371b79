//! Where a search over paths starts: the input, near the original, whose path reveals least.
//!
//! The original's own path says what its fields, quotes and brackets were. An input that fails in the
//! same way, with one value wherever that will do, has a plainer path. Plainer still is an input of which only
//! what is needed was left, and that was filled up at one place.

use std::sync::atomic::Ordering;
use std::time::Instant;

use stunt_leakage::Bits;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Original;
use stunt_reduce::{At, blank, pad};
use stunt_search::PathCondition;
use stunt_subject::Followed;
use tracing::debug;

use super::Search;
use crate::oracle::Runner;
use crate::refusal::{Error, unless_refused};
use crate::stage::Stage;
use crate::target::Target;

/// The part of the effort and of the time that blanking the input may take: one in so many.
const BLANKING: u32 = 3;
/// The part of the time that reducing may take, to be filled up again.
const PADDING: u32 = 5;
/// So many inputs that were filled up are followed.
const MOST_PADDED: usize = 4;

impl<T: Target> Search<'_, T> {
    /// An input that fails in the same way and is as long, with one value wherever that will do.
    pub(super) fn blanked(&self, oracle: &mut dyn Runner) -> Result<Original, Error> {
        let (begun, time) = (Instant::now(), self.time() / BLANKING);
        self.stage(Stage::Blank);
        let original = &self.base();
        let hidden: Vec<At> = original
            .hidden()
            .iter()
            .map(|byte| (usize::from(byte.source), byte.offset as usize))
            .collect();
        let blanked = self.searching(|cancel| {
            let most = self.allowed.runs / u64::from(BLANKING);
            let over = || begun.elapsed() > time || cancel.load(Ordering::Relaxed);
            blank(&original.reveal(), &hidden, oracle, most, &over)
        });
        Ok(original.with_bytes(blanked?))
    }

    /// The better path of an input, with or without relaxations. None if it cannot be followed to
    /// the failure.
    pub(super) fn start_of(&mut self, input: &Original) -> Result<Option<Start>, Error> {
        let mut start: Option<Start> = None;
        for relax in [self.options.relaxations(), Relaxations::NONE] {
            let path = self.target.follow(Some(input), relax);
            let Some(path) = unless_refused(path)? else { continue };
            self.seconds.trace += path.seconds;
            start = Some(match start {
                Some(start) => start.or(path, input),
                None => Start::new(path, input),
            });
        }
        Ok(start)
    }

    /// Paths of inputs that were reduced, and filled up at one place.
    pub(super) fn padded(&mut self, oracle: &mut dyn Runner) -> Result<Vec<Start>, Error> {
        let (may, runs) = (self.target.may_change(), self.allowed.runs);
        let (begun, time) = (Instant::now(), self.time() / PADDING);
        let shorter = self.shortest(&may, oracle, time, runs * 3 / 4)?.reveal();
        let original = self.target.original();
        let mut inputs = vec![shorter];
        self.stage(Stage::Pad);
        for source in (0..may.len()).filter(|&source| may[source]) {
            let length = original.len_of(source);
            let padded = self.searching(|cancel| {
                let over = || begun.elapsed() > 2 * time || cancel.load(Ordering::Relaxed);
                pad(&inputs[0], source, length, oracle, runs / 4, &over)
            });
            let padded = padded?;
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
            let input = self.target.original().with_bytes(input);
            starts.extend(self.start_of(&input)?);
            if begun.elapsed() > time {
                break;
            }
        }
        Ok(starts)
    }
}

/// An input that fails, and its path.
pub(super) struct Start {
    /// What the path reveals.
    pub(crate) total: Bits,
    pub(crate) path: Followed,
    pub(crate) input: Original,
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

    /// This one, or that path of an input, if it reveals less: a relaxed condition says less, but
    /// what it says can be harder to solve.
    pub(super) fn or(self, path: Followed, input: &Original) -> Self {
        let other = Self::new(path, input);
        if other.bits() < self.bits() { other } else { self }
    }
}
