//! A thread of the machine that stands still, for whoever walks its stack.

use stunt_unwind::stack::{Registers, Thread};

use crate::{cpu::Cpu, memory::AddressSpace};

/// A thread at an instruction, with the memory of its process.
pub(crate) struct StoppedThread<'a> {
    registers: Registers,
    space: &'a mut AddressSpace,
}

impl<'a> StoppedThread<'a> {
    /// A thread where its processor is.
    pub(crate) fn new(cpu: &Cpu, space: &'a mut AddressSpace) -> Self {
        Self::at(cpu, cpu.rip(), space)
    }

    /// A thread at another instruction of the same function.
    pub(crate) fn at(cpu: &Cpu, rip: u64, space: &'a mut AddressSpace) -> Self {
        let mut general = [0; 16];
        for (slot, value) in general.iter_mut().enumerate() {
            *value = cpu.get(slot as u8);
        }
        Self { registers: Registers::new(&general, rip), space }
    }
}

impl Thread for StoppedThread<'_> {
    fn registers(&self) -> Registers {
        self.registers
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        self.space.read(address, bytes).is_ok()
    }
}
