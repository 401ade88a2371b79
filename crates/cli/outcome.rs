//! How a command ends, and how it says so: exit codes, and the two streams.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};

/// The part of `--help` about exit codes.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done
  2  the command line, a file or a condition cannot be used; the message says why
  3  no input satisfies the condition
  5  whether an input satisfies the condition could not be found out within the limits";

/// The exit code of everything that the user can put right.
pub const USAGE: u8 = 2;

/// How a command ends, if it could do its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All done.
    Done,
    /// No input satisfies the condition.
    Unsatisfiable,
    /// The solver gave up.
    Undecided,
}

impl Outcome {
    /// The exit code.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Done => 0,
            Outcome::Unsatisfiable => 3,
            Outcome::Undecided => 5,
        })
    }
}

/// Writes the command's result to standard output. A reader that has seen enough (`| head`) is
/// not an error.
pub fn print(data: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(data).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}
