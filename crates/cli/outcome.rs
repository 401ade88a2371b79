//! How a command ends, and how it says so: exit codes, and the two streams.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use stunt_report::visible;
use stunt_subject::Stopped;

use crate::hints::Hint;

/// The part of `--help` about exit codes.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a replayed double does not fail as its report says
  2  the command line, a file or a condition cannot be used; the message says why
  3  the program does not fail on this input; no input satisfies the condition
  4  the program needs something that the machine does not have, or reached a limit
  5  no double could be proved; whether an input satisfies the condition could not be found out
  6  nothing was sent: nobody agreed, or the report reveals too much
  7  it could not be delivered, and waits in the queue
`stunt run` exits as the program does: with its code, or 128 and the number of the signal.
`stunt replay --bisect` exits as `git bisect run` expects: 0 good, 1 bad, 125 could not be tried.
A command that is interrupted exits with 128 and the number of the signal: 130 after Ctrl-C.";

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
    /// A program ran and ended with this status.
    Program(u8),
    /// A program needs what the machine does not have.
    Unsupported,
    /// A program reached a limit.
    Limit,
    /// A program does not fail on its input.
    NoFailure,
    /// No double could be proved.
    Unproved,
    /// A double does not fail as its report says.
    NotAsReported,
    /// What a step of a bisection found.
    Step(Step),
    /// Something that the user can put right is wrong; it has been said.
    Wrong,
    /// Nothing was sent, because nobody agreed or a limit forbids it.
    NotSent,
    /// Something waits in the queue.
    Queued,
}

/// What `git bisect run` is told about a version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The failure is not there.
    Good,
    /// It is there.
    Bad,
    /// Nobody knows.
    Skip,
}

impl Outcome {
    /// The exit code.
    pub fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    /// The same as a number.
    pub fn number(self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::Unsatisfiable | Outcome::NoFailure => 3,
            Outcome::Undecided | Outcome::Unproved => 5,
            Outcome::Program(code) => code,
            Outcome::Unsupported | Outcome::Limit => 4,
            Outcome::NotAsReported | Outcome::Step(Step::Bad) => 1,
            Outcome::Step(Step::Good) => 0,
            Outcome::Step(Step::Skip) => 125,
            Outcome::Wrong => USAGE,
            Outcome::NotSent => 6,
            Outcome::Queued => 7,
        }
    }
}

/// An error with what led to it, as it may be shown: names in it may be a stranger's. A cause that is
/// part of what was said already is not repeated.
pub fn sentence(error: &anyhow::Error) -> String {
    // Its lines are its own.
    if let Some(hint) = error.downcast_ref::<Hint>() {
        return hint.to_string();
    }
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    visible(&text)
}

/// How a command ends whose run in the machine was stopped: that is said. Other errors are given back.
pub fn stopped(error: stunt_subject::Error) -> Result<Outcome> {
    let stunt_subject::Error::Stopped(stopped) = error else { return Err(error.into()) };
    eprintln!("stunt: {stopped}");
    Ok(match stopped {
        Stopped::Unsupported(_) => Outcome::Unsupported,
        Stopped::Limit(_) => Outcome::Limit,
    })
}

/// The first of `stem.zip`, `stem-2.zip`, … that is not there: nothing is overwritten that nobody has named.
pub fn free_name(stem: &str, extension: &str) -> PathBuf {
    let numbered = (2u32..).map(|number| format!("{stem}-{number}.{extension}"));
    let mut names =
        std::iter::once(format!("{stem}.{extension}")).chain(numbered).map(PathBuf::from);
    names.find(|name| name.symlink_metadata().is_err()).unwrap_or_default()
}

/// Erases a line about progress whose owner is gone, on a terminal.
pub fn erase_line() {
    if io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
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

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn names_in_errors_move_no_cursor() {
        let error = anyhow!("cannot find a\u{1b}[2J\nb").context("not here");
        assert_eq!(sentence(&error), "not here: cannot find a\\u{1b}[2J\\nb");
    }

    #[test]
    fn nothing_is_said_twice() {
        let cause = || io::Error::from_raw_os_error(2);
        let plain = anyhow!(cause()).context("cannot read x");
        assert_eq!(sentence(&plain), "cannot read x: No such file or directory (os error 2)");
        let full = anyhow!(cause()).context(format!("x cannot be used ({})", cause()));
        assert_eq!(sentence(&full), "x cannot be used (No such file or directory (os error 2))");
    }
}
