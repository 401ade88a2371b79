//! A program that is run on many inputs: from its start, or from just before it reads the first of
//! them.
//!
//! Always: a run is the one that a fresh machine would have made. What a program can know of an input
//! before it reads it is how long it is; so only inputs of the same lengths are run from there. All others
//! are run from before any path leads to an input, if those are files that the program opens, or else from
//! the start. Nothing is followed: failures are seen, tests are not.

use std::{sync::Arc, time::Instant};

use stunt_path::Run;
use stunt_unwind::stack::Symbols;

use crate::{
    Machine,
    linux::{Ending, Kernel, LimitReached, Limits},
    symbolic::Symbolic,
};

/// How many instructions are run between two looks whether the input was read.
const STEP: u64 = 50_000;
/// The same between two looks whether a run is to go on.
const STRETCH: u64 = 5_000_000;

/// A program at some moment.
struct Moment {
    kernel: Kernel,
    symbolic: Symbolic,
}

impl Moment {
    fn of(machine: &mut Machine) -> Option<Self> {
        let symbolic = machine.symbolic()?.fork();
        Some(Self { kernel: machine.kernel().fork(), symbolic })
    }
}

/// A program that can be run again and again.
pub struct Again {
    machine: Machine,
    start: Moment,
    /// Before the first read, and how long the inputs are there.
    before: Option<(Moment, Vec<usize>)>,
    /// Before the program can know anything of an input.
    early: Option<Moment>,
    symbols: Arc<Symbols>,
}

impl Again {
    /// A program that has not run yet, and whose inputs are to be followed. Nothing if one of them is
    /// in its memory already, as arguments are.
    #[must_use]
    pub fn new(mut machine: Machine, symbols: Arc<Symbols>) -> Option<Self> {
        if machine.kernel().sees_input() {
            return None;
        }
        let start = Moment::of(&mut machine)?;
        Some(Self { machine, start, before: None, early: None, symbols })
    }

    /// From now on, inputs of any length are run from before the program can know anything of them. Says
    /// whether there is such a moment, other than the start. Once it is `over`, there is none.
    pub fn go_on_before_look(
        &mut self,
        inputs: &[Vec<u8>],
        limits: Limits,
        over: &dyn Fn() -> bool,
    ) -> bool {
        self.machine.restore_to(&mut self.start.kernel, &mut self.start.symbolic);
        self.machine.kernel().replace_inputs(inputs, true);
        // Copies of all moments would cost as much as the run: it is made twice.
        let mut last = 0;
        while !self.machine.kernel().may_know_input() {
            let executed = self.machine.kernel().executed();
            let next = Limits { instructions: (executed + STEP).min(limits.instructions) };
            let ending = self.machine.run(next);
            if !matches!(ending, Ending::Limit(LimitReached::Instructions))
                || executed >= limits.instructions
                || over()
            {
                return false;
            }
            last = executed;
        }
        if last == 0 {
            return false;
        }
        self.machine.restore_to(&mut self.start.kernel, &mut self.start.symbolic);
        while self.machine.kernel().executed() < last {
            let executed = self.machine.kernel().executed();
            let next = Limits { instructions: (executed + STEP).min(last) };
            let ending = self.machine.run(next);
            if !matches!(ending, Ending::Limit(LimitReached::Instructions)) || over() {
                return false;
            }
        }
        self.early = Moment::of(&mut self.machine).filter(|it| !it.kernel.may_know_input());
        self.early.is_some()
    }

    /// Another one, prepared in the same way, for another thread.
    #[must_use]
    pub fn twin(&mut self) -> Self {
        self.machine.restore_to(&mut self.start.kernel, &mut self.start.symbolic);
        let twin = |moment: &mut Moment| Moment {
            kernel: moment.kernel.fork(),
            symbolic: moment.symbolic.fork(),
        };
        Self {
            start: twin(&mut self.start),
            before: self.before.as_mut().map(|(before, lengths)| (twin(before), lengths.clone())),
            early: self.early.as_mut().map(twin),
            machine: self.machine.twin(),
            symbols: Arc::clone(&self.symbols),
        }
    }

    /// Whether inputs of any length are run from some way on.
    #[must_use]
    pub fn is_early(&self) -> bool {
        self.early.is_some()
    }

    /// From now on, inputs as long as these are run from before the first read, or from before the
    /// limits, if nothing is read until then.
    pub fn go_on_before_input(&mut self, inputs: &[Vec<u8>], limits: Limits) {
        self.before = None;
        self.machine.restore_to(&mut self.start.kernel, &mut self.start.symbolic);
        self.machine.kernel().replace_inputs(inputs, true);
        let Some(mut before) = Moment::of(&mut self.machine) else { return };
        loop {
            let executed = self.machine.kernel().executed();
            let next = Limits { instructions: (executed + STEP).min(limits.instructions) };
            let ending = self.machine.run(next);
            let goes_on = matches!(ending, Ending::Limit(LimitReached::Instructions))
                && executed < limits.instructions;
            // What was looked at may be gone from memory by now.
            let looked = self.machine.symbolic().is_none_or(|it| it.followed() > 0);
            if looked || !goes_on || self.machine.kernel().sees_input() {
                break;
            }
            let Some(later) = Moment::of(&mut self.machine) else { return };
            before = later;
        }
        self.before = Some((before, inputs.iter().map(Vec::len).collect()));
    }

    /// Whether inputs of these lengths are run from before the first read.
    #[must_use]
    pub fn is_prepared(&self, inputs: &[Vec<u8>]) -> bool {
        let same = |lengths: &[usize]| lengths.iter().copied().eq(inputs.iter().map(Vec::len));
        self.before.as_ref().is_some_and(|(_, lengths)| same(lengths))
    }

    /// Runs on an input to the end, or to a limit.
    pub fn run(&mut self, inputs: &[Vec<u8>], limits: Limits) -> Run {
        let begun = Instant::now();
        self.restart(inputs);
        let ending = self.machine.run(limits);
        self.machine.left(ending, &self.symbols, begun.elapsed())
    }

    /// The same, but no further once it is `over`: then there is no run.
    pub fn run_unless(
        &mut self,
        inputs: &[Vec<u8>],
        limits: Limits,
        over: &dyn Fn() -> bool,
    ) -> Option<Run> {
        let begun = Instant::now();
        self.restart(inputs);
        loop {
            let executed = self.machine.kernel().executed();
            let next = Limits { instructions: (executed + STRETCH).min(limits.instructions) };
            let ending = self.machine.run(next);
            if !matches!(ending, Ending::Limit(LimitReached::Instructions))
                || next.instructions == limits.instructions
            {
                return Some(self.machine.left(ending, &self.symbols, begun.elapsed()));
            }
            if over() {
                return None;
            }
        }
    }

    /// How many instructions a run on such an input has behind it when it begins.
    pub fn executed_before(&mut self, inputs: &[Vec<u8>]) -> u64 {
        self.restart(inputs);
        self.machine.kernel().executed()
    }

    /// Goes back to where a run on such an input begins.
    fn restart(&mut self, inputs: &[Vec<u8>]) {
        let is_prepared = self.is_prepared(inputs);
        let moment = match (&mut self.before, &mut self.early) {
            (Some((before, _)), _) if is_prepared => before,
            (_, Some(early)) => early,
            (_, None) => &mut self.start,
        };
        self.machine.restore_to(&mut moment.kernel, &mut moment.symbolic);
        self.machine.kernel().replace_inputs(inputs, false);
    }

    /// The kernel after the last run.
    pub fn kernel(&mut self) -> &mut Kernel {
        self.machine.kernel()
    }
}
