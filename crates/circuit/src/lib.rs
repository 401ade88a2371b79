//! Terms as circuits: what every operator does to single bits.
//!
//! The operators are described once, over any [`Algebra`]: the gates of a SAT solver, decision
//! diagrams, affine forms over GF(2), or machine words that hold 64 cases at a time. This crate
//! must not know what the bits are used for: no solver, no counting, no conditions.

mod algebra;

pub use algebra::Algebra;
