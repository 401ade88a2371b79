//! The inputs that satisfy a condition, as sets that can be counted and sampled exactly.
//!
//! A condition is a conjunction of Bool terms. It falls apart into components that share no input
//! byte; each component's solutions are a [`Space`], if one of the stages can build it. This crate
//! must not know a SAT solver, nor what a count means to anyone.
//!
//! Suggested reading order: `condition` and `component` (what is asked), `space` (what is
//! answered), `stages` (how), then the stages by themselves.

mod budget;
mod byteset;
mod code;
mod component;
mod condition;
mod masks;
mod slots;
mod space;
mod split;
mod stages;

pub mod affine;
pub mod defined;
pub mod diagram;
pub mod enumerate;
pub mod frontier;
pub mod histogram;
pub mod product;

pub use budget::Budget;
pub use byteset::ByteSet;
pub use component::{Component, OwnedProblem};
pub use condition::{Change, Condition};
pub use masks::{Masks, mask_of};
pub use space::{Problem, Space};
pub use stages::{Counter, solve};
