//! The machine as a whole: a program is set up, runs, is copied, and tells how it ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
use stunt_path::{Failure, FailureKind, Run};
use stunt_unwind::failure::{
    Evidence, PanicSite, Scene, Status, Throws, at_stack_end, is_new_panic, judge, panic_site,
};
use stunt_unwind::stack::{CallStack, Frame, Module, Symbols};

use crate::{
    code::slots,
    cpu::Cpu,
    left::run_left,
    linux::{Ending, Engine, Input, Kernel, Limits, Mapped, Setup, errno::Errno, mapped_files},
    memory::AddressSpace,
    stopped::StoppedThread,
    symbolic::{Symbolic, Throw},
    tracer::Tracer,
};

/// Signals that kill a process because of what it did itself: `SIGQUIT`, `SIGILL`, `SIGTRAP`, `SIGABRT`,
/// `SIGBUS`, `SIGFPE`, `SIGSEGV`, `SIGSYS`.
const FAILS: [u32; 8] = [3, 4, 5, 6, 7, 8, 11, 31];
/// What shells add to the number of such a signal.
const BY_SIGNAL: u32 = 128;

/// A machine with one program, its children, and everything that they see.
///
/// ```no_run
/// use stunt_machine::{Machine, linux::{Limits, Setup, fs::{Allow, Config}}};
///
/// let files = Config { allow: Allow::Everything, ..Config::default() };
/// let setup = Setup {
///     files,
///     program: b"/bin/true".to_vec(),
///     arguments: vec![b"true".to_vec()],
///     environment: vec![],
///     memory: 1 << 30,
/// };
/// let mut machine = Machine::new(setup).unwrap();
/// println!("{:?}", machine.run(Limits { instructions: u64::MAX }));
/// ```
pub struct Machine {
    kernel: Kernel,
    engine: Engine,
    /// What a followed run gathers.
    symbolic: Option<Box<Symbolic>>,
}

/// The state of a machine at some moment. Small, and cheap to go on from.
pub struct Snapshot(Kernel);

impl Machine {
    /// A machine that is about to run a program.
    ///
    /// # Errors
    /// The program cannot be started; the number is what `execve` would answer.
    pub fn new(setup: Setup) -> Result<Self, Errno> {
        Ok(Self { kernel: Kernel::new(setup)?, engine: Engine::default(), symbolic: None })
    }

    /// Follows the inputs of a program that has not run yet: from now on runs gather tests.
    ///
    /// # Errors
    /// One of the inputs does not exist.
    pub fn follow(&mut self, inputs: &[Input], symbolic: Symbolic) -> Result<(), Errno> {
        self.kernel.mark_inputs(inputs)?;
        self.symbolic = Some(Box::new(symbolic));
        Ok(())
    }

    /// What a followed run has gathered.
    #[must_use]
    pub fn symbolic(&mut self) -> Option<&mut Symbolic> {
        self.symbolic.as_deref_mut()
    }

    /// Takes over what a followed run has gathered; from now on it is no longer followed.
    #[must_use]
    pub fn take_symbolic(&mut self) -> Option<Symbolic> {
        self.symbolic.take().map(|symbolic| *symbolic)
    }

    /// Runs to the end, or to a limit. After a limit of instructions it can go on.
    pub fn run(&mut self, limits: Limits) -> Ending {
        self.run_watched(limits, &mut |_| {})
    }

    /// Runs like [`Self::run`]; `watch` sees the kernel after every turn of a thread, for output
    /// that is to be shown as it comes.
    pub fn run_watched(&mut self, limits: Limits, watch: &mut dyn FnMut(&mut Kernel)) -> Ending {
        let tracer = self.symbolic.as_deref_mut().map(|symbolic| symbolic as &mut dyn Tracer);
        self.kernel.run(&mut self.engine, tracer, limits, watch)
    }

    /// The state now. It costs by what was written since the last one, not by the size of the
    /// program.
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot {
        Snapshot(self.kernel.fork())
    }

    /// Goes back, or over, to a snapshot.
    pub fn restore(&mut self, snapshot: &mut Snapshot) {
        self.kernel = snapshot.0.fork();
    }

    /// Goes over to a followed run at some moment. What was compiled stays.
    pub(crate) fn restore_to(&mut self, kernel: &mut Kernel, symbolic: &mut Symbolic) {
        self.kernel = kernel.fork();
        self.symbolic = Some(Box::new(symbolic.fork()));
    }

    /// Another machine in the same state, which has compiled nothing yet and follows nothing.
    pub(crate) fn twin(&mut self) -> Self {
        Self { kernel: self.kernel.fork(), engine: Engine::default(), symbolic: None }
    }

    /// The kernel: files, output, figures.
    #[must_use]
    pub fn kernel(&mut self) -> &mut Kernel {
        &mut self.kernel
    }

    /// The call stack of the process that a signal killed.
    #[must_use]
    pub fn call_stack(&mut self, symbols: &Symbols) -> Option<CallStack> {
        Some(self.death(symbols)?.stack)
    }

    fn death(&mut self, symbols: &Symbols) -> Option<Moment> {
        death(&mut self.kernel, symbols, &mut read_modules)
    }

    /// How a followed run failed, if it did.
    #[must_use]
    pub fn failure(&mut self, ending: Ending, symbols: &Symbols) -> Option<Failure> {
        let thrown = self.symbolic.as_deref_mut().map(Symbolic::thrown);
        failure_of(&mut self.kernel, thrown, ending, symbols, &mut read_modules)
    }

    /// What a run left behind that ended so after this time. Takes what it printed.
    #[must_use]
    pub fn left(&mut self, ending: Ending, symbols: &Symbols, duration: Duration) -> Run {
        let failure = self.failure(ending, symbols);
        run_left(&mut self.kernel, ending, failure, duration)
    }

    /// The kernel and what runs it, to run in another way.
    pub(crate) fn parts(&mut self) -> (&mut Kernel, &mut Engine) {
        (&mut self.kernel, &mut self.engine)
    }

    /// The kernel, to run in another way.
    pub(crate) fn into_kernel(self) -> Kernel {
        self.kernel
    }

    /// Forgets the tests of a followed run that came after its failure was certain.
    pub fn forget_aftermath(&mut self, failure: &Failure) {
        let Some(symbolic) = &mut self.symbolic else { return };
        let certain = match failure.kind {
            FailureKind::Panic | FailureKind::Exception => {
                let thrown = symbolic.thrown();
                thrown.last().and_then(|last| thrown.get(last)).map(|last| last.left.tests)
            }
            FailureKind::Abort => symbolic.doomed(),
            FailureKind::Signal(_)
            | FailureKind::StackOverflow
            | FailureKind::InvalidAccess
            | FailureKind::Sanitizer
            | FailureKind::Stated(_) => None,
        };
        if let Some(count) = certain {
            symbolic.forget_tests_after(count);
        }
    }

    /// Forgets the tests of a followed run that came after it began to write what stands at this place of
    /// its standard error: what an interpreter does to print an exception does not matter.
    pub fn forget_after_told(&mut self, place: u64) {
        let Some(symbolic) = &mut self.symbolic else { return };
        if let Some(count) = symbolic.tests_before_told(place) {
            symbolic.forget_tests_after(count);
        }
    }

    /// The function and the module at an address: of the process that could not go on, if the run
    /// ended as [`Ending::Unsupported`], else of the first one.
    #[must_use]
    pub fn frame_at(&mut self, address: u64, symbols: &Symbols) -> Option<Frame> {
        let mapped = mapped_files(self.kernel.space_at_end()?);
        let modules = self.kernel.modules(mapped);
        Some(symbols.at(address, &modules))
    }

    /// Where a system call was made first that the kernel does not have, by its number.
    #[must_use]
    pub fn missing_call_at(&mut self, number: u64, symbols: &Symbols) -> Option<Frame> {
        let missing = self.kernel.missing_calls().get(&number)?;
        let (at, mapped) = (missing.at, (*missing.mapped).clone());
        let modules = self.kernel.modules(mapped);
        Some(symbols.at(at, &modules))
    }

    /// The instruction at an address, as text: of the process that could not go on, if the run
    /// ended as [`Ending::Unsupported`], else of the first one.
    #[must_use]
    pub fn instruction_at(&mut self, address: u64) -> Option<String> {
        let mut bytes = [0; 15];
        let have = self.kernel.space_at_end()?.fetch(address, &mut bytes).ok()?;
        let mut decoder = Decoder::with_ip(64, &bytes[..have], address, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let mut text = String::new();
        IntelFormatter::new().format(&instruction, &mut text);
        Some(text)
    }
}

/// Gives the modules of a process that has these files mapped.
pub(crate) type Modules<'a> = dyn FnMut(&mut Kernel, Mapped) -> Arc<[Module]> + 'a;

fn read_modules(kernel: &mut Kernel, mapped: Mapped) -> Arc<[Module]> {
    kernel.modules(mapped).into()
}

/// The process that a signal killed, at that moment.
fn death(kernel: &mut Kernel, symbols: &Symbols, modules: &mut Modules<'_>) -> Option<Moment> {
    let mapped = mapped_files(&kernel.crash()?.space);
    let modules = modules(kernel, mapped);
    let crash = kernel.crash()?;
    Some(moment(symbols, &crash.cpu, &mut crash.space, &modules))
}

/// How a run failed that ended so, if it did; `thrown` are its exceptions and panics.
pub(crate) fn failure_of(
    kernel: &mut Kernel,
    thrown: Option<&mut Throws<Throw>>,
    ending: Ending,
    symbols: &Symbols,
    modules: &mut Modules<'_>,
) -> Option<Failure> {
    // A shell tells on how its child died, as a status of its own.
    let ending = match (ending, kernel.crash()) {
        (Ending::Exited(code), Some(crash))
            if FAILS.contains(&crash.signal.number)
                && u32::from(code) == BY_SIGNAL + crash.signal.number =>
        {
            Ending::Killed(crash.signal)
        }
        (ending, _) => ending,
    };
    let status = match ending {
        Ending::Exited(code) => Status::Exit(code),
        Ending::Killed(signal) => {
            let overflow = kernel.crash().is_some_and(|crash| {
                let rsp = crash.cpu.get(slots::RSP);
                let mut readable = |at| crash.space.read(at, &mut [0]).is_ok();
                signal.number == 11 && at_stack_end(signal.value, rsp, &mut readable)
            });
            Status::Signal { number: signal.number as u8, overflow }
        }
        Ending::Idle | Ending::Limit(_) | Ending::Unsupported(_) => return None,
    };
    let death = death(kernel, symbols, modules);
    let mut none = Throws::new(0);
    let throws = thrown.unwrap_or(&mut none);
    let last = match status {
        // The first thread of a process has its number.
        Status::Exit(_) => throws.last_where(|thread| thread >> 32 == thread & 0xffff_ffff),
        Status::Signal { .. } => throws.last(),
    };
    let mut seen = BTreeMap::new();
    for number in last.map(|last| throws.near(last)).unwrap_or_default() {
        let Some(thrown) = throws.get_mut(number).map(|it| &mut it.left) else { continue };
        let modules = modules(kernel, mapped_files(&thrown.space));
        let moment = moment(symbols, &thrown.cpu, &mut thrown.space, &modules);
        seen.insert(number, moment);
    }
    let mut is_new =
        |number: u64| seen.get(&number).is_some_and(|moment| is_new_panic(&moment.stack));
    let leading = last.map(|last| throws.leading_to(last, &mut is_new)).unwrap_or_default();
    let scenes = |numbers: &[u64]| -> Vec<Scene<'_>> {
        numbers.iter().filter_map(|number| seen.get(number)).map(Moment::scene).collect()
    };
    let mut failure = judge(Evidence {
        status,
        death: death.as_ref().map(Moment::scene),
        thrown: last.and_then(|last| seen.get(&last)).map(Moment::scene),
        causes: &scenes(&leading.causes),
        beside: &scenes(&leading.beside),
    })?;
    if matches!(ending, Ending::Killed(signal) if signal.is_invalid_access()) {
        failure.kind = FailureKind::InvalidAccess;
    }
    Some(failure)
}

/// A thread at some moment: its call stack, and where it says that it panics.
struct Moment {
    stack: CallStack,
    site: Option<PanicSite>,
}

impl Moment {
    fn scene(&self) -> Scene<'_> {
        Scene { stack: &self.stack, site: self.site.as_ref() }
    }
}

fn moment(symbols: &Symbols, cpu: &Cpu, space: &mut AddressSpace, modules: &[Module]) -> Moment {
    let mut thread = StoppedThread::new(cpu, space);
    let stack = symbols.call_stack(&mut thread, modules);
    Moment { stack, site: panic_site(&mut thread, modules) }
}
