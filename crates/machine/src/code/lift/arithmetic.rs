//! Integer arithmetic and logic, with and without carry, multiplication, division, and the
//! read-modify-write instructions of atomics (one thread runs at a time, so `lock` adds nothing).

use iced_x86::Mnemonic as M;

use super::{Lifted, Lifter, operand::Address};
use crate::code::{Op, Slot, Width, slots};

pub(super) fn lift(l: &mut Lifter<'_>) -> Lifted {
    match attempt(l) {
        Some(()) => Lifted::Done,
        None => Lifted::Unknown,
    }
}

type Binary = fn(Width, Slot, Slot, Slot, i32) -> Op;

fn attempt(l: &mut Lifter<'_>) -> Option<()> {
    match l.i.mnemonic() {
        M::Add => binary(l, |w, d, a, b, imm| Op::AddF { w, d, a, b, imm }),
        M::Sub => binary(l, |w, d, a, b, imm| Op::SubF { w, d, a, b, imm }),
        M::And => binary(l, |w, d, a, b, imm| Op::AndF { w, d, a, b, imm }),
        M::Or => binary(l, |w, d, a, b, imm| Op::OrF { w, d, a, b, imm }),
        M::Xor => binary(l, |w, d, a, b, imm| Op::XorF { w, d, a, b, imm }),
        M::Adc => binary(l, |w, d, a, b, imm| Op::AdcF { w, d, a, b, imm }),
        M::Sbb => binary(l, |w, d, a, b, imm| Op::SbbF { w, d, a, b, imm }),
        M::Cmp => {
            let (a, w) = (l.value(0)?, l.width(0)?);
            let (b, imm) = l.source(1)?;
            l.emit(Op::CmpF { w, a, b, imm });
            Some(())
        }
        M::Test => {
            let (a, w) = (l.value(0)?, l.width(0)?);
            let (b, imm) = l.source(1)?;
            l.emit(Op::TestF { w, a, b, imm });
            Some(())
        }
        M::Inc => unary(l, |w, d, a| Op::IncF { w, d, a }),
        M::Dec => unary(l, |w, d, a| Op::DecF { w, d, a }),
        M::Neg => unary(l, |w, d, a| Op::NegF { w, d, a }),
        M::Not => unary(l, |w, d, a| Op::Not { w, d, a }),
        M::Mul => multiply_wide(l, false),
        M::Imul if l.i.op_count() == 1 => multiply_wide(l, true),
        M::Imul => multiply(l),
        M::Mulx => {
            let w = l.width(0)?;
            let a = l.value(2)?;
            let (low, high) = (l.temporary(), l.temporary());
            l.emit(Op::MulWide { w, signed: false, low, high, a, b: slots::RDX });
            l.commit(1, low)?;
            l.commit(0, high)
        }
        M::Div | M::Idiv => {
            let (a, w) = (l.value(0)?, l.width(0)?);
            l.emit(Op::Divide { w, signed: l.i.mnemonic() == M::Idiv, a });
            Some(())
        }
        M::Xadd => {
            let w = l.width(0)?;
            probe(l, w);
            let (a, b) = (l.value(0)?, l.value(1)?);
            let (old, d) = (l.temporary(), l.temporary());
            l.emit(Op::Zext { w, d: old, a });
            l.emit(Op::Add { w, d, a: old, b, imm: 0 });
            if l.is_memory(0) {
                l.commit(0, d)?;
            }
            // The flags need the old operands, so they come before the registers change.
            let flags = l.temporary();
            l.emit(Op::AddF { w, d: flags, a: old, b, imm: 0 });
            if l.is_memory(0) {
                l.commit(1, old)
            } else {
                l.commit(1, old)?;
                l.commit(0, d)
            }
        }
        M::Cmpxchg => compare_exchange(l),
        _ => None,
    }
}

fn binary(l: &mut Lifter<'_>, op: Binary) -> Option<()> {
    let w = l.width(0)?;
    if l.is_memory(0) {
        let to = pinned(l, w);
        let a = l.load(w, to);
        let (b, imm) = l.source(1)?;
        let d = l.temporary();
        l.emit(op(w, d, a, b, imm));
        l.store(w, d, to);
        return Some(());
    }
    let a = l.value(0)?;
    let (b, imm) = l.source(1)?;
    let d = l.destination(0)?;
    l.emit(op(w, d, a, b, imm));
    l.commit(0, d)
}

fn unary(l: &mut Lifter<'_>, op: fn(Width, Slot, Slot) -> Op) -> Option<()> {
    let w = l.width(0)?;
    if l.is_memory(0) {
        let to = pinned(l, w);
        let a = l.load(w, to);
        let d = l.temporary();
        l.emit(op(w, d, a));
        l.store(w, d, to);
        return Some(());
    }
    let a = l.value(0)?;
    let d = l.destination(0)?;
    l.emit(op(w, d, a));
    l.commit(0, d)
}

/// The memory operand of an instruction that reads it, sets flags and writes it: from here on
/// neither the load nor the store can fault.
pub(super) fn pinned(l: &mut Lifter<'_>, w: Width) -> Address {
    let to = l.address();
    writable(l, w, to);
    to
}

/// Faults if a store of `w` to an address would.
pub(super) fn writable(l: &mut Lifter<'_>, w: Width, to: Address) {
    let a = l.temporary();
    let Address { base, index, shift, disp } = to;
    l.emit(Op::Lea { w: Width::W64, d: a, base, index, shift, disp });
    l.emit(Op::ProbeWrite { w, a });
}

/// Faults if the first or second operand is in memory and cannot be written: an instruction that
/// reads and writes its operand fails as a store does.
pub(super) fn probe(l: &mut Lifter<'_>, w: Width) {
    if l.is_memory(0) || l.is_memory(1) {
        pinned(l, w);
    }
}

fn multiply_wide(l: &mut Lifter<'_>, signed: bool) -> Option<()> {
    let (b, w) = (l.value(0)?, l.width(0)?);
    let (low, high) = (l.temporary(), l.temporary());
    l.emit(Op::MulWide { w, signed, low, high, a: slots::RAX, b });
    l.emit(Op::MulFlags { w, signed, low, high });
    if w == Width::W8 {
        l.emit(Op::InsertHigh { d: slots::RAX, a: high });
        l.emit(Op::Insert { w, d: slots::RAX, a: low });
        return Some(());
    }
    for (d, a) in [(slots::RAX, low), (slots::RDX, high)] {
        l.emit(match w {
            Width::W16 => Op::Insert { w, d, a },
            _ => Op::Move { d, a },
        });
    }
    Some(())
}

fn multiply(l: &mut Lifter<'_>) -> Option<()> {
    let w = l.width(0)?;
    let first = if l.i.op_count() == 3 { 1 } else { 0 };
    let a = l.value(first)?;
    let (b, imm) = l.source(first + 1)?;
    let b = if imm != 0 { l.constant(imm as i64 as u64) } else { b };
    let (low, high) = (l.temporary(), l.temporary());
    l.emit(Op::MulWide { w, signed: true, low, high, a, b });
    l.emit(Op::MulFlags { w, signed: true, low, high });
    l.commit(0, low)
}

fn compare_exchange(l: &mut Lifter<'_>) -> Option<()> {
    let w = l.width(0)?;
    probe(l, w);
    let new = l.value(1)?;
    let (old, equal, d) = (l.temporary(), l.temporary(), l.temporary());
    let a = l.value(0)?;
    l.emit(Op::Zext { w, d: old, a });
    // Equality without flags, because the store may fault.
    l.emit(Op::Sub { w, d: equal, a: slots::RAX, b: old, imm: 0 });
    l.emit(Op::Select { d, c: equal, a: old, b: new });
    if l.is_memory(0) {
        l.commit(0, d)?;
    }
    l.emit(Op::CmpF { w, a: slots::RAX, b: old, imm: 0 });
    if !l.is_memory(0) {
        l.emit(Op::Zext { w, d, a: d });
        if w == Width::W32 {
            // If the comparison fails, not even the upper half of the register changes.
            let home = l.destination(0)?;
            l.emit(Op::Select { d, c: equal, a: home, b: d });
            l.emit(Op::Move { d: home, a: d });
        } else {
            l.commit(0, d)?;
        }
    }
    // The accumulator changes only if the comparison failed.
    let keep = l.temporary();
    match w {
        Width::W8 | Width::W16 => {
            l.emit(Op::Move { d: keep, a: slots::RAX });
            l.emit(Op::Insert { w, d: keep, a: old });
        }
        Width::W32 | Width::W64 => l.emit(Op::Move { d: keep, a: old }),
    }
    l.emit(Op::Select { d: slots::RAX, c: equal, a: keep, b: slots::RAX });
    Some(())
}
