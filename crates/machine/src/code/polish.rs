//! Polishing: what a block need not compute, and what can be done in one step.
//!
//! Flags that are overwritten before anyone reads them are not computed, and a comparison right
//! before a branch is fused with it. A consequence to know: the flags in the frame of a signal that
//! interrupts a block may be older than the instruction.

use super::{Block, End, Op, Shift, Width, slots};

/// Polishes a block; `marks` are the indices of the instructions' first ops.
pub(super) fn polish(ops: &mut Vec<Op>, end: &mut End, marks: &mut [(u16, u16)]) {
    drop_dead_flags(ops, marks, true);
    fuse_branch(ops, end, marks);
}

/// Whether a block sets the flags before anyone reads them.
pub(super) fn flags_unread(ops: &[Op], end: &End) -> bool {
    for op in ops {
        match flags(op) {
            Flags::Ignores => {}
            Flags::Reads => return false,
            Flags::Sets(_) => return true,
        }
    }
    matches!(end, End::CompareBranch { .. } | End::TestBranch { .. })
}

/// Makes a block quiet: nobody who follows reads its flags.
pub(super) fn hush(block: &mut Block) {
    let mut live = false;
    match &mut block.end {
        End::CompareBranch { quiet, .. } | End::TestBranch { quiet, .. } => *quiet = true,
        End::Branch { .. } => live = true,
        _ => {}
    }
    let mut ops = std::mem::take(&mut block.ops).into_vec();
    drop_dead_flags(&mut ops, &mut block.marks, live);
    block.ops = ops.into();
    block.quiet = true;
}

/// What an op has to do with the flags.
enum Flags {
    Ignores,
    Reads,
    /// Sets all six without looking; this does the same without them, if there is anything left
    /// to do.
    Sets(Option<Op>),
}

fn flags(op: &Op) -> Flags {
    match *op {
        Op::AddF { w, d, a, b, imm } => Flags::Sets(Some(Op::Add { w, d, a, b, imm })),
        Op::SubF { w, d, a, b, imm } => Flags::Sets(Some(Op::Sub { w, d, a, b, imm })),
        Op::AndF { w, d, a, b, imm } => Flags::Sets(Some(Op::And { w, d, a, b, imm })),
        Op::OrF { w, d, a, b, imm } => Flags::Sets(Some(Op::Or { w, d, a, b, imm })),
        Op::XorF { w, d, a, b, imm } => Flags::Sets(Some(Op::Xor { w, d, a, b, imm })),
        Op::NegF { w, d, a } => Flags::Sets(Some(Op::Sub { w, d, a: slots::ZERO, b: a, imm: 0 })),
        Op::CmpF { .. } | Op::TestF { .. } | Op::MulFlags { .. } => Flags::Sets(None),
        // They keep the carry, so they read it.
        Op::IncF { .. } | Op::DecF { .. } => Flags::Reads,
        // By a constant that is not zero; a count of zero keeps the flags, so it reads them.
        Op::ShiftF { f: Shift::Shl | Shift::Shr | Shift::Sar, w, b: slots::ZERO, imm, .. }
            if imm as u32 & if w.bits() == 64 { 63 } else { 31 } != 0 =>
        {
            Flags::Sets(without_flags(op))
        }
        Op::ShiftF { .. }
        | Op::ShiftDoubleF { .. }
        | Op::BitTestF { .. }
        | Op::BitF { quiet: false, .. }
        | Op::AdcF { .. }
        | Op::SbbF { .. }
        | Op::Condition { .. }
        | Op::Cmov { .. }
        | Op::GetFlags { .. }
        | Op::SetFlags { .. }
        | Op::PopFlags { .. }
        | Op::ComplementCarry
        | Op::String { .. }
        | Op::X87 { .. }
        | Op::Helper { .. } => Flags::Reads,
        _ => Flags::Ignores,
    }
}

/// What an op that keeps some flags does when nobody reads any.
fn without_flags(op: &Op) -> Option<Op> {
    match *op {
        Op::IncF { w, d, a } => Some(Op::Add { w, d, a, b: slots::ZERO, imm: 1 }),
        Op::DecF { w, d, a } => Some(Op::Sub { w, d, a, b: slots::ZERO, imm: 1 }),
        Op::ShiftF { f, w, d, a, b, imm } => match f {
            Shift::Shl => Some(Op::Shl { w, d, a, b, imm }),
            Shift::Shr => Some(Op::Shr { w, d, a, b, imm }),
            Shift::Sar => Some(Op::Sar { w, d, a, b, imm }),
            Shift::Ror => Some(Op::Ror { w, d, a, b, imm }),
            // To the left by n is to the right by the rest of a turn.
            Shift::Rol if b == slots::ZERO && w >= Width::W32 => {
                let imm = (w.bits() as i32 - imm) & (w.bits() as i32 - 1);
                Some(Op::Ror { w, d, a, b, imm })
            }
            Shift::Rol | Shift::Rcl | Shift::Rcr => None,
        },
        Op::BitF { f, w, d, a, b, .. } => Some(Op::BitF { f, w, d, a, b, quiet: true }),
        _ => None,
    }
}

/// `live` tells whether the flags are read behind the last op.
fn drop_dead_flags(ops: &mut Vec<Op>, marks: &mut [(u16, u16)], mut live: bool) {
    let mut dead = Vec::new();
    for (at, op) in ops.iter_mut().enumerate().rev() {
        match flags(op) {
            Flags::Ignores => {}
            Flags::Reads => match without_flags(op) {
                Some(plain) if !live => *op = plain,
                _ => live = true,
            },
            Flags::Sets(plain) => {
                if !live {
                    match plain {
                        Some(plain) => *op = plain,
                        None => dead.push(at),
                    }
                }
                live = false;
            }
        }
    }
    for at in dead {
        remove(ops, marks, at);
    }
}

/// Removes the op at `at`; the marks behind it move.
fn remove(ops: &mut Vec<Op>, marks: &mut [(u16, u16)], at: usize) {
    ops.remove(at);
    for mark in marks {
        if usize::from(mark.0) > at {
            mark.0 -= 1;
        }
    }
}

fn fuse_branch(ops: &mut Vec<Op>, end: &mut End, marks: &mut [(u16, u16)]) {
    let End::Branch { cc, taken } = *end else { return };
    *end = match ops.last() {
        Some(&Op::CmpF { w, a, b, imm }) => {
            End::CompareBranch { cc, w, a, b, imm, taken, quiet: false }
        }
        Some(&Op::TestF { w, a, b, imm }) => {
            End::TestBranch { cc, w, a, b, imm, taken, quiet: false }
        }
        _ => return,
    };
    remove(ops, marks, ops.len() - 1);
}
