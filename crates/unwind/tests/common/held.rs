//! A thread of which registers and memory are given, for tests of what reads them.

use stunt_unwind::stack::{Registers, Thread};

/// A thread with these pieces of memory, by address.
pub struct Held<'a> {
    pub registers: Registers,
    pub memory: Vec<(u64, &'a [u8])>,
}

impl Thread for Held<'_> {
    fn registers(&self) -> Registers {
        self.registers
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        let found = self.memory.iter().find_map(|&(start, held)| {
            let from = usize::try_from(address.checked_sub(start)?).ok()?;
            held.get(from..from.checked_add(bytes.len())?)
        });
        found.map(|found| bytes.copy_from_slice(found)).is_some()
    }
}
