//! x87 instructions: one op for the arithmetic, plain loads and stores around it.
//!
//! Always: what waits looks for pending exceptions before it touches memory, and memory is known
//! to be writable before the unit changes.

use iced_x86::Mnemonic as M;

use super::{Lifted, Lifter, operand::Address};
use crate::code::{Op, Slot, Width, X87Op, slots};

pub(super) fn lift(l: &mut Lifter<'_>) -> Lifted {
    match attempt(l) {
        Some(()) => Lifted::Done,
        None => Lifted::Unknown,
    }
}

/// An op that has no operands in slots.
pub(super) fn bare(f: X87Op, i: u8) -> Op {
    Op::X87 { f, i, d: slots::ZERO, a: slots::ZERO }
}

fn attempt(l: &mut Lifter<'_>) -> Option<()> {
    match l.i.mnemonic() {
        M::Wait => l.emit(bare(X87Op::Wait, 0)),
        M::Fninit => l.emit(bare(X87Op::Init, 0)),
        M::Fnclex => l.emit(bare(X87Op::Clear, 0)),
        // Of the 8087 and 80287; they do nothing since.
        M::Fneni | M::Fndisi | M::Fnsetpm => {}
        M::Fnstsw => word(l, X87Op::Status)?,
        M::Fnstcw => word(l, X87Op::Control)?,
        M::Fnstenv => {
            save_environment(l)?;
            l.emit(bare(X87Op::Mask, 0));
        }
        M::Fnsave => {
            let (to, field) = save_environment(l)?;
            let registers = to.plus(7 * field.bytes() as i32);
            for i in 0..8u8 {
                let d = l.pair();
                l.emit(Op::X87 { f: X87Op::Register, i, d, a: slots::ZERO });
                store_extended(l, d, registers.plus(10 * i32::from(i)));
            }
            l.emit(bare(X87Op::Init, 0));
        }
        M::Fldenv => {
            let (_, _, environment) = load_environment(l)?;
            l.emit(Op::X87 { f: X87Op::SetEnvironment, i: 0, d: slots::ZERO, a: environment });
        }
        M::Frstor => {
            let (from, field, environment) = load_environment(l)?;
            let registers = from.plus(7 * field.bytes() as i32);
            let mut values = [slots::ZERO; 8];
            for (i, value) in values.iter_mut().enumerate() {
                *value = l.pair();
                load_extended(l, *value, registers.plus(10 * i as i32));
            }
            l.emit(Op::X87 { f: X87Op::SetEnvironment, i: 0, d: slots::ZERO, a: environment });
            for (i, a) in values.into_iter().enumerate() {
                l.emit(Op::X87 { f: X87Op::SetRegister, i: i as u8, d: slots::ZERO, a });
            }
        }
        _ => arithmetic(l)?,
    }
    Some(())
}

/// `fnstsw` and `fnstcw`.
fn word(l: &mut Lifter<'_>, f: X87Op) -> Option<()> {
    let d = l.temporary();
    l.emit(Op::X87 { f, i: 0, d, a: slots::ZERO });
    l.commit(0, d)
}

/// What goes through the host's unit.
fn arithmetic(l: &mut Lifter<'_>) -> Option<()> {
    let code = l.i.code().op_code();
    let opcode = code.op_code();
    if (0..l.i.op_count()).any(|n| l.is_memory(n)) {
        let escape = u8::try_from(opcode.checked_sub(0xd8)?).ok().filter(|escape| *escape < 8)?;
        let i = u8::try_from(code.group_index()).ok()?;
        let size = l.i.memory_size().size();
        l.emit(bare(X87Op::Wait, 0));
        return match (escape, i) {
            // Arithmetic with a second operand, and all that load.
            (0 | 2 | 4 | 6, _) | (1 | 3 | 5 | 7, 0) | (3, 5) | (7, 4 | 5) => {
                source(l, escape, i, size)
            }
            (1, 5) => source(l, escape, i, size),
            (1, 2 | 3) | (3 | 5 | 7, 1..=3) | (3, 7) | (7, 6 | 7) => target(l, escape, i, size),
            _ => None,
        };
    }
    if code.op_code_len() != 2 || !(0xd8c0..=0xdfff).contains(&opcode) {
        return None;
    }
    let escape = (opcode >> 8) as u8 - 0xd8;
    let mut second = opcode as u8;
    if code.op_kinds().iter().any(|kind| is_stack_index(*kind)) {
        second += stack_index(l)?;
    }
    let i = second.checked_sub(0xc0)?;
    let f =
        if uses_flags(l.i.mnemonic()) { X87Op::Flags { escape } } else { X87Op::Stack { escape } };
    l.emit(bare(f, i));
    Some(())
}

fn is_stack_index(kind: iced_x86::OpCodeOperandKind) -> bool {
    kind == iced_x86::OpCodeOperandKind::sti_opcode
}

/// The stack index in the opcode.
fn stack_index(l: &Lifter<'_>) -> Option<u8> {
    let code = l.i.code().op_code();
    let n = code.op_kinds().iter().position(|kind| is_stack_index(*kind))? as u32;
    let register = l.i.op_register(n);
    register.is_st().then(|| register.number() as u8)
}

fn uses_flags(m: M) -> bool {
    matches!(
        m,
        M::Fcomi
            | M::Fcomip
            | M::Fucomi
            | M::Fucomip
            | M::Fcmovb
            | M::Fcmove
            | M::Fcmovbe
            | M::Fcmovu
            | M::Fcmovnb
            | M::Fcmovne
            | M::Fcmovnbe
            | M::Fcmovnu
    )
}

fn source(l: &mut Lifter<'_>, escape: u8, i: u8, size: usize) -> Option<()> {
    let from = l.address();
    let a = l.pair();
    load_operand(l, a, from, size)?;
    l.emit(Op::X87 { f: X87Op::Source { escape }, i, d: slots::ZERO, a });
    Some(())
}

fn target(l: &mut Lifter<'_>, escape: u8, i: u8, size: usize) -> Option<()> {
    let to = l.address();
    probe(l, to, size);
    let d = l.pair();
    load_operand(l, d, to, size)?;
    l.emit(Op::X87 { f: X87Op::Target { escape }, i, d, a: slots::ZERO });
    match Width::of_bytes(size) {
        Some(w) => l.store(w, d, to),
        None => store_extended(l, d, to),
    }
    Some(())
}

/// Faults where a store of `size` bytes would.
fn probe(l: &mut Lifter<'_>, to: Address, size: usize) {
    let mut at = 0;
    while at < size {
        let w = [Width::W64, Width::W32, Width::W16]
            .into_iter()
            .find(|w| w.bytes() as usize <= size - at)
            .unwrap_or(Width::W8);
        let Address { base, index, shift, disp } = to.plus(at as i32);
        let a = l.temporary();
        l.emit(Op::Lea { w: Width::W64, d: a, base, index, shift, disp });
        l.emit(Op::ProbeWrite { w, a });
        at += w.bytes() as usize;
    }
}

/// Loads 2, 4, 8 or 10 bytes.
fn load_operand(l: &mut Lifter<'_>, d: Slot, from: Address, size: usize) -> Option<()> {
    match Width::of_bytes(size) {
        Some(w) => l.load_to(w, d, from),
        None if size == 10 => load_extended(l, d, from),
        None => return None,
    }
    Some(())
}

fn load_extended(l: &mut Lifter<'_>, d: Slot, from: Address) {
    l.load_to(Width::W64, d, from);
    l.load_to(Width::W16, d + 1, from.plus(8));
}

fn store_extended(l: &mut Lifter<'_>, a: Slot, to: Address) {
    l.store(Width::W64, a, to);
    l.store(Width::W16, a + 1, to.plus(8));
}

/// How wide the seven fields of an environment are: a prefix makes it the 16-bit form.
fn field(l: &Lifter<'_>) -> Option<Width> {
    match l.i.memory_size().size() {
        14 | 94 => Some(Width::W16),
        28 | 108 => Some(Width::W32),
        _ => None,
    }
}

/// Stores control, status and tag word, and zeros for the addresses that are not kept.
fn save_environment(l: &mut Lifter<'_>) -> Option<(Address, Width)> {
    let field = field(l)?;
    let Address { base, index, shift, disp } = l.address();
    let at = l.temporary();
    l.emit(Op::Lea { w: Width::W64, d: at, base, index, shift, disp });
    let to = Address::at(at);
    let size = l.i.memory_size().size();
    // The processor touches the first field and the last byte first.
    probe(l, to, field.bytes() as usize);
    probe(l, to.plus(size as i32 - 1), 1);
    probe(l, to, size);
    for k in 0..7 {
        let value = match k {
            0 => Some(X87Op::Control),
            1 => Some(X87Op::Status),
            2 => Some(X87Op::Tags),
            _ => None,
        };
        // The upper halves of the 32-bit form read as ones, except with an address.
        let ones = if k == 6 { l.constant(0xffff_0000) } else { slots::ZERO };
        let a = match value {
            Some(f) => {
                let d = l.temporary();
                l.emit(Op::X87 { f, i: 0, d, a: slots::ZERO });
                l.emit(Op::Or {
                    w: Width::W32,
                    d,
                    a: d,
                    b: slots::ZERO,
                    imm: 0xffff_0000_u32 as i32,
                });
                d
            }
            None => ones,
        };
        l.store(field, a, to.plus(k * field.bytes() as i32));
    }
    Some((to, field))
}

/// Loads control, status and tag word to three slots.
fn load_environment(l: &mut Lifter<'_>) -> Option<(Address, Width, Slot)> {
    let field = field(l)?;
    l.emit(bare(X87Op::Wait, 0));
    let Address { base, index, shift, disp } = l.address();
    let at = l.temporary();
    l.emit(Op::Lea { w: Width::W64, d: at, base, index, shift, disp });
    let from = Address::at(at);
    // The processor touches the first field and the last byte first.
    l.load(field, from);
    l.load(Width::W8, from.plus(l.i.memory_size().size() as i32 - 1));
    let first = l.temporary();
    l.temporary();
    l.temporary();
    for k in 0..7u8 {
        let d = if k < 3 { first + k } else { l.temporary() };
        l.load_to(field, d, from.plus(i32::from(k) * field.bytes() as i32));
    }
    Some((from, field, first))
}
