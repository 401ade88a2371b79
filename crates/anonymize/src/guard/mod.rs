//! The job in a worker, within one time and one memory, and what is done when that does not hold.
//!
//! Whatever goes wrong in the worker (a mistake in stunt, no memory, no time), this process is there to
//! say so: it hands out the best double that was proved until then, or has the job done in the next best
//! way. What always holds: a job ends when its time is over, in whatever stage it is; the worker has no
//! more memory than it may have, but for what it takes between two looks; a double that is handed out
//! was proved, and measured, in the worker, as if the job had ended with it.

mod worker;

use std::io;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use stunt_subject::Subject;
use tracing::info;

use crate::job::{Conditions, Way, make};
use crate::observer::Observer;
use crate::options::Options;
use crate::refusal::Error;
use crate::report::{Account, Made};
use crate::search::USUAL_TIME;
use crate::stage::Stage;
use worker::{Ended, Line, PANICKED, Worker};

/// How often the worker's memory and the clock are looked at.
const TICK: Duration = Duration::from_millis(20);
/// If nothing is said about the time, the whole job may take so many times as long as the search.
const USUALLY: u32 = 15;
/// A double has to be drawn and proved, however little time there is for a search.
const LEAST_TIME: Duration = Duration::from_secs(5);
/// A build for development is several times slower; so it has more time.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 6 } else { 1 };
/// The part of the time after which a way that has nothing to show yet makes room for the next one.
const NOTHING_YET: f64 = 0.6;
/// stunt itself needs so much memory, whatever the program does.
const LEAST_MEMORY: u64 = 256 << 20;

/// Whoever has a job done, in this process and in the worker, which is a copy of it.
pub trait Host {
    /// In the worker: it begins. Threads of this process are not in it.
    fn in_worker(&self) {}

    /// In this process: a worker with this number is at work, or none any more.
    fn at_work(&self, _worker: Option<i32>) {}

    /// In the worker: who else hears what is going on.
    fn observer(&self) -> Box<dyn Observer + '_>;

    /// In the worker: what would be handed out of a double; nothing if that cannot be written now.
    fn answer(&self, account: &Account<'_>) -> Option<Vec<u8>>;

    /// In the worker: the job is done. Gives what is handed out, if all is well, and the exit code.
    fn done(&self, made: Result<Made, Error>) -> (Option<Vec<u8>>, u8);

    /// In the worker: whether there was a panic in any thread.
    fn has_panicked(&self) -> bool;

    /// In this process: a worker was given up for this reason, and another goes on in this way.
    fn goes_on(&self, why: &str, way: &Way);
}

/// How a job ended that was guarded.
pub enum Guarded {
    /// With this answer; given up before its own end for this reason, if one is said.
    Answer(Vec<u8>, Option<String>),
    /// Without one, with this exit code: the worker has said why.
    Code(u8),
    /// Without one, because a limit was reached, for this reason.
    Limit(String),
}

/// What a worker tells.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Kind {
    /// A stage begins.
    Stage = 1,
    /// The failure is known: the clock begins.
    Known,
    /// A double that may be handed out.
    Held,
    /// The job is done, with this exit code.
    Done,
    /// The same, but something failed that has nothing to do with the double.
    Failed,
}

/// The worker's side: what it hears is told, and passed on.
struct Teller<'a> {
    line: &'a Line,
    host: &'a dyn Host,
    observer: Box<dyn Observer + 'a>,
}

impl Observer for Teller<'_> {
    fn stage(&self, stage: Stage) {
        self.line.tell(Kind::Stage as u8, &[stage as u8]);
        self.observer.stage(stage);
    }

    fn known(&self) {
        self.line.tell(Kind::Known as u8, &[]);
        self.observer.known();
    }

    fn better(&self, bits: f64, effort: u64, of: &'static str) {
        self.observer.better(bits, effort, of);
    }

    fn held(&self, account: &Account<'_>) {
        if let Some(answer) = self.host.answer(account) {
            self.line.tell(Kind::Held as u8, &answer);
        }
    }

    fn searching(&self, is_searching: bool) {
        self.observer.searching(is_searching);
    }

    fn enough(&self) -> &AtomicBool {
        self.observer.enough()
    }
}

/// Why a worker was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trouble {
    /// A panic.
    Mistake,
    /// It died: out of stack, or killed by somebody else.
    Died,
    Memory,
    Time,
}

impl Trouble {
    /// What happened, in words, while something was going on.
    fn words(self, stage: Option<Stage>) -> String {
        let what = match self {
            Trouble::Mistake => "there was a mistake in stunt itself",
            Trouble::Died => "stunt's worker died",
            Trouble::Memory => "there was not enough memory (--memory)",
            Trouble::Time => "the time was over (--time)",
        };
        match stage {
            Some(stage) => format!("{what} while {}", stage.words()),
            None => what.to_owned(),
        }
    }
}

/// How one way to do the job ended.
enum Turn {
    /// By itself, with this exit code.
    Done(u8),
    /// The same, but something failed that has nothing to do with the double.
    Failed(u8),
    /// Somebody has sent a signal.
    Interrupted(u8),
    /// It was given up.
    Trouble(Trouble),
}

/// The job under way, seen from outside.
struct Guard<'a> {
    options: &'a Options,
    subject: &'a Subject,
    host: &'a dyn Host,
    /// When the failure was known.
    begun: Option<Instant>,
    /// How long all may take from then on.
    time: Duration,
    stage: Option<Stage>,
    held: Option<Vec<u8>>,
}

/// Does a job as [`make`] does, in a worker, and in the next best way if that goes wrong. To be called
/// while there is no other thread than one that waits for signals.
///
/// # Errors
/// There is no worker.
pub fn guarded(options: &Options, subject: &Subject, host: &dyn Host) -> io::Result<Guarded> {
    let time = options.time.unwrap_or(USUAL_TIME * USUALLY);
    let time = time.max(LEAST_TIME).saturating_mul(SLOWNESS);
    let mut guard = Guard { options, subject, host, begun: None, time, stage: None, held: None };
    let mut way = Way::Asked;
    loop {
        let trouble = match (guard.work(&way)?, guard.held.take()) {
            (Turn::Done(0), Some(answer)) => return Ok(Guarded::Answer(answer, None)),
            // What came after it has failed.
            (Turn::Failed(_), Some(answer)) => return Ok(Guarded::Answer(answer, None)),
            (Turn::Done(code) | Turn::Failed(code) | Turn::Interrupted(code), _) => {
                return Ok(Guarded::Code(code));
            }
            (Turn::Trouble(trouble), answer) => {
                guard.held = answer;
                trouble
            }
        };
        let why = trouble.words(guard.stage);
        info!(?trouble, stage = ?guard.stage, "given up");
        if let Some(answer) = guard.held.take() {
            return Ok(Guarded::Answer(answer, Some(why)));
        }
        let Some(next) = guard.next(&way, trouble, &why) else { return Ok(Guarded::Limit(why)) };
        host.goes_on(&why, &next);
        way = next;
    }
}

impl Guard<'_> {
    /// The time that is left of all.
    fn left(&self) -> Duration {
        self.time.saturating_sub(self.begun.map_or(Duration::ZERO, |begun| begun.elapsed()))
    }

    /// The next best way, if there is one.
    fn next(&self, way: &Way, trouble: Trouble, why: &str) -> Option<Way> {
        // What only the machine sees, and what follows from the path alone, has no other way.
        if self.options.check_memory || self.options.canonical || self.left().is_zero() {
            return None;
        }
        match (way, self.stage) {
            // The next way would begin with the same.
            (_, None | Some(Stage::Original | Stage::Plain | Stage::Control))
            | (Way::Alone(_), _) => None,
            (Way::Asked, Some(Stage::Compare)) if trouble != Trouble::Time => Some(Way::Uncompared),
            (Way::Asked, Some(Stage::Reduce)) => Some(Way::Unreduced),
            _ => Some(Way::Alone(format!("{why}."))),
        }
    }

    /// Has the job done in some way.
    fn work(&mut self, way: &Way) -> io::Result<Turn> {
        let (options, subject, host) = (self.options, self.subject, self.host);
        let conditions = Conditions { way: way.clone(), left: self.left() };
        let mut worker =
            Worker::start(host, |line| do_job(options, subject, conditions, host, &line))?;
        self.stage = None;
        let most = subject.memory().max(LEAST_MEMORY);
        loop {
            worker.wait(TICK);
            // First whether it has ended: then all that it told is there.
            let ended = worker.ended();
            let mut done = None;
            while let Some((kind, content)) = worker.next() {
                done = done.or(self.hear(kind, content));
            }
            if let Some(turn) = done {
                worker.kill();
                return Ok(turn);
            }
            match ended {
                None => {}
                Some(Ended::Code(code)) if code > 128 => {
                    return Ok(Turn::Interrupted(code as u8));
                }
                Some(Ended::Panic) => return Ok(Turn::Trouble(Trouble::Mistake)),
                Some(Ended::Code(_) | Ended::Signal(_)) => {
                    return Ok(Turn::Trouble(Trouble::Died));
                }
            }
            let trouble = if worker.memory() > most {
                Trouble::Memory
            } else if self.is_over(way) {
                Trouble::Time
            } else {
                continue;
            };
            worker.kill();
            // What it told in the last moment counts.
            while let Some((kind, content)) = worker.next() {
                self.hear(kind, content);
            }
            return Ok(Turn::Trouble(trouble));
        }
    }

    /// Takes note of what the worker tells; how it ended, if it is done.
    fn hear(&mut self, kind: u8, content: Vec<u8>) -> Option<Turn> {
        let is = |it: Kind| kind == it as u8;
        let first = content.first().copied();
        if is(Kind::Stage) {
            self.stage = first.and_then(Stage::of);
        } else if is(Kind::Known) {
            self.begun.get_or_insert_with(Instant::now);
        } else if is(Kind::Held) {
            self.held = Some(content);
        } else if is(Kind::Done) {
            return first.map(Turn::Done);
        } else if is(Kind::Failed) {
            return first.map(Turn::Failed);
        }
        None
    }

    /// Whether the time of a way is over. Runs of the program have a time of their own.
    fn is_over(&self, way: &Way) -> bool {
        let Some(begun) = self.begun else { return false };
        let last = matches!(way, Way::Alone(_)) || self.held.is_some();
        let mut time = if last { self.time } else { self.time.mul_f64(NOTHING_YET) };
        match self.stage {
            Some(Stage::Verify) => time += self.subject.timeout() * self.options.runs,
            Some(Stage::Original) => time += self.subject.timeout() * 2,
            // Who wants the time to be hidden has said how long that may take.
            Some(Stage::Wait) => return false,
            _ => {}
        }
        begun.elapsed() > time
    }
}

/// The worker's part.
fn do_job(
    options: &Options,
    subject: &Subject,
    conditions: Conditions,
    host: &dyn Host,
    line: &Line,
) -> i32 {
    let teller = Teller { line, host, observer: host.observer() };
    let made = make(options, subject, conditions, &teller);
    drop(teller);
    let is_refused = matches!(made, Err(Error::Refused(_)));
    // A thread that had a panic took others with it: as if it had been this one.
    if made.is_err() && !is_refused && host.has_panicked() {
        return PANICKED;
    }
    let (answer, code) = host.done(made);
    if let Some(answer) = &answer {
        line.tell(Kind::Held as u8, answer);
    }
    let kind = if answer.is_some() || is_refused { Kind::Done } else { Kind::Failed };
    line.tell(kind as u8, &[code]);
    0
}
