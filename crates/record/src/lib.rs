//! Runs a program and notes what it reads, and keeps incidents.
//!
//! ```text
//! Recording ──► record (ptrace + seccomp: stops at input calls alone) ──► Recorded
//!                                   │ the program fails
//!                                   ▼
//!                        Draft ──► Store: incidents/ID/{incident.json, data/N}
//! ```
//!
//! Always holds: the program's output, exit status and signals are its own; bytes that it read lie
//! in memory until it fails, and after that in files that nobody but the user may read; an incident
//! is there whole or not at all. Nothing is ever sent from here.
//!
//! This crate must not know conditions, doubles and reports: what is made of an incident is decided
//! elsewhere.

mod error;
mod failure;
mod incident;
mod last;
mod ours;
mod run;
mod store;
mod word;

pub use error::Error;
pub use failure::{NotedFailure, NotedFrame};
pub use incident::{
    Copied, Draft, FailedIn, Incident, Kept, Maker, NotedEnding, NotedFile, NotedSocket,
    NotedStdin, Program, Schema, Source, State, StdinKind, Stored, Transport, Way,
};
pub use last::Last;
pub use ours::{Distrust, own_folder, own_program, user};
pub use run::{Cost, LARGEST_FILE, ROOM, Recorded, Recording, program, record};
pub use store::{Retention, Store, Summary, is_name, now};
pub use word::Word;
