//! What a process gives up for good: files that it may not see or change, calls that it may not make.
//!
//! ```text
//! bpf ──► allow ──┐
//! landlock ───────┴─► close: this process, from now on
//! ```
//!
//! Two kinds of processes are bound here. A worker that opens a stranger's report closes itself off
//! ([`close_off`]): what it may still do is listed. A program that is run on made-up input is started by
//! others, with Landlock's rules and a filter in the words of [`bpf`].
//!
//! Always holds: nothing that was given up comes back, and what the kernel lacks is an error, never
//! passed over. This crate must not know what runs inside a cage, or why.

mod allow;
pub mod bpf;
mod close;
pub mod landlock;

pub use close::{CageError, Guards, SYSTEM, close_off};
