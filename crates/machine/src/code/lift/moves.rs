//! Moves: `mov` and its extending forms, `push`, `pop`, `xchg`, `lea`, `cmov`, `setcc`.

use iced_x86::Mnemonic as M;

use super::{Lifted, Lifter, arithmetic::probe};
use crate::code::{Condition, Op, Width, slots};

/// The condition of an instruction that has one.
pub(super) fn condition(l: &Lifter<'_>) -> Option<Condition> {
    use iced_x86::ConditionCode as C;
    Some(match l.i.condition_code() {
        C::o => Condition::O,
        C::no => Condition::No,
        C::b => Condition::B,
        C::ae => Condition::Ae,
        C::e => Condition::E,
        C::ne => Condition::Ne,
        C::be => Condition::Be,
        C::a => Condition::A,
        C::s => Condition::S,
        C::ns => Condition::Ns,
        C::p => Condition::P,
        C::np => Condition::Np,
        C::l => Condition::L,
        C::ge => Condition::Ge,
        C::le => Condition::Le,
        C::g => Condition::G,
        C::None => return None,
    })
}

pub(super) fn lift(l: &mut Lifter<'_>) -> Lifted {
    match attempt(l) {
        Some(()) => Lifted::Done,
        None => Lifted::Unknown,
    }
}

fn attempt(l: &mut Lifter<'_>) -> Option<()> {
    match l.i.mnemonic() {
        M::Mov => mov(l),
        M::Movzx => {
            let d = l.destination(0)?;
            let w = l.width(1)?;
            if l.is_memory(1) {
                let from = l.address();
                l.load_to(w, d, from);
            } else {
                let a = l.value(1)?;
                l.emit(Op::Zext { w, d, a });
            }
            l.commit(0, d)
        }
        M::Movsx | M::Movsxd => {
            let d = l.destination(0)?;
            let (from, w) = (l.width(1)?, l.width(0)?);
            let a = l.value(1)?;
            l.emit(Op::Sext { from, w, d, a });
            l.commit(0, d)
        }
        M::Movbe => {
            let w = l.width(0)?;
            let a = l.value(1)?;
            let d = l.temporary();
            l.emit(Op::Bswap { w, d, a });
            l.commit(0, d)
        }
        M::Movnti => {
            let a = l.value(1)?;
            l.commit(0, a)
        }
        M::Lea => {
            let d = l.destination(0)?;
            let w = l.width(0)?;
            let a = l.address_within_segment();
            l.emit(Op::Lea { w, d, base: a.base, index: a.index, shift: a.shift, disp: a.disp });
            l.commit(0, d)
        }
        M::Push => push(l),
        M::Pop => pop(l),
        M::Xchg => {
            let w = l.width(0)?;
            probe(l, w);
            let (a, b) = (l.value(0)?, l.value(1)?);
            // Both old values are needed after the first write.
            let old = l.temporary();
            let new = l.temporary();
            l.emit(Op::Zext { w, d: old, a });
            l.emit(Op::Zext { w, d: new, a: b });
            l.commit(0, new)?;
            l.commit(1, old)
        }
        M::Bswap => {
            let d = l.destination(0)?;
            let (a, w) = (l.value(0)?, l.width(0)?);
            l.emit(Op::Bswap { w, d, a });
            l.commit(0, d)
        }
        M::Cbw | M::Cwde | M::Cdqe | M::Cwd | M::Cdq | M::Cqo => extend_accumulator(l),
        M::Xlatb => {
            let d = l.temporary();
            l.emit(Op::Zext { w: Width::W8, d, a: slots::RAX });
            let narrow = l.i.memory_base().size() == 4;
            let w = if narrow { Width::W32 } else { Width::W64 };
            l.emit(Op::Lea { w, d, base: slots::RBX, index: d, shift: 0, disp: 0 });
            let base = super::operand::segment(l.i.memory_segment());
            let address = super::operand::Address { base, index: d, shift: 0, disp: 0 };
            let value = l.load(Width::W8, address);
            l.emit(Op::Insert { w: Width::W8, d: slots::RAX, a: value });
            Some(())
        }
        _ => conditional(l),
    }
}

fn mov(l: &mut Lifter<'_>) -> Option<()> {
    use super::operand::general;
    use iced_x86::OpKind;
    if l.i.op_kind(1) == OpKind::Register && l.i.op1_register().is_segment_register() {
        // Flat selectors, as Linux gives them to programs.
        let selector = match l.i.op1_register() {
            iced_x86::Register::CS => 0x33,
            iced_x86::Register::SS => 0x2b,
            _ => 0,
        };
        let a = l.constant(selector);
        return if l.is_memory(0) {
            let to = l.address();
            l.store(Width::W16, a, to);
            Some(())
        } else {
            l.commit(0, a)
        };
    }
    let w = l.width(0)?;
    if l.is_memory(0) && l.is_immediate(1) {
        let to = l.address();
        let imm = i32::try_from(l.i.immediate(1) as i64);
        if let (Ok(imm), slots::ZERO) = (imm, to.index) {
            l.emit(Op::StoreImm { w, base: to.base, disp: to.disp, imm });
            return Some(());
        }
    }
    if l.is_memory(1) && w >= Width::W32 {
        let (d, _, _) = general(l.i.op0_register())?;
        let from = l.address();
        l.load_to(w, d, from);
        return Some(());
    }
    if l.is_immediate(1) && w >= Width::W32 && !l.is_memory(0) {
        let d = l.destination(0)?;
        l.emit(Op::Const { d, value: l.i.immediate(1) & w.mask() });
        return Some(());
    }
    let a = l.value(1)?;
    if let (Width::W64, false, true) = (w, l.is_memory(0), general(l.i.op0_register()).is_some()) {
        // Also for `mov rax, rax`, which commit would drop as already home.
        let d = l.destination(0)?;
        l.emit(Op::Move { d, a });
        return Some(());
    }
    if let (Width::W32, false) = (w, l.is_memory(0)) {
        let d = l.destination(0)?;
        l.emit(Op::Zext { w, d, a });
        return Some(());
    }
    l.commit(0, a)
}

fn push(l: &mut Lifter<'_>) -> Option<()> {
    let selector =
        l.i.op0_kind() == iced_x86::OpKind::Register && l.i.op0_register().is_segment_register();
    let a = if selector {
        // Only fs and gs can be pushed, and both selectors are zero.
        slots::ZERO
    } else {
        l.value(0)?
    };
    if l.i.stack_pointer_increment() == -2 {
        let to = super::operand::Address::at(slots::RSP).plus(-2);
        l.store(Width::W16, a, to);
        l.emit(Op::Sub { w: Width::W64, d: slots::RSP, a: slots::RSP, b: slots::ZERO, imm: 2 });
    } else {
        l.emit(Op::Push { a });
    }
    Some(())
}

fn pop(l: &mut Lifter<'_>) -> Option<()> {
    let size = l.i.stack_pointer_increment();
    let (rsp, w) = (slots::RSP, Width::W64);
    if l.i.op0_kind() == iced_x86::OpKind::Register && size == 8 {
        let d = l.destination(0)?;
        l.emit(Op::Pop { d });
        return Some(());
    }
    let value = l.load(Width::of_bytes(size as usize)?, super::operand::Address::at(rsp));
    if l.is_memory(0) {
        // An address that uses rsp means the one after the pop.
        let mut to = l.address();
        if to.base == rsp {
            to = to.plus(size);
        }
        l.store(Width::of_bytes(size as usize)?, value, to);
        l.emit(Op::Add { w, d: rsp, a: rsp, b: slots::ZERO, imm: size });
        return Some(());
    }
    l.emit(Op::Add { w, d: rsp, a: rsp, b: slots::ZERO, imm: size });
    l.commit(0, value)
}

fn extend_accumulator(l: &mut Lifter<'_>) -> Option<()> {
    let (from, w, into) = match l.i.mnemonic() {
        M::Cbw => (Width::W8, Width::W16, false),
        M::Cwde => (Width::W16, Width::W32, false),
        M::Cdqe => (Width::W32, Width::W64, false),
        M::Cwd => (Width::W16, Width::W16, true),
        M::Cdq => (Width::W32, Width::W32, true),
        _ => (Width::W64, Width::W64, true),
    };
    let d = l.temporary();
    if into {
        // The sign, everywhere: extend to 64 bits and keep the upper end.
        l.emit(Op::Sext { from, w: Width::W64, d, a: slots::RAX });
        l.emit(Op::Sar { w: Width::W64, d, a: d, b: slots::ZERO, imm: 63 });
    } else {
        l.emit(Op::Sext { from, w, d, a: slots::RAX });
    }
    let home = if into { slots::RDX } else { slots::RAX };
    l.emit(match w {
        Width::W16 | Width::W8 => Op::Insert { w, d: home, a: d },
        Width::W32 | Width::W64 => Op::Zext { w, d: home, a: d },
    });
    Some(())
}

fn conditional(l: &mut Lifter<'_>) -> Option<()> {
    let cc = condition(l)?;
    match l.i.mnemonic() {
        m if is_cmov(m) => {
            let w = l.width(0)?;
            let a = l.value(1)?;
            if w == Width::W16 {
                let c = l.temporary();
                let d = l.temporary();
                let old = l.value(0)?;
                l.emit(Op::Condition { cc, d: c });
                l.emit(Op::Select { d, c, a, b: old });
                return l.commit(0, d);
            }
            let d = l.destination(0)?;
            l.emit(Op::Cmov { cc, w, d, a });
            Some(())
        }
        m if is_setcc(m) => {
            let d = l.temporary();
            l.emit(Op::Condition { cc, d });
            l.commit(0, d)
        }
        _ => None,
    }
}

fn is_cmov(m: M) -> bool {
    matches!(
        m,
        M::Cmovo
            | M::Cmovno
            | M::Cmovb
            | M::Cmovae
            | M::Cmove
            | M::Cmovne
            | M::Cmovbe
            | M::Cmova
            | M::Cmovs
            | M::Cmovns
            | M::Cmovp
            | M::Cmovnp
            | M::Cmovl
            | M::Cmovge
            | M::Cmovle
            | M::Cmovg
    )
}

fn is_setcc(m: M) -> bool {
    matches!(
        m,
        M::Seto
            | M::Setno
            | M::Setb
            | M::Setae
            | M::Sete
            | M::Setne
            | M::Setbe
            | M::Seta
            | M::Sets
            | M::Setns
            | M::Setp
            | M::Setnp
            | M::Setl
            | M::Setge
            | M::Setle
            | M::Setg
    )
}
