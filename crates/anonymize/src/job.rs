//! The main job from end to end: one stage after the other, values in and values out.

use std::cell::OnceCell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use stunt_native::Native;
use stunt_path::{Failure, Run};
use stunt_subject::{FailsIf, Subject, failure_of};

use crate::crash::Crash;
use crate::failure::Failing;
use crate::observer::Observer;
use crate::options::{Options, Resize};
use crate::refusal::Error;
use crate::report::{Known, Made, for_owner, not_worth_it, report, too_near};
use crate::search::search;
use crate::stage::Stage;
use crate::telling::Telling;

/// In which way a job is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// As the user has asked.
    Asked,
    /// The same, but nothing is found out about the original's own path, which is for comparison.
    Uncompared,
    /// The same, but the input is not reduced.
    Unreduced,
    /// By running the program alone, for this reason.
    Alone(String),
}

/// Under which conditions a job is done.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// In which way.
    pub way: Way,
    /// How long all of it may take from the moment on at which the failure is known.
    pub left: Duration,
}

impl Default for Conditions {
    fn default() -> Self {
        Self { way: Way::Asked, left: Duration::MAX }
    }
}

/// A program, what is asked about it, and who wants to know.
pub(crate) struct Job<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) options: &'a Options,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) native: Native,
    /// What counts as the failure, if the user said so, now or in the incident.
    pub(crate) fails_if: Option<FailsIf>,
    /// What is public of the program: its words, and examples. Looked for when they are needed.
    pub(crate) known: OnceCell<Known>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(
        options: &'a Options,
        subject: &'a Subject,
        observer: &'a dyn Observer,
    ) -> Self {
        let fails_if = options.fails_if.clone().or_else(|| subject.fails_if.clone());
        let (native, known) = (subject.native(), OnceCell::new());
        Self { subject, options, observer, native, fails_if, known }
    }

    /// Something else is going on.
    pub(crate) fn stage(&self, stage: Stage) {
        stage.begin(self.observer);
    }

    pub(crate) fn failure_of(&self, run: &Run) -> Option<Failure> {
        failure_of(run, self.fails_if.as_ref(), &self.subject.texts)
    }
}

/// Makes a double and its report. Nothing is written, and nothing is said but to the observer.
///
/// # Errors
/// There is no double ([`Error::Refused`]), or the program cannot be used.
pub fn make(
    options: &Options,
    subject: &Subject,
    conditions: Conditions,
    observer: &dyn Observer,
) -> Result<Made, Error> {
    if options.resize == Resize::Always && options.resize() != Resize::Always {
        return Err(Error::NoResize);
    }
    let begun = Instant::now();
    let job = Job::new(options, subject, observer);
    let failing = Failing::of(&job)?;
    observer.known();
    let crash = Crash::new(job, failing);
    let found = search(options, &crash, conditions, observer)?;
    if observer.enough().load(Ordering::SeqCst)
        && let Some(refusal) = not_worth_it(&crash, &found)
    {
        return Err(refusal.into());
    }
    // One that is the original by chance is as good as any other: to draw again would tell something.
    if let Some(refusal) = too_near(&crash, &found) {
        return Err(refusal.into());
    }
    let telling = Telling::of(&crash, &found)?;
    let report = report(&crash, &telling, &found)?;
    let mut owner = for_owner(&crash, &report, &found);
    owner.seconds.trace += crash.failing.trace_seconds;
    owner.seconds.total = begun.elapsed().as_secs_f64();
    Ok(Made { report, found, owner, hidden: telling.hidden })
}
