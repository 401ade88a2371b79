//! Floating-point instructions on vector registers.
//!
//! Each is one op that may fail, followed by what brings its result home.

use iced_x86::{Mnemonic as M, OpKind};

use super::Lifter;
use crate::code::{Float as F, Op, Width};

pub(super) fn lift(l: &mut Lifter<'_>) -> Option<()> {
    if let Some(f) = vector(l.i.mnemonic()) {
        let d = l.vector_register(0)?;
        let b = l.vector_value(1)?;
        let imm = match l.i.op_count() {
            3 if l.i.op_kind(2) == OpKind::Immediate8 => l.i.immediate8(),
            _ => 0,
        };
        l.emit(Op::Float { f, d, a: d, b, imm });
        return Some(());
    }
    match l.i.mnemonic() {
        M::Comiss => compare(l, F::Comiss),
        M::Comisd => compare(l, F::Comisd),
        M::Ucomiss => compare(l, F::Ucomiss),
        M::Ucomisd => compare(l, F::Ucomisd),
        M::Cvtsi2ss => from_integer(l, F::Cvtsi2ss32, F::Cvtsi2ss64),
        M::Cvtsi2sd => from_integer(l, F::Cvtsi2sd32, F::Cvtsi2sd64),
        M::Cvtss2si => to_integer(l, F::Cvtss2si32, F::Cvtss2si64),
        M::Cvtsd2si => to_integer(l, F::Cvtsd2si32, F::Cvtsd2si64),
        M::Cvttss2si => to_integer(l, F::Cvttss2si32, F::Cvttss2si64),
        M::Cvttsd2si => to_integer(l, F::Cvttsd2si32, F::Cvttsd2si64),
        _ => None,
    }
}

/// Instructions that take `(destination, source)` and perhaps a constant, and change the
/// destination.
fn vector(m: M) -> Option<F> {
    Some(match m {
        M::Addss => F::Addss,
        M::Addsd => F::Addsd,
        M::Addps => F::Addps,
        M::Addpd => F::Addpd,
        M::Subss => F::Subss,
        M::Subsd => F::Subsd,
        M::Subps => F::Subps,
        M::Subpd => F::Subpd,
        M::Mulss => F::Mulss,
        M::Mulsd => F::Mulsd,
        M::Mulps => F::Mulps,
        M::Mulpd => F::Mulpd,
        M::Divss => F::Divss,
        M::Divsd => F::Divsd,
        M::Divps => F::Divps,
        M::Divpd => F::Divpd,
        M::Minss => F::Minss,
        M::Minsd => F::Minsd,
        M::Minps => F::Minps,
        M::Minpd => F::Minpd,
        M::Maxss => F::Maxss,
        M::Maxsd => F::Maxsd,
        M::Maxps => F::Maxps,
        M::Maxpd => F::Maxpd,
        M::Sqrtss => F::Sqrtss,
        M::Sqrtsd => F::Sqrtsd,
        M::Sqrtps => F::Sqrtps,
        M::Sqrtpd => F::Sqrtpd,
        M::Rcpss => F::Rcpss,
        M::Rcpps => F::Rcpps,
        M::Rsqrtss => F::Rsqrtss,
        M::Rsqrtps => F::Rsqrtps,
        M::Cmpss => F::Cmpss,
        M::Cmpsd => F::Cmpsd,
        M::Cmpps => F::Cmpps,
        M::Cmppd => F::Cmppd,
        M::Cvtss2sd => F::Cvtss2sd,
        M::Cvtsd2ss => F::Cvtsd2ss,
        M::Cvtdq2ps => F::Cvtdq2ps,
        M::Cvtdq2pd => F::Cvtdq2pd,
        M::Cvtps2dq => F::Cvtps2dq,
        M::Cvttps2dq => F::Cvttps2dq,
        M::Cvtpd2dq => F::Cvtpd2dq,
        M::Cvttpd2dq => F::Cvttpd2dq,
        M::Cvtps2pd => F::Cvtps2pd,
        M::Cvtpd2ps => F::Cvtpd2ps,
        M::Haddps => F::Haddps,
        M::Haddpd => F::Haddpd,
        M::Hsubps => F::Hsubps,
        M::Hsubpd => F::Hsubpd,
        M::Addsubps => F::Addsubps,
        M::Addsubpd => F::Addsubpd,
        M::Dpps => F::Dpps,
        M::Dppd => F::Dppd,
        M::Roundss => F::Roundss,
        M::Roundsd => F::Roundsd,
        M::Roundps => F::Roundps,
        M::Roundpd => F::Roundpd,
        _ => return None,
    })
}

fn compare(l: &mut Lifter<'_>, f: F) -> Option<()> {
    let a = l.vector_register(0)?;
    let b = l.vector_value(1)?;
    let d = l.pair();
    l.emit(Op::Float { f, d, a, b, imm: 0 });
    l.take_flags(d);
    Some(())
}

fn from_integer(l: &mut Lifter<'_>, narrow: F, wide: F) -> Option<()> {
    let d = l.vector_register(0)?;
    let f = if l.width(1)? == Width::W64 { wide } else { narrow };
    let b = l.value(1)?;
    l.emit(Op::Float { f, d, a: d, b, imm: 0 });
    Some(())
}

fn to_integer(l: &mut Lifter<'_>, narrow: F, wide: F) -> Option<()> {
    let f = if l.width(0)? == Width::W64 { wide } else { narrow };
    let b = l.vector_value(1)?;
    let d = l.pair();
    l.emit(Op::Float { f, d, a: b, b, imm: 0 });
    l.commit(0, d)
}
