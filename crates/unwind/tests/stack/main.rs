//! Call stacks compared with the host: native programs that are stopped where they die, programs
//! that are followed instruction by instruction, and files that are not what they should be.

mod deaths;
mod display;
mod files;
#[path = "../common/held.rs"]
mod held;
mod hostile;
mod native;
mod steps;
