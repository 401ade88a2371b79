//! Why a program is not run, or not to its end.

use std::io;
use std::path::PathBuf;

use stunt_machine::linux::errno::Errno;

/// Why a subject cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program cannot be run natively.
    #[error(transparent)]
    Native(#[from] stunt_native::Error),
    /// A file or a folder cannot be used.
    #[error("{what}")]
    Host {
        /// What was tried, in words.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// Nowhere is room for files.
    #[error("there is no place for temporary files")]
    NoPlace,
    /// So many folders were never removed.
    #[error("there are too many folders of stunt in {}; remove them", .0.display())]
    TooManyFolders(PathBuf),
    /// The kernel does not say who the user is.
    #[error("no {0} in /proc")]
    NoUser(&'static str),
    /// The machine cannot load it.
    #[error("{} cannot be started in the machine: {}", .program.display(), .errno.text())]
    Machine {
        /// The program.
        program: PathBuf,
        /// Why not.
        errno: Errno,
    },
    /// One of its inputs is nowhere in the machine.
    #[error("the input cannot be followed: {}", .0.text())]
    Input(Errno),
    /// The machine ended the run.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A range of public bytes is not one.
    #[error("--public {text}: {why}")]
    PublicRange {
        /// What was said.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A range of public bytes goes beyond the end of its input.
    #[error("--public {text}: {source_words} has {bytes} bytes, and offsets count from 0")]
    PublicBeyond {
        /// What was said.
        text: String,
        /// The input, in words.
        source_words: String,
        /// How long it is.
        bytes: u64,
    },
    /// Something is called public that is no input.
    #[error(
        "--public names `{0}`, which is no input; inputs are file, fileN, memberN, stdin, argN, env:NAME and socketN"
    )]
    PublicUnused(String),
    /// The command line has no place for a double that is a file.
    #[error("the double is a file, but no argument says where its path belongs; write {0} there")]
    NoPlaceFor(String),
    /// The command line has no place for a double that is an argument.
    #[error("the double is argument {number} of the program; write {place} there")]
    NoPlaceForArgument {
        /// Its number.
        number: u32,
        /// What stands for it.
        place: String,
    },
}

impl Error {
    /// For errors of the host, with what was tried.
    pub(crate) fn host(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |source| Error::Host { what, source }
    }
}

/// Why a run in the machine did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The machine lacks something that the program needs.
    #[error("{0}. This is a limit of stunt, not a bug of the program.")]
    Unsupported(String),
    /// A limit was reached.
    #[error("{0}.")]
    Limit(String),
}
