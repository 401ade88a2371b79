//! How long the double is: as long as the original, or shorter, if that reveals less.
//!
//! A failure that needs a few bytes of a long text may still need all of it to be text, and that costs
//! something for every byte; a shorter input that fails in the same way has fewer of them. What always
//! holds: a shorter double is charged for its length, and both kinds for the choice between them
//! ([`length_bits`] and its neighbours say why). Who asks for a shorter one whatever it reveals
//! (`--resize`) has made the choice, and owes nothing for it. The report of a shorter double does not say
//! how long the original was: that such a program fails on an input of that length could tell more.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use rand_chacha::ChaCha20Rng;
use stunt_leakage::Bits;
use stunt_path::{Failure, Original};
use stunt_report::SourceName;
use stunt_search::weaken::{Broken, length_bits, other_length_bits, same_length_bits, shorten};
use tracing::info;

use super::Resize;
use super::job::{Allowed, Found, Halt, Job, Way};
use super::oracle::Runner;
use super::stage::Stage;
use super::weakening::{MEASURING, SLOW};
use crate::interrupt;

/// A double that reveals no more than this share of the original keeps its length.
const LITTLE: f64 = 0.02;
/// An original whose path reveals more than this share of it gets a shorter double at once.
const MUCH: f64 = 0.25;
/// The part of what is allowed that the search for a double of the same length may take.
const SAME_LENGTH: f64 = 0.55;
/// A shorter double that was found within this part of the time leaves enough of it to look for one of the
/// same length as well.
const SOON: f64 = 0.4;
/// The part that shortening may take of the time that is allowed for a shorter one; of a slow program, whose
/// double takes long to measure; and of one so slow that nothing but shortening helps.
const SHORTENING: f64 = 0.5;
const SHORTENING_SLOWLY: f64 = 0.25;
const SHORTENING_ALONE: f64 = 0.65;
/// A slow program may take so many times the usual time, unless the user has said how long.
const SLOWLY: f64 = 1.5;

/// A shorter double.
struct Shorter {
    found: Found,
    /// What it reveals, at most.
    bits: f64,
    /// The shorter input that it was made from.
    base: Option<Original>,
}

fn interrupted() -> bool {
    interrupt::search(|it| it.load(Ordering::Relaxed))
}

impl Job<'_> {
    /// A double of the same length; or a shorter one, if that one reveals more than a little, and a
    /// shorter one less.
    pub(super) fn of_any_length(
        &mut self,
        failure: &Failure,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        if !self.may_change().contains(&true) {
            return self.find_by(failure, rng);
        }
        let path_leak = self.known_path_leak(failure)?;
        let Some(mut runner) = self.runner(failure)? else {
            return self.find_by(failure, rng);
        };
        let pace = self.pace(&mut *runner)?;
        drop(runner);
        if pace > SLOW && self.arguments.time.is_none() {
            self.allowed.time = self.allowed.time.mul_f64(SLOWLY);
        }
        let size = 8.0 * self.subject.original.hidden().len() as f64;
        let much = path_leak.is_some_and(|leak| leak.upper() > MUCH * size);
        let path_leak = path_leak.unwrap_or(Bits::AtMost(size));
        let (begun, all) = (Instant::now(), self.allowed);
        let mut known: Option<Shorter> = None;
        if pace > SLOW || much {
            // There is time for one search; or a program that asks so much of its input does so of
            // every byte, and needs the better part of the time.
            known = self.less_than(path_leak.upper(), failure, path_leak, rng)?;
            if let Some(shorter) = known.take_if(|shorter| {
                let late = pace > SLOW || begun.elapsed() > all.time.mul_f64(SOON);
                late || shorter.bits <= LITTLE * size || interrupted()
            }) {
                return Ok(Ok(self.taken(shorter)));
            }
            if let Some(shorter) = &mut known {
                self.base = shorter.base.clone();
                self.hold(failure, &mut shorter.found);
                self.base = None;
            }
        }
        self.allowed = all.part(SAME_LENGTH);
        if let Some(shorter) = &known {
            // Nothing comes after it.
            self.allowed = Allowed { runs: all.runs, worth: shorter.bits, ..self.allowed };
        }
        let mut same = match self.find_by(failure, rng)? {
            Ok(same) => same,
            Err(halt) => return Ok(known.map(|shorter| self.taken(shorter)).ok_or(halt)),
        };
        charge_same(&mut same);
        let bits = same.drawn.measured.total.upper();
        if let Some(shorter) = known {
            return Ok(Ok(if shorter.bits < bits { self.taken(shorter) } else { same }));
        }
        if bits <= LITTLE * same.drawn.size as f64 || interrupted() {
            return Ok(Ok(same));
        }
        self.hold(failure, &mut same);
        self.allowed = Allowed {
            // A search may take longer than it should; the other one has its part all the same.
            time: all.time.saturating_sub(begun.elapsed()).max(all.part(1.0 - SAME_LENGTH).time),
            runs: all.runs - self.allowed.runs,
            worth: bits,
        };
        let shorter = self.less_than(bits, failure, path_leak, rng)?;
        Ok(Ok(shorter.map_or(same, |shorter| self.taken(shorter))))
    }

    /// A shorter double that reveals less than so many bits, if one is found.
    fn less_than(
        &mut self,
        most: f64,
        failure: &Failure,
        path_leak: Bits,
        rng: &mut ChaCha20Rng,
    ) -> Result<Option<Shorter>> {
        let found = self.shortened(failure, path_leak, rng)?;
        let base = self.base.take();
        Ok(found.ok().and_then(|found| {
            let bits = found.drawn.measured.total.upper();
            (bits < most).then_some(Shorter { found, bits, base })
        }))
    }

    /// Goes over to the input that a shorter double was made from.
    fn taken(&mut self, shorter: Shorter) -> Found {
        self.base = shorter.base;
        shorter.found
    }

    /// A double that may be shorter, whatever one of the same length would reveal.
    pub(super) fn shorter(
        &mut self,
        failure: &Failure,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        let all = 8 * self.subject.original.hidden().len();
        let path_leak = self.known_path_leak(failure)?.unwrap_or(Bits::AtMost(all as f64));
        self.shortened(failure, path_leak, rng)
    }

    /// What the path of the original reveals, if it can be followed.
    fn known_path_leak(&mut self, failure: &Failure) -> Result<Option<Bits>> {
        if self.subject.is_script() || self.conditions.way != Way::Asked {
            return Ok(None);
        }
        Ok(self.path_leak(failure)?.map(|(leak, _)| leak))
    }

    /// The same, beside what the path of the original reveals. Where it was chosen to look for it, that is
    /// charged, too.
    fn shortened(
        &mut self,
        failure: &Failure,
        path_leak: Bits,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        let begun = Instant::now();
        let may = self.may_change();
        let before = self.allowed;
        let runs = self.make_shorter(failure, &may)?;
        let base = self.base();
        let lengths = (0..may.len()).filter(|&at| may[at]).map(|at| base.len_of(at));
        let chosen = self.arguments.resize() == Resize::Auto;
        let bits = length_bits(lengths) + if chosen { other_length_bits() } else { 0.0 };
        self.allowed = Allowed {
            time: before.time.saturating_sub(begun.elapsed()),
            // What is left of an input that was hard to make shorter is hard to weaken, too.
            runs: before.runs.saturating_sub(runs).max(before.runs / 2),
            worth: before.worth - bits,
        };
        let found = self.find_by(failure, rng)?;
        let is_shorter = bytes(&base) < bytes(&self.subject.original);
        // Who might have made it shorter and could not has a double of the same length.
        let same = !is_shorter && chosen;
        Ok(found.map(|mut found| {
            if same {
                charge_same(&mut found);
            } else {
                charge(&mut found, bits);
            }
            if is_shorter {
                found.shorter_than = Some(path_leak);
                found.notes.push(format!(
                    "The double is shorter than the original, whose length the report does not say; \
                     {bits:.2} bits of the figure are for the length that it has."
                ));
            }
            found
        }))
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

    /// Goes over to a shorter input that fails in the same way, if there is one. Gives the runs that
    /// it took.
    fn make_shorter(&mut self, failure: &Failure, may: &[bool]) -> Result<u64> {
        // The search that follows says so.
        let Some(mut oracle) = self.runner(failure)? else { return Ok(0) };
        let pace = self.pace(&mut *oracle)?;
        let all = self.time();
        let part = match pace {
            _ if pace <= SLOW => SHORTENING,
            _ if pace * MEASURING <= all.mul_f64(1.0 - SHORTENING_SLOWLY) => SHORTENING_SLOWLY,
            _ => SHORTENING_ALONE,
        };
        let time = all.mul_f64(part);
        let shorter = self.shortest(may, &mut *oracle, time, self.allowed.runs)?;
        // A failure that needs no input has nothing to hide; and an empty file is no double.
        if !shorter.hidden().is_empty() {
            self.base = Some(shorter);
        }
        Ok(oracle.runs())
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
        self.progress.stage(Stage::Shorten);
        let begun = Instant::now();
        // What was found before goes on.
        let from = self.short.as_ref().unwrap_or(original).reveal();
        let shorter = interrupt::search(|cancel| {
            let over = || begun.elapsed() > time || cancel.load(Ordering::Relaxed);
            shorten(&from, may, oracle, runs, &over)
        });
        let shorter = shorter.map_err(|error: Broken| anyhow!(error))?;
        self.seconds.search += begun.elapsed().as_secs_f64();
        let shorter = original.with_bytes(shorter);
        let (from, to) = (bytes(original), bytes(&shorter));
        info!(from, to, runs = oracle.runs(), "shortened");
        self.short = Some(shorter.clone());
        Ok(shorter)
    }
}

impl Allowed {
    /// A part of it.
    fn part(self, share: f64) -> Allowed {
        let (time, runs) = (self.time.mul_f64(share), (self.runs as f64 * share) as u64);
        Allowed { time, runs, ..self }
    }
}

/// How many bytes an input has in all.
pub(super) fn bytes(input: &Original) -> usize {
    (0..input.sources()).map(|source| input.len_of(source)).sum()
}

/// What a double of the same length owes. More than all there is cannot be told.
pub(super) fn charge_same(found: &mut Found) {
    let left = found.drawn.size as f64 - found.drawn.measured.total.upper();
    charge(found, same_length_bits().min(left.max(0.0)));
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
