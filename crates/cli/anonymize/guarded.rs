//! The job in a worker, within one time and one memory, and what is done when that does not hold.
//!
//! Whatever goes wrong in the worker (a mistake in stunt, no memory, no time), this process is there to
//! say so: it hands out the best double that was proved until then, or has the job done in the next best
//! way. What always holds: a job ends when its time is over, in whatever stage it is; the worker has no
//! more memory than it may have, but for what it takes between two looks; a double that is handed out
//! was proved, and measured, in the worker, as if the job had ended with it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tracing::info;

use super::job::{Conditions, Way};
use super::stage::Stage;
use super::{Account, Arguments, make_by, words};
use crate::mistake;
use crate::outcome::{self, Outcome};
use crate::subject::Subject;
use crate::worker::{Ended, Line, PANICKED, Worker};

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
}

/// The worker's side: whom it tells.
#[derive(Clone)]
pub(super) struct Teller(Arc<Line>);

impl Teller {
    pub(super) fn stage(&self, stage: Stage) {
        self.0.tell(Kind::Stage as u8, &[stage as u8]);
    }

    pub(super) fn known(&self) {
        self.0.tell(Kind::Known as u8, &[]);
    }

    pub(super) fn hold(&self, answer: &Answer) {
        let mut content = (answer.archive.len() as u64).to_le_bytes().to_vec();
        content.extend_from_slice(&answer.archive);
        content.extend_from_slice(answer.text.as_bytes());
        self.0.tell(Kind::Held as u8, &content);
    }

    fn done(&self, code: u8) {
        self.0.tell(Kind::Done as u8, &[code]);
    }
}

/// What is handed out: the report, and what is printed about it.
pub(super) struct Answer {
    pub(super) archive: Vec<u8>,
    pub(super) text: String,
}

impl Answer {
    /// Of a double that was proved.
    pub(super) fn of(arguments: &Arguments, account: &Account<'_>, output: &Path) -> Result<Self> {
        let path = output.display().to_string();
        let archive = account.report.to_bytes(&account.found.drawn.double.bytes);
        let archive = archive.context("the report was not written")?;
        let text = if arguments.json {
            format!("{:#}\n", words::to_json(account, Some(&path)))
        } else {
            words::to_text(account, &path)
        };
        Ok(Self { archive, text })
    }

    fn read(content: &[u8]) -> Option<Self> {
        let (size, rest) = content.split_first_chunk()?;
        let (archive, text) = rest.split_at_checked(u64::from_le_bytes(*size) as usize)?;
        Some(Self { archive: archive.to_vec(), text: String::from_utf8(text.to_vec()).ok()? })
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
    /// Somebody has sent a signal.
    Interrupted(u8),
    /// It was given up.
    Trouble(Trouble),
}

/// The job under way, seen from outside.
struct Guard<'a> {
    arguments: &'a Arguments,
    subject: &'a Subject,
    output: &'a Path,
    /// When the failure was known.
    begun: Option<Instant>,
    /// How long all may take from then on.
    time: Duration,
    stage: Option<Stage>,
    held: Option<Answer>,
}

/// Does the job. Gives what is to be handed out, or how it ended without that.
pub(super) fn guarded(
    arguments: &Arguments,
    subject: &Subject,
    output: &Path,
) -> Result<Result<Answer, Outcome>> {
    let time = arguments.time.map_or(arguments.usual_time() * USUALLY, Duration::from_secs);
    let time = time.max(LEAST_TIME).saturating_mul(SLOWNESS);
    let mut guard =
        Guard { arguments, subject, output, begun: None, time, stage: None, held: None };
    let mut way = Way::Asked;
    loop {
        let trouble = match guard.work(&way)? {
            Turn::Done(0) => {
                return guard.held.take().map(Ok).context("the worker has told nothing");
            }
            Turn::Done(code) => match guard.held.take() {
                // What came after it has failed.
                Some(answer) if code == outcome::USAGE => return Ok(Ok(answer)),
                _ => return Ok(Err(Outcome::Program(code))),
            },
            Turn::Interrupted(code) => return Ok(Err(Outcome::Program(code))),
            Turn::Trouble(trouble) => trouble,
        };
        outcome::erase_line();
        let why = trouble.words(guard.stage);
        info!(?trouble, stage = ?guard.stage, "given up");
        if let Some(answer) = guard.held.take() {
            eprintln!("stunt: {why}; this is the best double that was proved until then.");
            return Ok(Ok(answer));
        }
        let Some(next) = guard.next(&way, trouble, &why) else {
            eprintln!("stunt: {why}; no double was proved until then, and nothing is handed out.");
            return Ok(Err(Outcome::Limit));
        };
        match &next {
            Way::Uncompared => {
                eprintln!("stunt: {why}; the double is not compared with the original's path.");
            }
            Way::Unreduced => eprintln!("stunt: {why}; the input is not reduced."),
            _ => eprintln!("stunt: {why}; the double is looked for by running the program alone."),
        }
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
        if self.arguments.check_memory || self.arguments.canonical || self.left().is_zero() {
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
    fn work(&mut self, way: &Way) -> Result<Turn> {
        let (arguments, subject, output) = (self.arguments, self.subject, self.output);
        let left = self.left();
        let mut worker = Worker::start(|line| {
            let teller = Teller(Arc::new(line));
            let conditions = Conditions {
                teller: Some(teller.clone()),
                output: output.to_owned(),
                way: way.clone(),
                left,
            };
            do_job(arguments, subject, conditions, &teller)
        })
        .context("stunt cannot start a worker")?;
        self.stage = None;
        let most = subject.memory().max(LEAST_MEMORY);
        loop {
            worker.wait(TICK);
            // First whether it has ended: then all that it told is there.
            let ended = worker.ended();
            let mut done = None;
            while let Some((kind, content)) = worker.next() {
                done = done.or(self.hear(kind, &content));
            }
            if let Some(code) = done {
                worker.kill();
                return Ok(Turn::Done(code));
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
                self.hear(kind, &content);
            }
            return Ok(Turn::Trouble(trouble));
        }
    }

    /// Takes note of what the worker tells; the exit code, if it is done.
    fn hear(&mut self, kind: u8, content: &[u8]) -> Option<u8> {
        let is = |it: Kind| kind == it as u8;
        if is(Kind::Stage) {
            self.stage = content.first().copied().and_then(Stage::of);
        } else if is(Kind::Known) {
            self.begun.get_or_insert_with(Instant::now);
        } else if is(Kind::Held) {
            self.held = Answer::read(content).or(self.held.take());
        } else if is(Kind::Done) {
            return content.first().copied();
        }
        None
    }

    /// Whether the time of a way is over. Runs of the program have a time of their own.
    fn is_over(&self, way: &Way) -> bool {
        let Some(begun) = self.begun else { return false };
        let last = matches!(way, Way::Alone(_)) || self.held.is_some();
        let mut time = if last { self.time } else { self.time.mul_f64(NOTHING_YET) };
        match self.stage {
            Some(Stage::Verify) => time += self.subject.timeout() * self.arguments.runs,
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
    arguments: &Arguments,
    subject: &Subject,
    conditions: Conditions,
    teller: &Teller,
) -> i32 {
    let output = conditions.output.clone();
    let made = make_by(arguments, subject, conditions);
    let told = made.and_then(|made| match made {
        Ok(made) => {
            teller.hold(&Answer::of(arguments, &made.told(), &output)?);
            if arguments.stats {
                words::statistics(&made.found);
            }
            Ok(0)
        }
        Err(outcome) => Ok(outcome.number()),
    });
    let code = match told {
        Ok(code) => code,
        // A thread that had a panic took others with it: as if it had been this one.
        Err(_) if mistake::was_made() => return PANICKED,
        Err(error) => {
            outcome::erase_line();
            eprintln!("stunt: {}", outcome::sentence(&error));
            outcome::USAGE
        }
    };
    teller.done(code);
    0
}
