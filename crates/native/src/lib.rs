//! Runs a program on the host, and says how it failed.
//!
//! ```text
//! Command ──► check ──► follow (ptrace, one thread a run) ──► Run { ending, failure, output }
//!                          │ stunt_tracee; process, files ──► stunt_unwind
//! ```
//!
//! A run is stopped where it would die, and at the throws of panics and exceptions on the way; its
//! call stack there is the identity of the failure, computed by the code that does it for runs in
//! the machine. The whole tree of processes ends with the run, no core file is written, and what
//! the program printed has a type that cannot print itself. A contained run cannot harm the host.
//! The exceptions of scripts are read from what their interpreters print.
//!
//! This crate must not know terms, paths or doubles: which inputs are worth a run is decided
//! elsewhere.

mod check;
mod command;
mod contain;
mod crew;
mod error;
mod files;
mod filter;
mod folders;
mod follow;
mod harmless;
mod late;
mod loaded;
mod members;
mod native;
mod needs;
mod network;
mod orphans;
mod os;
mod outward;
mod peer;
mod process;
mod rest;
mod runtime;
mod sanitized;
mod start;
mod stopped;
mod texts;
mod throwers;
mod traceback;
mod watch;
mod witness;
mod worker;

pub use check::{check, find};
pub use command::{Command, Copied, InputFile, Manner, Stdin};
pub use contain::{Containment, Guard, containment};
pub use error::Error;
pub use files::Files;
pub use native::Native;
pub use needs::needs;
pub use outward::Outward;
pub use runtime::{Runtime, code_words, interpreting, runtimes};
pub use sanitized::{NO_LEAKS, is_sanitized};
pub use texts::{Executed, Texts};
pub use traceback::{failure_of_run, failure_of_script, told_at};
pub use witness::{AtMark, Witness};
