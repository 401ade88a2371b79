//! Plain runs: the last word is that of a run that nobody watches.
//!
//! A program can notice that it is followed, and that it has limits; a failure that comes of that is none.
//! So the last proof of a double is a *plain run*, as a maintainer would start it: it must look as a plain
//! run on the original does, in its ending and in what its last words say about why.

use stunt_native::{Command, Outward};
use stunt_path::{Ending, FailureKind};
use tracing::debug;

use super::Failing;
use crate::job::Job;
use crate::refusal::{Error, Refusal};
use crate::stage::Stage;

impl Failing {
    /// Sees how the program fails on the original when nobody watches; it must fail then, too. Nothing if
    /// it cannot be run so.
    pub(super) fn seen_plainly(
        &self,
        job: &Job<'_>,
        ending: Ending,
    ) -> Result<Option<Outward>, Error> {
        let failure = &self.failure;
        let Some(command) = job.subject.plainly(job.subject.on_original()) else {
            return Ok(None);
        };
        job.stage(Stage::Plain);
        let mut last = None;
        for _ in 0..self.tries() {
            let run = job.native.run(&command)?;
            let seen = Outward::of(&run, &job.subject.texts);
            debug!(ending = %run.ending, seconds = run.seconds(), "a plain run");
            let fails = match &failure.kind {
                FailureKind::Stated(_) => job.failure_of(&run).as_ref() == Some(failure),
                _ => {
                    let told = !failure.is_told() || seen.told() == Some(failure);
                    seen.ending() == ending && told
                }
            };
            if fails {
                return Ok(Some(seen));
            }
            last = Some(run.ending);
        }
        Err(Refusal::OnlyWatched { failure: failure.clone(), plainly: last }.into())
    }

    /// Whether a plain run on a double looks as one on the original does.
    pub(crate) fn comes_plainly(&self, job: &Job<'_>, command: &Command) -> Result<bool, Error> {
        let Some(expected) = &self.plain else { return Ok(true) };
        let Some(command) = job.subject.plainly(command.clone()) else { return Ok(true) };
        for _ in 0..self.tries() {
            let run = job.native.run(&command)?;
            debug!(ending = %run.ending, seconds = run.seconds(), "a plain run");
            let fails = match &self.failure.kind {
                FailureKind::Stated(_) => job.failure_of(&run).as_ref() == Some(&self.failure),
                _ => Outward::of(&run, &job.subject.texts) == *expected,
            };
            if fails {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Why there is no failure to work with, if the program fails on the original when nobody watches alone.
pub(super) fn only_unwatched(job: &Job<'_>, watched: Ending) -> Result<Option<Refusal>, Error> {
    if job.fails_if.is_some() {
        return Ok(None);
    }
    let Some(command) = job.subject.plainly(job.subject.on_original()) else {
        return Ok(None);
    };
    let seen = Outward::of(&job.native.run(&command)?, &job.subject.texts);
    let plainly = match (seen.told(), seen.ending()) {
        (Some(failure), _) => format!("it fails with {failure}"),
        (None, ending @ Ending::Signal(_)) if ending != watched => format!("it {ending}"),
        _ => return Ok(None),
    };
    Ok(Some(Refusal::OnlyUnwatched { plainly, watched }))
}
