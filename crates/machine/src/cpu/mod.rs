//! The processor: what operations do to slots and memory.
//!
//! A [`Cpu`] is the state of one thread between two instructions. [`run`] is the interpreter: fast
//! where nothing special happens, and precise where something does: an exception leaves the state
//! as before the instruction that caused it. This module must not know the kernel: who runs a
//! processor gets a [`Stop`] and decides what it means.

mod bits;
mod flags;
mod float;
mod float_exact;
mod float_fast;
mod float_host;
mod float_round;
mod float_steps;
mod helpers;
mod run;
mod state;
mod step;
mod strings;
pub(crate) mod vector;
mod vector_lanes;
mod vector_strings;
pub(crate) mod x87;

pub use flags::FlagKind;
pub(crate) use flags::flag_code;
pub use run::{Stop, run};
pub(crate) use run::{Way, body, fail, finish, leave, run_one, stop};
pub use state::{Cpu, Exception};
pub(crate) use step::step;
