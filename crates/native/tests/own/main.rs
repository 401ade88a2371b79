//! Our own programs: each way to fail is told as what it is, and what must not count does not.

mod agree;
mod build;
mod copies;
mod exceptions;
mod harm;
#[path = "../common/inside.rs"]
mod inside;
mod late;
mod limits;
mod many;
mod mistakes;
mod network;
mod panics;
mod rethrows;
mod signals;
