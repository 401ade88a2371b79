//! From a program that stands still to the identity of its failure.
//!
//! ```text
//! thread, modules ──► stack ──► CallStack ──► failure ──► stunt_path::Failure
//! ```
//!
//! The same code serves the emulated machine and processes of the host, so that failures of both can
//! be compared. This crate must not know who runs the program, nor how it was stopped: registers and
//! memory are read through a trait, [`stack::Thread`].

pub mod failure;
pub mod stack;

// A helper that unit tests share with the tests beside this folder names the crate.
#[cfg(test)]
extern crate self as stunt_unwind;
#[cfg(test)]
#[path = "../tests/common/held.rs"]
mod held;
