//! The program in the machine, asked on many inputs whether it fails as it did on the original: for what
//! only the machine sees, and for programs that cannot be run natively on strange inputs.
//!
//! A run starts just before the program reads its input, if the candidate is as long as those before it;
//! else at the beginning. Nothing that a candidate makes the program do leaves the machine.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use stunt_machine::linux::Limits;
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_machine::{Again, Machine};
use stunt_path::Failure;
use stunt_reduce::{Broken, Oracle};
use stunt_subject::{FailsIf, Subject, failure_of};
use stunt_unwind::stack::Symbols;
use tracing::debug;

use super::Runner;
use crate::failure::Failing;
use crate::job::Job;
use crate::refusal::Error;

/// A run that takes so many times as many instructions as on the original is given up.
const PATIENCE: u64 = 20;
/// But never before this.
const LEAST_INSTRUCTIONS: u64 = 50_000_000;
/// A run on the original that takes more than this is too slow for runs by the hundred.
const MOST_INSTRUCTIONS: u64 = 1 << 32;
/// So many candidates of new lengths are run from the beginning; then it pays to prepare for more.
const STRANGERS: usize = 4;

/// Runs the program in the machine, one for each processor.
pub(crate) struct MachineOracle<'a> {
    subject: &'a Subject,
    failure: &'a Failure,
    fails_if: Option<FailsIf>,
    machines: Vec<Again>,
    limits: Limits,
    /// The lengths that were new lately, and how often they came.
    strangers: (Vec<usize>, usize),
    runs: u64,
    /// How long the first run on the original may take.
    most: Duration,
}

impl<'a> MachineOracle<'a> {
    /// A program that fails in this way. Nothing if its inputs cannot be replaced, and nothing if the
    /// machine cannot be prepared within this time.
    pub(crate) fn new(
        job: &Job<'a>,
        failing: &'a Failing,
        most: Duration,
    ) -> Result<Option<Self>, Error> {
        let begun = Instant::now();
        let (subject, fails_if) = (job.subject, job.fails_if.clone());
        let symbols = Arc::new(Symbols::of_host());
        let width = thread::available_parallelism().map_or(1, usize::from);
        let (setup, inputs) = subject.in_machine()?;
        let mut symbolic = Symbolic::new(Relaxations::NONE);
        if failing.checked {
            symbolic.check_memory();
        }
        let mut machine = Machine::new(setup).map_err(|errno| subject.not_started(errno))?;
        machine.follow(&inputs, symbolic).map_err(stunt_subject::Error::Input)?;
        let Some(mut first) = Again::new(machine, symbols) else { return Ok(None) };
        // Runtimes take long until they look at anything; most of what a program does may be before that.
        let limits = Limits { instructions: MOST_INSTRUCTIONS };
        let over = || begun.elapsed() > most;
        let early = subject.is_managed()
            && first.go_on_before_look(&subject.original.reveal(), limits, &over);
        debug!(early, over = over(), "the machine is prepared");
        if over() {
            return Ok(None);
        }
        let mut machines: Vec<Again> = (1..width).map(|_| first.twin()).collect();
        machines.push(first);
        Ok(Some(Self {
            subject,
            failure: &failing.failure,
            fails_if,
            machines,
            limits,
            strangers: (Vec::new(), 0),
            runs: 0,
            most: most.saturating_sub(begun.elapsed()),
        }))
    }

    /// Prepares for candidates that are as long as this one, if enough of them have come.
    fn prepare(&mut self, input: &[Vec<u8>], count: usize) {
        if self.machines[0].is_prepared(input) {
            return;
        }
        let lengths: Vec<usize> = input.iter().map(Vec::len).collect();
        if self.strangers.0 != lengths {
            self.strangers = (lengths, 0);
        }
        self.strangers.1 += count;
        if self.strangers.1 > STRANGERS {
            for machine in &mut self.machines {
                machine.go_on_before_input(input, self.limits);
            }
        }
    }
}

impl Oracle for MachineOracle<'_> {
    fn fails(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        let Some(first) = inputs.first() else { return Ok(Vec::new()) };
        let alike =
            inputs.iter().filter(|it| it.iter().map(Vec::len).eq(first.iter().map(Vec::len)));
        self.prepare(first, alike.count());
        self.runs += inputs.len() as u64;
        let (failure, fails_if, limits) = (self.failure, self.fails_if.as_ref(), self.limits);
        let subject = self.subject;
        let share = inputs.len().div_ceil(self.machines.len());
        let judged = thread::scope(|scope| {
            let parts: Vec<_> = (self.machines.iter_mut().zip(inputs.chunks(share)))
                .map(|(machine, part)| {
                    scope.spawn(move || {
                        let fails = |input: &Vec<Vec<u8>>| {
                            if !subject.can_be_given(input) {
                                return false;
                            }
                            let run = machine.run(input, limits);
                            failure_of(&run, fails_if, &subject.texts).as_ref() == Some(failure)
                        };
                        part.iter().map(fails).collect::<Vec<bool>>()
                    })
                })
                .collect();
            parts.into_iter().map(thread::ScopedJoinHandle::join).collect::<Result<Vec<_>, _>>()
        });
        let judged = judged.map_err(|_| "the machine has broken down")?;
        Ok(judged.into_iter().flatten().collect())
    }

    fn width(&self) -> usize {
        self.machines.len()
    }
}

impl Runner for MachineOracle<'_> {
    fn runs(&self) -> u64 {
        self.runs
    }

    fn agrees(&mut self) -> Result<bool, Broken> {
        let (original, begun) = (self.subject.original.reveal(), Instant::now());
        let machine = &mut self.machines[0];
        let before = machine.executed_before(&original);
        let over = || begun.elapsed() > self.most;
        if machine.run_unless(&original, self.limits, &over).is_none() {
            return Ok(false);
        }
        // What a runtime does until it looks at the input says nothing about how long it may take then.
        let own = machine.kernel().executed().saturating_sub(before);
        let most = before + (PATIENCE * own).max(LEAST_INSTRUCTIONS);
        self.limits = Limits { instructions: most.min(before + MOST_INSTRUCTIONS) };
        Ok(self.fails(&vec![original; STRANGERS + 1])?.iter().all(|&fails| fails))
    }
}
