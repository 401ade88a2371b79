//! What a search starts from, if that is not the original itself: the canonical input of its path
//! (`--canonical`), or a shorter input that fails in the same way (`--resize`); and what the figure
//! owes to that.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use rand::Rng;
use rand_chacha::ChaCha20Rng;
use stunt_leakage::Bits;
use stunt_machine::symbolic::Relaxations;
use stunt_path::{Failure, Original};
use stunt_report::SourceName;
use stunt_search::weaken::{Broken, length_bits, shorten};
use stunt_search::{Measured, PathCondition, canonical, castro};
use tracing::info;

use super::Choice;
use super::job::{Found, Halt, Job};
use super::oracle::NativeOracle;
use super::weakening::BLANKING;
use crate::interrupt;
use crate::outcome::Outcome;

/// The most solutions of a path that are tried until one fails natively.
const MOST_DRAWS: u32 = 12;
/// How often a delay looks whether it should end.
const NAP: Duration = Duration::from_millis(50);

/// What the figure owes to the input that the search started from.
pub(super) enum Owed {
    /// Nothing: that was the original.
    Nothing,
    /// All is a function of the path, so the double may tell what the path does.
    Path(Measured),
    /// The double has a length of its own: so many bits.
    Lengths(f64),
}

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
    ) -> Result<Result<ChaCha20Rng, Outcome>> {
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
            Err(halt) => return Ok(Err(self.halt(halt))),
        };
        let lengths: Vec<usize> =
            (0..original.sources()).map(|source| original.len_of(source)).collect();
        let mut own = canonical(&failure.signature(), &lengths, &followed.pool, &followed.tests)
            .context("the path condition cannot be read back; this is a mistake in stunt")?;
        let mut condition = PathCondition::new(&mut own.pool, &own.tests, original);
        for _ in 0..MOST_DRAWS {
            let double = castro(&mut condition, original, &mut own.rng)?;
            if self.proved(failure, &double)? {
                self.owed = Owed::Path(condition.measure());
                self.base = Some(original.with_bytes(double.bytes));
                return Ok(Ok(own.rng));
            }
        }
        let why = format!(
            "no double could be proved: {MOST_DRAWS} solutions of the path condition do not fail natively \
             as the original does. Nothing is handed out."
        );
        Ok(Err(self.halt(Halt { outcome: Outcome::Unproved, why })))
    }

    /// Goes over to a shorter input that fails in the same way.
    pub(super) fn make_shorter(&mut self, failure: &Failure) -> Result<()> {
        if !matches!(self.arguments.algorithm, Choice::Weaken | Choice::Blackbox) {
            bail!(
                "--resize is for --algorithm weaken and blackbox: others keep to a path, and so to a length"
            );
        }
        let original = &self.subject.original;
        let hidden = original.hidden();
        let wholly = |source: usize| {
            let own = hidden.iter().filter(|byte| usize::from(byte.source) == source).count();
            own == original.len_of(source)
        };
        let sources = self.subject.sources.iter().enumerate();
        let may: Vec<bool> = sources
            .map(|(number, source)| {
                let whole = source.name.is_file() || source.name == SourceName::Stdin;
                whole && wholly(number)
            })
            .collect();
        let owed = |base: &Original| {
            let lengths = (0..may.len()).filter(|&at| may[at]).map(|at| base.len_of(at));
            Owed::Lengths(length_bits(lengths))
        };
        self.owed = owed(original);
        let mut oracle = NativeOracle::new(self, failure);
        if !oracle.agrees().map_err(|error| anyhow!(error))? {
            // The search that follows says so.
            return Ok(());
        }
        self.progress.stage("shortening the input");
        let begun = Instant::now();
        let time = Duration::from_secs(self.arguments.time) / BLANKING;
        let shorter = interrupt::search(|cancel| {
            let most = self.arguments.effort / u64::from(BLANKING);
            let over = || begun.elapsed() > time || cancel.load(Ordering::Relaxed);
            shorten(&original.reveal(), &may, &mut oracle, most, &over)
        });
        let shorter = shorter.map_err(|error: Broken| anyhow!(error))?;
        let runs = oracle.runs;
        self.seconds.search += begun.elapsed().as_secs_f64();
        let shorter = original.with_bytes(shorter);
        let left = shorter.hidden().len();
        info!(from = hidden.len(), to = left, runs, "shortened");
        // A failure that needs no input has nothing to hide; and an empty file is no double.
        if left > 0 {
            self.owed = owed(&shorter);
            self.base = Some(shorter);
        }
        Ok(())
    }

    /// The figure with what it owes, and a sentence about it.
    pub(super) fn settled(&self, mut found: Found) -> Found {
        let measured = &mut found.drawn.measured;
        match &self.owed {
            Owed::Nothing => {}
            Owed::Path(of_path) => {
                *measured = of_path.clone();
                found.path_leak = of_path.total;
                found.notes.push(
                    "The double is canonical: equal paths give equal doubles, so it may tell which path \
                     the original took, and no more; another report of the same adds nothing. The figure \
                     is that of the path, whatever the search came to."
                        .to_owned(),
                );
            }
            Owed::Lengths(bits) => {
                measured.total = more(measured.total, *bits);
                found.notes.push(format!(
                    "The double may be shorter than the original. The figure is about inputs of all \
                     lengths: {bits:.2} bits of it are for the length of the double."
                ));
            }
        }
        found
    }

    /// Waits for some time, so that how long all took says nothing.
    pub(super) fn delay(&self, rng: &mut ChaCha20Rng) {
        let Some(longest) = self.arguments.search.hide_time else { return };
        // respa has delays of its own, between its rounds.
        if self.arguments.algorithm == Choice::Respa {
            return;
        }
        self.progress.stage("waiting for some time");
        let time = Duration::from_secs_f64(rng.gen_range(0.0..=longest as f64));
        let begun = Instant::now();
        interrupt::search(|cancel| {
            while begun.elapsed() < time && !cancel.load(Ordering::Relaxed) {
                std::thread::sleep(NAP.min(time));
            }
        });
    }
}

/// A figure with some bits more.
fn more(figure: Bits, bits: f64) -> Bits {
    match figure {
        Bits::Exact(value) => Bits::Exact(value + bits),
        Bits::AtMost(value) => Bits::AtMost(value + bits),
        Bits::Estimate { value, at_most, confidence } => {
            Bits::Estimate { value: value + bits, at_most: at_most + bits, confidence }
        }
    }
}
