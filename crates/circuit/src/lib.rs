//! Terms as circuits: what every operator does to single bits.
//!
//! The operators are described once, over any [`Algebra`]: the gates of a SAT solver, decision
//! diagrams, affine forms over GF(2), or machine words that hold 64 cases at a time. This crate
//! must not know what the bits are used for: no solver, no counting, no conditions.
//!
//! Suggested reading order: `algebra` (what a bit is), `blaster` (terms to bits, with `arith`,
//! `compare`, `shift` and `select` for the operators), `circuit` (bits as a recorded graph),
//! `sliced` (64 cases at a time), `cnf` (clauses).

mod algebra;
mod arith;
mod blaster;
mod circuit;
mod cnf;
mod compare;
mod select;
mod shift;
mod sliced;

pub use algebra::Algebra;
pub use blaster::Blaster;
pub use circuit::{Circuit, Gate, Lit};
pub use cnf::Cnf;
pub use select::table as read_table;
pub use sliced::Sliced;
