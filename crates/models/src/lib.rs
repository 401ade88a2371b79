//! The inputs that satisfy a condition, as sets that can be counted and sampled exactly.
//!
//! A condition is a conjunction of Bool terms. It falls apart into components that share no input
//! byte; each component's solutions are a [`Space`], if one of the stages can build it. This crate
//! must not know a SAT solver, nor what a count means to anyone.

mod byteset;
mod space;

pub use byteset::ByteSet;
pub use space::{Problem, Space};
