//! Questions about terms: satisfiable, a model, a random model, the model that differs most.
//!
//! Most conditions of a run touch one or two bytes at a time and come with a model, the run's own
//! input. So most questions end in a layer that costs next to nothing, and the SAT solver sees
//! the rest. This crate must not know paths, programs, or what a model is used for.
//!
//! Suggested reading order: `query` (what is asked), `chain` (the layers in order), `layer` (one
//! file each), `backend` (the SAT solver), `sample` and `differ` (special models),
//! `script` (SMT-LIB scripts answered).

mod backend;
mod chain;
mod differ;
mod layer;
mod query;
mod sample;
mod script;
mod soft;
mod statistics;

pub use chain::Solver;
pub use differ::{Different, Differing, differ_most};
pub use layer::cross::CrossCheck;
pub use query::{Answer, Budget, Model, Truth, Why};
pub use sample::{Draw, Drawn, Look, Reason, Sampler, Uniformity};
pub use script::answer_script;
pub use statistics::{Layer, Statistics};
