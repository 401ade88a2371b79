//! A thread of the host that stands still, for whoever walks its stack: as it is now, and as it was
//! when its stack was copied.

use stunt_tracee::Memory;
use stunt_unwind::stack::{Registers, Thread};

/// A thread as it is now.
pub struct StoppedThread<'a> {
    /// Its registers.
    pub registers: Registers,
    /// The memory of its process.
    pub memory: &'a Memory,
}

impl Thread for StoppedThread<'_> {
    fn registers(&self) -> Registers {
        self.registers
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        self.memory.read(address, bytes)
    }
}

/// A thread as it was: its registers and its stack then, and the other memory of its process now.
pub struct ThreadBefore<'a> {
    /// Its registers then, and memory now.
    pub now: StoppedThread<'a>,
    /// Where the copy of the stack begins.
    pub start: u64,
    /// The copy.
    pub stack: &'a [u8],
}

impl ThreadBefore<'_> {
    /// The bytes, if all of them are in the copy.
    fn copied(&self, address: u64, count: usize) -> Option<&[u8]> {
        let from = usize::try_from(address.checked_sub(self.start)?).ok()?;
        self.stack.get(from..from.checked_add(count)?)
    }
}

impl Thread for ThreadBefore<'_> {
    fn registers(&self) -> Registers {
        self.now.registers
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        if let Some(copied) = self.copied(address, bytes.len()) {
            bytes.copy_from_slice(copied);
            return true;
        }
        // A page that begins before the stack pointer, or is no stack at all: as it is now, with what is
        // known of then.
        if !self.now.read(address, bytes) {
            return false;
        }
        let end = address.saturating_add(bytes.len() as u64);
        let (first, last) =
            (address.max(self.start), end.min(self.start + self.stack.len() as u64));
        if first < last {
            let known = &self.stack[(first - self.start) as usize..(last - self.start) as usize];
            bytes[(first - address) as usize..(last - address) as usize].copy_from_slice(known);
        }
        true
    }
}
