//! The program itself, asked on many inputs at once whether it fails as it did on the original.
//!
//! Candidates are random: whatever they make the program do, it does in a run that is contained.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stunt_native::{Command, Copied, Native};
use stunt_path::Failure;
use stunt_reduce::{Broken, Oracle};
use stunt_subject::{FailsIf, Subject, failure_of};

use super::Runner;
use crate::failure::Failing;
use crate::job::Job;

/// A run that takes so many times as long as on the original is given up.
const PATIENCE: u32 = 20;
/// But never before this.
const LEAST_TIME: Duration = Duration::from_millis(300);
/// Runs on the original by which copies from before the input are tried.
const LATE_RUNS: usize = 3;

/// Nobody stops a run of an oracle: between runs there is time enough.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Runs the program natively, on all processors.
pub(crate) struct NativeOracle<'a> {
    subject: &'a Subject,
    failure: &'a Failure,
    fails_if: Option<FailsIf>,
    time: Duration,
    /// How often a run is repeated until it fails.
    tries: u32,
    native: Native,
    /// Whether runs are made in the folder that they may write to, and not in the user's.
    elsewhere: bool,
    /// From where on runs are copies.
    copied: Copied,
    /// Runs so far.
    runs: u64,
}

impl<'a> NativeOracle<'a> {
    /// A program that fails in this way.
    pub(crate) fn new(job: &Job<'a>, failing: &'a Failing) -> Self {
        let (subject, fails_if) = (job.subject, job.fails_if.clone());
        // What does not end takes all the time that it gets: candidates get what is long for this program.
        let usual = match fails_if.as_ref().and_then(FailsIf::time) {
            Some(_) => failing.harmless_time.get(),
            None => failing.native_time,
        };
        let time = (usual * PATIENCE).max(LEAST_TIME).min(subject.timeout());
        // What fails now and then may do so by what it drew before it looked at its input.
        let always = failing.share.runs > 0 && failing.share.value() >= 1.0;
        Self {
            subject,
            failure: &failing.failure,
            fails_if,
            time,
            tries: failing.tries(),
            native: subject.native(),
            elsewhere: false,
            copied: if always { Copied::FromInput } else { Copied::FromEntry },
            runs: 0,
        }
    }

    /// A run on a candidate.
    fn command(&self, input: &[Vec<u8>]) -> Command {
        let mut command = self.subject.on_candidate(input);
        command.time = self.time;
        command.copied = self.copied;
        if self.elsewhere {
            command.folder = Some(Command::own_folder());
            if let Ok(program) = std::path::absolute(&command.program) {
                command.program = program;
            }
        }
        command
    }

    /// Whether the original fails in copies from before the input, too; if not, they are not made. Of
    /// some runs in one thread, those after the first are copies.
    fn agree_late(&mut self, original: &[Vec<u8>]) -> Result<(), Broken> {
        if self.copied != Copied::FromInput {
            return Ok(());
        }
        let commands = vec![self.command(original); LATE_RUNS];
        self.runs += commands.len() as u64;
        let mut results = Vec::with_capacity(commands.len());
        self.native.run_on(1, &commands, &NEVER, &mut |_, result| results.push(result));
        for run in results {
            if failure_of(&run?, self.fails_if.as_ref(), &self.subject.texts).as_ref()
                != Some(self.failure)
            {
                self.copied = Copied::FromEntry;
            }
        }
        Ok(())
    }
}

impl Oracle for NativeOracle<'_> {
    fn fails(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        let mut results = vec![false; inputs.len()];
        let given = |&at: &usize| self.subject.can_be_given(&inputs[at]);
        let mut open: Vec<usize> = (0..inputs.len()).filter(given).collect();
        for _ in 0..self.tries {
            self.runs += open.len() as u64;
            let commands: Vec<_> = open.iter().map(|&at| self.command(&inputs[at])).collect();
            for (&at, run) in open.iter().zip(self.native.run_all(&commands, &NEVER)) {
                let seen = failure_of(&run?, self.fails_if.as_ref(), &self.subject.texts);
                results[at] = seen.as_ref() == Some(self.failure);
            }
            open.retain(|&at| !results[at]);
        }
        Ok(results)
    }

    fn width(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}

impl Runner for NativeOracle<'_> {
    fn runs(&self) -> u64 {
        self.runs
    }

    /// A program that has to write a file to the folder that it is run in can do so in one of its
    /// own, if it needs nothing else from there.
    fn agrees(&mut self) -> Result<bool, Broken> {
        let original = self.subject.original.reveal();
        for elsewhere in [false, true] {
            self.elsewhere = elsewhere;
            if self.fails(&[original.clone(), original.clone()])? == [true, true] {
                self.agree_late(&original)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
