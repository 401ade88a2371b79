//! The search itself: what is tried in which order, and when a try is accepted.
//!
//! Every try is a sequence of runs that ends as soon as it is decided. A try that looks bad is given
//! up after a few runs, which at worst keeps a test too many; one is accepted when its runs show, with
//! little doubt, that the figure falls. Such runs flatter what they accept, so after every pass the condition
//! in hand is measured again. What always holds: at the end of a pass, the condition in hand has the lowest
//! cost of all that were measured so.

mod moves;
mod values;

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::RngCore;
use rustc_hash::{FxHashMap, FxHashSet};
use stunt_leakage::{Bits, ByteLeak};
use stunt_path::{Original, Pin, Test, TestKind};
use stunt_reduce::{Broken, Oracle};
use stunt_terms::{InputByte, Pool};

use super::confidence::Share;
use super::drops::{Group, Order, Stretches, Which, groups};
use super::layout::{Arranged, Layout};
use super::parts::{Draws, Item, Parts, Weak};
use super::sets::{self, Class};
use crate::{Double, Measured};

/// With this probability a condition is accepted that is not better.
const DOUBT: f64 = 0.05;
/// The figure that is printed may be too low with this probability.
const FINAL_DOUBT: f64 = 0.01;
/// The most conditions that one job may measure before it takes the best of them. The lowest of several
/// figures is the luckiest one, too: it holds as surely as is said only if all of them do, so that each
/// gets its part of the doubt.
pub const MOST_MEASURED: u32 = 12;
pub(super) const DOUBT_OF_EACH: f64 = FINAL_DOUBT / MOST_MEASURED as f64;
/// The runs that measure the share at the end.
const FINAL_RUNS: u32 = 300;
/// So many of them should fail: up to three times as many are made for it, if there is time;
const FINAL_HITS: u32 = 200;
/// and so many at least, for which there may be ten times as many.
const FEW_HITS: u32 = 30;
/// The runs that a try begins with: what comes out must not depend on how many processors there are.
const FIRST_BATCH: usize = 2;
/// A try is not accepted after fewer runs,
const LEAST_RUNS: u32 = 6;
/// or fewer of them that fail: one may be luck, however much there is to be gained.
const LEAST_HITS: u32 = 3;
/// After every pass, its result is measured with so many runs.
const CHECK_RUNS: usize = 32;
/// What hardly changes the figure is compared with what there was before by so many.
const COMPARED: usize = 128;
/// The least share of failing runs, of that at the beginning: a double is found by as many runs as
/// this says.
const LEAST_SHARE: f64 = 0.05;
/// For so many bits the share may fall by half, whatever the pass: every later try needs twice the runs then.
const BITS_FOR_HALF: f64 = 16.0;
/// A try that promises less than this, in bits, is not made.
const LEAST_GAIN: f64 = 0.15;

/// A pass over the condition.
struct Pass {
    order: Order,
    which: Which,
    /// What bytes are instead, if they do not become free.
    class: Option<Class>,
    /// The least share of failing runs, of that at the beginning. A small one costs runs in every
    /// later try, so first goes what costs none.
    floor: f64,
    /// The runs after which a try is given up.
    patience: u32,
}

const fn pass(order: Order, which: Which, floor: f64, patience: u32) -> Pass {
    Pass { order, which, class: None, floor, patience }
}

const fn widen(class: Class, floor: f64, patience: u32) -> Pass {
    Pass { order: Order::Bytes, which: Which::All, class: Some(class), floor, patience }
}

const PASSES: [Pass; 14] = [
    pass(Order::Code, Which::Strong, 0.75, 24),
    pass(Order::Bytes, Which::All, 0.75, 24),
    pass(Order::BytesUnderSums, Which::All, 0.25, 48),
    pass(Order::Bytes, Which::Strong, 0.75, 24),
    widen(Class::Ascii, 0.75, 24),
    widen(Class::Printable, 0.75, 24),
    pass(Order::CodeAndBytes, Which::Strong, 0.75, 24),
    widen(Class::Alphanumeric, 0.7, 32),
    widen(Class::Digits, 0.7, 32),
    pass(Order::Code, Which::All, 0.7, 32),
    pass(Order::CodeAndBytes, Which::All, 0.6, 32),
    pass(Order::Bytes, Which::All, 0.5, 48),
    pass(Order::Bytes, Which::All, 0.25, 64),
    pass(Order::Path, Which::Strong, 0.1, 96),
];
/// After this pass, places in the code are tried two by two.
const PAIRS_AFTER: usize = 3;
/// After this pass, bytes get the values with which the program fails: before passes that lower the share, since
/// a value is tried by a few runs.
const SETS_AFTER: usize = 8;
/// The same for an input that is short: trying the values of each byte costs less than most passes.
const SETS_AFTER_IF_SHORT: usize = 1;
/// So many bytes are short.
const SHORT: usize = 160;
/// Where there is time for few runs only, these passes come first: a few tries decide about many bytes.
const FIRST_IN_A_HURRY: [usize; 2] = [7, 8];
/// There is a hurry if there is time for fewer runs than this.
const HURRY: f64 = 1500.0;
/// Two by two is for conditions with no more places in the code than this,
const MOST_PAIRED: usize = 48;
/// and for the few places that reveal most, each beside every other one.
const FIRST_OF_PAIR: usize = 4;
/// A place that reveals less than this, in bits, is not worth a try with every other one.
const LEAST_FOR_PAIRS: f64 = 8.0;

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
}

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
    /// Which pass over the condition this is.
    pub pass: usize,
}

/// What weakening came to.
#[derive(Debug)]
pub struct Weakened {
    /// A double, drawn uniformly from what satisfies the condition and fails.
    pub double: Double,
    /// What it reveals, without what it owes for its length.
    pub measured: Measured,
    /// What the condition alone would reveal, if everything that satisfies it failed.
    pub condition: Bits,
    /// How many runs on solutions of the condition failed, of those that measured it.
    pub share: Share,
    /// Literals that are kept, and literals that there were.
    pub kept: (usize, usize),
    /// How many gaps between them may be longer or shorter; 0 if all stays where it was.
    pub gaps: usize,
    /// Whether the room is filled.
    pub filled: bool,
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
        pass: 0,
        hopeless: FxHashSet::default(),
        classes: FxHashMap::default(),
    };
    if !search.first()? {
        return Ok(None);
    }
    search.passes()?;
    search.moves()?;
    if search.bits() - search.share.value().log2() >= limits.worth {
        return Ok(None);
    }
    search.finish(all)
}

/// Places whose literals turn out to be needed one after the other: the rest of them are taken to be
/// needed too, since trying each would cost more runs than it may save bits.
#[derive(Default)]
struct Needed {
    in_a_row: FxHashMap<Option<u64>, usize>,
}

/// So many single groups of a place that cannot be dropped, one after the other, are enough.
const ENOUGH: usize = 12;

impl Needed {
    fn saw(&mut self, place: Option<u64>, dropped: bool, groups: usize) {
        let in_a_row = self.in_a_row.entry(place).or_default();
        *in_a_row = if dropped { 0 } else { *in_a_row + usize::from(groups == 1) };
    }

    fn everywhere(&self, place: Option<u64>) -> bool {
        // Without a place, groups have nothing in common but their order.
        let enough = if place.is_some() { ENOUGH } else { 4 * ENOUGH };
        self.in_a_row.get(&place).is_some_and(|&in_a_row| in_a_row >= enough)
    }
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

struct Search<'a> {
    parts: Parts<'a>,
    /// The condition in hand, and the runs that accepted it.
    weak: Weak,
    /// The layouts of its pieces, if they may move.
    layout: Option<Rc<Layout>>,
    share: Share,
    /// The share of failing runs at the beginning.
    first: f64,
    oracle: &'a mut dyn Oracle,
    limits: Limits<'a>,
    begun: Instant,
    rng: &'a mut dyn RngCore,
    progress: &'a mut dyn FnMut(Progress),
    runs: u64,
    /// The number of the pass.
    pass: usize,
    /// Conditions of which no solution failed: not worth another look, whatever the pass allows.
    hopeless: FxHashSet<u64>,
    /// Literals of classes that were made.
    classes: FxHashMap<(InputByte, Class), Item>,
}

/// What runs say about a try.
enum Verdict {
    /// It is surely better.
    Better(Share),
    /// It is not, or that would take too many runs to see.
    NotBetter(Share),
}

/// An input that satisfies a condition.
struct Solution {
    input: Vec<Vec<u8>>,
    /// Its layout, if it has one.
    arranged: Option<Arranged>,
    /// Whether it has no other layout, in which it might have been drawn as well.
    is_only: bool,
}

/// The best condition so far, in its layouts, and what it surely costs.
#[derive(Clone)]
struct Best {
    cost: f64,
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

    fn passes(&mut self) -> Result<(), Broken> {
        let mut best = self.best();
        let short = self.parts.hidden.len() <= SHORT;
        let sets_after = if short { SETS_AFTER_IF_SHORT } else { SETS_AFTER };
        // Two rounds: what is dropped late may make free what was needed before.
        for round in 0..2 {
            let before = self.weak.bits();
            self.untie();
            let first = if self.in_a_hurry() { &FIRST_IN_A_HURRY[..] } else { &[] };
            for number in first.iter().copied().chain(0..PASSES.len()) {
                self.pass = number;
                self.pass(&PASSES[number])?;
                match number {
                    PAIRS_AFTER => self.pairs()?,
                    _ if number == sets_after => self.byte_sets()?,
                    _ => {}
                }
                self.keep(&mut best, Draws::Again, CHECK_RUNS)?;
                if self.over() {
                    return Ok(());
                }
            }
            if round > 0 && before - self.weak.bits() < 1.0 {
                break;
            }
        }
        Ok(())
    }

    /// Whether there is time for few runs only, as they have been until now.
    fn in_a_hurry(&self) -> bool {
        let each = self.begun.elapsed().as_secs_f64() / self.runs.max(1) as f64;
        self.limits.time.as_secs_f64() < HURRY * each
    }

    /// What the condition in hand reveals, in all layouts, with what it owes for its length.
    fn bits(&self) -> f64 {
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

    /// What it surely costs.
    fn cost(&self) -> f64 {
        self.bits() - self.share.at_least(DOUBT).log2()
    }

    /// What is in hand now, to go back to.
    fn best(&self) -> Best {
        let (weak, layout) = (self.weak.clone(), self.layout.clone());
        Best { cost: self.cost(), weak, layout, share: self.share }
    }

    /// Measures what is in hand again, and goes back to the best if it is not better. The runs that
    /// accepted a condition flatter it: they were looked at because they were good.
    fn keep(&mut self, best: &mut Best, draws: Draws, runs: usize) -> Result<(), Broken> {
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

    fn over(&self) -> bool {
        self.begun.elapsed() >= self.limits.time
            || self.runs >= self.limits.runs
            || self.limits.cancel.load(Ordering::Relaxed)
    }

    /// Tries to drop stretches of groups, long ones first.
    fn pass(&mut self, pass: &Pass) -> Result<(), Broken> {
        let groups = groups(&self.parts, &self.weak, pass.order, pass.which);
        let mut stretches = Stretches::new(groups.len());
        let mut needed = Needed::default();
        while let Some(stretch) = stretches.next() {
            if self.over() {
                break;
            }
            let place = groups[stretch.start].place;
            let one_place = groups[stretch.end - 1].place == place;
            if one_place && needed.everywhere(place) {
                continue;
            }
            let weak = self.weak.clone();
            let Some(changed) = self.without(&weak, &groups[stretch.clone()], pass.class) else {
                continue;
            };
            if weak.bits() - changed.bits() < LEAST_GAIN {
                // Nothing in it promises more by itself.
                continue;
            }
            let dropped = self.attempt(changed, pass.floor, pass.patience)?;
            if one_place {
                needed.saw(place, dropped, stretch.len());
            }
            if !dropped {
                stretches.split(stretch);
            }
        }
        Ok(())
    }

    /// Tries to drop what two places in the code found out: a comparison may be needed only because
    /// another test came out as it did.
    fn pairs(&mut self) -> Result<(), Broken> {
        loop {
            let groups = groups(&self.parts, &self.weak, Order::Code, Which::All);
            if groups.len() > MOST_PAIRED {
                return Ok(());
            }
            let weak = self.weak.clone();
            let mut gains: Vec<(f64, usize)> = Vec::with_capacity(groups.len());
            for (at, group) in groups.iter().enumerate() {
                let alone = self.parts.changed(&weak, &group.items, &[]);
                gains.push((weak.bits() - alone.bits(), at));
            }
            gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            gains.truncate(FIRST_OF_PAIR);
            gains.retain(|&(gain, _)| gain >= LEAST_FOR_PAIRS);
            if !self.one_pair(&weak, &groups, &gains)? {
                return Ok(());
            }
        }
    }

    /// Drops the first pair that can be dropped: one of some groups, and any other.
    fn one_pair(
        &mut self,
        weak: &Weak,
        groups: &[Group],
        firsts: &[(f64, usize)],
    ) -> Result<bool, Broken> {
        for &(_, first) in firsts {
            for other in (0..groups.len()).filter(|&other| other != first) {
                if self.over() {
                    return Ok(false);
                }
                let items = [&groups[first].items[..], &groups[other].items].concat();
                let changed = self.parts.changed(weak, &items, &[]);
                if self.attempt(changed, 0.25, 48)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The condition without some groups; their bytes are of a class instead, if there is one. None
    /// if no byte is.
    fn without(&mut self, weak: &Weak, groups: &[Group], class: Option<Class>) -> Option<Weak> {
        let Some(class) = class else {
            let mut items: Vec<Item> = groups.iter().flat_map(|it| it.items.clone()).collect();
            items.sort_unstable();
            items.dedup();
            return Some(self.parts.changed(weak, &items, &[]));
        };
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for group in groups {
            let Some(byte) = group.byte else { continue };
            if class.values().contains(self.parts.own(byte)) {
                without.extend_from_slice(&group.items);
                with.push(self.class_literal(byte, class));
            }
        }
        without.sort_unstable();
        without.dedup();
        (!with.is_empty()).then(|| self.parts.changed(weak, &without, &with))
    }

    /// That a byte is of a class; always the same literal.
    fn class_literal(&mut self, byte: InputByte, class: Class) -> Item {
        if let Some(&item) = self.classes.get(&(byte, class)) {
            return item;
        }
        let term = sets::literal(self.parts.pool, byte, class.values());
        let item = self.parts.add(term, 0);
        self.classes.insert((byte, class), item);
        item
    }

    /// Runs on solutions of another condition until it is clear whether it is better.
    fn attempt(&mut self, changed: Weak, floor: f64, patience: u32) -> Result<bool, Broken> {
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

    fn accept(&mut self, share: Share) {
        self.share = share;
        let bits = self.bits() - share.value().log2();
        (self.progress)(Progress { bits, runs: self.runs, pass: self.pass });
    }

    /// The runs that show that something which gains so many bits is better, if they do.
    fn better(
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
    fn sample(
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
    fn drawn(
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
    fn run_drawn(&mut self, drawn: &[Solution]) -> Result<Vec<bool>, Broken> {
        let of_use = drawn.iter().filter(|it| it.is_only).map(|it| it.input.clone());
        let mut results = self.run(&of_use.collect::<Vec<_>>())?.into_iter();
        Ok(drawn.iter().map(|it| it.is_only && results.next() == Some(true)).collect())
    }

    fn run(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        self.runs += inputs.len() as u64;
        self.oracle.fails(inputs)
    }

    /// The runs that measure the share: more if it seems to be small, so that the bound is not far from the guess.
    /// What these runs show must not decide how many they are.
    fn final_runs(&self) -> u32 {
        let runs_for = |hits: u32| (f64::from(hits) / self.share.value()).ceil() as u32;
        let closer = if self.in_a_hurry() { FINAL_RUNS } else { 3 * FINAL_RUNS };
        let few = runs_for(FEW_HITS).min(10 * FINAL_RUNS);
        runs_for(FINAL_HITS).min(closer).max(few).max(FINAL_RUNS)
    }

    /// Measures the share, and draws the double.
    fn finish(mut self, all: usize) -> Result<Option<Weakened>, Broken> {
        let (weak, layout) = (self.weak.clone(), self.layout.clone());
        let mut share = Share::default();
        let mut double: Option<Solution> = None;
        // A condition with one solution has no share to be measured.
        let only = layout.is_none() && weak.bits() >= 8.0 * self.parts.hidden.len() as f64;
        let all_runs = if only { LEAST_RUNS } else { self.final_runs() };
        while share.runs < all_runs {
            let count = (all_runs - share.runs).min(50) as usize;
            let Some(mut drawn) = self.drawn(&weak, layout.as_deref(), Draws::Fresh, count) else {
                return Ok(None);
            };
            let results = self.run_drawn(&drawn)?;
            share.add(&results);
            // The first that fails is as random as any.
            let first = results.iter().position(|&fails| fails);
            double = double.or_else(|| first.map(|at| drawn.swap_remove(at)));
        }
        let Some(Solution { input: bytes, arranged, .. }) = double else { return Ok(None) };
        let mut measured = self.parts.measure(&weak);
        if let Some(arranged) = arranged {
            measured.bytes = rearranged(&measured.bytes, &arranged);
        }
        let condition = measured.total;
        let gain = layout.as_ref().map_or(0.0, |layout| layout.gain());
        if !only {
            measured.total = Bits::Estimate {
                value: condition.value() - gain - share.value().log2(),
                at_most: condition.upper() - gain - share.at_least(DOUBT_OF_EACH).log2(),
                confidence: 1.0 - FINAL_DOUBT,
            };
        }
        let double = Double { bytes, fixed: weak.fixed(), not_uniform: None };
        let kept = (weak.len(), all);
        let gaps = layout.map_or(0, |layout| layout.gaps());
        let filled = self.is_filled();
        Ok(Some(Weakened { double, measured, condition, share, kept, gaps, filled }))
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
