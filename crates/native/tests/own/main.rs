//! Our own programs: each way to fail is told as what it is, and what must not count does not.

mod agree;
mod build;
mod exceptions;
#[path = "../common/inside.rs"]
mod inside;
mod limits;
mod mistakes;
mod panics;
mod signals;
