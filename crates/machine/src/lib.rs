//! x86-64 and Linux: runs unmodified programs inside one process, deterministically, with cheap
//! snapshots.
//!
//! ```text
//! code ──► cpu ◄── memory      bytes become operations once; operations run on slots and pages
//!   └───────┴── linux ──► unwind   system calls, files, signals; call stacks of what failed
//! ```
//!
//! Nothing here reaches outside: host files are read within what the caller allows, everything
//! written stays in memory, time and randomness are fixed. This crate must not know the solver: it
//! follows one run and says what that run found out; which other run is worth a try is decided
//! elsewhere.

mod again;
pub mod code;
pub mod cpu;
mod execution;
mod jit;
mod left;
pub mod linux;
mod machine;
pub mod memory;
pub mod stepping;
mod stopped;
pub mod symbolic;
mod tracer;

pub use again::Again;
pub use execution::{Following, Judge, Options};
pub use machine::{Machine, Snapshot};
