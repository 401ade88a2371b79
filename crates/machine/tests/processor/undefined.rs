//! What the architecture leaves open: flags, and bytes that no program should read.
//!
//! The manuals decide, not the processor at hand: a test that passes here must pass on any host.

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register, RflagsBits};

use crate::{
    prepare::number,
    state::{AF, CF, OF, PF, SF, State, ZF},
};

/// The flags that an instruction leaves undefined in this state.
pub fn flags(i: &Instruction, before: &State) -> u64 {
    match i.mnemonic() {
        M::Shl | M::Sal | M::Shr | M::Sar => {
            let (count, width) = count(i, before, 1);
            let out = if count >= width && i.mnemonic() != M::Sar { CF } else { 0 };
            match count {
                0 => 0,
                1 => AF,
                _ => AF | OF | out,
            }
        }
        M::Rol | M::Ror | M::Rcl | M::Rcr => match count(i, before, 1).0 {
            0 | 1 => 0,
            _ => OF,
        },
        M::Shld | M::Shrd => match count(i, before, 2).0 {
            0 => 0,
            1 => AF,
            _ => AF | OF,
        },
        _ => {
            let undefined = i.rflags_undefined();
            [
                (RflagsBits::OF, OF),
                (RflagsBits::SF, SF),
                (RflagsBits::ZF, ZF),
                (RflagsBits::AF, AF),
                (RflagsBits::CF, CF),
                (RflagsBits::PF, PF),
            ]
            .into_iter()
            .filter(|(bit, _)| undefined & bit != 0)
            .fold(0, |flags, (_, flag)| flags | flag)
        }
    }
}

/// The count of a shift, as the processor takes it, and the width of what is shifted.
fn count(i: &Instruction, before: &State, operand: u32) -> (u32, u32) {
    let width = match i.op0_kind() {
        OpKind::Register => i.op0_register().size(),
        _ => i.memory_size().size(),
    } as u32
        * 8;
    let count = match i.op_kind(operand) {
        OpKind::Register => before.general[1] as u32,
        _ => i.immediate(operand) as u32,
    };
    (count & if width == 64 { 63 } else { 31 }, width)
}

/// The condition bits of the x87 status word that an instruction leaves undefined.
pub fn conditions(i: &Instruction) -> u16 {
    let undefined = i.rflags_undefined();
    [
        (RflagsBits::C0, 0x100),
        (RflagsBits::C1, 0x200),
        (RflagsBits::C2, 0x400),
        (RflagsBits::C3, 0x4000),
    ]
    .into_iter()
    .filter(|(bit, _)| undefined & bit != 0)
    .fold(0, |conditions, (_, condition)| conditions | condition)
}

/// The bytes of a memory operand that differ from processor to processor: where the last x87
/// instruction and its operand were, and what is reserved.
pub fn holes(i: &Instruction) -> &'static [(usize, usize)] {
    match i.mnemonic() {
        M::Fxsave | M::Fxsave64 => &[(6, 24), (28, 32), (416, 512)],
        M::Fnstenv | M::Fnsave => &[(12, 28)],
        _ => &[],
    }
}

/// Whether an encoding asks for something undefined whatever the state: a 16-bit double shift by
/// more than the width, or by a count that is also an address.
pub fn hopeless(i: &Instruction) -> bool {
    if !matches!(i.mnemonic(), M::Shld | M::Shrd) || i.op1_register().size() != 2 {
        return false;
    }
    if i.op2_kind() != OpKind::Register {
        return i.immediate(2) & 31 > 16;
    }
    let addresses = [i.memory_base(), i.memory_index()];
    i.op0_kind() == OpKind::Memory
        && addresses.into_iter().any(|r| r.full_register() == Register::RCX)
}

/// The general register whose upper half some processors clear and others keep: `cmpxchg` of 32
/// bits with a register, when the comparison fails.
pub fn upper_half(i: &Instruction, after: &State) -> Option<usize> {
    let open = i.mnemonic() == M::Cmpxchg
        && i.op0_kind() == OpKind::Register
        && i.op0_register().size() == 4
        && after.flags & ZF == 0;
    open.then(|| number(i.op0_register()))
}
