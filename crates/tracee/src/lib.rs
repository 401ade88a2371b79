//! Processes of the host that are followed under ptrace: what they did, how they go on, their registers
//! and their memory.
//!
//! ```text
//! ptrace ──► Event, registers      calls of Linux, each with its proof
//! memory ──► Memory                /proc/PID/mem, process_vm_readv
//! status ──► Effect                /proc/PID/status
//! ```
//!
//! A process is followed by the thread that started it, and by no other. It may die at any moment: then
//! a request fails, [`alive`] makes nothing of that, and the next [`wait`] tells what happened.
//!
//! Functions here decide nothing. This crate must not know why a process is followed, nor how it is
//! started.

mod memory;
mod ptrace;
mod status;

pub use memory::{Memory, read_memory};
pub use ptrace::{
    AT_CALL, BIRTHS, CALL, Event, Onward, event_message, fault_address, go_on, handle, kill,
    kill_by_handle, registers, seize, send, set_registers, tell_events, wait,
};
pub use status::{Effect, alive, effect, is_gone, parent_of, process_of};
