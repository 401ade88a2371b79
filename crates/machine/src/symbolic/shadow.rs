//! What slots and marked bytes stand for.
//!
//! Always: a term has the value that the slot or the byte has, if it is evaluated with the run's
//! own input. A slot without a term depends on no input, given the tests so far.

use std::num::{NonZeroU32, NonZeroU64};

use stunt_terms::{InputByte, Term};

use crate::{
    code::{Slot, SlotSet, slots},
    cpu::Cpu,
    memory::Mark,
};

use super::{flags::FlagTerms, session::Ignored, words::Word};

/// What the slots of a processor stand for.
#[derive(Clone)]
pub struct Shadow {
    /// The slots with a term; the flags are there under the name of their result.
    set: SlotSet,
    terms: [Option<Word>; 256],
    flags: Option<FlagTerms>,
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
    pub(super) fn get(&self, slot: Slot) -> Option<Word> {
        if self.set.has(slot) { self.terms[usize::from(slot)] } else { None }
    }

    /// A slot stands for a term from now on, or for nothing.
    #[inline(always)]
    pub(super) fn put(&mut self, slot: Slot, term: Option<Word>) {
        debug_assert_ne!(slot, slots::FLAG_RESULT);
        self.terms[usize::from(slot)] = term;
        match term {
            Some(_) => self.set.add(slot),
            None => self.set.remove(slot),
        }
    }

    /// What the flags come from.
    #[inline(always)]
    pub(super) fn flags(&self) -> Option<FlagTerms> {
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
    debug_assert_eq!((cpu.lazy().0, cpu.lazy().1), terms.noted(), "flags are of what was done");
    cpu.shadow.flags = Some(terms);
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
            let word = value(term.term()) as u64;
            cpu.set(slot, word);
        }
    }
    let Some(terms) = cpu.shadow.flags() else { return };
    let (kind, w) = terms.noted();
    let (result, operand) = match terms {
        FlagTerms::Bits(word) => return cpu.note(kind, w, value(word.term()) as u64, 0),
        FlagTerms::Result { result, operand, .. } => {
            (value(result.term()) as u64, value(operand.term()) as u64)
        }
        FlagTerms::Sum { a, b, carry } => {
            let (a, b) = (value(a.term()) as u64, value(b.term()) as u64);
            (a.wrapping_add(b).wrapping_add(u64::from(carry)), b)
        }
        FlagTerms::Difference { a, b, borrow } => {
            let (a, b) = (value(a.term()) as u64, value(b.term()) as u64);
            (a.wrapping_sub(b).wrapping_sub(u64::from(borrow)), b)
        }
    };
    cpu.note(kind, w, result & w.mask(), operand & w.mask());
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
