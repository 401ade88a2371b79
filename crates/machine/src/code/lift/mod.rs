//! Lifting: one x86 instruction becomes a few ops.
//!
//! Each file has one family of instructions and one function, which gives [`Lifted::Unknown`] for
//! what is not its own. The order in which they are asked is in [`lift`]. Always: the changes that
//! a program can see come after the last op that can fault.

mod arithmetic;
mod control;
mod mmx;
mod moves;
mod operand;
mod shifts;
mod strings;
mod system;
pub(crate) mod vector;
mod vector_float;
mod vector_halves;
mod vector_moves;
mod vector_names;
pub(crate) mod vector_ops;
pub(crate) mod x87;
pub(crate) mod x87_ops;

use iced_x86::Instruction;

use super::{End, Op, Slot, Trap, slots};

/// What became of an instruction.
pub(crate) enum Lifted {
    /// Its ops were emitted, and control goes on behind it.
    Done,
    /// Its ops were emitted, and control leaves the block.
    End(End),
    /// It belongs to another family.
    Unknown,
}

/// Collects the ops of one instruction.
pub(crate) struct Lifter<'a> {
    ops: &'a mut Vec<Op>,
    /// The instruction.
    pub(crate) i: &'a Instruction,
    next_temporary: Slot,
}

impl<'a> Lifter<'a> {
    fn new(i: &'a Instruction, ops: &'a mut Vec<Op>) -> Self {
        Self { ops, i, next_temporary: slots::TEMPORARY }
    }

    /// Adds an op.
    pub(crate) fn emit(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// A slot for a value within this instruction.
    pub(crate) fn temporary(&mut self) -> Slot {
        let slot = self.next_temporary;
        self.next_temporary = slot.checked_add(1).expect("no instruction needs so many");
        slot
    }

    /// Two neighbouring slots, for 128 bits.
    pub(crate) fn pair(&mut self) -> Slot {
        let slot = self.temporary();
        self.temporary();
        slot
    }
}

/// Lifts an instruction, appending to `ops`. Gives how control leaves it, if it does.
pub(crate) fn lift(instruction: &Instruction, ops: &mut Vec<Op>) -> Option<End> {
    let before = ops.len();
    let families: [fn(&mut Lifter<'_>) -> Lifted; 9] = [
        moves::lift,
        arithmetic::lift,
        control::lift,
        shifts::lift,
        vector::lift,
        strings::lift,
        system::lift,
        x87::lift,
        mmx::lift,
    ];
    for family in families {
        match family(&mut Lifter::new(instruction, ops)) {
            Lifted::Done => return None,
            Lifted::End(end) => return Some(end),
            Lifted::Unknown => ops.truncate(before),
        }
    }
    Some(End::Trap(Trap::Unsupported))
}
