//! Shifts, rotations, and instructions about single bits.

use iced_x86::{Mnemonic as M, OpKind};

use super::{
    Lifted, Lifter,
    arithmetic::{pinned, writable},
    operand::Address,
};
use crate::code::{Bit, BitOp, Op, Shift, Slot, Width, slots};

pub(super) fn lift(l: &mut Lifter<'_>) -> Lifted {
    match attempt(l) {
        Some(()) => Lifted::Done,
        None => Lifted::Unknown,
    }
}

fn attempt(l: &mut Lifter<'_>) -> Option<()> {
    match l.i.mnemonic() {
        M::Shl | M::Sal => shift(l, Shift::Shl),
        M::Shr => shift(l, Shift::Shr),
        M::Sar => shift(l, Shift::Sar),
        M::Rol => shift(l, Shift::Rol),
        M::Ror => shift(l, Shift::Ror),
        M::Rcl => shift(l, Shift::Rcl),
        M::Rcr => shift(l, Shift::Rcr),
        M::Shld => shift_double(l, false),
        M::Shrd => shift_double(l, true),
        M::Shlx => plain(l, |w, d, a, b, imm| Op::Shl { w, d, a, b, imm }),
        M::Shrx => plain(l, |w, d, a, b, imm| Op::Shr { w, d, a, b, imm }),
        M::Sarx => plain(l, |w, d, a, b, imm| Op::Sar { w, d, a, b, imm }),
        M::Rorx => plain(l, |w, d, a, b, imm| Op::Ror { w, d, a, b, imm }),
        M::Bt => bit(l, Bit::Test),
        M::Bts => bit(l, Bit::Set),
        M::Btr => bit(l, Bit::Reset),
        M::Btc => bit(l, Bit::Complement),
        M::Bsf => scan(l, BitOp::Bsf),
        M::Bsr => scan(l, BitOp::Bsr),
        M::Tzcnt => count(l, BitOp::Tzcnt),
        M::Lzcnt => count(l, BitOp::Lzcnt),
        M::Popcnt => count(l, BitOp::Popcnt),
        M::Blsi => count(l, BitOp::Blsi),
        M::Blsr => count(l, BitOp::Blsr),
        M::Blsmsk => count(l, BitOp::Blsmsk),
        M::Andn => three(l, BitOp::Andn),
        M::Bextr => three(l, BitOp::Bextr),
        M::Bzhi => three(l, BitOp::Bzhi),
        M::Pdep => three(l, BitOp::Pdep),
        M::Pext => three(l, BitOp::Pext),
        M::Crc32 => {
            let (w, d) = (l.width(1)?, l.temporary());
            let (a, b) = (l.value(0)?, l.value(1)?);
            l.emit(Op::BitF { f: BitOp::Crc32, w, d, a, b, quiet: false });
            l.commit(0, d)
        }
        _ => None,
    }
}

/// The count operand: a constant, or `cl`.
fn amount(l: &mut Lifter<'_>, n: u32) -> Option<(Slot, i32)> {
    match l.i.op_kind(n) {
        OpKind::Immediate8 | OpKind::Immediate8_2nd => {
            Some((slots::ZERO, l.i.immediate(n) as u8 as i32))
        }
        OpKind::Register => Some((slots::RCX, 0)),
        _ => None,
    }
}

fn shift(l: &mut Lifter<'_>, f: Shift) -> Option<()> {
    let w = l.width(0)?;
    let (b, imm) = amount(l, 1)?;
    if l.is_memory(0) {
        let to = pinned(l, w);
        let a = l.load(w, to);
        let d = l.temporary();
        l.emit(Op::ShiftF { f, w, d, a, b, imm });
        l.store(w, d, to);
        return Some(());
    }
    let a = l.value(0)?;
    let d = l.destination(0)?;
    l.emit(Op::ShiftF { f, w, d, a, b, imm });
    l.commit(0, d)
}

fn shift_double(l: &mut Lifter<'_>, right: bool) -> Option<()> {
    let w = l.width(0)?;
    let (c, imm) = amount(l, 2)?;
    let imm = imm as u8;
    let b = l.value(1)?;
    if l.is_memory(0) {
        let to = pinned(l, w);
        let a = l.load(w, to);
        let d = l.temporary();
        l.emit(Op::ShiftDoubleF { right, w, d, a, b, c, imm });
        l.store(w, d, to);
        return Some(());
    }
    let a = l.value(0)?;
    let d = l.destination(0)?;
    l.emit(Op::ShiftDoubleF { right, w, d, a, b, c, imm });
    l.commit(0, d)
}

fn plain(l: &mut Lifter<'_>, op: fn(Width, Slot, Slot, Slot, i32) -> Op) -> Option<()> {
    let w = l.width(0)?;
    let a = l.value(1)?;
    let (b, imm) = l.source(2)?;
    let d = l.destination(0)?;
    l.emit(op(w, d, a, b, imm));
    l.commit(0, d)
}

fn bit(l: &mut Lifter<'_>, f: Bit) -> Option<()> {
    let w = l.width(0)?;
    let (b, imm) = l.source(1)?;
    if !l.is_memory(0) {
        let a = l.value(0)?;
        let d = l.destination(0)?;
        // A test changes nothing but the flags.
        let d = if f == Bit::Test { l.temporary() } else { d };
        l.emit(Op::BitTestF { f, w, d, a, b, imm });
        return if f == Bit::Test { Some(()) } else { l.commit(0, d) };
    }
    let to = if l.is_immediate(1) {
        l.address()
    } else {
        // A bit string in memory: the index selects the word, too.
        let (index, base) = (l.temporary(), l.temporary());
        let log = w.bits().trailing_zeros() as i32;
        l.emit(Op::Sext { from: w, w: Width::W64, d: index, a: b });
        l.emit(Op::Sar { w: Width::W64, d: index, a: index, b: slots::ZERO, imm: log });
        let Address { base: old, index: i, shift, disp } = l.address_within_segment();
        l.emit(Op::Lea { w: Width::W64, d: base, base: old, index: i, shift, disp });
        l.in_segment(Address { base, index, shift: log as u8 - 3, disp: 0 })
    };
    if f != Bit::Test {
        writable(l, w, to);
    }
    let a = l.load(w, to);
    let d = l.temporary();
    l.emit(Op::BitTestF { f, w, d, a, b, imm });
    if f != Bit::Test {
        l.store(w, d, to);
    }
    Some(())
}

fn scan(l: &mut Lifter<'_>, f: BitOp) -> Option<()> {
    let w = l.width(0)?;
    let a = l.value(1)?;
    let d = l.temporary();
    let old = l.value(0)?;
    // A zero operand leaves all 64 bits of the destination alone, whatever the width.
    l.emit(Op::Move { d, a: old });
    l.emit(Op::BitF { f, w, d, a, b: slots::ZERO, quiet: false });
    match w {
        Width::W16 => l.commit(0, d),
        _ => {
            let home = l.destination(0)?;
            l.emit(Op::Move { d: home, a: d });
            Some(())
        }
    }
}

fn count(l: &mut Lifter<'_>, f: BitOp) -> Option<()> {
    let w = l.width(0)?;
    let a = l.value(1)?;
    let d = l.destination(0)?;
    l.emit(Op::BitF { f, w, d, a, b: slots::ZERO, quiet: false });
    l.commit(0, d)
}

fn three(l: &mut Lifter<'_>, f: BitOp) -> Option<()> {
    let w = l.width(0)?;
    let (a, b) = (l.value(1)?, l.value(2)?);
    let d = l.destination(0)?;
    l.emit(Op::BitF { f, w, d, a, b, quiet: false });
    l.commit(0, d)
}
