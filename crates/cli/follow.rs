//! A run in the machine that is followed: its failure, and the tests that led to it.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, anyhow};
use stunt_machine::Machine;
use stunt_machine::linux::{Ending, Input, LimitReached, Limits, Setup};
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_path::{Failure, Original, Run, Test, TestKind};
use stunt_terms::{InputByte, Pool};
use stunt_unwind::stack::{Module, Symbols};

use crate::place::{self, MissingCall};
use crate::subject::Subject;

/// How many instructions are run between two looks at the clock.
const STRETCH: u64 = 20_000_000;

/// What a followed run left behind.
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

impl Followed {
    /// A path that something else than a followed run has found.
    pub fn of_path(pool: Pool, tests: Vec<Test>, failure: &Failure) -> Self {
        Self {
            pool,
            tests,
            failure: Some(failure.clone()),
            ending: String::new(),
            instructions: 0,
            followed: 0,
            missing: Vec::new(),
            modules: Vec::new(),
            seconds: 0.0,
        }
    }

    /// How many values were fixed, by reason.
    pub fn pins(&self) -> BTreeMap<String, u64> {
        let mut pins = BTreeMap::new();
        for test in &self.tests {
            if let TestKind::Pin(why) = test.kind {
                *pins.entry(why.to_string()).or_insert(0) += 1;
            }
        }
        pins
    }
}

/// Why there is nothing to go on with.
#[derive(Debug)]
pub enum Stopped {
    /// The machine lacks something that the program needs.
    Unsupported(String),
    /// A limit was reached.
    Limit(String),
}

/// Runs a subject in the machine and follows its input.
pub fn follow(
    subject: &Subject,
    relax: Relaxations,
    check_memory: bool,
) -> Result<Result<Followed, Stopped>> {
    follow_on(subject, None, relax, check_memory)
}

/// The same on another input of the same shape, if there is one.
pub fn follow_on(
    subject: &Subject,
    input: Option<&Original>,
    relax: Relaxations,
    check_memory: bool,
) -> Result<Result<Followed, Stopped>> {
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
    let ending = match to_end(&mut machine, subject, begun) {
        Ok(ending) => ending,
        Err(stopped) => return Ok(Err(stopped)),
    };
    let failure = machine.failure(ending, &Symbols::of_host());
    if let Some(failure) = &failure {
        machine.forget_aftermath(failure);
    }
    let instructions = machine.kernel().executed();
    let missing = place::needed_calls(&mut machine);
    let mut symbolic = machine.take_symbolic().expect("it was followed");
    let mut tests = texts_without_zeros(&mut symbolic.pool, subject);
    tests.extend_from_slice(symbolic.tests());
    Ok(Ok(Followed {
        tests,
        modules: symbolic.modules(),
        followed: symbolic.followed(),
        pool: symbolic.pool,
        failure,
        ending: ending.outward().to_string(),
        instructions,
        missing,
        seconds: begun.elapsed().as_secs_f64(),
    }))
}

/// Arguments and variables end at their first zero: whatever the program looked at, a double that
/// has one within could not even be handed over.
pub fn texts_without_zeros(pool: &mut Pool, subject: &Subject) -> Vec<Test> {
    let hidden = subject.original.hidden();
    let in_text = |byte: &&InputByte| subject.sources[usize::from(byte.source)].name.is_text();
    let not_zero = |byte: &InputByte| {
        let value = pool.input(byte.source, byte.offset);
        let zero = pool.constant(8, 0);
        let is_zero = pool.eq(value, zero);
        Test { condition: pool.not(is_zero), kind: TestKind::Summary, address: 0 }
    };
    hidden.iter().filter(in_text).map(not_zero).collect()
}

/// Runs a subject in the machine on a double.
pub fn run_double(
    subject: &Subject,
    double: &[Vec<u8>],
    check_memory: bool,
) -> Result<Result<Run, Stopped>> {
    let begun = Instant::now();
    let setup = subject.in_machine_on_double(double)?;
    // Nothing is followed; but panics and exceptions are known only where they are watched for.
    let mut symbolic = Symbolic::new(Relaxations::NONE);
    if check_memory {
        symbolic.check_memory();
    }
    let mut machine = start(subject, setup, &[], symbolic)?;
    let ending = match to_end(&mut machine, subject, begun) {
        Ok(ending) => ending,
        Err(stopped) => return Ok(Err(stopped)),
    };
    Ok(Ok(machine.left(ending, &Symbols::of_host(), begun.elapsed())))
}

fn start(subject: &Subject, setup: Setup, inputs: &[Input], symbolic: Symbolic) -> Result<Machine> {
    let mut machine = Machine::new(setup).map_err(|errno| {
        anyhow!(
            "{} cannot be started in the machine: {}",
            subject.program().display(),
            errno.text()
        )
    })?;
    machine
        .follow(inputs, symbolic)
        .map_err(|errno| anyhow!("the input cannot be followed: {}", errno.text()))?;
    Ok(machine)
}

/// Runs until the program ends, or something else does.
fn to_end(machine: &mut Machine, subject: &Subject, begun: Instant) -> Result<Ending, Stopped> {
    let most = subject.machine_timeout();
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
