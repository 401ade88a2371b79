//! Reduce first: a double of what is left of the original when everything is gone that the failure does not need.
//!
//! A reducer cuts the original down at the program's own speed, however long it is; what is left is short, and
//! all that comes after costs little: following it, weakening its condition, measuring, proving. The reduced
//! input is a double itself, though one that tells every bit it has, and so the answer in hand from the first
//! moment on.
//!
//! What always holds: a double that is shorter than the original is charged for its length, one that was filled
//! up to the original's length for the choice between the two ([`length_bits`] and its neighbours say why). Who
//! asks for a shorter one (`--resize`) has made the choice, and owes nothing for it. The report of a shorter
//! double does not say how long the original was: that such a program fails on an input of that length could
//! tell more.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use rand_chacha::ChaCha20Rng;
use stunt_leakage::{Bits, ByteLeak};
use stunt_machine::symbolic::Relaxations;
use stunt_path::{Failure, Original};
use stunt_reduce::{Broken, Budget, reduce};
use stunt_report::SourceName;
use stunt_search::weaken::{Lengths, Room, length_bits, other_length_bits, same_length_bits};
use stunt_search::{Double, Measured};
use stunt_terms::Pool;
use tracing::info;

use super::Resize;
use super::job::{Allowed, Found, Halt, Job, Proved, Way};
use super::oracle::Runner;
use super::stage::Stage;
use super::weakening::SLOW;
use crate::follow::Followed;
use crate::interrupt;

/// The part that reducing may take of the time.
const REDUCING: f64 = 0.5;
/// A slow program may take so many times the usual time, unless the user has said how long.
const SLOWLY: f64 = 1.5;
/// A double is filled up to the original's length if that is at most this, in bytes: a maintainer should be able
/// to look through it.
const MOST_FILLED: usize = 4096;

impl Job<'_> {
    /// A double of the reduced original, if anything of it may go.
    pub(super) fn reduced(
        &mut self,
        failure: &Failure,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        let may = self.may_change();
        if !may.contains(&true) {
            return self.find_by(failure, rng);
        }
        if self.conditions.way == Way::Unreduced {
            self.lengths = self.lengths_of(&may);
            return Ok(self.find_by(failure, rng)?.map(|found| self.charged(found)));
        }
        let Some(mut oracle) = self.runner(failure)? else { return self.find_by(failure, rng) };
        let pace = self.pace(&mut *oracle)?;
        if pace > SLOW && self.arguments.time.is_none() {
            self.allowed.time = self.allowed.time.mul_f64(SLOWLY);
        }
        let (begun, before) = (Instant::now(), self.allowed);
        let time = self.time().mul_f64(REDUCING);
        let shorter = self.shortest(&may, &mut *oracle, time, before.runs)?;
        let runs = oracle.runs();
        drop(oracle);
        // A failure that needs no input has nothing to hide; and an empty file is no double.
        if !shorter.hidden().is_empty() {
            self.base = Some(shorter);
        }
        self.lengths = self.lengths_of(&may);
        let in_hand = self.base_itself(failure)?.map(|found| self.charged(found));
        if let Some(found) = &in_hand {
            self.hold(found);
        }
        self.allowed = Allowed {
            time: before.time.saturating_sub(begun.elapsed()),
            // What is left of an input that was hard to reduce is hard to weaken, too.
            runs: before.runs.saturating_sub(runs).max(before.runs / 2),
            worth: before.worth,
        };
        Ok(match self.find_by(failure, rng)? {
            Ok(found) => Ok(self.charged(found)),
            Err(halt) => in_hand.ok_or(halt),
        })
    }

    /// Which sources may have another length: those that are hidden wholly, and that a program reads to
    /// their end.
    pub(super) fn may_change(&self) -> Vec<bool> {
        let original = &self.subject.original;
        let hidden = original.hidden();
        let wholly = |source: usize| {
            let own = hidden.iter().filter(|byte| usize::from(byte.source) == source).count();
            own == original.len_of(source) && own > 0
        };
        let sources = self.subject.sources.iter().enumerate();
        let read = |name: &SourceName| name.is_file() || *name == SourceName::Stdin;
        sources.map(|(number, source)| read(&source.name) && wholly(number)).collect()
    }

    /// How long a double may be, and what it owes for that.
    fn lengths_of(&self, may: &[bool]) -> Lengths {
        let (base, original) = (self.base(), &self.subject.original);
        let changed: Vec<usize> =
            (0..may.len()).filter(|&at| base.len_of(at) < original.len_of(at)).collect();
        let chosen = self.arguments.resize() == Resize::Auto;
        if changed.is_empty() {
            let owed = if chosen { same_length_bits() } else { 0.0 };
            return Lengths { room: None, short: owed, full: owed };
        }
        let of_lengths =
            length_bits((0..may.len()).filter(|&at| may[at]).map(|at| base.len_of(at)));
        let room = |&source: &usize| Room { source, length: original.len_of(source) };
        Lengths {
            room: match &changed[..] {
                [source] if chosen && original.len_of(*source) <= MOST_FILLED => Some(room(source)),
                _ => None,
            },
            short: of_lengths + if chosen { other_length_bits() } else { 0.0 },
            full: same_length_bits(),
        }
    }

    /// The reduced input as a double of itself, if it is proved: it tells all that it is.
    fn base_itself(&mut self, failure: &Failure) -> Result<Option<Found>> {
        let Some(base) = self.base.clone() else { return Ok(None) };
        let hidden = base.hidden();
        let size = 8 * hidden.len();
        let whole = |byte| ByteLeak { byte, bits: Bits::Exact(8.0) };
        let measured = Measured {
            total: Bits::Exact(size as f64),
            bytes: hidden.into_iter().map(whole).collect(),
        };
        let double = Double { bytes: base.reveal(), fixed: 0, not_uniform: None };
        let Some(seen) = self.proved(failure, &double)? else { return Ok(None) };
        let drawn = Proved { double, failure: seen, measured, size, draws: 1 };
        let followed = Followed::of_path(Pool::new(), Vec::new(), failure);
        Ok(Some(Found {
            notes: vec!["The double is what is left of the original when everything is gone that the failure \
                         does not need: all of it is the original's."
                .to_owned()],
            ..Found::new(drawn, followed, Relaxations::ALL)
        }))
    }

    /// A double with what it owes for its length, and a sentence about it.
    fn charged(&self, mut found: Found) -> Found {
        let is_shorter = bytes(&self.base()) < bytes(&self.subject.original) && !found.is_filled;
        let owed = if found.is_filled { self.lengths.full } else { self.lengths.short };
        let owed = match is_shorter {
            true => owed,
            // More than all there is cannot be told.
            false => {
                owed.min((found.drawn.size as f64 - found.drawn.measured.total.upper()).max(0.0))
            }
        };
        charge(&mut found, owed);
        if self.base.is_some() {
            // What is known is the path of another input.
            found.path_leak = None;
        }
        if is_shorter {
            found.is_shorter = true;
            found.notes.push(format!(
                "The double is shorter than the original, whose length the report does not say; \
                 {owed:.2} bits of the figure are for the length that it has."
            ));
        }
        found
    }

    /// The shortest input that fails in the same way, as far as it is found.
    pub(super) fn shortest(
        &mut self,
        may: &[bool],
        oracle: &mut dyn Runner,
        time: Duration,
        runs: u64,
    ) -> Result<Original> {
        let original = &self.subject.original;
        self.progress.stage(Stage::Reduce);
        let begun = Instant::now();
        let from = original.reveal();
        let shorter = interrupt::search(|cancel| {
            let over = || begun.elapsed() > time || cancel.load(Ordering::Relaxed);
            let without = &self.arguments.without;
            reduce(&from, may, oracle, Budget { runs, over: &over, without })
        });
        let shorter = shorter.map_err(|error: Broken| anyhow!(error))?;
        self.seconds.search += begun.elapsed().as_secs_f64();
        let shorter = original.with_bytes(shorter.input);
        let (from, to) = (bytes(original), bytes(&shorter));
        info!(from, to, runs = oracle.runs(), "reduced");
        Ok(shorter)
    }
}

/// How many bytes an input has in all.
pub(super) fn bytes(input: &Original) -> usize {
    (0..input.sources()).map(|source| input.len_of(source)).sum()
}

/// Adds some bits to the figure, which is a bound then, or an estimate still.
fn charge(found: &mut Found, bits: f64) {
    let total = &mut found.drawn.measured.total;
    *total = match *total {
        Bits::Exact(value) | Bits::AtMost(value) => Bits::AtMost(value + bits),
        Bits::Estimate { value, at_most, confidence } => {
            Bits::Estimate { value: value + bits, at_most: at_most + bits, confidence }
        }
    };
}
