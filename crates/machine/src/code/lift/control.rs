//! Control flow: jumps, calls, returns, traps.

use iced_x86::{FlowControl, Mnemonic as M, OpKind};

use super::{Lifted, Lifter, moves, operand::Address};
use crate::code::{End, Op, Trap, Width, slots};

pub(super) fn lift(l: &mut Lifter<'_>) -> Lifted {
    attempt(l).unwrap_or(Lifted::Unknown)
}

fn attempt(l: &mut Lifter<'_>) -> Option<Lifted> {
    let end = match (l.i.flow_control(), l.i.mnemonic()) {
        (_, M::Jrcxz) => End::ZeroBranch { a: slots::RCX, not: false, taken: target(l)? },
        (_, M::Jecxz) => {
            let d = l.temporary();
            l.emit(Op::Zext { w: Width::W32, d, a: slots::RCX });
            End::ZeroBranch { a: d, not: false, taken: target(l)? }
        }
        (_, M::Loop | M::Loope | M::Loopne) => counted(l)?,
        (FlowControl::UnconditionalBranch, _) => End::Jump(target(l)?),
        (FlowControl::ConditionalBranch, _) => {
            End::Branch { cc: moves::condition(l)?, taken: target(l)? }
        }
        (FlowControl::IndirectBranch, M::Jmp) => End::Indirect(l.value(0)?),
        (FlowControl::Call, M::Call) => End::Call(target(l)?),
        (FlowControl::IndirectCall, M::Call) => End::CallIndirect(l.value(0)?),
        (FlowControl::Return, M::Ret) => {
            let extra = if l.i.op_count() == 1 { l.i.immediate16() } else { 0 };
            End::Return(extra)
        }
        (_, M::Syscall) => End::Trap(Trap::Syscall),
        (_, M::Int3) => End::Trap(Trap::Breakpoint),
        (_, M::Int1) => End::Trap(Trap::Debug),
        (_, M::Ud0 | M::Ud1 | M::Ud2 | M::INVALID) => End::Trap(Trap::InvalidOpcode),
        // There is no shadow stack. To ask where it is does nothing, to change that is not allowed.
        (_, M::Incsspd | M::Incsspq) => End::Trap(Trap::InvalidOpcode),
        (
            _,
            M::Hlt
            | M::Int
            | M::In
            | M::Out
            | M::Cli
            | M::Sti
            | M::Lgdt
            | M::Lidt
            | M::Rdmsr
            | M::Wrmsr
            | M::Invd
            | M::Wbinvd
            | M::Iretq
            | M::Sysretq
            | M::Sysexitq
            | M::Clts
            | M::Insb
            | M::Insw
            | M::Insd
            | M::Outsb
            | M::Outsw
            | M::Outsd,
        ) => End::Trap(Trap::Privileged),
        (_, M::Leave) if l.i.code() == iced_x86::Code::Leaveq => {
            let value = l.load(Width::W64, Address::at(slots::RBP));
            let (d, a) = (slots::RSP, slots::RBP);
            l.emit(Op::Add { w: Width::W64, d, a, b: slots::ZERO, imm: 8 });
            l.emit(Op::Move { d: slots::RBP, a: value });
            return Some(Lifted::Done);
        }
        _ => return None,
    };
    Some(Lifted::End(end))
}

/// Where a direct jump goes.
fn target(l: &Lifter<'_>) -> Option<u64> {
    matches!(l.i.op0_kind(), OpKind::NearBranch64).then(|| l.i.near_branch64())
}

/// `loop` and its conditional forms.
fn counted(l: &mut Lifter<'_>) -> Option<End> {
    let narrow = matches!(
        l.i.code(),
        iced_x86::Code::Loop_rel8_64_ECX
            | iced_x86::Code::Loope_rel8_64_ECX
            | iced_x86::Code::Loopne_rel8_64_ECX
    );
    let w = if narrow { Width::W32 } else { Width::W64 };
    let (d, taken) = (slots::RCX, target(l)?);
    l.emit(Op::Sub { w, d, a: d, b: slots::ZERO, imm: 1 });
    let cc = match l.i.mnemonic() {
        M::Loope => crate::code::Condition::E,
        M::Loopne => crate::code::Condition::Ne,
        _ => return Some(End::ZeroBranch { a: d, not: true, taken }),
    };
    let (c, both) = (l.temporary(), l.temporary());
    l.emit(Op::Condition { cc, d: c });
    l.emit(Op::Select { d: both, c, a: d, b: slots::ZERO });
    Some(End::ZeroBranch { a: both, not: true, taken })
}
