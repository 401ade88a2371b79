//! gdb with time travel: a program in the machine, behind the protocol that gdb speaks with whoever runs
//! a program for it.
//!
//! ```text
//! gdb ◄─ packets ─► session ──► TimeTravel ──► machine      where it is, and where it was
//!                      └──────► registers, target.xml       what gdb calls what
//! ```
//!
//! Backwards is forwards from a snapshot: the machine does the same again, to the instruction. This crate
//! must not know reports, doubles and terminals: it is given a machine and a connection, and a helper
//! for what the user asks beyond gdb's own commands.

mod packets;
mod registers;
mod session;
mod snapshots;
mod travel;

pub use packets::Line;
pub use session::{Helper, Session, Start};
pub use travel::{Halt, TimeTravel};
