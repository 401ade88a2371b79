//! Bitwise logic on vector registers: one plain op for each half.

use iced_x86::Mnemonic as M;

use super::Lifter;
use crate::code::{Op, Slot, Width, slots};

const W: Width = Width::W64;

pub(super) fn lift(l: &mut Lifter<'_>) -> Option<()> {
    match l.i.mnemonic() {
        M::Pand | M::Andps | M::Andpd => each(l, |d, a, b| Op::And { w: W, d, a, b, imm: 0 }),
        M::Por | M::Orps | M::Orpd => each(l, |d, a, b| Op::Or { w: W, d, a, b, imm: 0 }),
        M::Pxor | M::Xorps | M::Xorpd => {
            let d = l.vector_register(0)?;
            if l.vector_register(1) == Some(d) {
                // The usual way to clear a register.
                l.emit(Op::Move { d, a: slots::ZERO });
                l.emit(Op::Move { d: d + 1, a: slots::ZERO });
                return Some(());
            }
            each(l, |d, a, b| Op::Xor { w: W, d, a, b, imm: 0 })
        }
        M::Pandn | M::Andnps | M::Andnpd => {
            let d = l.vector_register(0)?;
            let b = l.vector_value(1)?;
            for k in 0..2 {
                let t = l.temporary();
                l.emit(Op::Not { w: W, d: t, a: d + k });
                l.emit(Op::And { w: W, d: d + k, a: t, b: b + k, imm: 0 });
            }
            Some(())
        }
        _ => None,
    }
}

fn each(l: &mut Lifter<'_>, op: fn(Slot, Slot, Slot) -> Op) -> Option<()> {
    let d = l.vector_register(0)?;
    let b = l.vector_value(1)?;
    l.emit(op(d, d, b));
    l.emit(op(d + 1, d + 1, b + 1));
    Some(())
}
