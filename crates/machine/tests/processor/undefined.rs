//! What the architecture leaves open: flags, and bytes that no program should read.
//!
//! The manuals decide, not the processor at hand: a test that passes here must pass on any host. Where makers
//! differ, the machine is one of AMD's, as it says of itself, and other hosts are not asked ([`by_maker`]).

use std::sync::LazyLock;

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register, RflagsBits};

use crate::{
    prepare::number,
    state::{AF, CF, Event, OF, PF, SF, State, ZF},
};

/// Whether the host's processor is of the maker whose processor the machine is.
static SAME_MAKER: LazyLock<bool> = LazyLock::new(|| {
    std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains("AuthenticAMD"))
});

/// Whether the outcome is one in which processors of other makers differ, and the host is one of them.
///
/// - Of an instruction that fails: a call has pushed its return address; a store from an MMX register has
///   reset the stack of the x87; a store across two pages has reached the first; a string instruction has
///   cleared upper halves and not set flags; a masked store tells the address of another byte.
/// - A store of the x87 that raises an unmasked exception does not look at its memory.
/// - A repeated string instruction with short addresses clears upper halves though it does nothing.
/// - Of several values that are no numbers, a dot product has another one.
pub fn by_maker(i: &Instruction, before: &State, [host, machine]: [(Event, &State); 2]) -> bool {
    if *SAME_MAKER {
        return false;
    }
    let fails = host.0 != Event::Finished || machine.0 != Event::Finished;
    let by_mmx = (0..i.op_count()).any(|n| i.op_register(n).is_mm());
    let by_x87 = format!("{:?}", i.mnemonic()).starts_with('F');
    let stores = i.op_count() > 0 && i.op0_kind() == OpKind::Memory;
    match i.mnemonic() {
        M::Call => fails,
        M::Maskmovdqu | M::Maskmovq => fails,
        M::Dpps => has_nan(host.1, i, |lane| f32::from_bits(lane as u32).is_nan(), 4),
        M::Dppd => has_nan(host.1, i, |lane| f64::from_bits(lane).is_nan(), 8),
        _ if i.is_string_instruction() => {
            let repeated = i.has_rep_prefix() || i.has_repne_prefix();
            fails || (repeated && before.general[1] as u32 == 0)
        }
        _ => fails && stores && (by_mmx || by_x87),
    }
}

/// Whether a lane of so many bytes of an instruction's result is no number.
fn has_nan(after: &State, i: &Instruction, is_nan: impl Fn(u64) -> bool, size: usize) -> bool {
    let bytes = after.xmm(i.op0_register().number()).to_le_bytes();
    bytes.chunks_exact(size).any(|lane| {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(lane);
        is_nan(u64::from_le_bytes(wide))
    })
}

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
