//! Vector instructions: moves and bitwise logic become plain ops on halves, the rest one op each.
//!
//! Always: 16 bytes in memory must be aligned, unless the instruction is one of those that are made
//! for unaligned data. Instructions with an MMX register are not here.

use iced_x86::{Mnemonic as M, OpKind};

use super::{Lifted, Lifter, operand, vector_float, vector_moves, vector_names};
use crate::code::{Helper, Op, Slot, VectorOp, Width, slots};

/// The six arithmetic flags in `rflags`.
const ALL_FLAGS: u32 = 0x8d5;

pub(super) fn lift(l: &mut Lifter<'_>) -> Lifted {
    if touches_mmx(l) {
        return Lifted::Unknown;
    }
    let done = vector_moves::lift(l).or_else(|| integer(l)).or_else(|| vector_float::lift(l));
    if done.is_some() { Lifted::Done } else { Lifted::Unknown }
}

fn touches_mmx(l: &Lifter<'_>) -> bool {
    (0..l.i.op_count()).any(|n| l.i.op_kind(n) == OpKind::Register && l.i.op_register(n).is_mm())
}

impl Lifter<'_> {
    /// The vector register that is operand `n`.
    pub(super) fn vector_register(&self, n: u32) -> Option<Slot> {
        if self.i.op_kind(n) != OpKind::Register {
            return None;
        }
        operand::vector(self.i.op_register(n))
    }

    /// Operand `n` in a pair: a vector register, or memory of any size up to 16 bytes. What is
    /// above the size may be anything.
    pub(super) fn vector_value(&mut self, n: u32) -> Option<Slot> {
        self.vector_operand(n, true)
    }

    /// The same, with 16 bytes anywhere.
    pub(super) fn unaligned_value(&mut self, n: u32) -> Option<Slot> {
        self.vector_operand(n, false)
    }

    fn vector_operand(&mut self, n: u32, aligned: bool) -> Option<Slot> {
        if !self.is_memory(n) {
            return self.vector_register(n);
        }
        let from = self.address();
        let d = self.pair();
        if self.i.memory_size().size() == 16 {
            self.load_pair(aligned, d, from);
        } else {
            self.load_to(Width::of_bytes(self.i.memory_size().size())?, d, from);
        }
        Some(d)
    }

    /// Loads 16 bytes.
    pub(super) fn load_pair(&mut self, aligned: bool, d: Slot, from: operand::Address) {
        let operand::Address { base, index, shift, disp } = from;
        self.emit(Op::Load128 { aligned, d, base, index, shift, disp });
    }

    /// Takes all six flags from a slot.
    pub(super) fn take_flags(&mut self, a: Slot) {
        self.emit(Op::SetFlags { a, mask: ALL_FLAGS });
    }
}

fn integer(l: &mut Lifter<'_>) -> Option<()> {
    if let Some(f) = vector_names::binary(l.i.mnemonic()) {
        let d = l.vector_register(0)?;
        let b = l.vector_value(1)?;
        let imm = if l.i.op_count() == 3 { l.i.immediate8() } else { 0 };
        l.emit(Op::Vector { f, d, a: d, b, imm });
        return Some(());
    }
    if let Some(f) = vector_names::shift(l.i.mnemonic()) {
        let d = l.vector_register(0)?;
        let (b, imm) = match l.i.op_kind(1) {
            OpKind::Immediate8 => (slots::ZERO, l.i.immediate8()),
            _ => (l.vector_value(1)?, 0),
        };
        l.emit(Op::Vector { f, d, a: d, b, imm });
        return Some(());
    }
    match l.i.mnemonic() {
        M::Pmovmskb => signs(l, VectorOp::Pmovmskb),
        M::Movmskps => signs(l, VectorOp::Movmskps),
        M::Movmskpd => signs(l, VectorOp::Movmskpd),
        M::Pinsrb => insert(l, VectorOp::Pinsrb),
        M::Pinsrw => insert(l, VectorOp::Pinsrw),
        M::Pinsrd => insert(l, VectorOp::Pinsrd),
        M::Insertps => {
            let d = l.vector_register(0)?;
            // In memory there is one lane, whatever the constant says.
            let keep = if l.is_memory(1) { 0x3f } else { 0xff };
            let (b, imm) = (l.vector_value(1)?, l.i.immediate8() & keep);
            l.emit(Op::Vector { f: VectorOp::Insertps, d, a: d, b, imm });
            Some(())
        }
        M::Movsldup => duplicate(l, 0xa0),
        M::Movshdup => duplicate(l, 0xf5),
        M::Blendps => {
            // Two words for each lane.
            let imm = l.i.immediate8();
            let wide = (0..4).map(|k| ((imm >> k & 1) * 3) << (2 * k)).sum();
            let d = l.vector_register(0)?;
            let b = l.vector_value(1)?;
            l.emit(Op::Vector { f: VectorOp::Pblendw, d, a: d, b, imm: wide });
            Some(())
        }
        M::Ptest => {
            let a = l.vector_register(0)?;
            let b = l.vector_value(1)?;
            let d = l.pair();
            l.emit(Op::Vector { f: VectorOp::Ptest, d, a, b, imm: 0 });
            l.take_flags(d);
            Some(())
        }
        M::Pcmpistri | M::Pcmpistrm => implicit_strings(l),
        M::Pcmpestri | M::Pcmpestrm | M::Pcmpestri64 | M::Pcmpestrm64 => explicit_strings(l),
        M::Maskmovdqu => {
            // With another segment or a narrow address it is not worth an op.
            let plain = l.i.op0_kind() == OpKind::MemorySegRDI && !l.i.has_segment_prefix();
            let (a, b) = (l.vector_register(1)?, l.vector_register(2)?);
            if !plain {
                return None;
            }
            l.emit(Op::Helper { f: Helper::MaskedStore, d: 0, a, b, imm: 0 });
            Some(())
        }
        _ => None,
    }
}

/// The signs of lanes to a general register.
fn signs(l: &mut Lifter<'_>, f: VectorOp) -> Option<()> {
    let b = l.vector_register(1)?;
    let d = l.pair();
    l.emit(Op::Vector { f, d, a: b, b, imm: 0 });
    l.commit(0, d)
}

/// A lane from a general register or memory.
fn insert(l: &mut Lifter<'_>, f: VectorOp) -> Option<()> {
    let d = l.vector_register(0)?;
    let b = l.value(1)?;
    l.emit(Op::Vector { f, d, a: d, b, imm: l.i.immediate8() });
    Some(())
}

fn duplicate(l: &mut Lifter<'_>, imm: u8) -> Option<()> {
    let d = l.vector_register(0)?;
    let b = l.vector_value(1)?;
    l.emit(Op::Vector { f: VectorOp::Pshufd, d, a: d, b, imm });
    Some(())
}

fn implicit_strings(l: &mut Lifter<'_>) -> Option<()> {
    let a = l.vector_register(0)?;
    let b = l.unaligned_value(1)?;
    let imm = l.i.immediate8();
    let d = l.pair();
    l.emit(Op::Vector { f: VectorOp::Pcmpistri, d, a, b, imm });
    if l.i.mnemonic() == M::Pcmpistri {
        l.emit(Op::Move { d: slots::RCX, a: d });
    } else {
        l.emit(Op::Vector { f: VectorOp::Pcmpistrm, d: slots::XMM, a, b, imm });
    }
    l.take_flags(d + 1);
    Some(())
}

fn explicit_strings(l: &mut Lifter<'_>) -> Option<()> {
    let a = l.vector_register(0)?;
    let b = l.unaligned_value(1)?;
    let imm = i32::from(l.i.immediate8());
    // The helper wants its operands side by side: the strings and their lengths.
    let (x, y, lengths) = (l.pair(), l.pair(), l.pair());
    for (d, a) in [(x, a), (x + 1, a + 1), (y, b), (y + 1, b + 1)] {
        l.emit(Op::Move { d, a });
    }
    let wide = matches!(l.i.mnemonic(), M::Pcmpestri64 | M::Pcmpestrm64);
    let w = if wide { Width::W64 } else { Width::W32 };
    for (d, a) in [(lengths, slots::RAX), (lengths + 1, slots::RDX)] {
        l.emit(Op::Sext { from: w, w: Width::W64, d, a });
    }
    let index = matches!(l.i.mnemonic(), M::Pcmpestri | M::Pcmpestri64);
    let f = if index { Helper::StringIndex } else { Helper::StringMask };
    l.emit(Op::Helper { f, d: 0, a: x, b: slots::ZERO, imm });
    if index {
        l.emit(Op::Move { d: slots::RCX, a: x });
    } else {
        l.emit(Op::Move { d: slots::XMM, a: x });
        l.emit(Op::Move { d: slots::XMM + 1, a: x + 1 });
    }
    l.take_flags(y);
    Some(())
}
