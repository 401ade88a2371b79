//! What a run left behind, whoever ran the program: a process of the host, or the machine.
//!
//! What a program prints may quote its input: it is kept in a type without `Display`, whose `Debug`
//! tells its length only.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{Failure, Role, signal_name};

/// Bytes that may be private; who wants to see them has to say so.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Private(Vec<u8>);

impl Private {
    /// Keeps bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// More bytes.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The bytes. They must not reach a log, a message or a report, unless they are those of a run
    /// on a double.
    #[must_use]
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Private({} bytes)", self.0.len())
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The program exited with this status.
    Exit(u8),
    /// This signal killed it.
    Signal(u8),
    /// There was no more input: its connections are over, and it waited for the next.
    Idle,
    /// It took too long and was killed.
    TimedOut,
    /// It started too many processes or threads, and was killed.
    TooManyTasks,
    /// It filled its folder, and was killed.
    TooMuchWritten,
    /// It filled the memory that it may have, and was killed.
    TooMuchMemory,
    /// Each of its threads waited for another one.
    Deadlocked,
    /// It needed something that whoever ran it does not have.
    Unsupported,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(status) => write!(f, "exited with status {status}"),
            Self::Signal(number) => match signal_name(*number) {
                Some(name) => write!(f, "was killed by {name}"),
                None => write!(f, "was killed by signal {number}"),
            },
            Self::Idle => f.write_str("waited for more input"),
            Self::TimedOut => f.write_str("did not end in time"),
            Self::TooManyTasks => f.write_str("started too many processes"),
            Self::TooMuchWritten => f.write_str("wrote too many files"),
            Self::TooMuchMemory => f.write_str("used too much memory"),
            Self::Deadlocked => f.write_str("waited for itself"),
            Self::Unsupported => f.write_str("needed what it could not be given"),
        }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub ending: Ending,
    /// How it failed, if it did. A run that was broken off did not fail.
    pub failure: Option<Failure>,
    /// The beginning of what it wrote to standard output.
    pub stdout: Private,
    /// The beginning of what it wrote to standard error.
    pub stderr: Private,
    /// How long it took.
    pub duration: Duration,
    /// What the files of its input were called.
    pub inputs: InputNames,
}

/// The names of an input's files, without their folders. Runs that fail alike have theirs under other
/// names: the original's, those of candidates, that of a double. Where names of files tell a failure, as
/// in the traceback of a script that is itself the input, all of them count as one.
#[derive(Clone, Default)]
pub struct InputNames(Arc<[String]>);

impl InputNames {
    /// What stands for each of them.
    pub const ONE: &str = "@@";

    /// These names.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().collect())
    }

    /// A failure with one name for all of them, if names of files are what tells it.
    #[must_use]
    pub fn as_one(&self, mut failure: Failure) -> Failure {
        if !failure.is_told() {
            return failure;
        }
        let is_input = |name: &String| self.0.contains(name);
        for frame in failure.frames.iter_mut().filter(|frame| frame.role != Role::Site) {
            if is_input(&frame.module) {
                Self::ONE.clone_into(&mut frame.module);
            }
            if let Some(location) = frame.location.as_mut().filter(|it| is_input(&it.file)) {
                Self::ONE.clone_into(&mut location.file);
            }
        }
        failure
    }
}

/// Names of private files may be private.
impl fmt::Debug for InputNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InputNames({})", self.0.len())
    }
}

impl Run {
    /// How long it took, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.duration.as_secs_f64()
    }
}
