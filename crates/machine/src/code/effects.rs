//! Which slots an op reads, and which it overwrites.
//!
//! Reads are complete: what ops do depends on no other slot that they did not overwrite themselves. Writes are certain: the slot holds
//! nothing of its old value afterwards. The three slots of the lazy flags go together under the
//! name of the first.

use super::{End, Helper, Op, Slot, slots};

/// A set of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotSet([u64; 4]);

impl SlotSet {
    /// Adds a slot.
    #[inline(always)]
    pub fn add(&mut self, slot: Slot) {
        self.0[usize::from(slot / 64)] |= 1 << (slot % 64);
    }

    /// Adds all slots of another set.
    #[inline(always)]
    pub fn add_all(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    /// Takes a slot away.
    #[inline(always)]
    pub fn remove(&mut self, slot: Slot) {
        self.0[usize::from(slot / 64)] &= !(1 << (slot % 64));
    }

    /// Takes away a slot and all behind it.
    #[inline(always)]
    pub fn remove_from(&mut self, first: Slot) {
        let word = usize::from(first / 64);
        self.0[word] &= (1 << (first % 64)) - 1;
        self.0[word + 1..].fill(0);
    }

    /// Whether this slot, and no other, is in the set.
    #[inline(always)]
    #[must_use]
    pub fn is_only(&self, slot: Slot) -> bool {
        let mut only = Self::default();
        only.add(slot);
        *self == only
    }

    /// Takes away all slots of another set.
    #[inline(always)]
    pub fn remove_all(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine &= !theirs;
        }
    }

    /// Whether a slot is in the set.
    #[inline(always)]
    #[must_use]
    pub fn has(&self, slot: Slot) -> bool {
        self.0[usize::from(slot / 64)] >> (slot % 64) & 1 != 0
    }

    /// Whether the sets share a slot.
    #[inline(always)]
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// Whether no slot is in the set.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The slots, in order.
    pub fn iter(self) -> impl Iterator<Item = Slot> {
        (0..=255).filter(move |&slot| self.has(slot))
    }
}

/// The slots that ops read and overwrite.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effects {
    /// What they read.
    pub reads: SlotSet,
    /// What they overwrite.
    pub writes: SlotSet,
}

impl Effects {
    /// The effects of a block: its ops, and how it ends.
    #[must_use]
    pub fn of_block(ops: &[Op], end: &End) -> Self {
        let mut all = Self::default();
        ops.iter().for_each(|op| all.add(op));
        let last: &[Slot] = match *end {
            End::Branch { .. } => &[slots::FLAG_RESULT],
            End::CompareBranch { a, b, .. } | End::TestBranch { a, b, .. } => &[a, b],
            End::ZeroBranch { a, .. } | End::Indirect(a) => &[a],
            End::CallIndirect(a) => &[a, slots::RSP],
            End::Call(_) | End::Return(_) => &[slots::RSP],
            End::Next | End::Jump(_) | End::Trap(_) => &[],
        };
        last.iter().filter(|&&slot| !all.writes.has(slot)).for_each(|&slot| all.reads.add(slot));
        if matches!(end, End::CompareBranch { .. } | End::TestBranch { .. }) {
            all.writes.add(slots::FLAG_RESULT);
        }
        all
    }

    /// Adds the effects of an op.
    pub fn add(&mut self, op: &Op) {
        let Self { reads, writes } = self;
        // What was overwritten before is not read any more.
        let before = *writes;
        let mut read = |slots: &[Slot]| {
            slots.iter().filter(|&&slot| !before.has(slot)).for_each(|&slot| reads.add(slot));
        };
        let mut write = |slots: &[Slot]| slots.iter().for_each(|&slot| writes.add(slot));
        let flags = slots::FLAG_RESULT;
        match *op {
            Op::Const { d, .. } => write(&[d]),
            Op::Move { d, a }
            | Op::Zext { d, a, .. }
            | Op::Sext { d, a, .. }
            | Op::High { d, a }
            | Op::Not { d, a, .. }
            | Op::Bswap { d, a, .. } => {
                read(&[a]);
                write(&[d]);
            }
            Op::Insert { d, a, .. } | Op::InsertHigh { d, a } => read(&[d, a]),
            Op::Add { d, a, b, .. }
            | Op::Sub { d, a, b, .. }
            | Op::And { d, a, b, .. }
            | Op::Or { d, a, b, .. }
            | Op::Xor { d, a, b, .. }
            | Op::Mul { d, a, b, .. }
            | Op::Shl { d, a, b, .. }
            | Op::Shr { d, a, b, .. }
            | Op::Sar { d, a, b, .. }
            | Op::Ror { d, a, b, .. } => {
                read(&[a, b]);
                write(&[d]);
            }
            Op::Lea { d, base, index, .. } => {
                read(&[base, index]);
                write(&[d]);
            }
            Op::MulWide { low, high, a, b, .. } => {
                read(&[a, b]);
                write(&[low, high]);
            }
            Op::Divide { a, .. } => read(&[a, slots::RAX, slots::RDX]),
            Op::Select { d, c, a, b } => {
                read(&[c, a, b]);
                write(&[d]);
            }
            Op::AddF { d, a, b, .. }
            | Op::SubF { d, a, b, .. }
            | Op::AndF { d, a, b, .. }
            | Op::OrF { d, a, b, .. }
            | Op::XorF { d, a, b, .. } => {
                read(&[a, b]);
                write(&[d, flags]);
            }
            Op::AdcF { d, a, b, .. } | Op::SbbF { d, a, b, .. } => {
                read(&[a, b, flags]);
                write(&[d]);
            }
            Op::CmpF { a, b, .. } | Op::TestF { a, b, .. } => {
                read(&[a, b]);
                write(&[flags]);
            }
            Op::IncF { d, a, .. } | Op::DecF { d, a, .. } => {
                read(&[a, flags]);
                write(&[d]);
            }
            Op::NegF { d, a, .. } => {
                read(&[a]);
                write(&[d, flags]);
            }
            Op::MulFlags { low, high, .. } => {
                read(&[low, high]);
                write(&[flags]);
            }
            Op::ShiftF { d, a, b, .. } | Op::BitTestF { d, a, b, .. } => {
                read(&[a, b, flags]);
                write(&[d]);
            }
            Op::ShiftDoubleF { d, a, b, c, .. } => {
                read(&[a, b, c, flags]);
                write(&[d]);
            }
            Op::BitF { d, a, b, quiet: true, .. } => read(&[d, a, b]),
            Op::BitF { d, a, b, quiet: false, .. } => read(&[d, a, b, flags]),
            Op::Condition { d, .. } | Op::GetFlags { d } => {
                read(&[flags]);
                write(&[d]);
            }
            Op::Cmov { d, a, .. } => read(&[flags, d, a]),
            Op::SetFlags { a, .. } => read(&[flags, a]),
            Op::PopFlags { a } => {
                read(&[a]);
                write(&[flags]);
            }
            Op::ComplementCarry => read(&[flags]),
            Op::Load8 { d, base, index, .. }
            | Op::Load16 { d, base, index, .. }
            | Op::Load32 { d, base, index, .. }
            | Op::Load64 { d, base, index, .. } => {
                read(&[base, index]);
                write(&[d]);
            }
            Op::Load128 { d, base, index, .. } => {
                read(&[base, index]);
                write(&[d, d + 1]);
            }
            Op::Store8 { a, base, index, .. }
            | Op::Store16 { a, base, index, .. }
            | Op::Store32 { a, base, index, .. }
            | Op::Store64 { a, base, index, .. } => read(&[a, base, index]),
            Op::Store128 { a, base, index, .. } => read(&[a, a + 1, base, index]),
            Op::StoreImm { base, .. } => read(&[base]),
            Op::Push { a } => read(&[a, slots::RSP]),
            Op::Pop { d } => {
                read(&[slots::RSP]);
                if d != slots::RSP {
                    write(&[d]);
                }
            }
            Op::ProbeWrite { a, .. } => read(&[a]),
            Op::String { segment, .. } => {
                read(&[slots::RSI, slots::RDI, slots::RCX, slots::RAX, segment, flags]);
            }
            Op::Vector { d, a, b, .. } | Op::Float { d, a, b, .. } => {
                read(&[a, a + 1, b, b + 1]);
                write(&[d, d + 1]);
            }
            Op::X87 { a, d, .. } => {
                read(&[a, a + 1, d, d + 1, flags]);
                (slots::MM..slots::MM + 8).for_each(|slot| read(&[slot]));
            }
            Op::Helper { f, .. } => match f {
                Helper::SetDirection => {}
                _ => (0..=255).for_each(|slot| read(&[slot])),
            },
        }
    }
}
