//! Records a run: the program is followed, and stopped only where it takes something in.
//!
//! ```text
//! start: fork, filter (seccomp), exec ──► follow: one loop over all that stops
//!    calls (what is asked for) ──► opened, streams, connections ──► notes ──► Draft
//! ```
//!
//! The thread that calls [`record`] follows the program. It is the only one that may.

mod calls;
mod connections;
mod filter;
mod follow;
mod inject;
mod notes;
mod opened;
mod os;
mod signals;
mod start;
mod streams;

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use stunt_native::{Files, Texts};
use stunt_path::{Ending, Failure, InputNames, Run};

pub use notes::program;

use crate::error::Error;
use crate::incident::{Draft, FailedIn, NotedEnding};
use filter::Streams;
use follow::Follow;
use notes::{Notes, Verdict};
use signals::Signals;
use start::{Plan, start};

/// What is run, and what is kept of it.
#[derive(Clone)]
pub struct Recording {
    /// The program's path.
    pub program: PathBuf,
    /// All words, the program's name first.
    pub words: Vec<OsString>,
    /// The variables of the environment that an incident keeps.
    pub keep_environment: Vec<String>,
    /// Variables that it is given in place of the caller's.
    pub set_environment: Vec<(OsString, OsString)>,
    /// The largest file that is copied.
    pub largest_file: u64,
    /// How many received bytes are kept in memory, and how many bytes of files an incident has.
    pub room: u64,
    /// Whether the end of standard output is kept, to be judged.
    pub stdout: bool,
    /// Whether the end of standard error is.
    pub stderr: bool,
    /// What the user says is a failure, as it is written in an incident.
    pub fails_if: Option<String>,
}

/// The largest file that is copied, if nobody says otherwise.
pub const LARGEST_FILE: u64 = 4 << 20;

/// How many bytes are kept, if nobody says otherwise.
pub const ROOM: u64 = 64 << 20;

impl Recording {
    /// A run of a program by these words, with the usual limits.
    #[must_use]
    pub fn new(program: PathBuf, words: Vec<OsString>) -> Self {
        Self {
            program,
            words,
            keep_environment: Vec::new(),
            set_environment: Vec::new(),
            largest_file: LARGEST_FILE,
            room: ROOM,
            stdout: false,
            stderr: false,
            fails_if: None,
        }
    }
}

/// What following cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// How often a thread stopped.
    pub stops: u64,
    /// Of these, for system calls that take something in.
    pub calls: u64,
    /// How long stopped threads waited for us, together.
    pub looking: Duration,
}

/// A run that is over.
pub struct Recorded {
    /// How it ended, and the ends of the outputs that were asked for.
    pub run: Run,
    /// What following it cost.
    pub cost: Cost,
    /// Constants of the programs that it executed.
    pub texts: Texts,
    process: i32,
    notes: Notes,
}

impl Recorded {
    /// An incident of this run, with the failure that it is said to be.
    #[must_use]
    pub fn draft(&self, failure: Option<&Failure>) -> Draft {
        let ending = match self.run.ending {
            Ending::Exit(status) => NotedEnding::Exit(status),
            Ending::Signal(number) => NotedEnding::Signal(number),
            // No limits are set here.
            _ => NotedEnding::Unknown,
        };
        let failed_in = FailedIn::First;
        self.notes.draft(&Verdict { process: self.process, failed_in, ending, failure })
    }
}

/// Runs a program to its end, and that of all that it started. Each process other than the first
/// that crashes is told at once, with what is known then.
///
/// # Errors
/// The program cannot be run or followed here. A program that fails is no error.
pub fn record(what: &Recording, crashed: &mut dyn FnMut(Draft)) -> Result<Recorded, Error> {
    let failed = |source| Error::Follow { path: what.program.clone(), source };
    let not_started = |source: io::Error| {
        let path = what.program.clone();
        Error::Program(stunt_native::Error::Start { path, source })
    };
    let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(|it| not_started(it.into()));
    let replaced = |name: &OsString| what.set_environment.iter().any(|(set, _)| set == name);
    let inherited = std::env::vars_os().filter(|(name, _)| !replaced(name));
    let environment = inherited.chain(what.set_environment.iter().cloned()).map(|(name, value)| {
        let mut both = name;
        both.push("=");
        both.push(value);
        text(&both)
    });
    let notes = Notes::new(what);
    let signals = Signals::hold();
    let streams =
        Streams { stdin: notes.stdin.is_listened_to(), stdout: what.stdout, stderr: what.stderr };
    let plan = Plan {
        program: text(what.program.as_os_str())?,
        words: what.words.iter().map(|word| text(word)).collect::<Result<_, _>>()?,
        environment: environment.collect::<Result<_, _>>()?,
        filter: filter::first(streams),
        mask: signals.old(),
    };
    let begun = Instant::now();
    let process = start(&plan).map_err(not_started)?;
    os::close_memory();
    signals.pass_to(process);
    let files = Files::new();
    let follow = Follow::new(&files, process, notes, &signals, streams).map_err(failed)?;
    let followed = follow.finish(crashed).map_err(failed)?;
    signals.end();
    let run = Run {
        ending: followed.ending,
        failure: followed.failure,
        stdout: followed.stdout,
        stderr: followed.stderr,
        duration: begun.elapsed(),
        inputs: InputNames::default(),
    };
    let texts = Texts::default();
    texts.learn(files.executed());
    Ok(Recorded { run, cost: followed.cost, texts, process, notes: followed.notes })
}
