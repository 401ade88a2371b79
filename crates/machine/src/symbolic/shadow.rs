//! What slots and marked bytes stand for.
//!
//! Always: a term has the value that the slot or the byte has, if it is evaluated with the run's
//! own input. A slot without a term depends on no input, given the tests so far.

use std::num::{NonZeroU32, NonZeroU64};

use stunt_terms::{InputByte, Term};

use crate::{
    code::{Slot, SlotSet, Width, slots},
    cpu::{Cpu, FlagKind},
    memory::Mark,
};

use super::session::Ignored;

/// Where the lazy flags come from, as terms that are cut to the width of the operation, if they are
/// wider.
#[derive(Clone, Copy)]
pub(super) enum FlagTerms {
    /// Both operands of an addition or a subtraction, with or without a constant carry.
    Operands(Term, Term),
    /// The slots of result and operand.
    Result(Term, Term),
}

/// Terms of flags with the operation that they are of: what the processor has noted may be of a later one
/// whose flags nobody reads.
#[derive(Clone, Copy)]
pub(super) struct Noted {
    pub(super) terms: FlagTerms,
    pub(super) kind: FlagKind,
    pub(super) w: Width,
}

/// What the slots of a processor stand for.
#[derive(Clone)]
pub struct Shadow {
    /// The slots with a term; the flags are there under the name of their result.
    set: SlotSet,
    terms: [Option<Term>; 256],
    flags: Option<Noted>,
    /// The thread is in a call that is not followed.
    pub(super) ignored: Option<Ignored>,
    /// The thread is doomed, and not followed any more.
    pub(super) lost: bool,
}

impl Default for Shadow {
    fn default() -> Self {
        let set = SlotSet::default();
        Self { set, terms: [None; 256], flags: None, ignored: None, lost: false }
    }
}

impl Shadow {
    /// The slots that stand for something.
    #[inline(always)]
    pub(super) fn set(&self) -> &SlotSet {
        &self.set
    }

    /// What a slot stands for.
    #[inline(always)]
    pub(super) fn get(&self, slot: Slot) -> Option<Term> {
        if self.set.has(slot) { self.terms[usize::from(slot)] } else { None }
    }

    /// A slot stands for a term from now on, or for nothing.
    #[inline(always)]
    pub(super) fn put(&mut self, slot: Slot, term: Option<Term>) {
        debug_assert_ne!(slot, slots::FLAG_RESULT);
        self.terms[usize::from(slot)] = term;
        match term {
            Some(_) => self.set.add(slot),
            None => self.set.remove(slot),
        }
    }

    /// What the flags come from.
    #[inline(always)]
    pub(super) fn flags(&self) -> Option<Noted> {
        if self.set.has(slots::FLAG_RESULT) { self.flags } else { None }
    }

    /// The flags come from plain values from now on.
    #[inline(always)]
    pub(super) fn forget_flags(&mut self) {
        self.flags = None;
        self.set.remove(slots::FLAG_RESULT);
    }

    /// What a function need not preserve stands for nothing any more.
    pub(super) fn forget_scratch(&mut self) {
        let kept = [slots::RBX, slots::RSP, slots::RBP, 12, 13, 14, slots::R15];
        for slot in self.set.iter().filter(|slot| !kept.contains(slot)) {
            self.set.remove(slot);
        }
    }

    /// No instruction looks at what another one kept for itself.
    #[inline(always)]
    pub(super) fn forget_temporaries(&mut self) {
        self.set.remove_from(slots::TEMPORARY);
    }

    /// These slots were overwritten with plain values.
    #[inline(always)]
    pub(super) fn overwritten(&mut self, slots: &SlotSet) {
        self.set.remove_all(slots);
    }
}

/// The flags that a processor has just noted come from terms.
#[inline(always)]
pub(super) fn put_flags(cpu: &mut Cpu, terms: FlagTerms) {
    let (kind, w, ..) = cpu.lazy();
    cpu.shadow.flags = Some(Noted { terms, kind, w });
    cpu.shadow.set.add(slots::FLAG_RESULT);
}

/// Gives the slots of a processor that is between two instructions the values of their terms.
pub(crate) fn give_values(cpu: &mut Cpu, value: &mut impl FnMut(Term) -> u128) {
    for slot in cpu.shadow.set.iter() {
        // Temporaries are nobody's between two instructions.
        if slot >= slots::TEMPORARY {
            break;
        }
        if slot != slots::FLAG_RESULT
            && let Some(term) = cpu.shadow.get(slot)
        {
            let word = value(term) as u64;
            cpu.set(slot, word);
        }
    }
    let Some(Noted { terms, kind, w }) = cpu.shadow.flags() else { return };
    let (a, b) = match terms {
        FlagTerms::Operands(a, b) | FlagTerms::Result(a, b) => (value(a) as u64, value(b) as u64),
    };
    let (result, operand) = match terms {
        FlagTerms::Result(..) => (a, b),
        FlagTerms::Operands(..) => {
            let result = match kind {
                FlagKind::Add => a.wrapping_add(b),
                FlagKind::AddCarry => a.wrapping_add(b).wrapping_add(1),
                FlagKind::SubBorrow => a.wrapping_sub(b).wrapping_sub(1),
                _ => a.wrapping_sub(b),
            };
            (result, b)
        }
    };
    // Flags that are kept as bits are wider than the width that they are noted with.
    let mask = if kind == FlagKind::Bits { u64::MAX } else { w.mask() };
    cpu.note(kind, w, result & mask, operand & mask);
}

/// What a marked byte stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A byte of the input.
    Input(InputByte),
    /// The byte with this number of a term, counted from the least significant one.
    Piece(Term, u8),
}

impl Meaning {
    /// The meaning as a mark.
    pub(crate) fn mark(self) -> Mark {
        match self {
            Self::Input(byte) => Mark::of_input(byte),
            Self::Piece(term, byte) => {
                let word = u64::from(byte) << 32 | u64::from(term.handle().get());
                Mark(NonZeroU64::new(word).expect("a handle is not zero"))
            }
        }
    }

    /// The meaning of a mark; guards have none.
    pub(crate) fn of(mark: Mark) -> Option<Self> {
        if mark.is_guard() {
            return None;
        }
        Some(match mark.input() {
            Some(byte) => Self::Input(byte),
            None => {
                let word = mark.0.get();
                let handle = NonZeroU32::new(word as u32).expect("a handle is not zero");
                Self::Piece(Term::from_handle(handle), (word >> 32) as u8)
            }
        })
    }
}
