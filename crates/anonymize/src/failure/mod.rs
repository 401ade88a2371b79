//! How the program fails on the original, if it does, every time in the same way.

mod control;
mod plain;

use std::cell::Cell;
use std::time::{Duration, Instant};

use stunt_machine::symbolic::Relaxations;
use stunt_native::Outward;
use stunt_path::{Ending, Failure, FailureKind};
use stunt_search::Share;
use stunt_subject::follow;

use crate::job::Job;
use crate::refusal::{Error, Refusal};
use crate::stage::Stage;

/// How often the program is run on the original: at least, and at most if that takes no longer than
/// [`ORIGINAL_TIME`].
const ORIGINAL_RUNS: (u32, u32) = (2, 10);
const ORIGINAL_TIME: Duration = Duration::from_secs(5);
/// The most runs on one input, if the failure comes now and then.
const MOST_TRIES: u32 = 20;

/// How the program fails on the original, and what its runs showed.
pub(crate) struct Failing {
    pub(crate) failure: Failure,
    /// It is one that only checked memory shows.
    pub(crate) checked: bool,
    /// How often it comes.
    pub(crate) share: Share,
    /// How long a native run takes at most.
    pub(crate) native_time: Duration,
    /// How it looks when nobody watches, if the program can be run so.
    pub(crate) plain: Option<Outward>,
    /// Harmless inputs fail in the same way.
    pub(crate) any_fails: bool,
    /// How long a native run on one takes that does not.
    pub(crate) harmless_time: Cell<Duration>,
    /// How long following it took.
    pub(crate) trace_seconds: f64,
}

impl Failing {
    /// Sees how the program fails, watched and plainly, and that harmless inputs do not fail like that.
    pub(crate) fn of(job: &Job<'_>) -> Result<Self, Error> {
        let begun = Instant::now();
        let invalid = match job.options.check_memory {
            true => invalid_access(job)?,
            false => None,
        };
        let trace_seconds = begun.elapsed().as_secs_f64();
        let mut failing = match invalid {
            Some(failure) => Self {
                failure,
                checked: true,
                share: Share::default(),
                native_time: Duration::ZERO,
                plain: None,
                any_fails: false,
                harmless_time: Cell::default(),
                trace_seconds,
            },
            None => Self { trace_seconds, ..natively(job)? },
        };
        failing.any_fails = failing.is_of_any_input(job)?;
        if failing.any_fails && !job.options.even_if_any_input_fails {
            return Err(Refusal::AnyInput(failing.failure).into());
        }
        Ok(failing)
    }

    /// How often a run is repeated until it fails, so that a failure that comes now and then is
    /// hardly ever missed.
    pub(crate) fn tries(&self) -> u32 {
        let share = self.share.value();
        if share >= 1.0 || self.share.runs == 0 {
            return 1;
        }
        ((0.01f64.ln() / (1.0 - share).ln()).ceil() as u32).clamp(1, MOST_TRIES)
    }
}

/// The first invalid access to memory on the original, if there is one. Whether there is one, nobody
/// knows if the program could not be followed to its end.
fn invalid_access(job: &Job<'_>) -> Result<Option<Failure>, Error> {
    job.stage(Stage::CheckMemory);
    let followed = follow(job.subject, Relaxations::NONE, true)?;
    Ok(followed.failure.filter(|failure| failure.kind == FailureKind::InvalidAccess))
}

/// How the program fails on the original, if it always fails in the same way when it does.
fn natively(job: &Job<'_>) -> Result<Failing, Error> {
    job.stage(Stage::Original);
    let begun = Instant::now();
    let mut share = Share::default();
    let mut native_time = Duration::ZERO;
    let mut seen: Option<(Failure, Ending)> = None;
    let mut other = None;
    while share.runs < ORIGINAL_RUNS.0
        || (share.runs < ORIGINAL_RUNS.1 && begun.elapsed() < ORIGINAL_TIME)
    {
        let run = job.native.run(&job.subject.on_original())?;
        job.subject.texts.learn(job.native.executed());
        let failure = job.failure_of(&run);
        share.add(&[failure.is_some()]);
        let Some(failure) = failure else {
            other = Some(run.ending);
            continue;
        };
        native_time = native_time.max(run.duration);
        match seen {
            Some((seen, _)) if seen != failure => {
                return Err(Refusal::Unsteady(seen, failure).into());
            }
            _ => seen = Some((failure, run.ending)),
        }
    }
    let Some((failure, ending)) = seen else {
        // There was a run at least.
        let ending = other.unwrap_or(Ending::Exit(0));
        if let Some(refusal) = plain::only_unwatched(job, ending)? {
            return Err(refusal.into());
        }
        let fails_if = job.fails_if.as_ref().map(|it| it.text().to_owned());
        return Err(Refusal::NoFailure { ending, fails_if }.into());
    };
    let recorded = job.subject.recorded.as_ref().filter(|_| job.fails_if.is_none());
    if let Some(recorded) = recorded.filter(|&recorded| *recorded != failure) {
        return Err(Refusal::NotAsRecorded { then: recorded.clone(), now: failure }.into());
    }
    let mut failing = Failing {
        failure,
        checked: false,
        share,
        native_time,
        plain: None,
        any_fails: false,
        harmless_time: Cell::default(),
        trace_seconds: 0.0,
    };
    failing.plain = failing.seen_plainly(job, ending)?;
    Ok(failing)
}
