//! A block: operations that run one after the other, and how control leaves them.

use super::{Condition, Effects, Op, Slot, Width};

/// Why control leaves a block to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// `syscall`.
    Syscall,
    /// `int3`.
    Breakpoint,
    /// `int1`.
    Debug,
    /// `ud2`, or bytes that are no instruction.
    InvalidOpcode,
    /// `hlt`, port access and other privileged instructions; `int n`.
    Privileged,
    /// An instruction that the machine does not have.
    Unsupported,
    /// Whoever runs the program wants to know when control comes here.
    Watched,
    /// Fetching the instruction faults: run it again to see how.
    Fetch,
}

/// How control leaves a block. The flags of the fused comparisons are set, too, unless quiet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// To the next instruction.
    Next,
    /// To a fixed address.
    Jump(u64),
    /// To `taken` if the condition holds, else on.
    Branch {
        /// The condition.
        cc: Condition,
        /// Where to.
        taken: u64,
    },
    /// `cmp` and `jcc`.
    CompareBranch {
        /// The condition.
        cc: Condition,
        /// The width of the operands.
        w: Width,
        /// First operand.
        a: Slot,
        /// Second operand.
        b: Slot,
        /// Added to the second operand.
        imm: i32,
        /// Where to.
        taken: u64,
        /// Nobody reads the flags afterwards: they need not be set.
        quiet: bool,
    },
    /// `test` and `jcc`.
    TestBranch {
        /// The condition.
        cc: Condition,
        /// The width of the operands.
        w: Width,
        /// First operand.
        a: Slot,
        /// Second operand.
        b: Slot,
        /// Added to the second operand.
        imm: i32,
        /// Where to.
        taken: u64,
        /// Nobody reads the flags afterwards: they need not be set.
        quiet: bool,
    },
    /// To `taken` if the slot is zero, or with `not` if it is not; else on. Flags do not matter.
    ZeroBranch {
        /// The slot.
        a: Slot,
        /// Branch if it is not zero.
        not: bool,
        /// Where to.
        taken: u64,
    },
    /// To the address in the slot.
    Indirect(Slot),
    /// Pushes the next address and goes to a fixed one.
    Call(u64),
    /// Pushes the next address and goes to the one in the slot.
    CallIndirect(Slot),
    /// Pops an address, drops so many bytes more, and goes there.
    Return(u16),
    /// To the kernel.
    Trap(Trap),
}

/// A piece of straight code.
#[derive(Clone, Debug)]
pub struct Block {
    /// The address of the first instruction.
    pub start: u64,
    /// The address behind the last one.
    pub next: u64,
    /// What to do.
    pub ops: Box<[Op]>,
    /// How to leave.
    pub end: End,
    /// For each instruction, the index of its first op and its offset from `start`. The last one
    /// owns the end.
    pub marks: Box<[(u16, u16)]>,
    /// Nobody reads the flags that were set before it.
    pub flags_unread: bool,
    /// It does not set the flags at its end, because those who follow do not read them.
    pub quiet: bool,
    /// The slots that it reads and overwrites.
    pub effects: Effects,
}

impl Block {
    /// The block that stands where a watched one begins.
    #[must_use]
    pub fn watched(start: u64) -> Self {
        Self {
            start,
            next: start + 1,
            ops: Box::default(),
            end: End::Trap(Trap::Watched),
            marks: Box::new([(0, 0)]),
            flags_unread: false,
            quiet: false,
            effects: Effects::default(),
        }
    }

    /// The number of instructions.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.marks.len() as u64
    }

    /// Where control goes on a side: 0 is a branch that is taken, 1 is straight on.
    #[must_use]
    pub fn target(&self, side: usize) -> u64 {
        match self.end {
            End::Jump(target)
            | End::Call(target)
            | End::Branch { taken: target, .. }
            | End::CompareBranch { taken: target, .. }
            | End::TestBranch { taken: target, .. }
            | End::ZeroBranch { taken: target, .. }
                if side == 0 =>
            {
                target
            }
            _ => self.next,
        }
    }

    /// Which instruction the op with this index belongs to; the index behind the last op stands
    /// for the end.
    #[must_use]
    pub fn instruction_of(&self, op: usize) -> usize {
        if op >= self.ops.len() {
            return self.marks.len() - 1;
        }
        self.marks.partition_point(|mark| usize::from(mark.0) <= op) - 1
    }

    /// The address of the instruction with this index.
    #[must_use]
    pub fn address_of(&self, instruction: usize) -> u64 {
        self.start + u64::from(self.marks[instruction].1)
    }
}
