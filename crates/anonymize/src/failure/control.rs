//! Control runs: whether the failure comes from the input at all.
//!
//! A failure that comes whatever the input is says nothing about the input, and any double would do. So
//! the program is run on an empty input and on harmless ones as long as the original. If all of them
//! fail in the same way, nothing is handed out, unless the user insists. One that does not is enough: many
//! a program really fails on every input that is cut short.

use stunt_native::{Command, Copied};
use stunt_path::Original;
use stunt_subject::run_double;
use tracing::info;

use super::Failing;
use crate::job::Job;
use crate::refusal::{Error, unless_refused};
use crate::stage::Stage;

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

impl Failing {
    /// Whether the program fails in this way on all harmless inputs.
    pub(super) fn is_of_any_input(&self, job: &Job<'_>) -> Result<bool, Error> {
        job.stage(Stage::Control);
        let place = if self.checked { Where::Machine } else { Where::Contained };
        let mut any = self.is_of_all(job, place)?;
        // A program that cannot do its work when it is contained has not been asked.
        if !any && place == Where::Contained {
            let original = job.subject.original.reveal();
            if !self.comes_on(job, &original, place)? {
                any = self.is_of_all(job, Where::Free)?;
            }
        }
        info!(any, "control runs");
        Ok(any)
    }

    fn is_of_all(&self, job: &Job<'_>, place: Where) -> Result<bool, Error> {
        for input in harmless(&job.subject.original) {
            if job.subject.can_be_given(&input) && !self.comes_on(job, &input, place)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn comes_on(&self, job: &Job<'_>, input: &[Vec<u8>], place: Where) -> Result<bool, Error> {
        let command = match place {
            Where::Machine => {
                let run = run_double(job.subject, input, true).map_err(Error::from);
                let seen = unless_refused(run)?.and_then(|run| run.failure);
                return Ok(seen.as_ref() == Some(&self.failure));
            }
            Where::Free => job.subject.on_double(input)?,
            Where::Contained => {
                Command { copied: Copied::Never, ..job.subject.on_candidate(input) }
            }
        };
        for _ in 0..self.tries() {
            let run = job.native.run(&command)?;
            if job.failure_of(&run).as_ref() == Some(&self.failure) {
                return Ok(true);
            }
            self.harmless_time.set(self.harmless_time.get().max(run.duration));
        }
        Ok(false)
    }
}

/// Harmless inputs: as long as the original and with its public parts, and an empty one.
fn harmless(original: &Original) -> impl Iterator<Item = Vec<Vec<u8>>> + '_ {
    let filled = move |filler: &[u8]| {
        let mut input = original.reveal();
        for (source, bytes) in input.iter_mut().enumerate() {
            for (at, byte) in bytes.iter_mut().enumerate() {
                if original.hides(source, at) {
                    // Not the same in every source: to be alike may be what fails.
                    *byte = filler[(source + at) % filler.len()];
                }
            }
        }
        input
    };
    let empty = vec![Vec::new(); original.sources()];
    HARMLESS.into_iter().map(filled).chain([empty])
}
