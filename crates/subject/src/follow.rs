//! A run in the machine that is followed: its failure, and the tests that led to it.

use std::time::{Duration, Instant};

use stunt_machine::Machine;
use stunt_machine::cpu::Cpu;
use stunt_machine::linux::{Ending, Input, LimitReached, Limits, Setup};
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_native::{failure_of_run, told_at};
use stunt_path::{Failure, Original, Run, Test, TestKind};
use stunt_terms::{InputByte, Pool};
use stunt_unwind::stack::{Module, Symbols};

use crate::error::{Error, Stopped};
use crate::place::{self, MissingCall};
use crate::subject::Subject;

/// How many instructions are run between two looks at the clock.
const STRETCH: u64 = 20_000_000;

/// What a followed run left behind.
#[derive(Default)]
pub struct Followed {
    /// All terms.
    pub pool: Pool,
    /// The tests up to the failure.
    pub tests: Vec<Test>,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
    /// How it ended, in words.
    pub ending: String,
    /// Instructions executed.
    pub instructions: u64,
    /// Instructions executed with terms.
    pub followed: u64,
    /// System calls that the machine does not have.
    pub missing: Vec<MissingCall>,
    /// The files with code, which name the addresses of tests.
    pub modules: Vec<Module>,
    /// How long it took.
    pub seconds: f64,
}

/// Runs a subject in the machine and follows its input.
///
/// # Errors
/// It cannot be started, or does not come to its end.
pub fn follow(
    subject: &Subject,
    relax: Relaxations,
    check_memory: bool,
) -> Result<Followed, Error> {
    follow_on(subject, None, relax, check_memory, subject.machine_timeout())
}

/// The same on another input of the same shape, if there is one, and for so long at most.
///
/// # Errors
/// It cannot be started, or does not come to its end.
pub fn follow_on(
    subject: &Subject,
    input: Option<&Original>,
    relax: Relaxations,
    check_memory: bool,
    most: Duration,
) -> Result<Followed, Error> {
    let begun = Instant::now();
    let (setup, inputs) = match input {
        Some(input) => subject.in_machine_on(input)?,
        None => subject.in_machine()?,
    };
    let mut symbolic = Symbolic::new(relax);
    symbolic.set_input(input.unwrap_or(&subject.original).assignment());
    if check_memory {
        symbolic.check_memory();
    }
    let mut machine = start(subject, setup, &inputs, symbolic)?;
    let ending = to_end(&mut machine, most, begun)?;
    let left = machine.left(ending, &Symbols::of_host(), begun.elapsed());
    let run = Run { inputs: subject.input_names(), ..left };
    let failure = failure_of_run(&run, &subject.texts);
    if let Some(failure) = &failure {
        machine.forget_aftermath(failure);
    }
    if run.failure.is_none()
        && let Some(place) = told_at(&run)
    {
        machine.forget_after_told(place as u64);
    }
    let instructions = machine.kernel().executed();
    let missing = place::needed_calls(&mut machine);
    let mut symbolic = machine.take_symbolic().expect("it was followed");
    let mut tests = texts_without_zeros(&mut symbolic.pool, subject);
    tests.extend_from_slice(symbolic.tests());
    Ok(Followed {
        tests,
        modules: symbolic.modules(),
        followed: symbolic.followed(),
        pool: symbolic.pool,
        failure,
        ending: ending.outward().to_string(),
        instructions,
        missing,
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Arguments and variables end at their first zero: whatever the program looked at, a double that
/// has one within could not even be handed over.
pub fn texts_without_zeros(pool: &mut Pool, subject: &Subject) -> Vec<Test> {
    let texts = subject.sources.iter().enumerate().filter(|(_, source)| source.name.is_text());
    let bytes = texts.flat_map(|(number, _)| {
        let own = 0..subject.original.len_of(number);
        let hidden = own.filter(move |&at| subject.original.hides(number, at));
        hidden.map(move |at| InputByte::new(number as u16, at as u32))
    });
    let not_zero = |byte: InputByte| {
        let value = pool.input(byte.source, byte.offset);
        let zero = pool.constant(8, 0);
        let is_zero = pool.eq(value, zero);
        Test { condition: pool.not(is_zero), kind: TestKind::Summary, address: 0 }
    };
    bytes.map(not_zero).collect()
}

/// Where a run failed: an instruction, and how many its thread had executed before.
#[derive(Clone, Copy, Debug)]
pub struct FailedAt {
    /// The address of the instruction.
    pub address: u64,
    /// What its thread had executed.
    pub executed: u64,
}

/// Runs a subject in the machine on a double.
///
/// # Errors
/// It cannot be started, or does not come to its end.
pub fn run_double(subject: &Subject, double: &[Vec<u8>], check_memory: bool) -> Result<Run, Error> {
    Ok(run_double_to(subject, double, check_memory)?.0)
}

/// The same; says where it failed if that is before its end: by a panic, an exception, or an access to
/// memory that only the machine sees.
///
/// # Errors
/// As [`run_double`].
pub fn run_double_to(
    subject: &Subject,
    double: &[Vec<u8>],
    check_memory: bool,
) -> Result<(Run, Option<FailedAt>), Error> {
    let begun = Instant::now();
    let setup = subject.in_machine_on_double(double)?;
    // Nothing is followed; but panics and exceptions are known only where they are watched for.
    let mut symbolic = Symbolic::new(Relaxations::NONE);
    if check_memory {
        symbolic.check_memory();
    }
    let mut machine = start(subject, setup, &[], symbolic)?;
    let ending = to_end(&mut machine, subject.machine_timeout(), begun)?;
    let failed = failed_at(&mut machine, ending);
    let left = machine.left(ending, &Symbols::of_host(), begun.elapsed());
    Ok((Run { inputs: subject.input_names(), ..left }, failed))
}

fn failed_at(machine: &mut Machine, ending: Ending) -> Option<FailedAt> {
    let of = |cpu: &Cpu| FailedAt { address: cpu.rip(), executed: cpu.executed() };
    if let Ending::Killed(signal) = ending {
        let crash = machine.kernel().crash()?;
        return signal.is_invalid_access().then(|| of(&crash.cpu));
    }
    let thrown = machine.symbolic()?.thrown();
    let last = thrown.last()?;
    thrown.get_mut(last).map(|thrown| of(&thrown.left.cpu))
}

fn start(
    subject: &Subject,
    setup: Setup,
    inputs: &[Input],
    symbolic: Symbolic,
) -> Result<Machine, Error> {
    let mut machine = Machine::new(setup).map_err(|errno| subject.not_started(errno))?;
    machine.follow(inputs, symbolic).map_err(Error::Input)?;
    Ok(machine)
}

/// Runs until the program ends, or something else does.
fn to_end(machine: &mut Machine, most: Duration, begun: Instant) -> Result<Ending, Stopped> {
    let mut limit = STRETCH;
    let ending = loop {
        match machine.run(Limits { instructions: limit }) {
            Ending::Limit(LimitReached::Instructions) if begun.elapsed() < most => {
                limit += STRETCH;
            }
            ending => break ending,
        }
    };
    match ending {
        Ending::Exited(_) | Ending::Killed(_) | Ending::Idle => Ok(ending),
        Ending::Limit(limit) => Err(Stopped::Limit(
            match limit {
                LimitReached::Instructions => "the run in the machine takes too long (--timeout)",
                LimitReached::Memory => "the run in the machine needs too much memory (--memory)",
                LimitReached::Deadlock => "in the machine, every thread waits for another one",
            }
            .to_owned(),
        )),
        Ending::Unsupported(address) => {
            let what = machine.instruction_at(address).unwrap_or_else(|| "unknown".to_owned());
            let place = place::of_instruction(machine, address);
            Err(Stopped::Unsupported(format!(
                "the machine does not have the instruction `{what}` (at {place})"
            )))
        }
    }
}
