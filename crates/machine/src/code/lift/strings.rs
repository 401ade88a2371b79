//! The string instructions, each one op: its repetition is part of it.

use iced_x86::{Code, Mnemonic as M, OpKind, Register};

use super::{Lifted, Lifter};
use crate::code::{Op, Repeat, StringOp, Width, slots};

pub(super) fn lift(l: &mut Lifter<'_>) -> Lifted {
    let (f, w) = match l.i.mnemonic() {
        M::Movsb => (StringOp::Movs, Width::W8),
        M::Movsw => (StringOp::Movs, Width::W16),
        // SSE2 has instructions of the same names.
        M::Movsd if l.i.code() == Code::Movsd_m32_m32 => (StringOp::Movs, Width::W32),
        M::Movsq => (StringOp::Movs, Width::W64),
        M::Stosb => (StringOp::Stos, Width::W8),
        M::Stosw => (StringOp::Stos, Width::W16),
        M::Stosd => (StringOp::Stos, Width::W32),
        M::Stosq => (StringOp::Stos, Width::W64),
        M::Lodsb => (StringOp::Lods, Width::W8),
        M::Lodsw => (StringOp::Lods, Width::W16),
        M::Lodsd => (StringOp::Lods, Width::W32),
        M::Lodsq => (StringOp::Lods, Width::W64),
        M::Scasb => (StringOp::Scas, Width::W8),
        M::Scasw => (StringOp::Scas, Width::W16),
        M::Scasd => (StringOp::Scas, Width::W32),
        M::Scasq => (StringOp::Scas, Width::W64),
        M::Cmpsb => (StringOp::Cmps, Width::W8),
        M::Cmpsw => (StringOp::Cmps, Width::W16),
        M::Cmpsd if l.i.code() == Code::Cmpsd_m32_m32 => (StringOp::Cmps, Width::W32),
        M::Cmpsq => (StringOp::Cmps, Width::W64),
        _ => return Lifted::Unknown,
    };
    let repeat = if l.i.has_repne_prefix() {
        Repeat::WhileDifferent
    } else if l.i.has_rep_prefix() {
        Repeat::WhileEqual
    } else {
        Repeat::Once
    };
    let segment = match l.i.memory_segment() {
        Register::FS => slots::FS,
        Register::GS => slots::GS,
        _ => slots::ZERO,
    };
    let narrow = (0..l.i.op_count()).any(|n| {
        matches!(l.i.op_kind(n), OpKind::MemorySegESI | OpKind::MemorySegEDI | OpKind::MemoryESEDI)
    });
    l.emit(Op::String { f, w, repeat, segment, narrow });
    Lifted::Done
}
