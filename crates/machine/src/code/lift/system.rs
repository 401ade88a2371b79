//! Flags as a whole, the processor's identity, time, fences, and saved vector state.

use iced_x86::Mnemonic as M;

use super::{Lifted, Lifter, operand::Address};
use crate::code::{Helper, Op, Slot, Width, slots};

/// CF, PF, AF, ZF, SF: the flags that `sahf` sets.
const LOW_FLAGS: u32 = 0xd5;

pub(super) fn lift(l: &mut Lifter<'_>) -> Lifted {
    match attempt(l) {
        Some(()) => Lifted::Done,
        None => Lifted::Unknown,
    }
}

fn attempt(l: &mut Lifter<'_>) -> Option<()> {
    let helper = |f, d: Slot, a, imm| Op::Helper { f, d, a, b: slots::ZERO, imm };
    match l.i.mnemonic() {
        // No shadow stack, so to ask where it is does nothing, as on processors without one.
        M::Nop | M::Endbr64 | M::Endbr32 | M::Rdsspq | M::Rdsspd => {}
        M::Pause | M::Mfence | M::Lfence | M::Sfence => {}
        M::Clflush | M::Clflushopt | M::Clwb => {
            // They touch the line as a load does, and so may fault.
            let from = l.address();
            l.load(Width::W8, from);
        }
        M::Prefetchnta | M::Prefetcht0 | M::Prefetcht1 | M::Prefetcht2 | M::Prefetchw => {}
        M::Prefetch | M::Prefetchwt1 | M::Cldemote | M::Reservednop => {}
        M::Cpuid => l.emit(helper(Helper::Cpuid, 0, 0, 0)),
        M::Rdtsc => l.emit(helper(Helper::Rdtsc, 0, 0, 0)),
        M::Rdtscp => l.emit(helper(Helper::Rdtscp, 0, 0, 0)),
        M::Xgetbv => l.emit(helper(Helper::Xgetbv, 0, 0, 0)),
        M::Fxsave | M::Fxsave64 => {
            let a = l.address_slot();
            l.emit(helper(Helper::Fxsave, 0, a, 0));
        }
        M::Fxrstor | M::Fxrstor64 => {
            let a = l.address_slot();
            l.emit(helper(Helper::Fxrstor, 0, a, 0));
        }
        M::Cmpxchg8b => {
            let a = l.address_slot();
            l.emit(Op::ProbeWrite { w: Width::W64, a });
            l.emit(helper(Helper::Cmpxchg8b, 0, a, 0));
        }
        M::Cmpxchg16b => {
            let a = l.address_slot();
            l.emit(helper(Helper::Cmpxchg16b, 0, a, 0));
        }
        M::Ldmxcsr => {
            let from = l.address();
            let a = l.load(Width::W32, from);
            l.emit(helper(Helper::Ldmxcsr, 0, a, 0));
        }
        M::Stmxcsr => {
            let to = l.address();
            l.store(Width::W32, slots::MXCSR, to);
        }
        M::Cld => l.emit(helper(Helper::SetDirection, 0, 0, 0)),
        M::Std => l.emit(helper(Helper::SetDirection, 0, 0, 1)),
        M::Clc => l.emit(Op::SetFlags { a: slots::ZERO, mask: 1 }),
        M::Stc => {
            let a = l.constant(1);
            l.emit(Op::SetFlags { a, mask: 1 });
        }
        M::Cmc => l.emit(Op::ComplementCarry),
        M::Lahf => {
            let d = l.temporary();
            l.emit(Op::GetFlags { d });
            l.emit(Op::InsertHigh { d: slots::RAX, a: d });
        }
        M::Sahf => {
            let d = l.temporary();
            l.emit(Op::High { d, a: slots::RAX });
            l.emit(Op::SetFlags { a: d, mask: LOW_FLAGS });
        }
        M::Pushf => {
            let d = l.temporary();
            l.emit(Op::GetFlags { d });
            l.store(Width::W16, d, Address::at(slots::RSP).plus(-2));
            let (w, rsp) = (Width::W64, slots::RSP);
            l.emit(Op::Sub { w, d: rsp, a: rsp, b: slots::ZERO, imm: 2 });
        }
        M::Popf => {
            let value = l.load(Width::W16, Address::at(slots::RSP));
            let d = l.temporary();
            l.emit(Op::GetFlags { d });
            l.emit(Op::Insert { w: Width::W16, d, a: value });
            let (w, rsp) = (Width::W64, slots::RSP);
            l.emit(Op::Add { w, d: rsp, a: rsp, b: slots::ZERO, imm: 2 });
            l.emit(Op::PopFlags { a: d });
        }
        M::Pushfq => {
            let d = l.temporary();
            l.emit(Op::GetFlags { d });
            l.emit(Op::Push { a: d });
        }
        M::Popfq => {
            let d = l.temporary();
            l.emit(Op::Pop { d });
            l.emit(Op::PopFlags { a: d });
        }
        _ => return None,
    }
    Some(())
}
