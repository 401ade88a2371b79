//! What a run takes and leaves behind: its input, the tests that it made on it, and how it ended.
//!
//! Plain data, made by whoever runs programs and read by whoever reasons about them. This crate
//! must not know how a program is run, nor what is done with a path.

mod connection;
mod execution;
mod failure;
mod original;
mod run;
mod source;
mod test;

pub use connection::{Connection, Way};
pub use execution::{Execution, Junction, Node, Place, Stop};
pub use failure::{Failure, FailureKind, Frame, Location, Role, signal_name};
pub use original::Original;
pub use run::{Ending, InputNames, Private, Run};
pub use source::Source;
pub use test::{Pin, Test, TestKind};
