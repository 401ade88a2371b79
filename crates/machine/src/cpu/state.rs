//! The state of a processor, and the ways in which an instruction fails.

use crate::{
    code::{Slot, slots},
    memory::{Access, Fault},
};

use super::{FlagKind, x87::Fpu};
use crate::symbolic::Shadow;

/// Why an instruction could not be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// A load, store or fetch failed.
    Memory(Fault),
    /// Division by zero, or a quotient that does not fit.
    Divide,
    /// A misaligned vector operand, a reserved bit, a privileged instruction.
    GeneralProtection,
    /// An address on the stack that is not canonical.
    StackSegment,
    /// An instruction that this processor does not have.
    InvalidOpcode,
    /// An unmasked exception of the vector unit; the bits are those of MXCSR.
    VectorFloat(u8),
    /// An unmasked exception of the x87; the bits are those of its status word.
    X87Float(u8),
}

impl From<Fault> for Exception {
    fn from(fault: Fault) -> Self {
        Self::Memory(fault)
    }
}

impl Exception {
    /// The same, for a load that stands for a store.
    pub(super) fn of_store(self) -> Self {
        match self {
            Self::Memory(fault) => Self::Memory(Fault { access: Access::Write, ..fault }),
            other => other,
        }
    }
}

/// The state of one thread's processor.
#[derive(Clone)]
pub struct Cpu {
    /// The register file; see [`slots`].
    pub(crate) slots: [u64; 256],
    /// What of the x87 is not in slots.
    pub(crate) fpu: Fpu,
    /// Instructions executed.
    pub(crate) executed: u64,
    /// What the slots stand for, where that is more than their values.
    pub(crate) shadow: Shadow,
}

impl Default for Cpu {
    fn default() -> Self {
        let mut slots = [0; 256];
        slots[slots::MXCSR as usize] = 0x1f80;
        slots[slots::FLAG_KIND as usize] = FlagKind::Bits as u64;
        Self { slots, fpu: Fpu::default(), executed: 0, shadow: Shadow::default() }
    }
}

impl Cpu {
    /// The content of a slot.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, slot: Slot) -> u64 {
        self.slots[slot as usize]
    }

    /// Changes a slot.
    #[inline(always)]
    pub fn set(&mut self, slot: Slot, value: u64) {
        debug_assert_ne!(slot, slots::ZERO);
        self.slots[slot as usize] = value;
    }

    /// Both halves of a pair of slots.
    #[inline(always)]
    #[must_use]
    pub fn pair(&self, slot: Slot) -> u128 {
        u128::from(self.get(slot)) | u128::from(self.get(slot + 1)) << 64
    }

    /// Changes a pair of slots.
    #[inline(always)]
    pub fn set_pair(&mut self, slot: Slot, value: u128) {
        self.set(slot, value as u64);
        self.set(slot + 1, (value >> 64) as u64);
    }

    /// Takes over what a program has in registers. What was counted stays.
    pub fn take_registers(&mut self, other: &Self) {
        (self.slots, self.fpu) = (other.slots, other.fpu);
    }

    /// The instruction pointer.
    #[must_use]
    pub fn rip(&self) -> u64 {
        self.get(slots::RIP)
    }

    /// The x87 and vector state, as `fxsave64` writes it to an area of zeros.
    #[must_use]
    pub fn vector_state(&self) -> [u8; 512] {
        let mut area = [0; 512];
        self.save_vector_state(&mut area);
        area
    }

    /// Takes over x87 and vector state, as `fxrstor64` reads it.
    ///
    /// # Errors
    /// Reserved bits of MXCSR are set; nothing was changed.
    pub fn set_vector_state(&mut self, area: &[u8; 512]) -> Result<(), Exception> {
        self.restore_vector_state(area)
    }

    /// Instructions executed so far.
    #[must_use]
    pub fn executed(&self) -> u64 {
        self.executed
    }
}
