//! Slots: the one register file of the machine, 256 words of 64 bits.
//!
//! Everything that an op reads or writes is in a slot: the general registers, the halves of the
//! vector registers, the parts of the lazy flags, and temporaries. A temporary holds a value
//! within one instruction only, so that a machine between two instructions is described without
//! them.

/// A place in the register file.
pub type Slot = u8;

/// The slots with a fixed meaning.
pub mod slots {
    use super::Slot;

    /// `rax`; the general registers follow in the order of their encoding.
    pub const RAX: Slot = 0;
    /// `rcx`.
    pub const RCX: Slot = 1;
    /// `rdx`.
    pub const RDX: Slot = 2;
    /// `rbx`.
    pub const RBX: Slot = 3;
    /// `rsp`.
    pub const RSP: Slot = 4;
    /// `rbp`.
    pub const RBP: Slot = 5;
    /// `rsi`.
    pub const RSI: Slot = 6;
    /// `rdi`.
    pub const RDI: Slot = 7;
    /// `r8`.
    pub const R8: Slot = 8;
    /// `r9`.
    pub const R9: Slot = 9;
    /// `r10`.
    pub const R10: Slot = 10;
    /// `r11`.
    pub const R11: Slot = 11;
    /// `r15`, the last general register.
    pub const R15: Slot = 15;
    /// `rip`: up to date between blocks, and when an instruction faults.
    pub const RIP: Slot = 16;
    /// The base of `fs`.
    pub const FS: Slot = 17;
    /// The base of `gs`.
    pub const GS: Slot = 18;
    /// Always zero, so that a constant operand is this slot plus the constant.
    pub const ZERO: Slot = 19;
    /// The lazy flags: the result that they describe, or the flags themselves.
    pub const FLAG_RESULT: Slot = 20;
    /// The lazy flags: the second operand, or what else the kind needs.
    pub const FLAG_OPERAND: Slot = 21;
    /// The lazy flags: their kind and width.
    pub const FLAG_KIND: Slot = 22;
    /// The flags that no arithmetic changes (direction, trap, alignment, identification), in their
    /// places in `rflags`.
    pub const SYSTEM_FLAGS: Slot = 23;
    /// The control and status register of the vector unit.
    pub const MXCSR: Slot = 24;
    /// The lower half of `xmm0`; the upper half follows, then the other registers.
    pub const XMM: Slot = 32;
    /// The significand of the first x87 register, which is also `mm0`; seven more follow.
    pub const MM: Slot = 64;
    /// The first temporary. What is below belongs to the state of the program.
    pub const TEMPORARY: Slot = 80;
}
