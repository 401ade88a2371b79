//! The search itself: what is tried in which order, and when a try is accepted.
//!
//! Every try is a sequence of runs that ends as soon as it is decided. A try that looks bad is given
//! up after a few runs, which at worst keeps a test too many; one is accepted when its runs show, with
//! little doubt, that the figure falls. Such runs flatter what they accept, so after every pass the condition
//! in hand is measured again. What always holds: at the end of a pass, the condition in hand has the lowest
//! cost of all that were measured so.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::RngCore;
use rustc_hash::{FxHashMap, FxHashSet};
use stunt_leakage::{Bits, ByteLeak, Charge, Claim};
use stunt_path::{Original, Pin, Test, TestKind};
use stunt_reduce::{Broken, Oracle};
use stunt_terms::{InputByte, Pool};

use super::classes::Class;
use super::confidence::Share;
use super::drawn::{DrawnFrom, drawn_from};
use super::layout::{Arranged, Layout};
use super::parts::{Draws, Item, Parts, Weak};
use super::plain::{Plain, Readable};
use super::schedule::{self, Tally};
use crate::{Double, Measured};

/// With this probability a condition is accepted that is not better.
pub(super) const DOUBT: f64 = 0.05;
/// The figure that is printed may be too low with this probability.
const FINAL_DOUBT: f64 = 0.01;
/// The most conditions that one job may measure before it takes the best of them. The lowest of several
/// figures is the luckiest one, too: it holds as surely as is said only if all of them do, so that each
/// gets its part of the doubt.
pub const MOST_MEASURED: u32 = 12;
pub(super) const DOUBT_OF_EACH: f64 = FINAL_DOUBT / MOST_MEASURED as f64;
/// The runs that measure the share at the end.
const FINAL_RUNS: u32 = 300;
/// The same where there is time for few: the bound is a fifth of a bit higher then.
const FEW_RUNS: u32 = 60;
/// So many of them should fail: up to three times as many are made for it, if there is time;
const FINAL_HITS: u32 = 200;
/// and so many at least, for which there may be ten times as many.
const FEW_HITS: u32 = 30;
/// What the double is drawn from has one in so many of the runs that measure the condition.
const OF_PLAIN: u32 = 2;
/// The runs that a try begins with: what comes out must not depend on how many processors there are.
pub(super) const FIRST_BATCH: usize = 2;
/// A try is not accepted after fewer runs,
const LEAST_RUNS: u32 = 6;
/// or fewer of them that fail: one may be luck, however much there is to be gained.
const LEAST_HITS: u32 = 3;
/// After every pass, its result is measured with so many runs.
pub(super) const CHECK_RUNS: usize = 32;
/// What hardly changes the figure is compared with what there was before by so many.
pub(super) const COMPARED: usize = 128;
/// The least share of failing runs, of that at the beginning: a double is found by as many runs as
/// this says.
pub(super) const LEAST_SHARE: f64 = 0.05;
/// For so many bits the share may fall by half, whatever the pass: every later try needs twice the runs then.
const BITS_FOR_HALF: f64 = 16.0;
/// A try that promises less than this, in bits, is not made.
pub(super) const LEAST_GAIN: f64 = 0.15;

/// There is a hurry if there is time for fewer runs than this.
const HURRY: f64 = 1500.0;

/// When the search ends.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The time for tries; measuring the result comes on top.
    pub time: Duration,
    /// The most runs for tries.
    pub runs: u64,
    /// Set by someone else: the search ends with what it has.
    pub cancel: &'a AtomicBool,
    /// A result that reveals as much, in bits, is of no use: it is not measured.
    pub worth: f64,
    /// How long the double may be.
    pub lengths: Lengths,
    /// Moves that are left out, by name.
    pub without: &'a [String],
    /// Whether the double is drawn so that a person can read it.
    pub readable: Readable,
    /// What the description of a set costs, in bits, if it can be described.
    pub price: Price<'a>,
}

/// What the description of a set costs.
pub type Price<'a> = &'a dyn Fn(&DrawnFrom) -> Option<f64>;

/// How long a double may be, and what it owes for that, in bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lengths {
    /// A source that may be longer than it is.
    pub room: Option<Room>,
    /// What a double owes whose sources are as long as those of the input that the search starts from.
    pub short: f64,
    /// What it owes if the room is filled.
    pub full: f64,
}

/// A source that may be longer, and the length that it may have then.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The number of the source.
    pub source: usize,
    /// Its length.
    pub length: usize,
}

/// How far the search is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What the condition in hand reveals, about.
    pub bits: f64,
    /// Runs so far.
    pub runs: u64,
}

/// What weakening came to.
#[derive(Debug)]
pub struct Weakened {
    /// A double, drawn uniformly from what satisfies the condition and fails.
    pub double: Double,
    /// What it reveals, without what it owes for its length.
    pub measured: Measured,
    /// The same, charge by charge.
    pub claim: Claim,
    /// What the double was drawn from, if everything that satisfies the condition failed.
    pub drawn: DrawnFrom,
    /// What the condition alone would reveal, if everything that satisfies it failed.
    pub condition: Bits,
    /// How many runs on solutions of the condition failed, of those that measured it.
    pub share: Share,
    /// The same for what the double was drawn from, in the last runs of all: the double is the first that failed.
    pub draws: Share,
    /// Literals that are kept, and literals that there were.
    pub kept: (usize, usize),
    /// How many gaps between them may be longer or shorter; 0 if all stays where it was.
    pub gaps: usize,
    /// Whether the room is filled.
    pub filled: bool,
    /// What each move took and gained.
    pub tally: Vec<Tally>,
}

/// Weakens the condition of a path as far as the failure allows. `None` if too few runs on its
/// solutions fail, or it cannot be solved, or what comes out is of no use.
///
/// # Errors
/// The program cannot be run.
pub fn weaken(
    pool: &mut Pool,
    tests: &[Test],
    original: &Original,
    oracle: &mut dyn Oracle,
    limits: Limits<'_>,
    rng: &mut dyn RngCore,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Weakened>, Broken> {
    let (parts, weak) = Parts::new(pool, tests, original);
    let all = parts.literals.len();
    let begun = Instant::now();
    let share = Share::default();
    let mut search = Search {
        parts,
        weak,
        layout: None,
        share,
        first: 1.0,
        oracle,
        limits,
        begun,
        rng,
        progress,
        runs: 0,
        hopeless: FxHashSet::default(),
        classes: FxHashMap::default(),
    };
    if !search.first()? {
        return Ok(None);
    }
    let tally = schedule::run(&mut search)?;
    if search.bits() - search.share.value().log2() >= limits.worth {
        return Ok(None);
    }
    search.finish(all, tally)
}

/// The same without any path: to begin with, every byte is as it is. For programs that can be run
/// and not followed.
///
/// # Errors
/// The program cannot be run.
pub fn blackbox(
    original: &Original,
    oracle: &mut dyn Oracle,
    limits: Limits<'_>,
    rng: &mut dyn RngCore,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Weakened>, Broken> {
    let mut pool = Pool::new();
    let own = original.assignment();
    let pinned = |(byte, number): (InputByte, u64)| {
        let variable = pool.byte(byte);
        let value = pool.constant(8, u128::from(own.get(byte)));
        // Each byte is a place of its own: that one is needed says nothing about the next.
        let kind = TestKind::Pin(Pin::Operation);
        Test { condition: pool.eq(variable, value), address: number, kind }
    };
    let tests: Vec<Test> = original.hidden().into_iter().zip(1..).map(pinned).collect();
    weaken(&mut pool, &tests, original, oracle, limits, rng, progress)
}

/// A search under way: the condition in hand, and who is asked about it.
pub(super) struct Search<'a> {
    pub(super) parts: Parts<'a>,
    /// The condition in hand, and the runs that accepted it.
    pub(super) weak: Weak,
    /// The layouts of its pieces, if they may move.
    pub(super) layout: Option<Rc<Layout>>,
    pub(super) share: Share,
    /// The share of failing runs at the beginning.
    pub(super) first: f64,
    pub(super) oracle: &'a mut dyn Oracle,
    pub(super) limits: Limits<'a>,
    pub(super) begun: Instant,
    pub(super) rng: &'a mut dyn RngCore,
    pub(super) progress: &'a mut dyn FnMut(Progress),
    pub(super) runs: u64,
    /// Conditions of which no solution failed: not worth another look, whatever the pass allows.
    pub(super) hopeless: FxHashSet<u64>,
    /// Literals of classes that were made.
    pub(super) classes: FxHashMap<(InputByte, Class), Item>,
}

/// What runs say about a try.
pub(super) enum Verdict {
    /// It is surely better.
    Better(Share),
    /// It is not, or that would take too many runs to see.
    NotBetter(Share),
}

/// An input that satisfies a condition.
pub(super) struct Solution {
    pub(super) input: Vec<Vec<u8>>,
    /// Its layout, if it has one.
    arranged: Option<Arranged>,
    /// Whether it has no other layout, in which it might have been drawn as well.
    is_only: bool,
}

/// The best condition so far, in its layouts, and what it surely costs.
#[derive(Clone)]
pub(super) struct Best {
    pub(super) cost: f64,
    weak: Weak,
    layout: Option<Rc<Layout>>,
    share: Share,
}

impl Search<'_> {
    /// Runs on solutions of the whole condition.
    fn first(&mut self) -> Result<bool, Broken> {
        for _ in 0..4 {
            let Some(results) = self.sample(&self.weak.clone(), None, Draws::Again, 8)? else {
                return Ok(false);
            };
            self.share.add(&results);
            if self.share.value() > 0.9 {
                break;
            }
        }
        self.first = self.share.value();
        Ok(self.share.hits > 0)
    }

    /// Whether there is time for few runs only, as they have been until now.
    pub(super) fn in_a_hurry(&self) -> bool {
        let each = self.begun.elapsed().as_secs_f64() / self.runs.max(1) as f64;
        self.limits.time.as_secs_f64() < HURRY * each
    }

    /// What the condition in hand reveals, in all layouts, with what it owes for its length.
    pub(super) fn bits(&self) -> f64 {
        self.weak.bits() - self.layout.as_ref().map_or(0.0, |it| it.gain()) + self.owed()
    }

    fn is_filled(&self) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.extra() > 0)
    }

    /// What the lengths of an input owe.
    fn owed(&self) -> f64 {
        let Lengths { short, full, .. } = self.limits.lengths;
        if self.is_filled() { full } else { short }
    }

    /// Whether what is in hand is another than the best that was measured.
    pub(super) fn has_changed(&self, best: &Best) -> bool {
        let key = |layout: &Option<Rc<Layout>>| layout.as_ref().map(Rc::as_ptr);
        self.weak.key() != best.weak.key() || key(&self.layout) != key(&best.layout)
    }

    /// Whether a move is left out.
    pub(super) fn is_left_out(&self, name: &str) -> bool {
        self.limits.without.iter().any(|it| it == name)
    }

    /// What it surely costs.
    fn cost(&self) -> f64 {
        self.bits() - self.share.at_least(DOUBT).log2()
    }

    /// What is in hand now, to go back to.
    pub(super) fn best(&self) -> Best {
        let (weak, layout) = (self.weak.clone(), self.layout.clone());
        Best { cost: self.cost(), weak, layout, share: self.share }
    }

    /// Measures what is in hand again, and goes back to the best if it is not better. The runs that
    /// accepted a condition flatter it: they were looked at because they were good.
    pub(super) fn keep(
        &mut self,
        best: &mut Best,
        draws: Draws,
        runs: usize,
    ) -> Result<(), Broken> {
        let (weak, layout) = (self.weak.clone(), self.layout.clone());
        if let Some(results) = self.sample(&weak, layout.as_deref(), draws, runs)? {
            self.share = Share::default();
            self.share.add(&results);
            let often = self.share.value() >= LEAST_SHARE * self.first;
            if often && self.cost() <= best.cost {
                *best = self.best();
                return Ok(());
            }
        }
        Best { weak: self.weak, layout: self.layout, share: self.share, .. } = best.clone();
        Ok(())
    }

    pub(super) fn over(&self) -> bool {
        self.begun.elapsed() >= self.limits.time
            || self.runs >= self.limits.runs
            || self.limits.cancel.load(Ordering::Relaxed)
    }

    /// Runs on solutions of another condition until it is clear whether it is better.
    pub(super) fn attempt(
        &mut self,
        changed: Weak,
        floor: f64,
        patience: u32,
    ) -> Result<bool, Broken> {
        let gain = self.weak.bits() - changed.bits();
        let key = changed.key();
        if self.hopeless.contains(&key) {
            return Ok(false);
        }
        match self.better(gain, &changed, None, floor, patience)? {
            Verdict::Better(share) => {
                self.weak = changed;
                self.accept(share);
                return Ok(true);
            }
            Verdict::NotBetter(share) if share.hits == 0 && share.runs >= LEAST_RUNS => {
                self.hopeless.insert(key);
            }
            Verdict::NotBetter(_) => {}
        }
        Ok(false)
    }

    pub(super) fn accept(&mut self, share: Share) {
        self.share = share;
        let bits = self.bits() - share.value().log2();
        (self.progress)(Progress { bits, runs: self.runs });
    }

    /// The runs that show that something which gains so many bits is better, if they do.
    pub(super) fn better(
        &mut self,
        gain: f64,
        changed: &Weak,
        layout: Option<&Layout>,
        floor: f64,
        patience: u32,
    ) -> Result<Verdict, Broken> {
        let now = self.share.value();
        // What gains much may cost more of the share than a pass allows.
        let floor = floor.min((-gain / BITS_FOR_HALF).exp2());
        // Where the share is below the floor already, it must not fall much further.
        let floor = (floor * self.first).min(0.85 * now).max(LEAST_SHARE * self.first);
        let least = (now * (-gain).exp2()).max(floor);
        let mut share = Share::default();
        let mut batch = FIRST_BATCH;
        while share.runs < patience {
            let Some(results) = self.sample(changed, layout, Draws::Again, batch)? else { break };
            share.add(&results);
            if share.at_most(2.0 * DOUBT) < least {
                break;
            }
            let surely = share.at_least(DOUBT);
            let enough =
                share.runs >= LEAST_RUNS && share.hits >= LEAST_HITS && share.value() >= floor;
            if enough && gain + surely.log2() > now.log2() {
                return Ok(Verdict::Better(share));
            }
            batch = (batch * 2).min(16);
        }
        Ok(Verdict::NotBetter(share))
    }

    /// Runs on so many solutions. `None` if the condition cannot be drawn from.
    pub(super) fn sample(
        &mut self,
        weak: &Weak,
        layout: Option<&Layout>,
        draws: Draws,
        count: usize,
    ) -> Result<Option<Vec<bool>>, Broken> {
        let Some(drawn) = self.drawn(weak, layout, draws, count) else { return Ok(None) };
        self.run_drawn(&drawn).map(Some)
    }

    /// So many solutions, each in one of its layouts.
    pub(super) fn drawn(
        &mut self,
        weak: &Weak,
        layout: Option<&Layout>,
        draws: Draws,
        count: usize,
    ) -> Option<Vec<Solution>> {
        let mut drawn = Vec::with_capacity(count);
        for _ in 0..count {
            let values = self.parts.draw(weak, draws, self.rng)?;
            let mut input = self.parts.input(&values);
            let arranged = layout.map(|layout| layout.arrange(&mut input, self.rng));
            let is_only = layout.is_none_or(|layout| layout.is_only(&input));
            drawn.push(Solution { input, arranged, is_only });
        }
        Some(drawn)
    }

    /// Which of these fail; one that would be drawn more often than others counts as one that does not.
    pub(super) fn run_drawn(&mut self, drawn: &[Solution]) -> Result<Vec<bool>, Broken> {
        let of_use = drawn.iter().filter(|it| it.is_only).map(|it| it.input.clone());
        let mut results = self.run(&of_use.collect::<Vec<_>>())?.into_iter();
        Ok(drawn.iter().map(|it| it.is_only && results.next() == Some(true)).collect())
    }

    pub(super) fn run(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        self.runs += inputs.len() as u64;
        self.oracle.fails(inputs)
    }

    /// The runs that measure the share: more if it seems to be small, so that the bound is not far from the guess.
    /// What these runs show must not decide how many they are.
    fn final_runs(&self) -> u32 {
        let runs_for = |hits: u32| (f64::from(hits) / self.share.value()).ceil() as u32;
        let few = runs_for(FEW_HITS).min(10 * FINAL_RUNS);
        if self.in_a_hurry() {
            return few.clamp(FEW_RUNS, FINAL_RUNS);
        }
        runs_for(FINAL_HITS).min(3 * FINAL_RUNS).max(few).max(FINAL_RUNS)
    }

    /// Runs on so many fresh solutions: how many fail, and the first that does, which is as random as any.
    fn measured(
        &mut self,
        weak: &Weak,
        layout: Option<&Layout>,
        runs: u32,
    ) -> Result<Option<(Share, Option<Solution>)>, Broken> {
        let (mut share, mut double) = (Share::default(), None);
        while share.runs < runs {
            let count = (runs - share.runs).min(50) as usize;
            let Some(mut drawn) = self.drawn(weak, layout, Draws::Fresh, count) else {
                return Ok(None);
            };
            let results = self.run_drawn(&drawn)?;
            share.add(&results);
            let first = results.iter().position(|&fails| fails);
            double = double.or_else(|| first.map(|at| drawn.swap_remove(at)));
        }
        Ok(Some((share, double)))
    }

    /// Measures the share, and draws the double from the plainest part of what satisfies the condition.
    fn finish(mut self, all: usize, tally: Vec<Tally>) -> Result<Option<Weakened>, Broken> {
        let (weak, layout) = (self.weak.clone(), self.layout.clone());
        // A condition with one solution has no share to be measured.
        let only = layout.is_none() && weak.bits() >= 8.0 * self.parts.hidden.len() as f64;
        let all_runs = if only { LEAST_RUNS } else { self.final_runs() };
        let plain = if only { None } else { self.plain(self.limits.readable)? };
        let Some((share, mut double)) = self.measured(&weak, layout.as_deref(), all_runs)? else {
            return Ok(None);
        };
        let failing = |share: Share| Bits::Estimate {
            value: -share.value().log2(),
            at_most: -share.at_least(DOUBT_OF_EACH).log2(),
            confidence: 1.0 - FINAL_DOUBT,
        };
        let mut drawn = None;
        let mut draws = share;
        if let Some(Plain { weak, layout }) = plain
            && let Some((share, Some(found))) =
                self.measured(&weak, layout.as_deref(), all_runs / OF_PLAIN)?
        {
            let mut from = drawn_from(&self.parts, &weak, layout.as_deref());
            from.failing = Some(failing(share));
            (drawn, double, draws) = (Some(from), Some(found), share);
        }
        let Some(Solution { input: bytes, arranged, .. }) = double else { return Ok(None) };
        let mut measured = self.parts.measure(&weak);
        if let Some(arranged) = arranged {
            measured.bytes = rearranged(&measured.bytes, &arranged);
        }
        let condition = measured.total;
        let gain = layout.as_ref().map_or(0.0, |layout| layout.gain());
        let mut claim = Claim::of_set(condition.less(gain));
        if !only {
            claim = claim.charged(Charge::Failing, failing(share));
        }
        if let Some(from) = &drawn
            && let (Some(price), Some(failing)) = ((self.limits.price)(from), from.failing)
        {
            claim = claim.described_in_part(price + from.joined, failing);
        }
        measured.total = claim.leak();
        let double = Double { bytes, fixed: weak.fixed(), not_uniform: None };
        let drawn = drawn.unwrap_or_else(|| drawn_from(&self.parts, &weak, layout.as_deref()));
        let kept = (weak.len(), all);
        let gaps = layout.map_or(0, |layout| layout.gaps());
        let filled = self.is_filled();
        Ok(Some(Weakened {
            double,
            measured,
            claim,
            drawn,
            condition,
            share,
            draws,
            kept,
            gaps,
            filled,
            tally,
        }))
    }
}

/// What is revealed about bytes, moved along with them.
fn rearranged(bytes: &[ByteLeak], arranged: &Arranged) -> Vec<ByteLeak> {
    let source = arranged.source;
    let is_own = |leak: &&ByteLeak| usize::from(leak.byte.source) == source;
    let before: Vec<Bits> = bytes.iter().filter(is_own).map(|leak| leak.bits).collect();
    let mut moved: Vec<ByteLeak> = bytes.iter().filter(|leak| !is_own(leak)).cloned().collect();
    for (from, offset) in arranged.from.iter().zip(0u32..) {
        let bits = match *from {
            Ok(place) => before[place],
            Err(values) => Bits::Exact(8.0 - f64::from(values).log2()),
        };
        moved.push(ByteLeak { byte: InputByte::new(source as u16, offset), bits });
    }
    moved.sort_by_key(|leak| leak.byte);
    moved
}
