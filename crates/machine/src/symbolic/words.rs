//! Terms by their width: what a slot holds, and what an operation of some width works on.
//!
//! Always: a [`Word`] has 64 bits and a [`Cut`] those of its operation, whatever they were made of; so
//! nothing that is done with them can meet a width that does not fit. What a value is worth is not
//! checked here: a term of more than 64 bits in a slot would be a mistake of the caller's.

use stunt_terms::{Pool, Term};

use crate::code::Width;

/// A term of 64 bits: what a slot stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(Term);

/// A term as wide as an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    w: Width,
    term: Term,
}

/// The lower bits of a term, with zeros in front of one that is narrower.
pub(super) fn low(pool: &mut Pool, w: Width, term: Term) -> Term {
    fit(pool, w.bits() as u8, term)
}

fn fit(pool: &mut Pool, bits: u8, term: Term) -> Term {
    if pool.is_bool(term) {
        return pool.truth_as_bits(bits, term);
    }
    match pool.width(term) {
        have if have == bits => term,
        have if have > bits => pool.extract(bits - 1, 0, term),
        _ => pool.zero_extend(bits, term),
    }
}

impl Word {
    /// A term as a slot holds it: with zeros in front.
    #[inline]
    pub(super) fn of(pool: &mut Pool, term: Term) -> Self {
        debug_assert!(pool.is_bool(term) || pool.width(term) <= 64, "a slot holds 64 bits");
        Self(fit(pool, 64, term))
    }

    /// A number.
    #[inline]
    pub(super) fn constant(pool: &mut Pool, value: u64) -> Self {
        Self(pool.constant(64, u128::from(value)))
    }

    /// The term, of 64 bits.
    #[inline]
    pub(super) fn term(self) -> Term {
        self.0
    }

    /// The lower bits.
    #[inline]
    pub(super) fn cut(self, pool: &mut Pool, w: Width) -> Cut {
        Cut::of(pool, w, self.0)
    }
}

impl Cut {
    /// A term at a width: its lower bits, or with zeros in front.
    #[inline]
    pub(super) fn of(pool: &mut Pool, w: Width, term: Term) -> Self {
        Self { w, term: low(pool, w, term) }
    }

    /// The lower bits of a number.
    #[inline]
    pub(super) fn constant(pool: &mut Pool, w: Width, value: u64) -> Self {
        Self { w, term: pool.constant(w.bits() as u8, u128::from(value & w.mask())) }
    }

    /// The term, of [`Self::width`].
    #[inline]
    pub(super) fn term(self) -> Term {
        self.term
    }

    /// How wide it is.
    #[inline]
    pub(super) fn width(self) -> Width {
        self.w
    }

    /// What an operation that keeps the width makes of two; the second is cut as the first is.
    #[inline]
    pub(super) fn with(
        self,
        pool: &mut Pool,
        f: impl FnOnce(&mut Pool, Term, Term) -> Term,
        other: Self,
    ) -> Self {
        let other = low(pool, self.w, other.term);
        let term = f(pool, self.term, other);
        Self::of(pool, self.w, term)
    }

    /// A comparison of two, which is a Bool; the second is cut as the first is.
    #[inline]
    pub(super) fn is(
        self,
        pool: &mut Pool,
        f: impl FnOnce(&mut Pool, Term, Term) -> Term,
        other: Self,
    ) -> Term {
        let other = low(pool, self.w, other.term);
        f(pool, self.term, other)
    }

    /// With zeros in front, as a slot holds it.
    #[inline]
    pub(super) fn wide(self, pool: &mut Pool) -> Word {
        Word::of(pool, self.term)
    }

    /// One bit, as a term of one bit; there is none above the width.
    pub(super) fn bit(self, pool: &mut Pool, bit: u8) -> Term {
        if u32::from(bit) < self.w.bits() {
            pool.extract(bit, bit, self.term)
        } else {
            pool.constant(1, 0)
        }
    }

    /// The highest bit.
    pub(super) fn sign(self, pool: &mut Pool) -> Term {
        self.bit(pool, self.w.bits() as u8 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_word_or_a_cut_is_made_of_fits() {
        let mut pool = Pool::new();
        let byte = pool.input(0, 0);
        let truth = pool.ult(byte, byte);
        let wide = pool.sign_extend(128, byte);
        let word = pool.zero_extend(64, byte);
        let widths = [Width::W8, Width::W16, Width::W32, Width::W64];
        for term in [byte, truth, word] {
            let word = Word::of(&mut pool, term);
            assert_eq!(pool.width(word.term()), 64);
        }
        for w in widths {
            for term in [byte, truth, wide, word] {
                let cut = Cut::of(&mut pool, w, term);
                assert_eq!(u32::from(pool.width(cut.term())), w.bits());
                for v in widths {
                    let other = Cut::of(&mut pool, v, term);
                    let sum = cut.with(&mut pool, Pool::add, other);
                    assert_eq!(u32::from(pool.width(sum.term())), w.bits());
                    let less = cut.is(&mut pool, Pool::ult, other);
                    assert!(pool.is_bool(less));
                }
                for bit in 0..=255 {
                    let bit = cut.bit(&mut pool, bit);
                    assert_eq!(pool.width(bit), 1);
                }
            }
        }
    }
}
