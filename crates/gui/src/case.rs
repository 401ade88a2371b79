//! A case: a failure, and the browser in which recordings are tried for it.
//!
//! Always: a trial says yes only if the same failure was seen. One that fails at times is tried as often as it takes
//! to see it with little doubt; how often was measured before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stunt_reduce::{Broken, Oracle};

use crate::chromium::Error;
use crate::failure::PageFailure;
use crate::leaves::Leaf;
use crate::minimise::Tester;
use crate::pool::Pool;
use crate::recording::Recording;
use crate::replay::{End, Manner, Plan, Ran};

/// How often a recording is replayed at first, to see whether it always fails.
const FIRST_RUNS: usize = 3;
/// And if it does not always.
const MORE_RUNS: usize = 12;
/// A trial of a failure that shows at times misses it with this probability.
const MISSED: f64 = 0.05;
/// A trial is made at most so often.
const MOST_TRIES: u32 = 8;
/// How long a replay may take at first.
const FIRST_TIME: Duration = Duration::from_secs(30);
/// And afterwards at least: other machines are busy as well.
const LEAST_TIME: Duration = Duration::from_secs(8);

/// Why there is no case.
#[derive(Debug, thiserror::Error)]
pub enum NoCase {
    /// The browser does not do its part.
    #[error(transparent)]
    Browser(#[from] Error),
    /// It does not fail.
    #[error("the recording does not fail when it is replayed{0}")]
    NoFailure(String),
    /// It does, and differently.
    #[error("the recording fails in another way when it is replayed: {0}")]
    OtherFailure(String),
    /// The page is not there.
    #[error("the page does not load")]
    NotLoaded,
    /// It takes too long.
    #[error("the replay does not end within {0} seconds: an endless loop, perhaps")]
    Late(u64),
    /// The recorder was told of something that no replay can see.
    #[error(
        "the recording was taken because the user asked for help: there is no exception by which a \
         replay could tell that it went wrong again"
    )]
    Assistance,
}

/// A failure to be found again.
pub struct Case<'a> {
    pool: &'a Pool,
    url: Option<String>,
    /// The failure, as a replay has seen it.
    pub failure: PageFailure,
    /// Whether it is the first one of a run.
    stop: bool,
    time: Duration,
    tries: u32,
    /// Of how many replays how many failed.
    pub seen: (usize, usize),
    /// The steps that were skipped at first, and why.
    pub skipped: Vec<(u64, String)>,
    /// How long a replay takes.
    pub pace: Duration,
    /// For how many milliseconds a page is listened to after the last step.
    pub(crate) afterwards: f64,
    trials: AtomicU64,
    /// Trials are by mouse and keys of the browser, for the player does what a person could not.
    trusted: AtomicBool,
}

impl<'a> Case<'a> {
    /// Replays the whole recording, some times.
    ///
    /// # Errors
    /// It does not fail as it did, or cannot be replayed.
    pub fn new(pool: &'a Pool, recording: &Recording, url: Option<String>) -> Result<Self, NoCase> {
        let recorded = PageFailure::read(&recording.value()["failure"]);
        if recorded.as_ref().is_some_and(|it| it.kind == "assistance") {
            return Err(NoCase::Assistance);
        }
        let plan = Plan {
            recording: recording.clone(),
            url: url.clone(),
            manner: Manner::InPage,
            time: FIRST_TIME,
            stop: false,
            afterwards: recording.afterwards(),
        };
        let mut runs = pool.run_all(&vec![plan.clone(); FIRST_RUNS])?;
        let of = |run: &Ran| match &recorded {
            Some(recorded) => run.same(recorded).cloned(),
            None => run.failures.last().cloned(),
        };
        let Some((first, failure)) = runs.iter().find_map(|run| Some((run, of(run)?))) else {
            return Err(none(&runs, recorded.as_ref()));
        };
        let stop = first.failures.first().is_some_and(|it| it.is_same(&failure));
        let skipped = first.skipped.clone();
        let fails = |runs: &[Ran]| runs.iter().filter(|run| run.same(&failure).is_some()).count();
        if fails(&runs) < runs.len() {
            runs.extend(pool.run_all(&vec![plan; MORE_RUNS])?);
        }
        let hits = fails(&runs);
        let pace = runs.iter().map(|run| run.took).max().unwrap_or_default();
        let share = hits as f64 / runs.len() as f64;
        let tries = if hits == runs.len() {
            1
        } else {
            (MISSED.ln() / (1.0 - share).ln()).ceil().clamp(1.0, f64::from(MOST_TRIES)) as u32
        };
        let time = (pace * 4).max(LEAST_TIME);
        let seen = (hits, runs.len());
        let trials = AtomicU64::new(runs.len() as u64);
        let trusted = AtomicBool::new(false);
        let afterwards = recording.afterwards();
        Ok(Self {
            pool,
            url,
            failure,
            stop,
            time,
            tries,
            seen,
            skipped,
            pace,
            afterwards,
            trials,
            trusted,
        })
    }

    /// How trials are made.
    pub fn manner(&self) -> Manner {
        if self.trusted.load(Ordering::Relaxed) { Manner::Trusted } else { Manner::InPage }
    }

    /// From now on, trials are by mouse and keys.
    pub fn trust_input_only(&self) {
        self.trusted.store(true, Ordering::Relaxed);
    }

    /// Replays so far.
    pub fn trials(&self) -> u64 {
        self.trials.load(Ordering::Relaxed)
    }

    /// The plan of a trial.
    pub fn plan(&self, recording: Recording, manner: Manner) -> Plan {
        let (url, time, stop) = (self.url.clone(), self.time, self.stop);
        Plan { recording, url, manner, time, stop, afterwards: self.afterwards }
    }

    /// The browser's pool.
    pub fn pool(&self) -> &Pool {
        self.pool
    }

    /// For each recording, the ids of the actions that were done until it failed; nothing if it does not.
    ///
    /// # Errors
    /// There is no browser any more.
    pub fn fails(&self, recordings: &[Recording]) -> Result<Vec<Option<Vec<u64>>>, Error> {
        let mut results: Vec<Option<Vec<u64>>> = vec![None; recordings.len()];
        for _ in 0..self.tries {
            let open: Vec<usize> = (0..results.len()).filter(|&at| results[at].is_none()).collect();
            if open.is_empty() {
                break;
            }
            let plan = |&at: &usize| self.plan(recordings[at].clone(), self.manner());
            let plans: Vec<Plan> = open.iter().map(plan).collect();
            self.trials.fetch_add(plans.len() as u64, Ordering::Relaxed);
            for (at, ran) in open.into_iter().zip(self.pool.run_all(&plans)?) {
                results[at] = self.done(&ran);
            }
        }
        Ok(results)
    }

    /// What a run did until it failed.
    fn done(&self, ran: &Ran) -> Option<Vec<u64>> {
        let failure = ran.same(&self.failure)?;
        let needed = |id: &u64| *id <= failure.after;
        Some(ran.done.iter().copied().filter(needed).collect())
    }

    /// How many of so many replays fail in the same way.
    ///
    /// # Errors
    /// There is no browser any more.
    pub fn proved(
        &self,
        recording: &Recording,
        manner: Manner,
        runs: usize,
    ) -> Result<Vec<Ran>, Error> {
        let plans = vec![self.plan(recording.clone(), manner); runs];
        self.trials.fetch_add(runs as u64, Ordering::Relaxed);
        let all = self.pool.run_all(&plans)?;
        Ok(all.into_iter().filter(|run| run.same(&self.failure).is_some()).collect())
    }
}

fn none(runs: &[Ran], recorded: Option<&PageFailure>) -> NoCase {
    if runs.iter().all(|run| run.end == End::NotLoaded) {
        return NoCase::NotLoaded;
    }
    if runs.iter().all(|run| run.end == End::Late) {
        return NoCase::Late(FIRST_TIME.as_secs());
    }
    if let (Some(other), Some(_)) = (runs.iter().find_map(|run| run.failures.last()), recorded) {
        return NoCase::OtherFailure(other.to_path(&|_| None).to_string());
    }
    let skipped = runs.first().map_or(0, |run| run.skipped.len());
    let why = if runs.iter().any(|run| run.end == End::Crashed) {
        ": the page's process dies".to_owned()
    } else if skipped > 0 {
        format!(
            ": {skipped} of its steps could not be done, for their widgets are not there; is it the version of the \
             page that was recorded?"
        )
    } else {
        String::new()
    };
    NoCase::NoFailure(why)
}

/// Tries steps of a recording.
pub struct Steps<'a> {
    /// The case.
    pub case: &'a Case<'a>,
    /// The recording.
    pub recording: &'a Recording,
}

impl Tester for Steps<'_> {
    fn try_all(&mut self, candidates: &[Vec<usize>]) -> Result<Vec<Option<Vec<usize>>>, Broken> {
        let recordings: Vec<Recording> =
            candidates.iter().map(|it| self.recording.with_actions(it)).collect();
        let actions = self.recording.actions();
        let place = |id: u64| actions.iter().position(|it| it["id"].as_u64() == Some(id));
        let results = self.case.fails(&recordings)?;
        Ok(results
            .into_iter()
            .map(|done| Some(done?.into_iter().filter_map(place).collect()))
            .collect())
    }
}

/// Tries texts in the leaves of a recording.
pub struct Texts<'a> {
    /// The case.
    pub case: &'a Case<'a>,
    /// The recording.
    pub recording: &'a Recording,
    /// Which leaves the sources are.
    pub leaves: &'a [Leaf],
    /// When there are no trials any more: what was not tried does not fail.
    pub until: Option<Instant>,
    /// How many there were.
    pub trials: Arc<AtomicU64>,
}

impl Oracle for Texts<'_> {
    fn fails(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        let mut results = vec![false; inputs.len()];
        let (mut places, mut recordings) = (Vec::new(), Vec::new());
        for (at, input) in inputs.iter().enumerate() {
            // Bytes that are no text can be typed by nobody.
            if let Some(recording) = crate::leaves::filled(self.recording, self.leaves, input) {
                places.push(at);
                recordings.push(recording);
            }
        }
        self.trials.fetch_add(recordings.len() as u64, Ordering::Relaxed);
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Ok(results);
        }
        for (at, done) in places.into_iter().zip(self.case.fails(&recordings)?) {
            results[at] = done.is_some();
        }
        Ok(results)
    }

    fn width(&self) -> usize {
        self.case.pool().width()
    }
}
