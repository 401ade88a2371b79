//! The privacy bench: what an attacker really learns from a double, beside what stunt says.
//!
//! Small programs can be tried on every input. So each algorithm is run on every input that fails, the
//! attacker's knowledge after each double is computed, and the figure that the algorithm prints is
//! compared with it: on average over originals it must not be below. Longer programs answer what
//! needs no list of inputs: whether a double of a double is drawn from the same set, whether two
//! originals of one set can be told apart, and whether bytes that the failure does not need are
//! as random as they should be.
//!
//! Reading order: `run` (a program on values and terms), `programs`, `walk` (a program as an
//! execution); `anonymiser` (the algorithms behind one function), `listed` (all inputs that fail),
//! `channel` (what an attacker learns); then the levels: `claims`, `cells`, `game`, `canaries`,
//! `lengths`, `priors` (what who believed something learns).
//!
//! Only tests and `cargo xtask privacy` use this crate. It must not know x86, nor how real programs
//! are run, and nothing of the tool depends on it.

pub mod anonymiser;
pub mod canaries;
pub mod cells;
pub mod chance;
pub mod channel;
pub mod claims;
pub mod game;
pub mod lengths;
pub mod listed;
pub mod priors;
pub mod programs;
pub mod run;
pub mod walk;
