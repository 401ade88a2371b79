//! Running with terms: what the values of a program stand for, and what it finds out about them.
//!
//! ```text
//! run ──► step, access, strings      every op is done on values, and said in terms
//!  │        └──► flags, bits, vector    what operations mean on terms
//!  │             cells                  a few places that an address can mean
//!  │             words                  terms by their width
//!  ├──► images, hooks, summaries        functions that are known by name, by program
//!  ├──► guard                           checked memory
//!  ├──► units                           stopping before each test, and going back
//!  ├──► session                         the tests and pins that come of it
//!  └──► tracing, values                 what the kernel is told and asked through (`tracer.rs`)
//! ```
//!
//! Where nothing depends on the input, the program runs as it always does: a marked byte stops it,
//! and from that instruction on the ops are followed here, until no slot stands for a term any
//! more. This module must not know system calls or files: who marks bytes says what they stand
//! for. It never asks whether another input would go elsewhere.

mod access;
mod aside;
pub(crate) mod bits;
mod cells;
mod clauses;
mod flags;
mod guard;
mod hooks;
mod images;
pub(crate) mod layers;
mod run;
mod session;
mod shadow;
mod shapes;
mod step;
mod straighten;
mod strings;
mod summaries;
mod tracing;
mod units;
mod values;
pub(crate) mod vector;
mod words;

pub use session::{Relaxations, Symbolic, Throw};
pub use shadow::Shadow;
pub(crate) use values::NewValues;
