//! Instructions on MMX registers, by the vector operations with the lower half of a register.
//!
//! Always: a pending exception of the x87 unit is raised before memory is touched, and the unit
//! turns to MMX (its stack full, its top zero) together with the first visible change. A register
//! that is written becomes a not-a-number for the x87 unit. As on the processor, conversions and
//! the masked store turn it also when they fail.

use iced_x86::{Mnemonic as M, OpKind};

use super::{Lifted, Lifter, operand, vector_names, x87::bare};
use crate::code::{Float, Helper, Op, Slot, VectorOp as V, Width, X87Op, slots};

const W: Width = Width::W64;

/// Stands for no register.
const NONE: u8 = 8;

pub(super) fn lift(l: &mut Lifter<'_>) -> Lifted {
    if !concerns(l) {
        return Lifted::Unknown;
    }
    if !leaves_alone(l) {
        l.emit(bare(X87Op::Wait, 0));
    }
    match attempt(l) {
        Some(()) => Lifted::Done,
        None => Lifted::Unknown,
    }
}

/// Whether the instruction is one of MMX: most have a register of it.
fn concerns(l: &Lifter<'_>) -> bool {
    matches!(l.i.mnemonic(), M::Emms | M::Cvtpi2ps | M::Cvtpi2pd)
        || (0..l.i.op_count())
            .any(|n| l.i.op_kind(n) == OpKind::Register && l.i.op_register(n).is_mm())
}

/// Integers from memory to a vector register: the x87 unit has no part in it.
fn leaves_alone(l: &Lifter<'_>) -> bool {
    matches!(l.i.mnemonic(), M::Cvtpi2ps | M::Cvtpi2pd) && l.is_memory(1)
}

fn attempt(l: &mut Lifter<'_>) -> Option<()> {
    let m = l.i.mnemonic();
    match m {
        M::Emms => {
            l.emit(bare(X87Op::Emms, 0));
            Some(())
        }
        M::Movd => transfer(l, Width::W32),
        M::Movq | M::Movntq => transfer(l, W),
        M::Movdq2q => {
            let a = l.vector_register(1)?;
            finish(l, a)
        }
        M::Movq2dq => {
            let (d, a) = (l.vector_register(0)?, register(l, 1)?);
            l.emit(bare(X87Op::Mmx, NONE));
            l.emit(Op::Move { d, a });
            l.emit(Op::Move { d: d + 1, a: slots::ZERO });
            Some(())
        }
        M::Maskmovq => {
            // With another segment or a narrow address it is not worth an op.
            if l.i.op0_kind() != OpKind::MemorySegRDI || l.i.has_segment_prefix() {
                return None;
            }
            let (a, b) = (register(l, 1)?, register(l, 2)?);
            l.emit(bare(X87Op::Mmx, NONE));
            l.emit(Op::Helper { f: Helper::MaskedStore64, d: 0, a, b, imm: 0 });
            Some(())
        }
        M::Pand => bitwise(l, |d, a, b| Op::And { w: W, d, a, b, imm: 0 }),
        M::Por => bitwise(l, |d, a, b| Op::Or { w: W, d, a, b, imm: 0 }),
        M::Pxor => bitwise(l, |d, a, b| Op::Xor { w: W, d, a, b, imm: 0 }),
        M::Pandn => {
            let (a, b) = (register(l, 0)?, value(l, 1)?);
            let t = l.temporary();
            l.emit(Op::Not { w: W, d: t, a });
            l.emit(Op::And { w: W, d: t, a: t, b, imm: 0 });
            finish(l, t)
        }
        M::Pshufw => {
            let b = value(l, 1)?;
            let b = widen(l, b, slots::ZERO);
            let d = vector(l, V::Pshuflw, b, b, l.i.immediate8());
            finish(l, d)
        }
        M::Pextrw => {
            let (a, d) = (register(l, 1)?, l.temporary());
            let imm = i32::from(l.i.immediate8() & 3) * 16;
            l.emit(Op::Shr { w: W, d, a, b: slots::ZERO, imm });
            l.emit(Op::Zext { w: Width::W16, d, a: d });
            l.emit(bare(X87Op::Mmx, NONE));
            l.commit(0, d)
        }
        M::Pinsrw => {
            let b = l.value(1)?;
            let a = register(l, 0)?;
            let (a, b) = (widen(l, a, slots::ZERO), widen(l, b, slots::ZERO));
            let d = vector(l, V::Pinsrw, a, b, l.i.immediate8() & 3);
            finish(l, d)
        }
        M::Pmovmskb => {
            let b = register(l, 1)?;
            let b = widen(l, b, slots::ZERO);
            let d = vector(l, V::Pmovmskb, b, b, 0);
            l.emit(bare(X87Op::Mmx, NONE));
            l.commit(0, d)
        }
        M::Cvtpi2ps | M::Cvtpi2pd => from_integers(l),
        M::Cvtps2pi => to_integers(l, Float::Cvtps2dq),
        M::Cvttps2pi => to_integers(l, Float::Cvttps2dq),
        M::Cvtpd2pi => to_integers(l, Float::Cvtpd2dq),
        M::Cvttpd2pi => to_integers(l, Float::Cvttpd2dq),
        _ => lanes(l),
    }
}

/// What works on lanes.
fn lanes(l: &mut Lifter<'_>) -> Option<()> {
    let m = l.i.mnemonic();
    let a = register(l, 0)?;
    if let Some(f) = vector_names::shift(m) {
        let (b, imm) = match l.i.op_kind(1) {
            OpKind::Immediate8 => (slots::ZERO, l.i.immediate8()),
            _ => (value(l, 1)?, 0),
        };
        let (a, b) = (widen(l, a, slots::ZERO), widen(l, b, slots::ZERO));
        let d = vector(l, f, a, b, imm);
        return finish(l, d);
    }
    let f = vector_names::binary(m)?;
    let b = value(l, 1)?;
    let d = match f {
        // These fill the lower half of a result from the whole of the first operand.
        V::Packsswb
        | V::Packssdw
        | V::Packuswb
        | V::Phaddw
        | V::Phaddd
        | V::Phaddsw
        | V::Phsubw
        | V::Phsubd
        | V::Phsubsw => {
            let both = widen(l, a, b);
            vector(l, f, both, both, 0)
        }
        // The upper lanes of 64 bits come second among the lower lanes of 128.
        V::Punpckhbw | V::Punpckhwd | V::Punpckhdq => {
            let low = match f {
                V::Punpckhbw => V::Punpcklbw,
                V::Punpckhwd => V::Punpcklwd,
                _ => V::Punpckldq,
            };
            let (a, b) = (widen(l, a, slots::ZERO), widen(l, b, slots::ZERO));
            vector(l, low, a, b, 0) + 1
        }
        V::Palignr => {
            let both = widen(l, b, a);
            vector(l, V::Psrldq, both, both, l.i.immediate8())
        }
        V::Pshufb => {
            // An index has three bits here, and its sign.
            let fields = l.constant(0x8787_8787_8787_8787);
            let index = l.temporary();
            l.emit(Op::And { w: W, d: index, a: b, b: fields, imm: 0 });
            let (a, b) = (widen(l, a, slots::ZERO), widen(l, index, slots::ZERO));
            vector(l, f, a, b, 0)
        }
        _ if same_by_lane(f) => {
            let (a, b) = (widen(l, a, slots::ZERO), widen(l, b, slots::ZERO));
            vector(l, f, a, b, 0)
        }
        _ => return None,
    };
    finish(l, d)
}

/// Operations whose lower half depends on the lower halves only, and is what MMX has.
fn same_by_lane(f: V) -> bool {
    matches!(
        f,
        V::Paddb
            | V::Paddw
            | V::Paddd
            | V::Paddq
            | V::Paddsb
            | V::Paddsw
            | V::Paddusb
            | V::Paddusw
            | V::Psubb
            | V::Psubw
            | V::Psubd
            | V::Psubq
            | V::Psubsb
            | V::Psubsw
            | V::Psubusb
            | V::Psubusw
            | V::Pcmpeqb
            | V::Pcmpeqw
            | V::Pcmpeqd
            | V::Pcmpgtb
            | V::Pcmpgtw
            | V::Pcmpgtd
            | V::Pminub
            | V::Pmaxub
            | V::Pminsw
            | V::Pmaxsw
            | V::Pavgb
            | V::Pavgw
            | V::Pmullw
            | V::Pmulhw
            | V::Pmulhuw
            | V::Pmuludq
            | V::Pmaddwd
            | V::Psadbw
            | V::Punpcklbw
            | V::Punpcklwd
            | V::Punpckldq
            | V::Pabsb
            | V::Pabsw
            | V::Pabsd
            | V::Psignb
            | V::Psignw
            | V::Psignd
            | V::Pmulhrsw
            | V::Pmaddubsw
    )
}

/// The MMX register that is operand `n`.
fn register(l: &Lifter<'_>, n: u32) -> Option<Slot> {
    if l.i.op_kind(n) != OpKind::Register {
        return None;
    }
    operand::mmx(l.i.op_register(n))
}

/// Operand `n`: an MMX register, or up to 64 bits of memory.
fn value(l: &mut Lifter<'_>, n: u32) -> Option<Slot> {
    if !l.is_memory(n) {
        return register(l, n);
    }
    let w = Width::of_bytes(l.i.memory_size().size())?;
    let from = l.address();
    Some(l.load(w, from))
}

/// A pair of two words.
fn widen(l: &mut Lifter<'_>, low: Slot, high: Slot) -> Slot {
    let d = l.pair();
    l.emit(Op::Move { d, a: low });
    l.emit(Op::Move { d: d + 1, a: high });
    d
}

fn vector(l: &mut Lifter<'_>, f: V, a: Slot, b: Slot, imm: u8) -> Slot {
    let d = l.pair();
    l.emit(Op::Vector { f, d, a, b, imm });
    d
}

/// Brings a result to the MMX register that is the first operand.
fn finish(l: &mut Lifter<'_>, a: Slot) -> Option<()> {
    let d = register(l, 0)?;
    l.emit(bare(X87Op::Mmx, d - slots::MM));
    l.emit(Op::Move { d, a });
    Some(())
}

fn bitwise(l: &mut Lifter<'_>, op: fn(Slot, Slot, Slot) -> Op) -> Option<()> {
    let (a, b) = (register(l, 0)?, value(l, 1)?);
    let d = l.temporary();
    l.emit(op(d, a, b));
    finish(l, d)
}

/// `movd`, `movq`, `movntq`.
fn transfer(l: &mut Lifter<'_>, w: Width) -> Option<()> {
    if register(l, 0).is_some() {
        if let Some(a) = register(l, 1) {
            return finish(l, a);
        }
        let (a, d) = (l.value(1)?, l.temporary());
        l.emit(Op::Zext { w, d, a });
        return finish(l, d);
    }
    let a = register(l, 1)?;
    if l.is_memory(0) {
        let to = l.address();
        l.store(w, a, to);
        l.emit(bare(X87Op::Mmx, NONE));
        return Some(());
    }
    l.emit(bare(X87Op::Mmx, NONE));
    l.commit(0, a)
}

/// Two integers to a vector register.
fn from_integers(l: &mut Lifter<'_>) -> Option<()> {
    let d = l.vector_register(0)?;
    let b = value(l, 1)?;
    let b = widen(l, b, slots::ZERO);
    let r = l.pair();
    let single = l.i.mnemonic() == M::Cvtpi2ps;
    let f = if single { Float::Cvtdq2ps } else { Float::Cvtdq2pd };
    if !leaves_alone(l) {
        l.emit(bare(X87Op::Mmx, NONE));
    }
    l.emit(Op::Float { f, d: r, a: b, b, imm: 0 });
    l.emit(Op::Move { d, a: r });
    if !single {
        l.emit(Op::Move { d: d + 1, a: r + 1 });
    }
    Some(())
}

/// Two numbers of a vector register or memory to an MMX register.
fn to_integers(l: &mut Lifter<'_>, f: Float) -> Option<()> {
    let mut b = l.vector_value(1)?;
    if matches!(f, Float::Cvtps2dq | Float::Cvttps2dq) {
        // The upper lanes are not looked at.
        b = widen(l, b, slots::ZERO);
    }
    let r = l.pair();
    l.emit(bare(X87Op::Mmx, NONE));
    l.emit(Op::Float { f, d: r, a: b, b, imm: 0 });
    finish(l, r)
}
