//! From a program that stands still to the identity of its failure.
//!
//! ```text
//! registers, memory, modules ──► stack ──► CallStack ──► failure ──► stunt_path::Failure
//! ```
//!
//! The same code serves the emulated machine and processes of the host, so that failures of both can
//! be compared. This crate must not know who runs the program, nor how it was stopped.

pub mod failure;
pub mod stack;
