//! Bit-vector terms over the bytes of an input.
//!
//! A program's tests on its input become terms; everything above asks questions about them. This
//! crate must not know that programs exist: it has no addresses, no paths, no solver.
//!
//! Suggested reading order: `term` (what a term is, and its normal form), `pool` (where terms
//! live), `rewrite` (the constructors and their rules), `eval` and `program` (values), `smtlib`
//! (text).

mod assignment;
mod derived;
mod eval;
mod facts;
mod index;
mod memo;
mod operator;
mod pool;
mod program;
mod rebuild;
mod rewrite;
pub mod smtlib;
mod support;
mod term;
mod value;

pub use assignment::Assignment;
pub use eval::Evaluator;
pub use facts::Facts;
pub use operator::{Kind, Operator};
pub use pool::Pool;
pub use program::{BLOCK, Program, Values};
pub use rewrite::RuleCounts;
pub use support::{Run, Support};
pub use term::{InputByte, MAX_WIDTH, Op, Operands, Sort, Table, TableId, Term, mask};
pub use value::odd_inverse;
