//! What a symbolic run gathers: terms, tests, and what was learned on the way.

use std::sync::Arc;

use stunt_path::{Pin, Test, TestKind};
use stunt_terms::{Assignment, Evaluator, Op, Pool, Support, Term};
use stunt_unwind::failure::{Exception, Throws};
use stunt_unwind::stack::Thread as _;

use crate::{
    code::{Slot, Width, slots},
    cpu::Cpu,
    linux::ThreadId,
    memory::AddressSpace,
    stopped::StoppedThread,
};

use super::{
    clauses::{Held, Pending},
    flags::FOLLOWED,
    guard::Guards,
    images::Image,
    layers::Layers,
    units::Steps,
    words::{Cut, Word},
};

/// Which of Camouflage's relaxations are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relaxations {
    /// Comparisons of strings and memory: that they differ somewhere, not where.
    pub comparisons: bool,
    /// Conditions of several clauses: that one of them holds, not which.
    pub clauses: bool,
    /// Jumps through tables: the target, not the index.
    pub switches: bool,
    /// Reads from constant tables: the value, not the index. Accesses to one of a few places: what is
    /// in each, not which it was.
    pub reads: bool,
}

impl Relaxations {
    /// All of them.
    pub const ALL: Self = Self { comparisons: true, clauses: true, switches: true, reads: true };
    /// None: the path condition as the program made it.
    pub const NONE: Self =
        Self { comparisons: false, clauses: false, switches: false, reads: false };
    /// Those that hold for other inputs than the run's own, too: all but the one that takes back
    /// tests that were passed.
    pub const STEPWISE: Self = Self { clauses: false, ..Self::ALL };
}

/// The least and the greatest value of a term.
pub(super) type Bounds = (u128, u128);

/// Throws that are kept: exceptions that were caught may be thrown again later.
const KEPT: usize = 32;

/// Bytes of a stack that are searched for payloads, and at a time.
const STACK: usize = 256 << 10;
const PIECE: usize = 512;

/// Writes to standard error that are noted.
const TOLD: usize = 1 << 16;

/// A process at the moment when it threw an exception or a panic.
pub struct Throw {
    /// The registers of the thread.
    pub cpu: Cpu,
    /// The memory.
    pub space: AddressSpace,
    /// How many tests there were when it became certain.
    pub tests: usize,
}

impl Throw {
    fn fork(&mut self) -> Self {
        Self { cpu: self.cpu.clone(), space: self.space.fork(), tests: self.tests }
    }
}

/// A call that is not followed.
#[derive(Clone, Copy)]
pub(super) struct Ignored {
    /// Where it returns to.
    pub(super) to: u64,
    /// The stack pointer before the call.
    pub(super) above: u64,
    /// What its answer stands for.
    pub(super) answer: Option<Word>,
}

/// A symbolic run under way: the pool of its terms, and the tests so far.
pub struct Symbolic {
    /// All terms.
    pub pool: Pool,
    pub(super) tests: Vec<Test>,
    seen: Layers<Term, ()>,
    /// Bounds that the tests imply, for terms that are compared with constants.
    pub(super) bounds: Layers<Term, Bounds>,
    /// The indices of tables, and what they were in the run.
    pub(super) indices: Layers<Term, u64>,
    pub(super) relax: Relaxations,
    /// The address of the instruction that is running.
    pub(super) at: u64,
    /// Instructions that were executed with terms.
    pub(super) followed: u64,
    /// What is known about the program that runs, and about others that did.
    pub(super) image: Image,
    pub(super) images: Vec<Image>,
    /// The thread that runs.
    pub(super) thread: Option<ThreadId>,
    /// Nobody inside the machine reads what the process writes to its standard streams.
    pub(super) quiet: bool,
    /// How many tests there were when a function was called that does not return.
    doom: Option<usize>,
    /// How much was written to standard error by the beginning of each write, and how many tests there
    /// were then.
    told: Vec<(u64, usize)>,
    told_until: u64,
    thrown: Throws<Throw>,
    /// A function is running whose doings do not matter.
    pub(super) ignored: Option<Ignored>,
    /// The program is doomed: it is not followed any more, unless somebody catches what is thrown.
    pub(super) lost: bool,
    /// A branch that was taken and is not a test yet.
    pub(super) held: Option<Held>,
    /// A clause of a condition that may have more.
    pub(super) pending: Option<Pending>,
    /// What tests changed in the bounds, to be taken back with them: how many tests there were, the
    /// term, and its bounds before.
    learned: Vec<(usize, Term, Option<Bounds>)>,
    /// The sizes of all terms so far.
    pub(super) sizes: Vec<u32>,
    /// Terms that were cut down, and to what; valid as long as no test is taken back.
    pub(super) cuts: Layers<Term, Term>,
    /// When terms were cut down: how many tests there were after that.
    pub(super) cut_at: Vec<(usize, Term)>,
    /// When terms were fixed: how many tests there were then.
    fixed: Vec<(usize, Term)>,
    /// The checked heap, if memory is checked.
    pub(super) guards: Option<Guards>,
    /// Terms that were fixed, and to what.
    pub(super) known: Layers<Term, u64>,
    /// The run's own input, to say which way choices went.
    pub(super) input: Option<(Arc<Assignment>, Evaluator)>,
    /// Whether every term is compared with the value that it stands for.
    checks: bool,
    /// No test is taken back, even if the next one says more.
    keeps: bool,
    /// The run stops before each test.
    pub(super) steps: Option<Steps>,
}

impl Symbolic {
    /// A run that has not begun.
    #[must_use]
    pub fn new(relax: Relaxations) -> Self {
        Self {
            pool: Pool::new(),
            tests: Vec::new(),
            seen: Layers::default(),
            bounds: Layers::default(),
            indices: Layers::default(),
            relax,
            at: 0,
            followed: 0,
            image: Image::default(),
            images: Vec::new(),
            thread: None,
            quiet: false,
            doom: None,
            told: Vec::new(),
            told_until: 0,
            thrown: Throws::new(KEPT),
            ignored: None,
            lost: false,
            held: None,
            pending: None,
            learned: Vec::new(),
            guards: None,
            sizes: Vec::new(),
            cuts: Layers::default(),
            cut_at: Vec::new(),
            fixed: Vec::new(),
            known: Layers::default(),
            input: None,
            checks: false,
            keeps: false,
            steps: None,
        }
    }

    /// A second run in the same state, between two units; what one learns is not seen by the other.
    /// It has no terms and no sizes of terms: these are lent to whoever runs.
    pub(crate) fn fork(&mut self) -> Self {
        debug_assert!(self.held.is_none() && self.pending.is_none());
        Self {
            pool: Pool::default(),
            tests: self.tests.clone(),
            seen: self.seen.fork(),
            bounds: self.bounds.fork(),
            indices: self.indices.fork(),
            relax: self.relax,
            at: self.at,
            followed: self.followed,
            image: self.image.clone(),
            images: self.images.clone(),
            thread: self.thread,
            quiet: self.quiet,
            doom: self.doom,
            told: self.told.clone(),
            told_until: self.told_until,
            thrown: self.thrown.fork(Throw::fork),
            ignored: self.ignored,
            lost: self.lost,
            held: None,
            pending: None,
            learned: self.learned.clone(),
            guards: self.guards.clone(),
            sizes: Vec::new(),
            cuts: self.cuts.fork(),
            cut_at: self.cut_at.clone(),
            fixed: self.fixed.clone(),
            known: self.known.fork(),
            input: self.input.as_ref().map(|(input, _)| (Arc::clone(input), Evaluator::new())),
            checks: self.checks,
            keeps: self.keeps,
            steps: self.steps.clone(),
        }
    }

    /// Notes from now on what tests change, to take it back.
    pub(super) fn begin_notes(&mut self) {
        self.seen.begin();
        self.bounds.begin();
        self.indices.begin();
        self.cuts.begin();
        self.known.begin();
    }

    /// Takes back all tests that are kept, and what was learned since they began.
    pub(super) fn roll_back(&mut self) {
        self.seen.roll_back();
        self.bounds.roll_back();
        self.indices.roll_back();
        self.cuts.roll_back();
        self.known.roll_back();
        self.forget_tests();
    }

    /// Forgets the tests that are kept, and how to take them back one by one; what was learned from
    /// them stays.
    pub(super) fn forget_tests(&mut self) {
        self.tests.clear();
        self.learned.clear();
        self.fixed.clear();
        self.cut_at.clear();
    }

    /// Lends a pool, the sizes of its terms, and values of terms, or gives them back.
    pub(crate) fn exchange(
        &mut self,
        pool: &mut Pool,
        sizes: &mut Vec<u32>,
        evaluator: &mut Evaluator,
    ) {
        std::mem::swap(&mut self.pool, pool);
        std::mem::swap(&mut self.sizes, sizes);
        if let Some((_, own)) = &mut self.input {
            std::mem::swap(own, evaluator);
        }
    }

    /// The value of a term for the run's own input.
    pub(crate) fn value(&mut self, term: Term) -> u128 {
        match &mut self.input {
            Some((input, evaluator)) => evaluator.eval(&self.pool, term, input),
            None => 0,
        }
    }

    /// Whether a term depends on one of these bytes.
    pub(crate) fn depends_on(&self, term: Term, bytes: &Support) -> bool {
        self.pool.support(term).intersects(bytes)
    }

    /// The input of the run is another one from now on, which passes all tests so far.
    pub(crate) fn exchange_input(&mut self, input: Arc<Assignment>) {
        let mut evaluator = self.input.take().map_or_else(Evaluator::new, |(_, it)| it);
        evaluator.reset();
        self.input = Some((input, evaluator));
    }

    /// Tells the run's own input, so that conditions that grow too large can be cut down to what
    /// the run did.
    pub fn set_input(&mut self, input: Assignment) {
        self.input = Some((Arc::new(input), Evaluator::new()));
    }

    /// Compares every term with the value that it stands for, from now on. For tests of the
    /// machine itself: it is slow.
    pub fn check_against(&mut self, input: Assignment) {
        self.set_input(input);
        self.checks = true;
    }

    /// Keeps every test from now on, even if the next one says more; a run that stops before each test
    /// does so anyway. Clauses are not joined then.
    pub fn keep_tests(&mut self) {
        self.keeps = true;
        self.relax.clauses = false;
    }

    /// Whether no test is taken back.
    pub(super) fn keeps_tests(&self) -> bool {
        self.keeps || self.steps.is_some()
    }

    /// A function is called that does not return.
    pub(super) fn doom(&mut self) {
        self.doom.get_or_insert(self.tests.len());
        self.lost = true;
    }

    /// What was thrown is caught.
    pub(super) fn catch(&mut self) {
        self.doom = None;
        self.lost = false;
    }

    /// An exception or a panic is thrown.
    pub(super) fn throw(&mut self, cpu: &Cpu, space: &mut AddressSpace) {
        let again = super::hooks::return_address(cpu, space)
            .is_some_and(|to| self.image.rethrows.iter().any(|range| range.contains(&to)));
        let header = cpu.get(slots::RDI);
        let thread = self.thread.map_or(0, |it| u64::from(it.pid.0) << 32 | u64::from(it.tid.0));
        if again && self.thrown.threw_again(thread, header) {
            return;
        }
        let mut thrower = StoppedThread::new(cpu, space);
        let exception = Exception::read(header, &mut thrower);
        let mut stack = Vec::new();
        let mut piece = [0; PIECE];
        let mut at = cpu.get(slots::RSP);
        while stack.len() < STACK && thrower.read(at, &mut piece) {
            stack.extend_from_slice(&piece);
            at = at.wrapping_add(PIECE as u64);
        }
        let tests = self.doom.unwrap_or(self.tests.len());
        let left = Throw { cpu: cpu.clone(), space: space.fork(), tests };
        self.thrown.threw(thread, exception, &stack, left);
    }

    /// What was thrown.
    pub fn thrown(&mut self) -> &mut Throws<Throw> {
        &mut self.thrown
    }

    /// How many tests there were when a function was called that did not return.
    #[must_use]
    pub fn doomed(&self) -> Option<usize> {
        self.doom
    }

    /// A thread is about to write so many bytes to standard error.
    pub(super) fn tells(&mut self, bytes: u64) {
        if self.told.len() < TOLD {
            self.told.push((self.told_until, self.tests.len()));
            self.told_until += bytes;
        }
    }

    /// How many tests there were before it was written what stands at this place of standard error.
    #[must_use]
    pub fn tests_before_told(&self, place: u64) -> Option<usize> {
        let at = self.told.partition_point(|(begins, _)| *begins <= place);
        Some(self.told.get(at.checked_sub(1)?)?.1)
    }

    /// The tests so far, in order.
    #[must_use]
    pub fn tests(&self) -> &[Test] {
        &self.tests
    }

    /// Forgets all tests but the first `count`: what came later does not matter.
    pub fn forget_tests_after(&mut self, count: usize) {
        self.tests.truncate(count);
    }

    /// Instructions that were executed with terms.
    #[must_use]
    pub fn followed(&self) -> u64 {
        self.followed
    }

    /// What a slot stands for; a constant, if it stands for its value only.
    #[inline]
    pub(super) fn term(&mut self, cpu: &Cpu, slot: Slot) -> Word {
        match cpu.shadow.get(slot) {
            Some(word) => word,
            None => Word::constant(&mut self.pool, cpu.get(slot)),
        }
    }

    /// The same at a width.
    #[inline]
    pub(super) fn at_width(&mut self, cpu: &Cpu, w: Width, slot: Slot) -> Cut {
        match cpu.shadow.get(slot) {
            Some(word) => word.cut(&mut self.pool, w),
            None => Cut::constant(&mut self.pool, w, cpu.get(slot)),
        }
    }

    /// A second operand, at a width: a slot plus a constant.
    #[inline]
    pub(super) fn second(&mut self, cpu: &Cpu, w: Width, b: Slot, imm: i32) -> Cut {
        let constant = imm as i64 as u64;
        match cpu.shadow.get(b) {
            None => Cut::constant(&mut self.pool, w, cpu.get(b).wrapping_add(constant)),
            Some(word) => {
                let cut = word.cut(&mut self.pool, w);
                if imm == 0 {
                    return cut;
                }
                let constant = Cut::constant(&mut self.pool, w, constant);
                cut.with(&mut self.pool, Pool::add, constant)
            }
        }
    }

    /// A term of at most 64 bits, or a Bool, as a slot holds it.
    #[inline]
    pub(super) fn wide(&mut self, term: Term) -> Word {
        Word::of(&mut self.pool, term)
    }

    /// A slot holds its new value already; this is what it stands for.
    #[inline]
    pub(super) fn put(&mut self, cpu: &mut Cpu, slot: Slot, word: Option<Word>) {
        let word = word.filter(|word| self.pool.as_const(word.term()).is_none());
        let word = word.filter(|word| !self.known.contains_key(&word.term()));
        if let Some(word) = word {
            self.check_value(word.term(), u128::from(cpu.get(slot)));
        }
        cpu.shadow.put(slot, word);
    }

    /// If terms are compared: a term must have this value.
    pub(super) fn check_value(&mut self, term: Term, value: u128) {
        if let (true, Some((input, evaluator))) = (self.checks, &mut self.input) {
            let have = evaluator.eval(&self.pool, term, input);
            assert!(have == value, "a term at {:#x} does not have its value", self.at);
        }
    }

    /// A condition held in the run.
    pub(super) fn test(&mut self, condition: Term, kind: TestKind) {
        debug_assert!(self.pool.is_bool(condition));
        if self.pool.as_const(condition).is_some() || self.seen.insert(condition, ()).is_some() {
            return;
        }
        self.check_value(condition, 1);
        let condition = self.straightened(condition);
        if self.pool.as_const(condition).is_some() {
            return;
        }
        if !self.lost {
            // Whoever was doomed is not all there is.
            self.doom = None;
        }
        self.learn(condition);
        self.tests.push(Test { condition, address: self.at, kind });
    }

    /// Takes back the last test, if this was it: what follows says more.
    pub(super) fn retract(&mut self, condition: Term) {
        // Whoever was stopped before a test keeps it.
        if !self.keeps_tests() && self.tests.last().is_some_and(|test| test.condition == condition)
        {
            self.retract_after(self.tests.len() - 1);
        }
    }

    /// Takes back all tests but the first `count`.
    pub(super) fn retract_after(&mut self, count: usize) {
        for test in self.tests.drain(count.min(self.tests.len())..) {
            self.seen.remove(&test.condition);
        }
        while let Some((_, term)) = self.fixed.pop_if(|entry| entry.0 > count) {
            self.known.remove(&term);
        }
        // What was cut down before stays so: to cut all terms anew at every look aside takes a time that
        // grows with the square of the input.
        while let Some((_, term)) = self.cut_at.pop_if(|entry| entry.0 > count) {
            self.cuts.remove(&term);
        }
        while let Some((_, term, old)) = self.learned.pop_if(|entry| entry.0 >= count) {
            match old {
                Some(bounds) => self.bounds.insert(term, bounds),
                None => self.bounds.remove(&term),
            };
        }
    }

    /// A value was what it was in the run.
    pub(super) fn pin(&mut self, term: Term, value: u64, why: Pin) {
        let width = self.pool.width(term);
        let constant = self.pool.constant(width, u128::from(value));
        let condition = self.pool.eq(term, constant);
        self.test(condition, TestKind::Pin(why));
        if self.known.insert(term, value).is_none() {
            self.fixed.push((self.tests.len(), term));
        }
    }

    /// Fixes a slot to its value, and forgets what it stood for.
    pub(super) fn pin_slot(&mut self, cpu: &mut Cpu, slot: Slot, why: Pin) {
        if slot == slots::FLAG_RESULT {
            if cpu.shadow.flags().is_some() {
                let known = cpu.flag_bits() & FOLLOWED;
                let word = super::flags::as_bits(&mut self.pool, cpu);
                let followed = self.pool.constant(64, u128::from(FOLLOWED));
                let word = self.pool.and(word.term(), followed);
                self.pin(word, known, why);
            }
            cpu.shadow.forget_flags();
        } else if let Some(word) = cpu.shadow.get(slot) {
            self.pin(word.term(), cpu.get(slot), why);
            cpu.shadow.put(slot, None);
        }
    }

    /// Notes the bounds that a condition implies. A conjunction may be as deep as the input is long.
    fn learn(&mut self, condition: Term) {
        let mut pending = vec![condition];
        while let Some(condition) = pending.pop() {
            match self.pool.op(condition) {
                Op::And(a, b) => pending.extend([b, a]),
                Op::Ult(a, b) => {
                    if let Some(limit) = self.pool.as_const(b) {
                        self.bound(a, 0, limit.saturating_sub(1));
                    } else if let Some(limit) = self.pool.as_const(a) {
                        self.bound(b, limit.saturating_add(1), u128::MAX);
                    }
                }
                Op::Eq(a, b) => {
                    if let Some(value) = self.pool.as_const(b) {
                        self.bound(a, value, value);
                    }
                }
                Op::Not(inner) => {
                    if let Op::Ult(a, b) = self.pool.op(inner) {
                        if let Some(limit) = self.pool.as_const(b) {
                            self.bound(a, limit, u128::MAX);
                        } else if let Some(limit) = self.pool.as_const(a) {
                            self.bound(b, 0, limit);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn bound(&mut self, term: Term, min: u128, max: u128) {
        let old = self.bounds.get(&term).copied();
        self.learned.push((self.tests.len(), term, old));
        let (low, high) = old.unwrap_or((0, u128::MAX));
        self.bounds.insert(term, (low.max(min), high.min(max)));
    }
}
