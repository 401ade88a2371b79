//! Vector instructions that only move or combine bits: plain ops on the halves of the registers.
//!
//! A register is a pair of slots, the lower half first. Always: both halves of a load are there
//! before the first visible change.

use iced_x86::Mnemonic as M;

use super::{Lifter, operand::Address, vector_halves as halves};
use crate::code::{Op, Slot, VectorOp, Width, slots};

pub(super) fn lift(l: &mut Lifter<'_>) -> Option<()> {
    match l.i.mnemonic() {
        M::Movaps | M::Movapd | M::Movdqa | M::Movntdqa => whole(l, true),
        M::Movntps | M::Movntpd | M::Movntdq => whole(l, true),
        M::Movups | M::Movupd | M::Movdqu | M::Lddqu => whole(l, false),
        M::Movss => scalar(l, Width::W32),
        M::Movsd => scalar(l, Width::W64),
        M::Movd => element(l, Width::W32),
        M::Movq => element(l, Width::W64),
        M::Movhps | M::Movhpd => half(l, 1),
        M::Movlps | M::Movlpd => half(l, 0),
        M::Movhlps => cross(l, 0, 1),
        M::Movlhps => cross(l, 1, 0),
        M::Movddup => {
            let d = l.vector_register(0)?;
            let b = l.vector_value(1)?;
            put(l, d, b);
            put(l, d + 1, b);
            Some(())
        }
        M::Punpcklqdq | M::Unpcklpd => {
            let d = l.vector_register(0)?;
            let b = l.vector_value(1)?;
            put(l, d + 1, b);
            Some(())
        }
        M::Punpckhqdq | M::Unpckhpd => {
            let d = l.vector_register(0)?;
            let b = l.vector_value(1)?;
            put(l, d, d + 1);
            put(l, d + 1, b + 1);
            Some(())
        }
        M::Shufpd => {
            let d = l.vector_register(0)?;
            let b = l.vector_value(1)?;
            let imm = l.i.immediate8();
            let (low, high) = (d + (imm & 1), b + (imm >> 1 & 1));
            // The upper half may come from the lower half that is about to change.
            let kept = l.temporary();
            put(l, kept, high);
            put(l, d, low);
            put(l, d + 1, kept);
            Some(())
        }
        M::Blendpd => {
            let d = l.vector_register(0)?;
            let b = l.vector_value(1)?;
            for k in 0..2 {
                if l.i.immediate8() >> k & 1 != 0 {
                    put(l, d + k, b + k);
                }
            }
            Some(())
        }
        M::Pblendvb | M::Blendvps | M::Blendvpd => blend(l),
        M::Pinsrq => {
            let d = l.vector_register(0)?;
            let b = l.value(1)?;
            put(l, d + (l.i.immediate8() & 1), b);
            Some(())
        }
        M::Pextrb => extract(l, Width::W8),
        M::Pextrw => extract(l, Width::W16),
        M::Pextrd | M::Extractps => extract(l, Width::W32),
        M::Pextrq => extract(l, Width::W64),
        _ => halves::lift(l),
    }
}

fn put(l: &mut Lifter<'_>, d: Slot, a: Slot) {
    if d != a {
        l.emit(Op::Move { d, a });
    }
}

/// All 16 bytes.
fn whole(l: &mut Lifter<'_>, aligned: bool) -> Option<()> {
    if l.is_memory(0) {
        let a = l.vector_register(1)?;
        let Address { base, index, shift, disp } = l.address();
        l.emit(Op::Store128 { aligned, a, base, index, shift, disp });
        return Some(());
    }
    let d = l.vector_register(0)?;
    if l.is_memory(1) {
        let from = l.address();
        l.load_pair(aligned, d, from);
        return Some(());
    }
    let a = l.vector_register(1)?;
    put(l, d, a);
    put(l, d + 1, a + 1);
    Some(())
}

/// `movss` and `movsd`: between registers the rest is kept, from memory it is cleared.
fn scalar(l: &mut Lifter<'_>, w: Width) -> Option<()> {
    if l.is_memory(0) {
        let a = l.vector_register(1)?;
        let to = l.address();
        l.store(w, a, to);
        return Some(());
    }
    let d = l.vector_register(0)?;
    if l.is_memory(1) {
        let from = l.address();
        l.load_to(w, d, from);
        put(l, d + 1, slots::ZERO);
        return Some(());
    }
    let a = l.vector_register(1)?;
    match w {
        Width::W64 => put(l, d, a),
        _ => l.emit(Op::Insert { w, d, a }),
    }
    Some(())
}

/// `movd` and `movq`: to a vector register the rest is cleared.
fn element(l: &mut Lifter<'_>, w: Width) -> Option<()> {
    let Some(d) = l.vector_register(0) else {
        let a = l.vector_register(1)?;
        if l.is_memory(0) {
            let to = l.address();
            l.store(w, a, to);
            return Some(());
        }
        return l.commit(0, a);
    };
    if l.is_memory(1) {
        let from = l.address();
        l.load_to(w, d, from);
    } else {
        let a = match l.vector_register(1) {
            Some(a) => a,
            None => l.value(1)?,
        };
        match w {
            Width::W64 => put(l, d, a),
            _ => l.emit(Op::Zext { w, d, a }),
        }
    }
    put(l, d + 1, slots::ZERO);
    Some(())
}

/// One half from or to memory.
fn half(l: &mut Lifter<'_>, k: Slot) -> Option<()> {
    if l.is_memory(0) {
        let a = l.vector_register(1)? + k;
        let to = l.address();
        l.store(Width::W64, a, to);
        return Some(());
    }
    let d = l.vector_register(0)? + k;
    if !l.is_memory(1) {
        return None;
    }
    let from = l.address();
    l.load_to(Width::W64, d, from);
    Some(())
}

/// One half to one half of another register.
fn cross(l: &mut Lifter<'_>, to: Slot, from: Slot) -> Option<()> {
    let (d, a) = (l.vector_register(0)? + to, l.vector_register(1)? + from);
    put(l, d, a);
    Some(())
}

/// A lane to a general register or memory.
fn extract(l: &mut Lifter<'_>, w: Width) -> Option<()> {
    let lanes = (64 / w.bits()) as u8;
    let lane = l.i.immediate8() % (2 * lanes);
    let a = l.vector_register(1)? + lane / lanes;
    let imm = i32::from(lane % lanes) * w.bits() as i32;
    let d = l.temporary();
    l.emit(Op::Shr { w: Width::W64, d, a, b: slots::ZERO, imm });
    if l.is_memory(0) {
        let to = l.address();
        l.store(w, d, to);
        return Some(());
    }
    l.emit(Op::Zext { w, d, a: d });
    l.commit(0, d)
}

/// Lanes of the source where the sign in `xmm0` is set: `d ^ ((d ^ b) & mask)`.
fn blend(l: &mut Lifter<'_>) -> Option<()> {
    let d = l.vector_register(0)?;
    let b = l.vector_value(1)?;
    let (m, from) = (l.pair(), slots::XMM);
    let w = Width::W64;
    match l.i.mnemonic() {
        M::Pblendvb => {
            l.emit(Op::Vector { f: VectorOp::SignMask, d: m, a: from, b: from, imm: 0 });
        }
        M::Blendvps => {
            l.emit(Op::Vector { f: VectorOp::Psrad, d: m, a: from, b: slots::ZERO, imm: 31 });
        }
        _ => {
            for k in 0..2 {
                l.emit(Op::Sar { w, d: m + k, a: from + k, b: slots::ZERO, imm: 63 });
            }
        }
    }
    for k in 0..2 {
        let t = l.temporary();
        l.emit(Op::Xor { w, d: t, a: d + k, b: b + k, imm: 0 });
        l.emit(Op::And { w, d: t, a: t, b: m + k, imm: 0 });
        l.emit(Op::Xor { w, d: d + k, a: d + k, b: t, imm: 0 });
    }
    Some(())
}
