//! What all strategies share: points on paths, the steps between them, and what they cost.
//!
//! A [`Point`] is a prefix of a path: its tests, their conjunction, about what it leaks, and an
//! input that takes it. It holds no execution of its own, only an [`Anchor`] some tests before it, from which it
//! is walked again: anchors are made at every point as long as there are few of them, and less often
//! the more there are, because a snapshot of a large program is large. A [`State`] is a point with
//! an execution that stands there.
//!
//! What always holds: the input of a point satisfies all its tests. The solver is asked only where
//! that input does not go where the search wants to, and only about what the test touches.
//!
//! This file must not know which way is worth trying.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rand::RngCore;
use rustc_hash::FxHashSet;
use stunt_leakage::{Accounts, Fraction, Ledger};
use stunt_models::Budget;
use stunt_path::{Execution, Failure, Junction, Node, Stop, TestKind};
use stunt_solver::{Answer, Budget as Effort, Solver};
use stunt_terms::{Assignment, Pool, Term};

use super::price::Prices;
use super::trail::{Step, Trail};
use super::{Astray, Limits, Path, Progress, Statistics, Task};
use crate::simplify::simplify;

/// So many anchors are made at every point; after each further such number, half as often.
const ANCHORS: usize = 512;
/// How often anchors are made half as often at most.
const SPARSEST: usize = 16;
/// The most outcomes of one test that are looked for. A branch has two, a switch some; a scan can
/// stop at any byte.
const MOST_OUTCOMES: usize = 64;
/// How long nothing is reported.
const SILENCE: Duration = Duration::from_millis(100);
/// What one question may cost: a search asks thousands.
const EFFORT: Effort = Effort { conflicts: 20_000, time: Duration::from_secs(10) };

/// An execution that stands somewhere, to be forked from.
pub(crate) struct Anchor<E> {
    execution: RefCell<E>,
    /// What it is bound to.
    input: Arc<Assignment>,
    depth: usize,
    _alive: Rc<()>,
}

/// A prefix of a path.
pub(crate) struct Point<E> {
    anchor: Rc<Anchor<E>>,
    /// The tests.
    pub trail: Trail,
    /// Their conjunction.
    pub ledger: Ledger,
    /// About how much they leak, in bits: see [`Prices`].
    pub price: f64,
    /// An input that passes them.
    pub input: Arc<Assignment>,
}

// Not derived: an execution cannot be cloned, and need not be.
impl<E> Clone for Point<E> {
    fn clone(&self) -> Self {
        Point {
            anchor: Rc::clone(&self.anchor),
            trail: self.trail.clone(),
            ledger: self.ledger.clone(),
            price: self.price,
            input: Arc::clone(&self.input),
        }
    }
}

impl<E> Point<E> {
    /// The last test with its outcome; none at the start.
    pub fn node(&self) -> Option<Node> {
        self.trail.node()
    }
}

/// A point with an execution that stands there.
pub(crate) struct State<E> {
    /// Where it is.
    pub point: Point<E>,
    execution: E,
}

impl<E: Execution> State<E> {
    /// Where the execution stands.
    pub fn stop(&self) -> &Stop {
        self.execution.stop()
    }

    /// The test that it stands before.
    pub fn junction(&self) -> Option<Junction> {
        match self.stop() {
            Stop::Test(junction) => Some(*junction),
            Stop::Ended(_) | Stop::Lost(_) => None,
        }
    }

    /// Another one that stands here.
    pub fn fork(&mut self) -> State<E> {
        State { point: self.point.clone(), execution: self.execution.fork() }
    }
}

/// Another input for a test that is to come out otherwise.
pub(crate) enum Turn {
    /// This one does it.
    Input(Arc<Assignment>),
    /// No input does.
    Never,
    /// It was not found out.
    Unknown,
}

/// A search under way.
pub(crate) struct Search<'a> {
    /// The pool of all terms.
    pub pool: &'a mut Pool,
    /// The caller's randomness.
    pub rng: &'a mut dyn RngCore,
    /// What was done so far.
    pub statistics: Statistics,
    /// For the leak of whole paths.
    pub accounts: Accounts,
    prices: Prices,
    solver: Solver,
    target: &'a Failure,
    given: &'a [Term],
    limits: Limits<'a>,
    progress: &'a mut dyn FnMut(Progress),
    pause: &'a mut dyn FnMut(Duration),
    started: Instant,
    /// What was waited for on purpose, and does not count.
    waited: Duration,
    reported: Instant,
    best: f64,
    /// What the original's own path fixes.
    own_pins: FxHashSet<Term>,
    by_input: bool,
    alive: Rc<()>,
}

impl<'a> Search<'a> {
    /// Begins, and walks the original's path: its start, and its failing end.
    pub fn begin<E: Execution>(
        mut start: E,
        task: Task<'a>,
    ) -> Result<(Search<'a>, Point<E>, State<E>), Astray> {
        let Task { pool, original, target, given, limits, rng, progress, pause } = task;
        let now = (limits.clock)();
        let mut search = Search {
            pool,
            rng,
            statistics: Statistics::default(),
            accounts: Accounts::new(Budget::quick()),
            prices: Prices::default(),
            solver: Solver::new(EFFORT),
            target,
            given,
            limits,
            progress,
            pause,
            started: now,
            waited: Duration::ZERO,
            reported: now,
            best: f64::INFINITY,
            own_pins: FxHashSet::default(),
            by_input: false,
            alive: Rc::new(()),
        };
        let execution = start.fork();
        let input = Arc::new(original.assignment());
        let anchor = Rc::new(Anchor {
            execution: RefCell::new(start),
            input: Arc::clone(&input),
            depth: 0,
            _alive: Rc::clone(&search.alive),
        });
        let (trail, ledger) = (Trail::default(), Ledger::new());
        let mut root = Point { anchor, trail, ledger, price: 0.0, input };
        for &literal in given {
            search.push(&mut root, literal);
        }
        let mut state = State { point: root.clone(), execution };
        while let Some(junction) = state.junction() {
            if let TestKind::Pin(_) = junction.test.kind {
                search.own_pins.insert(junction.test.condition);
            }
            search.pass(&mut state, junction);
            if search.limits.cancel.load(Ordering::Relaxed) {
                return Err(Astray::Cancelled);
            }
        }
        match state.stop() {
            Stop::Lost(why) => return Err(Astray::Lost(why.clone())),
            Stop::Ended(Some(failure)) if failure == search.target => {}
            Stop::Ended(_) | Stop::Test(_) => return Err(Astray::OtherEnd),
        }
        // Limits are for what comes on top.
        search.limits.nodes = search.limits.nodes.saturating_add(search.statistics.nodes);
        Ok((search, root, state))
    }

    /// Whether the search must end now.
    pub fn spent(&self) -> bool {
        self.statistics.nodes >= self.limits.nodes
            || self.limits.cancel.load(Ordering::Relaxed)
            || self.left().is_zero()
    }

    /// The time that is left.
    fn left(&self) -> Duration {
        let worked = self.since(self.started).saturating_sub(self.waited);
        self.limits.time.saturating_sub(worked)
    }

    /// Waits as long as the caller makes it. That is not time spent on the search.
    pub fn wait(&mut self, delay: Duration) {
        let begun = (self.limits.clock)();
        (self.pause)(delay);
        self.waited += self.since(begun);
    }

    fn since(&self, moment: Instant) -> Duration {
        (self.limits.clock)().saturating_duration_since(moment)
    }

    /// Whether all that was decided so far follows from the original's path, so that any other input of
    /// that path would have led to the same.
    pub fn by_path(&self) -> bool {
        !self.by_input
    }

    /// Notes that something was decided by the input at hand, which is made from the original: another
    /// input of the same path might have led elsewhere.
    pub fn decide_by_input(&mut self) {
        self.by_input = true;
    }

    /// A value that is fixed off the original's path is that of the input at hand.
    fn note_pin(&mut self, junction: &Junction) {
        if matches!(junction.test.kind, TestKind::Pin(_))
            && !self.own_pins.contains(&junction.test.condition)
        {
            self.decide_by_input();
        }
    }

    /// Keeps an end, if its whole path leaks less than the best one so far.
    pub(crate) fn keep_better<E>(&mut self, best: &mut Option<(Point<E>, f64)>, end: Point<E>) {
        let leak = self.whole_leak(&end);
        if best.as_ref().is_none_or(|(_, least)| leak < *least) {
            self.improved(leak);
            *best = Some((end, leak));
        }
    }

    /// Tells what the best result so far reveals.
    pub fn improved(&mut self, bits: f64) {
        self.best = self.best.min(bits);
        self.report(true);
    }

    fn report(&mut self, now: bool) {
        if now || self.since(self.reported) >= SILENCE {
            self.reported = (self.limits.clock)();
            let seconds = self.since(self.started).as_secs_f64();
            let (nodes, best_bits) = (self.statistics.nodes, self.best);
            (self.progress)(Progress { nodes, best_bits, seconds });
        }
    }

    /// Whether the execution ended in the failure.
    pub fn failed<E: Execution>(&self, state: &State<E>) -> bool {
        matches!(state.stop(), Stop::Ended(Some(failure)) if failure == self.target)
    }

    /// Makes the test that the state stands before, with the outcome that it shows.
    pub fn pass<E: Execution>(&mut self, state: &mut State<E>, junction: Junction) {
        self.note_pin(&junction);
        self.push(&mut state.point, junction.test.condition);
        state.point.trail.push(Step::from(junction));
        state.execution.advance(self.pool);
        self.statistics.nodes += 1;
        if matches!(state.stop(), Stop::Lost(_)) {
            self.statistics.lost += 1;
        }
        if self.statistics.nodes.is_multiple_of(64) {
            self.report(false);
        }
    }

    /// Makes an anchor where the state stands, unless there are many and the last one is near.
    pub fn anchor<E: Execution>(&self, state: &mut State<E>) {
        let apart = 1 << (Rc::strong_count(&self.alive) / ANCHORS).min(SPARSEST);
        if state.point.trail.len() >= state.point.anchor.depth + apart {
            self.hold(state);
        }
    }

    /// Makes an anchor where the state stands.
    pub fn hold<E: Execution>(&self, state: &mut State<E>) {
        let (depth, _alive) = (state.point.trail.len(), Rc::clone(&self.alive));
        let (execution, input) = (state.execution.fork(), Arc::clone(&state.point.input));
        let execution = RefCell::new(execution);
        state.point.anchor = Rc::new(Anchor { execution, input, depth, _alive });
    }

    /// An execution at the point: the anchor's, with the point's input, walked on to the point.
    pub fn resume<E: Execution>(&mut self, point: &Point<E>) -> State<E> {
        let mut execution = point.anchor.execution.borrow_mut().fork();
        if !Arc::ptr_eq(&point.anchor.input, &point.input) {
            execution.bind(self.pool, &point.input);
        }
        for _ in point.anchor.depth..point.trail.len() {
            execution.advance(self.pool);
            self.statistics.nodes += 1;
        }
        State { point: point.clone(), execution }
    }

    /// An input that passes the point's tests and none of the conditions.
    pub fn turn<E>(&mut self, point: &Point<E>, excluded: &[Term]) -> Turn {
        self.statistics.turns += 1;
        // A question may take all the time that is left, and no more.
        self.solver.budget.time = EFFORT.time.min(self.left());
        let questions: Vec<Term> = excluded.iter().map(|&term| self.pool.not(term)).collect();
        let condition = point.ledger.condition();
        match self.solver.satisfiable_all(self.pool, condition, Some(&point.input), &questions) {
            Answer::Sat(model) => Turn::Input(Arc::new(model.overlay(&point.input))),
            Answer::Unsat => Turn::Never,
            Answer::Unknown(_) => {
                self.statistics.unknown += 1;
                Turn::Unknown
            }
        }
    }

    /// Binds the state to another input. Gives the test that it stands before then, if that is the
    /// same test as before with another outcome, as it must be.
    pub fn bind<E: Execution>(
        &mut self,
        state: &mut State<E>,
        input: Arc<Assignment>,
    ) -> Option<Junction> {
        let before = state.junction()?;
        state.execution.bind(self.pool, &input);
        state.point.input = input;
        let after = state.junction()?;
        let same = after.node.place == before.node.place;
        (same && after.node.outcome != before.node.outcome).then_some(after)
    }

    /// The outcomes of the test that the state stands before, each with an input for it, the one
    /// that it shows first; until one is `enough`, or there is no other. The state is bound to the
    /// last one then. The second value says whether there may be others.
    pub fn outcomes<E: Execution>(
        &mut self,
        state: &mut State<E>,
        mut enough: impl FnMut(&Junction) -> bool,
    ) -> (Vec<(Junction, Arc<Assignment>)>, bool) {
        let Some(first) = state.junction() else { return (Vec::new(), false) };
        let mut found = vec![(first, Arc::clone(&state.point.input))];
        let mut excluded = vec![first.test.condition];
        if enough(&first) || !first.open {
            return (found, true);
        }
        while found.len() < MOST_OUTCOMES {
            let input = match self.turn(&state.point, &excluded) {
                Turn::Never => return (found, false),
                Turn::Unknown => {
                    self.decide_by_input();
                    return (found, true);
                }
                Turn::Input(input) => input,
            };
            let Some(next) = self.bind(state, Arc::clone(&input)) else {
                self.statistics.lost += 1;
                self.decide_by_input();
                return (found, true);
            };
            found.push((next, input));
            excluded.push(next.test.condition);
            if enough(&next) {
                return (found, true);
            }
            // Two outcomes that exclude each other by name are all.
            if found.len() == 2 && self.pool.not(excluded[0]) == excluded[1] {
                return (found, false);
            }
        }
        // Which of more outcomes these are depends on the inputs that were found.
        self.decide_by_input();
        (found, true)
    }

    /// The last of some outcomes, of which one was looked for that is not the first: the other one, if
    /// there are two. Of more, which one was found depends on the input.
    pub fn another<'o>(
        &mut self,
        found: &'o [(Junction, Arc<Assignment>)],
    ) -> Option<&'o (Junction, Arc<Assignment>)> {
        if let [(first, _), .., (last, _)] = found
            && self.pool.not(first.test.condition) != last.test.condition
        {
            self.decide_by_input();
        }
        found.last()
    }

    /// Makes the test that the state stands before with an outcome that was found there.
    pub fn take<E: Execution>(
        &mut self,
        state: &mut State<E>,
        outcome: &(Junction, Arc<Assignment>),
    ) {
        let (junction, input) = outcome;
        if !Arc::ptr_eq(&state.point.input, input) {
            state.execution.bind(self.pool, input);
            state.point.input = Arc::clone(input);
        }
        self.pass(state, *junction);
    }

    /// All outcomes of the test that the state stands before, as points after it, in the order of
    /// their numbers: the papers' GENERATECHILDREN. Which input is bound makes no difference, unless
    /// there is a pin, more outcomes than are looked for, or a question without an answer.
    pub fn children<E: Execution>(&mut self, mut state: State<E>) -> Vec<Point<E>> {
        self.anchor(&mut state);
        let (mut found, _) = self.outcomes(&mut state, |_| false);
        found.sort_by_key(|(junction, _)| junction.node.outcome);
        let mut children = Vec::with_capacity(found.len());
        for (junction, input) in found {
            self.note_pin(&junction);
            let mut child = Point { input, ..state.point.clone() };
            self.push(&mut child, junction.test.condition);
            child.trail.push(Step::from(junction));
            children.push(child);
        }
        children
    }

    /// Adds a literal to a point's condition and price, not to its tests.
    pub fn push<E>(&mut self, point: &mut Point<E>, literal: Term) {
        let Point { ledger, price, .. } = point;
        *price += self.prices.push(self.pool, &mut self.accounts, ledger, literal);
    }

    /// About what the tests of a path leak after 0, `stride`, 2 `stride`, … of them, and after all.
    pub fn profile(
        &mut self,
        tests: impl ExactSizeIterator<Item = Term>,
        stride: usize,
    ) -> Vec<f64> {
        let (mut ledger, mut price, all) = (Ledger::new(), 0.0, tests.len());
        let mut prices = vec![0.0];
        for (literal, made) in tests.zip(1..) {
            price += self.prices.push(self.pool, &mut self.accounts, &mut ledger, literal);
            if made % stride == 0 || made == all {
                prices.push(price);
            }
        }
        prices
    }

    /// The leak of a whole path in bits, at most: as exact as it can be.
    pub fn whole_leak<E>(&mut self, point: &Point<E>) -> f64 {
        self.counted(&point.trail).bits().upper()
    }

    /// A failing path, with the share of inputs that take it as exact as it can be.
    pub fn path<E>(&mut self, point: &Point<E>) -> Path {
        let fraction = self.counted(&point.trail);
        Path { trail: point.trail.clone(), witness: (*point.input).clone(), fraction }
    }

    /// The share of inputs that pass some tests, with all that is known about counting.
    fn counted(&mut self, trail: &Trail) -> Fraction {
        let mut literals = self.given.to_vec();
        literals.extend(trail.steps().iter().map(|step| step.test.condition));
        let mut ledger = Ledger::new();
        for literal in simplify(self.pool, &mut self.accounts.masks, &literals) {
            ledger.push(self.pool, &mut self.accounts, literal);
        }
        ledger.fraction(self.pool, &mut self.accounts)
    }
}
