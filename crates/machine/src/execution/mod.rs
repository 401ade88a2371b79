//! A program under way in the machine that stops before each test of its input.
//!
//! ```text
//! Following ──► kernel, symbolic      the state of one path, forked cheaply
//!      └──────► Shared                code, evaluator, symbols, modules: one for all paths
//! ```
//!
//! The state is one of a run on the bound input, with a term beside every value that depends on it.
//! To bind another input, the unit that made the test is taken back, every such value is given anew,
//! and the unit is done again. What has no term is the same for all inputs that pass the tests so
//! far; that is what tests and pins are for. It does not hold for output for people, which is not
//! followed: a printed text stays the one of the input that was bound when it was printed.
//!
//! Always: terms are those of the caller's pool, which is lent for the time of a call. Which input
//! is worth a try is not known here.

mod changes;
mod digest;
mod place;

use std::{
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use rustc_hash::FxHasher;
use stunt_path::{Execution, Failure, Junction, Node, Place, Run, Stop, TestKind};
use stunt_terms::{Assignment, Evaluator, Pool};
use stunt_unwind::stack::{CallStack, Symbols};

use crate::{
    Machine,
    left::run_left,
    linux::{
        Ending, Engine, Input, Kernel, LimitReached, Limits, Pid, ThreadId, Tid, errno::Errno,
    },
    machine::failure_of,
    stopped::StoppedThread,
    symbolic::{NewValues, Relaxations, Symbolic, layers::Layers},
};
use changes::changes;
use digest::Digests;
use place::Places;

/// What counts as a failure of a run, if it is more or less than what the machine takes for one. Runs
/// last from the start of the first path on.
pub type Judge = dyn Fn(Run) -> Option<Failure> + Send;

/// How a program is followed from test to test.
pub struct Options {
    /// Relaxations. The one of clauses is not made: it takes back tests that were passed.
    pub relax: Relaxations,
    /// Whether the first invalid access ends the run.
    pub check_memory: bool,
    /// How many instructions a path may have.
    pub instructions: u64,
    /// What counts as a failure, if that is not left to the machine.
    pub judge: Option<Box<Judge>>,
    /// Whether every term is compared with its value; for tests of the machine itself.
    pub check_terms: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            relax: Relaxations::STEPWISE,
            check_memory: false,
            instructions: 1 << 32,
            judge: None,
            check_terms: false,
        }
    }
}

/// What all paths of a program have in common.
struct Shared {
    engine: Engine,
    /// Values of terms for one input.
    evaluator: Evaluator,
    evaluated: Option<Arc<Assignment>>,
    /// The sizes of the pool's terms.
    sizes: Vec<u32>,
    digests: Digests,
    symbols: Arc<Symbols>,
    places: Places,
    instructions: u64,
    judge: Option<Box<Judge>>,
    begun: Instant,
}

/// A program under way.
pub struct Following {
    kernel: Kernel,
    /// Terms, tests and what was learned.
    symbolic: Box<Symbolic>,
    input: Arc<Assignment>,
    /// The thread that stands before a test.
    thread: ThreadId,
    /// The state before a system call that looked at what is followed.
    before_call: Option<Box<Kernel>>,
    stop: Stop,
    /// The test that it stands before, by place alone.
    spot: u64,
    /// How often each was met.
    met: Layers<u64, u32>,
    shared: Arc<Mutex<Shared>>,
}

impl Following {
    /// Starts a program whose inputs have the values of `input`, and runs to its first stop.
    ///
    /// # Errors
    /// One of the inputs does not exist.
    pub fn start(
        machine: Machine,
        inputs: &[Input],
        input: &Assignment,
        symbols: Arc<Symbols>,
        options: Options,
        pool: &mut Pool,
    ) -> Result<Self, Errno> {
        let mut kernel = machine.into_kernel();
        kernel.mark_inputs(inputs)?;
        let mut symbolic = Symbolic::new(Relaxations { clauses: false, ..options.relax });
        if options.check_memory {
            symbolic.check_memory();
        }
        if options.check_terms {
            symbolic.check_against(input.clone());
        }
        let input = Arc::new(input.clone());
        symbolic.exchange_input(Arc::clone(&input));
        symbolic.stop_at_tests();
        let shared = Shared {
            engine: Engine::default(),
            evaluator: Evaluator::new(),
            evaluated: None,
            sizes: Vec::new(),
            digests: Digests::default(),
            symbols,
            places: Places::default(),
            instructions: options.instructions,
            judge: options.judge,
            begun: Instant::now(),
        };
        let mut following = Self {
            kernel,
            symbolic: Box::new(symbolic),
            input,
            thread: ThreadId { pid: Pid(0), tid: Tid(0) },
            before_call: None,
            stop: Stop::Ended(None),
            spot: 0,
            met: Layers::default(),
            shared: Arc::new(Mutex::new(shared)),
        };
        following.with(pool, Self::run);
        Ok(following)
    }

    /// The input that is bound.
    #[must_use]
    pub fn input(&self) -> &Assignment {
        &self.input
    }

    /// Instructions executed on this path.
    #[must_use]
    pub fn executed(&self) -> u64 {
        self.kernel.executed()
    }

    /// Instructions that were executed with terms on this path.
    #[must_use]
    pub fn followed(&self) -> u64 {
        self.symbolic.followed()
    }

    /// The kernel, to see what was printed.
    #[must_use]
    pub fn kernel(&mut self) -> &mut Kernel {
        &mut self.kernel
    }

    /// The call stack of the thread that stands before a test, from the test outward.
    #[must_use]
    pub fn call_stack(&mut self) -> Option<CallStack> {
        let Stop::Test(junction) = &self.stop else { return None };
        let address = junction.test.address;
        let shared = Arc::clone(&self.shared);
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let ThreadId { pid, tid } = self.thread;
        let modules = shared.places.modules_of(&mut self.kernel, pid)?;
        let before = self.symbolic.before();
        let process = self.kernel.process_if_there(pid)?;
        let thread = process.threads.iter().find(|thread| thread.tid == tid)?;
        let space = process.space.as_mut()?;
        let mut thread = StoppedThread::at(before.unwrap_or(&thread.cpu), address, space);
        Some(shared.symbols.call_stack(&mut thread, &modules))
    }

    /// Does something with the pool and what is shared lent to it.
    fn with(&mut self, pool: &mut Pool, work: impl FnOnce(&mut Self, &mut Shared)) {
        let shared = Arc::clone(&self.shared);
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = &mut *shared;
        self.exchange(pool, shared);
        if !shared.evaluated.as_ref().is_some_and(|known| Arc::ptr_eq(known, &self.input)) {
            self.symbolic.exchange_input(Arc::clone(&self.input));
            shared.evaluated = Some(Arc::clone(&self.input));
        }
        work(self, shared);
        self.exchange(pool, shared);
    }

    fn exchange(&mut self, pool: &mut Pool, shared: &mut Shared) {
        let symbolic = &mut self.symbolic;
        symbolic.exchange(pool, &mut shared.sizes, &mut shared.evaluator);
    }

    /// Runs to the next stop.
    fn run(&mut self, shared: &mut Shared) {
        let engine = &mut shared.engine;
        engine.stopped = None;
        let limits = Limits { instructions: shared.instructions };
        let ending = self.kernel.run(engine, Some(&mut *self.symbolic), limits, &mut |_| {});
        self.before_call = engine.before_call.take();
        if let Some(thread) = engine.stopped {
            self.thread = thread;
        }
        if self.symbolic.halted() {
            self.look(shared);
        } else {
            self.stop = self.ended(ending, shared);
        }
    }

    /// Looks at the test that it stands before.
    fn look(&mut self, shared: &mut Shared) {
        let symbolic = &mut self.symbolic;
        let Some((test, taken)) = symbolic.next_test() else { return };
        let before = symbolic.before();
        let place = shared.places.digest(
            &mut self.kernel,
            &shared.symbols,
            self.thread,
            test.address,
            before,
        );
        self.spot = place;
        let count = self.met.get(&self.spot).copied().unwrap_or(0);
        let mut hash = FxHasher::default();
        (place, count).hash(&mut hash);
        let place = Place(mixed(hash.finish()));
        let outcome = match taken {
            Some(taken) => u64::from(taken),
            None => shared.digests.of(&symbolic.pool, test.condition),
        };
        let open = !matches!(test.kind, TestKind::Pin(_));
        self.stop = Stop::Test(Junction { node: Node { place, outcome }, test, open });
    }

    fn ended(&mut self, ending: Ending, shared: &mut Shared) -> Stop {
        match ending {
            Ending::Exited(_) | Ending::Killed(_) | Ending::Idle => {
                let thrown = self.symbolic.thrown();
                let thrown = Some(thrown);
                let Shared { symbols, places, judge, begun, .. } = shared;
                let failure =
                    failure_of(&mut self.kernel, thrown, ending, symbols, &mut |kernel, mapped| {
                        places.modules(kernel, mapped)
                    });
                Stop::Ended(match judge {
                    Some(judge) => {
                        judge(run_left(&mut self.kernel, ending, failure, begun.elapsed()))
                    }
                    None => failure,
                })
            }
            Ending::Limit(LimitReached::Instructions) => {
                Stop::Lost("the path has too many instructions".to_owned())
            }
            Ending::Limit(LimitReached::Memory) => {
                Stop::Lost("the path needs too much memory".to_owned())
            }
            Ending::Limit(LimitReached::Deadlock) => {
                Stop::Lost("every thread waits for another one".to_owned())
            }
            Ending::Unsupported(address) => {
                Stop::Lost(format!("the machine does not have the instruction at {address:#x}"))
            }
        }
    }

    /// Goes back to before the unit that made the test.
    fn go_back(&mut self) {
        let symbolic = &mut self.symbolic;
        match self.before_call.take() {
            Some(before) => {
                self.kernel = *before;
                symbolic.take_back();
            }
            None => {
                self.kernel.take_back(self.thread, |cpu, space| symbolic.go_back(cpu, space));
            }
        }
    }
}

impl Execution for Following {
    fn stop(&self) -> &Stop {
        &self.stop
    }

    fn advance(&mut self, pool: &mut Pool) {
        if !matches!(self.stop, Stop::Test(_)) {
            return;
        }
        let count = self.met.get(&self.spot).copied().unwrap_or(0);
        self.met.insert(self.spot, count + 1);
        self.symbolic.pass();
        self.with(pool, |it, shared| {
            if it.symbolic.halted() {
                it.look(shared);
            } else {
                it.before_call = None;
                it.run(shared);
            }
        });
    }

    fn fork(&mut self) -> Self {
        Self {
            kernel: self.kernel.fork(),
            symbolic: Box::new(self.symbolic.fork()),
            input: Arc::clone(&self.input),
            thread: self.thread,
            before_call: self.before_call.as_mut().map(|before| Box::new(before.fork())),
            stop: self.stop.clone(),
            spot: self.spot,
            met: self.met.fork(),
            shared: Arc::clone(&self.shared),
        }
    }

    fn bind(&mut self, pool: &mut Pool, input: &Assignment) {
        if !matches!(self.stop, Stop::Test(_)) {
            return;
        }
        self.go_back();
        let old = std::mem::replace(&mut self.input, Arc::new(input.clone()));
        self.with(pool, |it, shared| {
            let changes = changes(&old, &it.input);
            let mut values = NewValues::new(&mut it.symbolic, &changes);
            it.kernel.rebind(&changes, &it.input, &mut values);
            if let Some(cpu) = it.kernel.cpu(it.thread) {
                it.symbolic.branch_again(cpu);
            }
            if it.symbolic.halted() {
                it.look(shared);
            } else {
                it.run(shared);
            }
        });
    }
}

/// Spreads what a weak hash left together.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}

#[cfg(test)]
mod tests {
    use super::Following;

    #[test]
    fn paths_can_be_sent_to_other_threads() {
        fn sent<T: Send>() -> usize {
            size_of::<T>()
        }
        assert!(sent::<Following>() < 4096);
    }
}
