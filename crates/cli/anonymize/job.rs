//! One run of the command: the failure natively, and what every algorithm needs to find a double
//! and to prove it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde_json::Value;
use stunt_leakage::Bits;
use stunt_machine::symbolic::Relaxations;
use stunt_native::{Native, Outward};
use stunt_path::{Ending, Failure, FailureKind, Original, Run};
use stunt_search::weaken::Lengths;
use stunt_search::{Double, Measured, PathCondition, Share};
use tracing::{debug, info, info_span};

use super::guarded::{Answer, Teller};
use super::owner::Seconds;
use super::stage::Stage;
use super::{Account, Arguments, Choice, Resize, warn};
use crate::fails_if::{FailsIf, failure_of};
use crate::follow::{Followed, Stopped, follow, follow_on, run_double};
use crate::outcome::Outcome;
use crate::place::MissingCall;
use crate::progress::Progress;
use crate::subject::Subject;

/// How long the search for a better double may take, if nothing is said.
pub(super) const USUAL_TIME: Duration = Duration::from_secs(20);

/// How often the program is run on the original: at least, and at most if that takes no longer than
/// [`ORIGINAL_TIME`].
const ORIGINAL_RUNS: (u32, u32) = (2, 10);
const ORIGINAL_TIME: Duration = Duration::from_secs(5);
/// The most runs on one input, if the failure comes now and then.
const MOST_TRIES: u32 = 20;

/// One run of the command.
pub(super) struct Job<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) subject: &'a Subject,
    pub(super) native: Native,
    pub(super) progress: Progress,
    pub(super) seconds: Seconds,
    /// The failure is one that only checked memory shows.
    pub(super) checked: bool,
    /// How long a native run on the original takes at most.
    pub(super) native_time: Duration,
    /// How often it fails.
    pub(super) share: Share,
    /// How long a run takes among many, once that was measured.
    pub(super) pace: Option<Duration>,
    /// What the search starts from, if not from the original.
    pub(super) base: Option<Original>,
    /// How long a double may be, and what it owes for that.
    pub(super) lengths: Lengths,
    /// Of a canonical double: what the path reveals, of which all is a function.
    pub(super) canonical: Option<Measured>,
    /// How many conditions were measured, to take the one with the lowest figure.
    pub(super) measured: u32,
    /// What the search under way may take.
    pub(super) allowed: Allowed,
    /// What counts as the failure, if the user said so, now or in the incident.
    pub(super) fails_if: Option<FailsIf>,
    pub(super) conditions: Conditions,
    /// When the failure was known.
    begun: Instant,
    /// How the original fails when nobody watches, if it can be run so.
    pub(super) plain: Option<Outward>,
    /// Harmless inputs fail in the same way.
    pub(super) any_fails: bool,
    /// How many doubles failed only while they were watched.
    pub(super) only_watched: u32,
}

/// In which way a job is done.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Way {
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
pub(super) struct Conditions {
    /// Who is told, if the job is done in a worker.
    pub(super) teller: Option<Teller>,
    /// Where the report goes.
    pub(super) output: PathBuf,
    pub(super) way: Way,
    /// How long all of it may take from now on.
    pub(super) left: Duration,
}

impl Conditions {
    /// Those of a job that nobody guards.
    pub(super) fn none() -> Self {
        Self { teller: None, output: PathBuf::new(), way: Way::Asked, left: Duration::MAX }
    }
}

/// The part of the time that is left for what comes after a search: measuring, and proofs.
const FOR_PROOFS: f64 = 0.2;

/// What a search may take.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    pub(super) time: Duration,
    /// Runs of the program.
    pub(super) runs: u64,
    /// What reveals as much, in bits, is of no use.
    pub(super) worth: f64,
}

/// Why the program could not be followed.
pub(super) struct Halt {
    /// What the command ends with.
    pub(super) outcome: Outcome,
    /// A sentence for the user.
    pub(super) why: String,
}

impl From<Stopped> for Halt {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Unsupported(what) => Self {
                outcome: Outcome::Unsupported,
                why: format!("{what}. This is a limit of stunt, not a bug of the program."),
            },
            Stopped::Limit(what) => Self { outcome: Outcome::Limit, why: format!("{what}.") },
        }
    }
}

/// A proved double with its figures.
pub struct Found {
    /// The double.
    pub drawn: Proved,
    /// What the original path reveals, if that was found out.
    pub(super) path_leak: Option<Bits>,
    /// The run that it comes from.
    pub followed: Followed,
    pub(super) relax: Relaxations,
    /// What the search took and found, by name, for programs.
    pub(super) facts: BTreeMap<&'static str, Value>,
    /// What the user should know about it.
    pub(super) notes: Vec<String>,
    /// It is shorter than the original.
    pub(super) is_shorter: bool,
    /// It was made from a shorter input, and filled up to the length of the original.
    pub(super) is_filled: bool,
}

impl Found {
    /// One of which nothing else is known.
    pub(super) fn new(drawn: Proved, followed: Followed, relax: Relaxations) -> Self {
        Self {
            drawn,
            path_leak: None,
            followed,
            relax,
            facts: BTreeMap::new(),
            notes: Vec::new(),
            is_shorter: false,
            is_filled: false,
        }
    }
}

/// A double that fails as the original does.
pub struct Proved {
    /// The double.
    pub double: Double,
    /// How the program failed on it: all that a report says of a failure.
    pub(super) failure: Failure,
    pub(super) measured: Measured,
    /// How many bits the hidden part of the input has that it was made from.
    pub(super) size: usize,
    /// How many doubles were drawn until one failed.
    pub(super) draws: u32,
}

impl<'a> Job<'a> {
    /// Nothing has been done yet.
    pub(super) fn new(
        arguments: &'a Arguments,
        subject: &'a Subject,
        conditions: Conditions,
    ) -> Self {
        let teller = conditions.teller.clone();
        let listener = teller.map(|it| Box::new(move |stage| it.stage(stage)) as Box<dyn Fn(_)>);
        Self {
            arguments,
            subject,
            native: subject.native(),
            progress: Progress::new(arguments.json, listener),
            seconds: Seconds::default(),
            checked: false,
            native_time: Duration::ZERO,
            share: Share::default(),
            pace: None,
            base: None,
            lengths: Lengths::default(),
            canonical: None,
            measured: 0,
            allowed: Allowed {
                time: arguments.time.map_or(USUAL_TIME, Duration::from_secs),
                runs: arguments.effort,
                worth: f64::INFINITY,
            },
            fails_if: arguments.fails_if.clone().or_else(|| subject.fails_if.clone()),
            conditions,
            begun: Instant::now(),
            plain: None,
            any_fails: false,
            only_watched: 0,
        }
    }

    /// The failure is known, and the time begins.
    pub(super) fn known(&mut self) {
        self.begun = Instant::now();
        if let Some(teller) = &self.conditions.teller {
            teller.known();
        }
    }

    /// How long the next search may take: what is allowed, within what is left of the job's time.
    pub(super) fn time(&self) -> Duration {
        let left = self.conditions.left.saturating_sub(self.begun.elapsed());
        if left > self.allowed.time * 2 {
            return self.allowed.time;
        }
        left.mul_f64(1.0 - FOR_PROOFS).min(self.allowed.time)
    }

    /// A double that was proved is the answer from now on, unless a better one comes. It owes what it
    /// would owe at the end.
    pub(super) fn hold(&mut self, found: &Found) {
        let Some(teller) = self.conditions.teller.clone() else { return };
        // A canonical double gets its figure in the end.
        if self.arguments.canonical || self.too_near(found).is_some() {
            return;
        }
        let telling = self.tell_at_once();
        // What cannot be written now is not there to be held.
        let Ok(report) = self.report(&telling, found) else { return };
        let owner = self.for_owner(&report, found);
        let account = Account { report: &report, found, owner: &owner, hidden: &telling.hidden };
        if let Ok(answer) = Answer::of(self.arguments, &account, &self.conditions.output) {
            teller.hold(&answer);
        }
    }

    /// The same for a double on the original's path.
    pub(super) fn hold_on_path(&mut self, found: &Found) {
        // What is charged for its length has more to come.
        if self.base.is_none() && self.arguments.resize() == Resize::Never {
            self.hold(found);
        }
    }

    /// Follows the original, and looks for a double.
    pub(super) fn find(&mut self, failure: &Failure) -> Result<Result<Found, Halt>> {
        let mut rng =
            self.arguments.seed.map_or_else(ChaCha20Rng::from_entropy, ChaCha20Rng::seed_from_u64);
        if self.arguments.canonical {
            rng = match self.make_canonical(failure)? {
                Ok(own) => own,
                Err(halt) => return Ok(Err(halt)),
            };
        }
        let mut found = match self.arguments.resize() {
            Resize::Never => self.find_by(failure, &mut rng)?.map(|found| self.settled(found)),
            Resize::Always | Resize::Auto => self.reduced(failure, &mut rng)?,
        };
        if let Ok(found) = &mut found {
            warn(self.subject, found);
            self.hold(found);
        }
        self.delay(&mut rng);
        Ok(found)
    }

    /// By the algorithm that was asked for.
    pub(super) fn find_by(
        &mut self,
        failure: &Failure,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        // An exception that an interpreter tells of is no failure of its own: in the machine it exits.
        if self.subject.is_script() || failure.exception_type().is_some() {
            return self.blackbox(failure, "a script cannot be followed", rng);
        }
        if let Way::Alone(why) = &self.conditions.way {
            let why = why.clone();
            return self.blackbox(failure, &why, rng);
        }
        if failure.is_told() {
            return self.blackbox(failure, "what a sanitizer finds cannot be followed", rng);
        }
        match self.arguments.algorithm {
            Choice::Blackbox => self.blackbox(failure, "", rng),
            Choice::Weaken => self.weakened(failure, rng),
            Choice::Relaxed | Choice::Castro | Choice::Camouflage => self.on_path(failure, rng),
            Choice::Mpp | Choice::ReapBrw | Choice::ReapBag | Choice::ReapRm | Choice::Respa => {
                self.other_path(failure, rng)
            }
        }
    }

    /// The first invalid access to memory on the original, if there is one. Whether there is one, nobody
    /// knows if the program could not be followed to its end.
    pub(super) fn invalid_access(&mut self) -> Result<Result<Option<Failure>, Halt>> {
        self.progress.stage(Stage::CheckMemory);
        let begun = Instant::now();
        let followed = follow(self.subject, Relaxations::NONE, true)?;
        self.seconds.trace += begun.elapsed().as_secs_f64();
        let followed = match followed {
            Ok(followed) => followed,
            Err(stopped) => return Ok(Err(stopped.into())),
        };
        let invalid = followed.failure.filter(|failure| failure.kind == FailureKind::InvalidAccess);
        self.checked = invalid.is_some();
        Ok(Ok(invalid))
    }

    /// How the program fails on the original, if it always fails in the same way when it does.
    pub(super) fn original_failure(&mut self) -> Result<Result<Failure, Outcome>> {
        self.progress.stage(Stage::Original);
        let begun = Instant::now();
        let mut seen: Option<Failure> = None;
        let mut how = None;
        let mut other = None;
        while self.share.runs < ORIGINAL_RUNS.0
            || (self.share.runs < ORIGINAL_RUNS.1 && begun.elapsed() < ORIGINAL_TIME)
        {
            let run = self.native.run(&self.subject.on_original())?;
            let failure = self.failure_of(&run);
            self.share.add(&[failure.is_some()]);
            let Some(failure) = failure else {
                other = Some(run);
                continue;
            };
            self.native_time = self.native_time.max(run.duration);
            if let Some(seen) = &seen
                && *seen != failure
            {
                let why = format!(
                    "the program fails differently each time: {seen}, then {failure}. A double cannot be \
                     proved then; try --fails-if."
                );
                return Ok(Err(self.halt(Halt { outcome: Outcome::Unproved, why })));
            }
            seen = Some(failure);
            how = Some(run.ending);
        }
        let (Some(failure), Some(ending)) = (seen, how) else {
            if let Some(run) = &other
                && let Some(why) = self.only_unwatched(run.ending)?
            {
                return Ok(Err(self.halt(Halt { outcome: Outcome::Unproved, why })));
            }
            self.progress.finish();
            if let Some(run) = other {
                eprintln!("stunt: {}", self.no_failure(&run));
            }
            return Ok(Err(Outcome::NoFailure));
        };
        if let Some(recorded) = self.subject.recorded.as_ref().filter(|_| self.fails_if.is_none())
            && *recorded != failure
        {
            let why = format!(
                "the program does not fail as it did when it was recorded: then it was {recorded}, now \
                 it is {failure}"
            );
            return Ok(Err(self.halt(Halt { outcome: Outcome::NoFailure, why })));
        }
        if let Err(halt) = self.see_plainly(&failure, ending)? {
            return Ok(Err(self.halt(halt)));
        }
        Ok(Ok(failure))
    }

    /// How often a run is repeated until it fails, so that a failure that comes now and then is
    /// hardly ever missed.
    pub(super) fn tries(&self) -> u32 {
        let share = self.share.value();
        if share >= 1.0 || self.share.runs == 0 {
            return 1;
        }
        ((0.01f64.ln() / (1.0 - share).ln()).ceil() as u32).clamp(1, MOST_TRIES)
    }

    pub(super) fn failure_of(&self, run: &Run) -> Option<Failure> {
        failure_of(run, self.fails_if.as_ref())
    }

    fn no_failure(&self, run: &Run) -> String {
        let hint = match (&self.fails_if, run.ending) {
            (Some(condition), _) => format!("; --fails-if {} does not hold", condition.text()),
            (None, Ending::Exit(0)) => String::new(),
            (None, Ending::Exit(code)) => {
                format!("; if that is the failure, say --fails-if exit={code}")
            }
            (None, Ending::TimedOut) => "; give it more with --timeout".to_owned(),
            (None, _) => String::new(),
        };
        format!("the program does not fail on this input: it {}{hint}", run.ending)
    }

    /// Follows the original.
    pub(super) fn follow(
        &mut self,
        failure: &Failure,
        relax: Relaxations,
    ) -> Result<Result<Followed, Halt>> {
        self.progress.stage(Stage::Trace);
        let _span = info_span!("trace", ?relax).entered();
        let base = self.base.as_ref();
        let followed = match follow_on(self.subject, base, relax, self.checked)? {
            Ok(followed) => followed,
            Err(stopped) => return Ok(Err(stopped.into())),
        };
        self.seconds.trace += followed.seconds;
        info!(
            instructions = followed.instructions,
            with_terms = followed.followed,
            tests = followed.tests.len(),
            "followed"
        );
        let stated = matches!(failure.kind, FailureKind::Stated(_));
        if !stated && followed.failure.as_ref() != Some(failure) {
            let how = match &followed.failure {
                Some(other) => format!("fails with {other}"),
                None => followed.ending.clone(),
            };
            let lacks = match &followed.missing[..] {
                [] => String::new(),
                calls => {
                    let named = |call: &MissingCall| format!("{} (at {})", call.name, call.place);
                    let calls: Vec<String> = calls.iter().map(named).collect();
                    format!(", which does not have the system call {}", calls.join(", "))
                }
            };
            let why = format!(
                "the program fails with {failure} natively, but in the machine{lacks}, it {how}. This is \
                 a limit of stunt, not a bug of the program."
            );
            return Ok(Err(Halt { outcome: Outcome::Unsupported, why }));
        }
        Ok(Ok(followed))
    }

    /// Says why there is no double.
    pub(super) fn halt(&self, halt: Halt) -> Outcome {
        let Halt { outcome, why } = halt;
        self.progress.finish();
        eprintln!("stunt: {why}");
        if outcome == Outcome::Unproved && self.only_watched > 0 {
            eprintln!(
                "stunt: doubles that failed only while they were watched, and not when they were started \
                 plainly: {}",
                self.only_watched
            );
        }
        outcome
    }

    /// What a double reveals that takes the path of the original, without any relaxation; and how many
    /// tests that path has.
    pub(super) fn path_leak(&mut self, failure: &Failure) -> Result<Option<(Bits, usize)>> {
        let Ok(mut plain) = self.follow(failure, Relaxations::NONE)? else { return Ok(None) };
        self.progress.stage(Stage::Compare);
        let _span = info_span!("count").entered();
        let begun = Instant::now();
        let leak = PathCondition::new(&mut plain.pool, &plain.tests, &self.base()).total();
        self.seconds.count += begun.elapsed().as_secs_f64();
        Ok(Some((leak, plain.tests.len())))
    }

    /// How the program fails on a double, if it does so as on the original, every time:
    /// followed, and plainly. What two equal
    /// failures do not have in common (outer calls, names) is the double's own.
    pub(super) fn proved(&mut self, failure: &Failure, double: &Double) -> Result<Option<Failure>> {
        self.progress.stage(Stage::Verify);
        let _span = info_span!("verify", runs = self.arguments.runs).entered();
        let begun = Instant::now();
        if self.checked {
            // Only the machine sees it, and it does the same every time.
            let run = run_double(self.subject, &double.bytes, true)?;
            self.seconds.verify += begun.elapsed().as_secs_f64();
            return Ok(run.ok().and_then(|run| run.failure).filter(|seen| seen == failure));
        }
        let command = self.subject.on_double(&double.bytes)?;
        let mut seen = None;
        for _ in 0..self.arguments.runs {
            seen = None;
            for _ in 0..self.tries() {
                let run = self.native.run(&command)?;
                debug!(ending = %run.ending, seconds = run.seconds(), "a native run");
                seen = self.failure_of(&run).filter(|seen| seen == failure);
                if seen.is_some() {
                    break;
                }
            }
            // The last word is that of a run that nobody watches.
            if seen.is_none() || !self.fails_plainly(failure, &command)? {
                seen = None;
                break;
            }
        }
        self.seconds.verify += begun.elapsed().as_secs_f64();
        Ok(seen)
    }
}
