//! Registers while a stack is walked: which are known, and their values.
//!
//! A register is *known* if it holds what the program had in it in that frame. Walking outward
//! loses registers, because a callee may overwrite what its caller does not need; a rule that
//! reads a lost register must fail, not compute with a stale value.
//!
//! Values can be parts of a private input: they have no `Display`, and `Debug` tells only which
//! registers are known.

use std::fmt;

/// How many registers call frame information of x86-64 can speak about: sixteen, and the return
/// address.
const COUNT: usize = 17;

/// A register by its number in DWARF, which is not its number in machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Register(pub(super) u8);

impl Register {
    pub(super) const RAX: Self = Self(0);
    pub(super) const RDX: Self = Self(1);
    pub(super) const RCX: Self = Self(2);
    pub(super) const RBX: Self = Self(3);
    pub(super) const RSI: Self = Self(4);
    pub(super) const RDI: Self = Self(5);
    pub(super) const RBP: Self = Self(6);
    pub(super) const RSP: Self = Self(7);
    pub(super) const RIP: Self = Self(16);

    /// What a function must leave as it was, by the calling convention: rbx, rbp, r12 to r15.
    pub(super) const KEPT_BY_CALLEES: [Self; 6] =
        [Self::RBX, Self::RBP, Self(12), Self(13), Self(14), Self(15)];

    /// The register with this DWARF number, if walking follows it (no vector or segment register).
    pub(super) fn from_dwarf(number: u16) -> Option<Self> {
        u8::try_from(number).ok().filter(|&number| usize::from(number) < COUNT).map(Self)
    }
}

/// The order in which machine code numbers the general registers: rax, rcx, rdx, rbx, rsp, rbp,
/// rsi, rdi, r8 to r15.
const MACHINE_ORDER: [Register; 16] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RBX,
    Register::RSP,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register(8),
    Register(9),
    Register(10),
    Register(11),
    Register(12),
    Register(13),
    Register(14),
    Register(15),
];

/// The registers of one frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    values: [u64; COUNT],
    known: u32,
}

impl Registers {
    /// All registers of a stopped thread: the general ones in the order of machine code (rax, rcx,
    /// rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15), and the instruction pointer.
    #[must_use]
    pub fn new(general: &[u64; 16], rip: u64) -> Self {
        let mut registers = Self::nothing();
        for (&register, &value) in MACHINE_ORDER.iter().zip(general) {
            registers.set(register, value);
        }
        registers.set(Register::RIP, rip);
        registers
    }

    /// The stack pointer, if it is known.
    pub(crate) fn stack_pointer(&self) -> Option<u64> {
        self.get(Register::RSP)
    }

    /// No register is known.
    pub(crate) fn nothing() -> Self {
        Self { values: [0; COUNT], known: 0 }
    }

    /// The value of a register, if it is known.
    pub(super) fn get(&self, register: Register) -> Option<u64> {
        (self.known >> register.0 & 1 == 1).then(|| self.values[usize::from(register.0)])
    }

    /// Gives a register a value.
    pub(super) fn set(&mut self, register: Register, value: u64) {
        self.values[usize::from(register.0)] = value;
        self.known |= 1 << register.0;
    }

    /// Loses a register.
    pub(super) fn forget(&mut self, register: Register) {
        self.values[usize::from(register.0)] = 0;
        self.known &= !(1 << register.0);
    }
}

impl fmt::Debug for Registers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registers({} known)", self.known.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_order_is_a_permutation_and_debug_shows_no_value() {
        let general: [u64; 16] = std::array::from_fn(|i| 0x4141_0000 + i as u64);
        let registers = Registers::new(&general, 0x4242);
        assert_eq!(registers.get(Register::RAX), Some(0x4141_0000));
        assert_eq!(registers.get(Register::RCX), Some(0x4141_0001));
        assert_eq!(registers.get(Register::RSP), Some(0x4141_0004));
        assert_eq!(registers.get(Register(15)), Some(0x4141_000f));
        assert_eq!(registers.get(Register::RIP), Some(0x4242));
        assert_eq!(format!("{registers:?}"), "Registers(17 known)");
        let mut fewer = registers;
        fewer.forget(Register::RBX);
        assert_eq!(fewer.get(Register::RBX), None);
    }
}
