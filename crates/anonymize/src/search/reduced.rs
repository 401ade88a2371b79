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

use rand_chacha::ChaCha20Rng;
use stunt_leakage::{Bits, ByteLeak, Charge, Claim};
use stunt_machine::symbolic::Relaxations;
use stunt_path::Original;
use stunt_reduce::{Budget, Remembering, reduce};
use stunt_search::weaken::{
    DrawnFrom, Lengths, Room, length_bits, of_documents, other_length_bits, same_length_bits,
};
use stunt_search::{Double, Measured};
use tracing::info;

use super::weakened::SLOW;
use super::{Allowed, Found, Origin, Proved, Search};
use crate::job::Way;
use crate::options::Resize;
use crate::oracle::Runner;
use crate::refusal::Error;
use crate::stage::Stage;
use crate::target::Target;

/// The part that reducing may take of the time.
const REDUCING: f64 = 0.5;
/// The same if there is time for so few runs that weakening comes to nothing: what is left then is proved, and
/// in hand, before more of the time goes into reducing it further. A job that has nothing in hand when three
/// fifths of the time are over is given up.
const REDUCING_FIRST: f64 = 0.3;
/// The part of what is left of the time for that.
const REDUCING_FURTHER: f64 = 0.8;
/// So many runs are few.
const FEW_RUNS: u32 = 400;
/// With fewer than these, an input does not become as small as it could.
const SOME_RUNS: u32 = 2000;
/// A double that would be refused is worth as many times more of the time, unless the user has said how long.
const ROUNDS: u32 = 4;
/// With less of it changed than this share, an input is hardly another one.
const WORTH_GOING_ON: f64 = 0.03;
/// A slow program may take so many times the usual time, unless the user has said how long.
const SLOWLY: f64 = 1.5;
/// A double is filled up to the original's length if that is at most this, in bytes: a maintainer should be able
/// to look through it.
const MOST_FILLED: usize = 4096;

impl<T: Target> Search<'_, T> {
    /// A double of the reduced original, if anything of it may go.
    pub(super) fn reduced(&mut self, rng: &mut ChaCha20Rng) -> Result<Found, Error> {
        let may = self.target.may_change();
        if !may.contains(&true) {
            return self.find_by(rng);
        }
        if self.conditions.way == Way::Unreduced {
            self.lengths = self.lengths_of(&may);
            let found = self.find_by(rng)?;
            return Ok(self.charged(found));
        }
        // Finding out how the program can be run is a part of it: for a slow one that takes long, too.
        self.stage(Stage::Reduce);
        let Some(mut oracle) = self.runner()? else { return self.find_by(rng) };
        let pace = self.pace(&mut *oracle)?;
        if pace > SLOW && self.options.time.is_none() {
            self.allowed.time = self.allowed.time.mul_f64(SLOWLY);
        }
        let (begun, before) = (Instant::now(), self.allowed);
        let few = pace * FEW_RUNS > self.time();
        let time = self.time().mul_f64(if few { REDUCING_FIRST } else { REDUCING });
        let shorter = self.shortest(&may, &mut *oracle, time, before.runs)?;
        let mut in_hand = self.in_hand(shorter, &may)?;
        if few && in_hand.is_some() {
            let time = before.time.saturating_sub(begun.elapsed()).min(self.time());
            let runs = before.runs.saturating_sub(oracle.runs());
            let time = time.mul_f64(REDUCING_FURTHER);
            in_hand = self.further(&may, &mut *oracle, time, runs, 0.0)?.or(in_hand);
        }
        let mut rounds = if self.options.time.is_none() { ROUNDS } else { 0 };
        let (mut reducing, mut more_may_go) = (begun.elapsed(), self.is_cut_short);
        loop {
            self.allowed = Allowed {
                time: before.time.saturating_sub(reducing),
                // What is left of an input that was hard to reduce is hard to weaken, too.
                runs: before.runs.saturating_sub(oracle.runs()).max(before.runs / 2),
            };
            drop(oracle);
            let found = match self.find_by(rng) {
                Ok(found) => self.charged(found),
                Err(Error::Refused(why)) => in_hand.take().ok_or(Error::Refused(why))?,
                Err(error) => return Err(error),
            };
            if rounds == 0 || !more_may_go || !self.target.refuses(&found) {
                return Ok(found);
            }
            rounds -= 1;
            info!("what was found would be refused, and more may go");
            self.allowed = before;
            let Some(next) = self.runner()? else { return Ok(found) };
            oracle = next;
            let begun = Instant::now();
            let time = self.time().mul_f64(REDUCING_FURTHER);
            in_hand = self.further(&may, &mut *oracle, time, before.runs, WORTH_GOING_ON)?;
            (reducing, more_may_go) = (begun.elapsed(), self.is_cut_short);
            if in_hand.is_none() {
                return Ok(found);
            }
        }
    }

    /// Reduces what the search starts from further. Nothing, and the search starts from what it was, if no more
    /// than this share of it changed or what is left is not proved.
    fn further(
        &mut self,
        may: &[bool],
        oracle: &mut dyn Runner,
        time: Duration,
        runs: u64,
        share: f64,
    ) -> Result<Option<Found>, Error> {
        let shorter = self.shortest(may, oracle, time, runs)?;
        if changed(&self.base(), &shorter) <= share {
            return Ok(None);
        }
        let kept = (self.base.clone(), self.lengths);
        let in_hand = self.in_hand(shorter, may)?;
        if in_hand.is_none() {
            (self.base, self.lengths) = kept;
        }
        Ok(in_hand)
    }

    /// What is left of the original is what the search starts from, and the answer if it is proved.
    fn in_hand(&mut self, shorter: Original, may: &[bool]) -> Result<Option<Found>, Error> {
        // A failure that needs no input has nothing to hide; and an empty file is no double.
        if shorter.hidden_len() > 0 {
            self.base = Some(shorter);
            // A shorter one is quicker.
            self.pace = None;
        }
        self.lengths = self.lengths_of(may);
        let mut in_hand = self.base_itself()?.map(|found| self.charged(found));
        if let Some(found) = &mut in_hand {
            self.hold(found);
        }
        Ok(in_hand)
    }

    /// How long a double may be, and what it owes for that.
    fn lengths_of(&self, may: &[bool]) -> Lengths {
        let (base, original) = (self.base(), self.target.original());
        let changed: Vec<usize> =
            (0..may.len()).filter(|&at| base.len_of(at) < original.len_of(at)).collect();
        let chosen = self.options.resize() == Resize::Auto;
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
    fn base_itself(&mut self) -> Result<Option<Found>, Error> {
        let Some(base) = self.base.clone() else { return Ok(None) };
        let hidden = base.hidden();
        let size = 8 * hidden.len();
        let whole = |byte| ByteLeak { byte, bits: Bits::Exact(8.0) };
        let measured = Measured {
            total: Bits::Exact(size as f64),
            bytes: hidden.into_iter().map(whole).collect(),
        };
        let double = Double { bytes: base.reveal(), fixed: 0, not_uniform: None };
        let Some(seen) = self.proved(&double)? else { return Ok(None) };
        let (claim, set) = (Claim::of_set(measured.total), Some(self.only(&base)));
        let drawn = Proved { double, failure: seen, measured, claim, set, size, draws: 1 };
        Ok(Some(Found {
            notes: vec!["The double is what is left of the original when everything is gone that the failure \
                         does not need: all of it is the original's."
                .to_owned()],
            ..Found::new(drawn, Origin::Runs, Relaxations::ALL)
        }))
    }

    /// The set that has one input, which may be a document.
    fn only(&self, base: &Original) -> DrawnFrom {
        let of_leaves = || {
            let rendering = self.leaves()?;
            let mut leaves = Original::new();
            rendering.leaves().iter().for_each(|it| leaves.push(it.bytes.to_vec(), Vec::new()));
            of_documents(&rendering, &leaves.reveal(), DrawnFrom::only(&leaves))
        };
        of_leaves().unwrap_or_else(|| DrawnFrom::only(base))
    }

    /// A double with what it owes for its length, and a sentence about it.
    fn charged(&self, mut found: Found) -> Found {
        let is_shorter = self.base().size() < self.target.original().size() && !found.is_filled;
        let owed = if found.is_filled { self.lengths.full } else { self.lengths.short };
        let owed = match is_shorter {
            true => owed,
            // More than all there is cannot be told.
            false => {
                owed.min((found.drawn.size as f64 - found.drawn.measured.total.upper()).max(0.0))
            }
        };
        let choice = match (self.options.resize() == Resize::Auto, is_shorter) {
            (true, true) => other_length_bits().min(owed),
            (true, false) => owed,
            (false, _) => 0.0,
        };
        let claim = found.drawn.claim.clone().charged(Charge::Choice, owes(choice));
        found.drawn.claim = claim.charged(Charge::Length, owes(owed - choice));
        found.drawn.measured.total = found.drawn.measured.total + owes(owed);
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

    /// The shortest input that fails in the same way, as far as it is found. It begins with what the search
    /// starts from.
    pub(super) fn shortest(
        &mut self,
        may: &[bool],
        oracle: &mut dyn Runner,
        time: Duration,
        runs: u64,
    ) -> Result<Original, Error> {
        let original = self.target.original();
        let few = self.pace.is_some_and(|pace| pace * SOME_RUNS > time);
        self.stage(Stage::Reduce);
        let begun = Instant::now();
        let from = self.base().reveal();
        let mut in_vain = std::mem::take(&mut self.in_vain);
        let shorter = self.searching(|cancel| {
            let over = || begun.elapsed() > time || cancel.load(Ordering::Relaxed);
            let without = &self.options.without;
            let mut oracle = Remembering::new(&mut *oracle, &mut in_vain);
            reduce(&from, may, &mut oracle, Budget { runs, over: &over, without, few })
        });
        let shorter = shorter?;
        self.in_vain = in_vain;
        self.is_cut_short = begun.elapsed() > time;
        self.seconds.search += begun.elapsed().as_secs_f64();
        let shorter = original.with_bytes(shorter.input);
        let (from, to) = (original.size(), shorter.size());
        info!(from, to, runs = oracle.runs(), "reduced");
        Ok(shorter)
    }
}

/// Which share of an input became another one, or went.
fn changed(from: &Original, to: &Original) -> f64 {
    let (from, to) = (from.reveal().concat(), to.reveal().concat());
    let differ = match from.len().abs_diff(to.len()) {
        0 => from.iter().zip(&to).filter(|(one, other)| one != other).count(),
        differ => differ,
    };
    differ as f64 / from.len().max(1) as f64
}

/// What is owed for certain, as a figure.
fn owes(bits: f64) -> Bits {
    if bits > 0.0 { Bits::AtMost(bits) } else { Bits::ZERO }
}
