//! A run in the machine that is followed: its failure, and the tests that led to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use stunt_machine::Machine;
use stunt_machine::linux::{Ending, LimitReached, Limits, signal_name, syscall_name};
use stunt_machine::stack::Symbols;
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_path::{Failure, Test, TestKind};
use stunt_terms::Pool;

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
    pub missing: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

impl Followed {
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
pub fn follow(subject: &Subject, relax: Relaxations) -> Result<Result<Followed, Stopped>> {
    let begun = Instant::now();
    let (setup, inputs) = subject.in_machine()?;
    let mut machine = Machine::new(setup).map_err(|errno| {
        anyhow!("{} cannot be started in the machine: {}", subject.program().display(), errno.text())
    })?;
    machine
        .follow(&inputs, Symbolic::new(relax))
        .map_err(|errno| anyhow!("the input cannot be followed: {}", errno.text()))?;
    // Following costs more than running: a native second is given a minute.
    let most = subject.timeout().saturating_mul(60).max(Duration::from_secs(60));
    let mut limit = STRETCH;
    let ending = loop {
        match machine.run(Limits { instructions: limit }) {
            Ending::Limit(LimitReached::Instructions) if begun.elapsed() < most => {
                limit += STRETCH;
            }
            ending => break ending,
        }
    };
    let words = match ending {
        Ending::Exited(code) => format!("exited with status {code}"),
        Ending::Killed(signal) => format!("was killed by {}", signal_name(signal.number)),
        Ending::Limit(limit) => {
            return Ok(Err(Stopped::Limit(
                match limit {
                    LimitReached::Instructions => "the run in the machine takes too long (--timeout)",
                    LimitReached::Memory => "the run in the machine needs too much memory (--memory)",
                    LimitReached::Deadlock => "in the machine, every thread waits for another one",
                }
                .to_owned(),
            )));
        }
        Ending::Unsupported(address) => {
            let what = machine.instruction_at(address).unwrap_or_else(|| "unknown".to_owned());
            return Ok(Err(Stopped::Unsupported(format!(
                "the machine does not have the instruction `{what}` (at {address:#x})"
            ))));
        }
    };
    let symbols = Symbols::new(Box::new(|path| std::fs::read(path).ok().map(Arc::from)));
    let failure = machine.failure(ending, &symbols);
    if let Some(failure) = &failure {
        machine.forget_aftermath(failure);
    }
    let instructions = machine.kernel().executed();
    let missing = machine
        .kernel()
        .missing_calls()
        .keys()
        .map(|&number| syscall_name(number).map_or_else(|| number.to_string(), str::to_owned))
        .collect();
    let symbolic = machine.take_symbolic().expect("it was followed");
    Ok(Ok(Followed {
        tests: symbolic.tests().to_vec(),
        followed: symbolic.followed(),
        pool: symbolic.pool,
        failure,
        ending: words,
        instructions,
        missing,
        seconds: begun.elapsed().as_secs_f64(),
    }))
}
