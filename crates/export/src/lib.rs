//! A report as a regression test: the double as a file, and the few lines that run the program on it.
//!
//! What always holds: the report may come from a stranger, and what is made of it is code. So the command is
//! the caller's, and of the report's own texts only those get in that a comment or a literal of the language
//! cannot end (`literal`); the double is a file of bytes, under a name of our own.
//!
//! This crate must not know how programs are run, and what was private.

mod criterion;
mod files;
mod languages;
mod literal;

use stunt_report::Opened;

pub use criterion::Criterion;
use files::Call;

/// What a report can become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A test of a Rust package: a file in `tests/`.
    CargoTest,
    /// A test for pytest, which also runs by itself.
    Pytest,
    /// A test for JUnit 5.
    JUnit,
    /// A test for Jest, which also runs by `node --test`.
    Jest,
    /// A script, and the line that adds it to CTest.
    CTest,
    /// A file for the corpus of libFuzzer.
    LibFuzzerSeed,
    /// A file for the queue of AFL.
    AflSeed,
}

/// A file to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Artefact {
    /// Where, below the folder that the caller chooses: plain names, no `..`.
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Whether it is a script that is to be run.
    pub is_script: bool,
}

/// Why there is no test.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// A test has to run something.
    #[error(
        "say what the test runs, after --, with @@ for the double's path; the report itself says {told}"
    )]
    NoCommand {
        /// The report's own command line, quoted.
        told: String,
    },
    /// The double comes through a connection, and a few lines cannot serve it.
    #[error(
        "the double comes through a connection: `stunt replay` can do that, a test of a few lines cannot"
    )]
    Connection,
    /// The double is a folder.
    #[error("the double is a folder: `stunt replay` can make one, a test of a few lines cannot")]
    Folder,
    /// The double is the value of a variable.
    #[error(
        "the double is the value of the variable {0}: a test that sets variables which a report brings could \
         make the program load something, so set it yourself"
    )]
    Variable(String),
    /// The double is an argument that is no text.
    #[error("the double of argument {0} is no text that a test could name")]
    Argument(u32),
    /// The command has a word that is no text.
    #[error("a word of the command is no text that a script could name")]
    Word,
    /// Only the machine sees the failure.
    #[error(
        "the failure shows only where memory is checked: run the double under valgrind or a sanitizer"
    )]
    OnlyChecked,
    /// The condition cannot be written in every language alike.
    #[error(
        "the failure is a regular expression ({0}), which languages read differently; write that line yourself"
    )]
    Pattern(String),
    /// There is nothing to feed a fuzzer with.
    #[error("a corpus has files, and the double is {0} inputs")]
    SeveralInputs(usize),
}

/// Makes a test of a report, or a file for a fuzzer's corpus. `command` is what the test runs: the program and
/// its arguments, with `@@` where the path of the double belongs.
///
/// # Errors
/// [`Refusal`] says what stands in the way, and what to do instead.
pub fn export(opened: &Opened, kind: Kind, command: &[String]) -> Result<Vec<Artefact>, Refusal> {
    match kind {
        Kind::LibFuzzerSeed => files::seed(opened, |name| format!("stunt-{name}")),
        Kind::AflSeed => files::seed(opened, |name| format!("id:000000,sig:00,src:stunt-{name}")),
        Kind::CargoTest | Kind::Pytest | Kind::JUnit | Kind::Jest | Kind::CTest => {
            let call = Call::of(opened, command)?;
            let criterion = Criterion::of(&opened.report)?;
            languages::test(kind, opened, &call, &criterion)
        }
    }
}
