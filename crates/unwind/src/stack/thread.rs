//! A thread that stands still: all that a walk asks of whoever runs the program.

use super::registers::Registers;

/// A thread that stands still: a processor of the machine, a process under ptrace, or a copy of one.
///
/// Neither registers nor memory may change while a stack is walked.
pub trait Thread {
    /// Its registers.
    fn registers(&self) -> Registers;

    /// Fills the bytes at an address of its memory; `false` if not all of them can be read.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool;
}
