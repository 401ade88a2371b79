//! What makes a proof of runs that are followed: plain runs, and control runs.
//!
//! A program can notice that it is followed, and that it has limits; a failure that comes of that is none.
//! So the last proof of a double is a *plain run*, as a maintainer would start it: it must look as a plain
//! run on the original does, in its ending and in what its last words say about why.
//!
//! A failure that comes whatever the input is says nothing about the input, and any double would do. So
//! there are *control runs*, on an empty input and on harmless ones as long as the original. If all of them
//! fail in the same way, nothing is handed out, unless the user insists. One that does not is enough: many
//! a program really fails on every input that is cut short.

use anyhow::Result;
use stunt_native::{Command, Copied, Outward};
use stunt_path::{Ending, Failure, FailureKind, Run};
use tracing::{debug, info};

use super::job::{Halt, Job};
use super::stage::Stage;
use crate::follow::run_double;
use crate::outcome::Outcome;

/// What harmless inputs are filled with, over and over.
const HARMLESS: [&[u8]; 4] = [b"neutral text\n", b"0", b"\n", b"\0"];

/// Where control runs are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// In the machine, which alone sees the failure.
    Machine,
    /// As candidates are run.
    Contained,
    /// As the original is run.
    Free,
}

impl Job<'_> {
    /// Sees how the program fails on the original when nobody watches; it must fail then, too.
    pub(super) fn see_plainly(
        &mut self,
        failure: &Failure,
        ending: Ending,
    ) -> Result<Result<(), Halt>> {
        let Some(command) = self.subject.plainly(self.subject.on_original()) else {
            return Ok(Ok(()));
        };
        self.progress.stage(Stage::Plain);
        let mut last = None;
        for _ in 0..self.tries() {
            let run = self.native.run(&command)?;
            let seen = Outward::of(&run);
            debug!(ending = %run.ending, seconds = run.seconds(), "a plain run");
            let fails = match &failure.kind {
                FailureKind::Stated(_) => self.failure_of(&run).as_ref() == Some(failure),
                _ => {
                    let told = !failure.is_told() || seen.told() == Some(failure);
                    seen.ending() == ending && told
                }
            };
            if fails {
                self.plain = Some(seen);
                return Ok(Ok(()));
            }
            last = Some(run.ending);
        }
        let how = last.map_or_else(String::new, |ending| format!(": it {ending}"));
        let why = format!(
            "the program fails with {failure} only while stunt watches it; started plainly, it does not \
             fail in this way{how}. That is no failure of the program, and nothing can be proved about it."
        );
        Ok(Err(Halt { outcome: Outcome::NoFailure, why }))
    }

    /// How the program fails on the original when nobody watches, in words, if it does so then alone.
    pub(super) fn only_unwatched(&mut self, watched: Ending) -> Result<Option<String>> {
        if self.fails_if.is_some() {
            return Ok(None);
        }
        let Some(command) = self.subject.plainly(self.subject.on_original()) else {
            return Ok(None);
        };
        let seen = Outward::of(&self.native.run(&command)?);
        let how = match (seen.told(), seen.ending()) {
            (Some(failure), _) => format!("it fails with {failure}"),
            (None, ending @ Ending::Signal(_)) if ending != watched => format!("it {ending}"),
            _ => return Ok(None),
        };
        Ok(Some(format!(
            "the program fails only while nobody watches it: started plainly, {how}; followed, it \
             {watched}. A double cannot be proved then. (Leaks are looked for by programs that nobody \
             follows.)"
        )))
    }

    /// Whether a plain run on a double looks as one on the original does.
    pub(super) fn fails_plainly(&mut self, failure: &Failure, command: &Command) -> Result<bool> {
        let Some(expected) = self.plain.clone() else { return Ok(true) };
        let Some(command) = self.subject.plainly(command.clone()) else { return Ok(true) };
        for _ in 0..self.tries() {
            let run = self.native.run(&command)?;
            debug!(ending = %run.ending, seconds = run.seconds(), "a plain run");
            let fails = match &failure.kind {
                FailureKind::Stated(_) => self.failure_of(&run).as_ref() == Some(failure),
                _ => Outward::of(&run) == expected,
            };
            if fails {
                return Ok(true);
            }
        }
        self.only_watched += 1;
        Ok(false)
    }

    /// Whether there is an input among harmless ones on which the program does not fail in this way.
    pub(super) fn control(&mut self, failure: &Failure) -> Result<Result<(), Halt>> {
        self.progress.stage(Stage::Control);
        let place = if self.checked { Where::Machine } else { Where::Contained };
        let mut any = self.any_fails(failure, place)?;
        // A program that cannot do its work when it is contained has not been asked.
        if !any && place == Where::Contained {
            let original = self.subject.original.reveal();
            if !self.fails_on(failure, &original, place)? {
                any = self.any_fails(failure, Where::Free)?;
            }
        }
        info!(any, "control runs");
        if !any {
            return Ok(Ok(()));
        }
        self.any_fails = true;
        if self.arguments.even_if_any_input_fails {
            return Ok(Ok(()));
        }
        let why = format!(
            "the program fails with {failure} on any input: on an empty one as well, and on harmless ones \
             as long as this. So the failure does not come from this input, and a double would prove \
             nothing. Nothing is handed out; --even-if-any-input-fails makes a double all the same."
        );
        Ok(Err(Halt { outcome: Outcome::Unproved, why }))
    }

    fn any_fails(&mut self, failure: &Failure, place: Where) -> Result<bool> {
        for input in self.harmless() {
            if self.subject.can_be_given(&input) && !self.fails_on(failure, &input, place)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn fails_on(&mut self, failure: &Failure, input: &[Vec<u8>], place: Where) -> Result<bool> {
        if place == Where::Machine {
            let run = run_double(self.subject, input, true)?;
            return Ok(run.is_ok_and(|run| run.failure.as_ref() == Some(failure)));
        }
        let command = match place {
            Where::Free | Where::Machine => self.subject.on_double(input)?,
            Where::Contained => {
                Command { copied: Copied::Never, ..self.subject.on_candidate(input) }
            }
        };
        for _ in 0..self.tries() {
            let run: Run = self.native.run(&command)?;
            if self.failure_of(&run).as_ref() == Some(failure) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Harmless inputs: as long as the original and with its public parts, and an empty one.
    fn harmless(&self) -> Vec<Vec<Vec<u8>>> {
        let original = &self.subject.original;
        let hidden = original.hidden();
        let filled = |filler: &[u8]| {
            let mut input = original.reveal();
            for byte in &hidden {
                let (source, at) = (usize::from(byte.source), byte.offset as usize);
                // Not the same in every source: to be alike may be what fails.
                input[source][at] = filler[(source + at) % filler.len()];
            }
            input
        };
        let empty = vec![Vec::new(); original.sources()];
        HARMLESS.iter().map(|filler| filled(filler)).chain([empty]).collect()
    }
}
