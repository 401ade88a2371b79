//! Conditions on the lazy flags, as terms.
//!
//! What produced the flags is known, so that `cmp; jb` gives `a <u b` and not a pattern of bits.
//! AF is not followed where flags must be written down as bits: nothing but `pushf` and `lahf` could
//! read it there.
//!
//! Always: the terms are of the operation that the processor has noted, and say themselves which it is;
//! their widths are those of their types.

use stunt_terms::{Pool, Term};

use crate::{
    code::{Condition, Width},
    cpu::{Cpu, FlagKind},
};

use super::{
    shadow::put_flags,
    words::{Cut, Word},
};

/// CF, ZF, SF and OF in `rflags`.
const CF: u8 = 0;
const PF: u8 = 2;
const ZF: u8 = 6;
const SF: u8 = 7;
const OF: u8 = 11;

/// The flags that are followed: all but AF.
pub(super) const FOLLOWED: u64 = 1 << CF | 1 << PF | 1 << ZF | 1 << SF | 1 << OF;

/// Where the lazy flags come from, as terms: the operation, and what it worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlagTerms {
    /// `a + b`, and one more with a carry.
    Sum { a: Cut, b: Cut, carry: bool },
    /// `a - b`, and one less with a borrow.
    Difference { a: Cut, b: Cut, borrow: bool },
    /// Another operation: its result, and a word of what else went in or out.
    Result { origin: Origin, result: Cut, operand: Word },
    /// The flags themselves, in their places.
    Bits(Word),
}

/// The operations whose flags come from their results; [`FlagKind`] says what their operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Logic,
    Inc,
    Dec,
    Shl,
    Shr,
    Sar,
    Mul,
}

impl FlagTerms {
    /// What a processor notes of such flags.
    pub(super) fn noted(self) -> (FlagKind, Width) {
        match self {
            Self::Sum { a, carry: false, .. } => (FlagKind::Add, a.width()),
            Self::Sum { a, carry: true, .. } => (FlagKind::AddCarry, a.width()),
            Self::Difference { a, borrow: false, .. } => (FlagKind::Sub, a.width()),
            Self::Difference { a, borrow: true, .. } => (FlagKind::SubBorrow, a.width()),
            Self::Result { origin, result, .. } => (origin.kind(), result.width()),
            Self::Bits(_) => (FlagKind::Bits, Width::W8),
        }
    }
}

impl Origin {
    fn kind(self) -> FlagKind {
        match self {
            Self::Logic => FlagKind::Logic,
            Self::Inc => FlagKind::Inc,
            Self::Dec => FlagKind::Dec,
            Self::Shl => FlagKind::Shl,
            Self::Shr => FlagKind::Shr,
            Self::Sar => FlagKind::Sar,
            Self::Mul => FlagKind::Mul,
        }
    }
}

/// The flags of a processor, as terms.
pub(super) struct Flags<'a> {
    pub(super) pool: &'a mut Pool,
    pub(super) terms: FlagTerms,
}

impl<'a> Flags<'a> {
    /// The flags of `cpu`, if they depend on the input.
    pub(super) fn of(pool: &'a mut Pool, cpu: &Cpu) -> Option<Self> {
        Some(Self { pool, terms: cpu.shadow.flags()? })
    }

    /// The result, at the width; of flags that are bits, the bits.
    fn result(&mut self) -> Cut {
        match self.terms {
            FlagTerms::Result { result, .. } => result,
            FlagTerms::Sum { a, b, carry } => {
                let sum = a.with(self.pool, Pool::add, b);
                if !carry {
                    return sum;
                }
                let one = Cut::constant(self.pool, a.width(), 1);
                sum.with(self.pool, Pool::add, one)
            }
            FlagTerms::Difference { a, b, borrow } => {
                let difference = a.with(self.pool, Pool::sub, b);
                if !borrow {
                    return difference;
                }
                let one = Cut::constant(self.pool, a.width(), 1);
                difference.with(self.pool, Pool::sub, one)
            }
            FlagTerms::Bits(word) => word.cut(self.pool, Width::W64),
        }
    }

    /// Whether a bit is set.
    fn bit_of(&mut self, cut: Cut, bit: u8) -> Term {
        let bit = cut.bit(self.pool, bit);
        let one = self.pool.constant(1, 1);
        self.pool.eq(bit, one)
    }

    fn bit_of_word(&mut self, word: Word, bit: u8) -> Term {
        let word = word.cut(self.pool, Width::W64);
        self.bit_of(word, bit)
    }

    fn sign_of(&mut self, cut: Cut) -> Term {
        self.bit_of(cut, cut.width().bits() as u8 - 1)
    }

    /// CF.
    pub(super) fn carry(&mut self) -> Term {
        match self.terms {
            FlagTerms::Bits(word) => self.bit_of_word(word, CF),
            FlagTerms::Sum { b, carry, .. } => {
                let r = self.result();
                r.is(self.pool, if carry { Pool::ule } else { Pool::ult }, b)
            }
            FlagTerms::Difference { a, b, borrow } => {
                a.is(self.pool, if borrow { Pool::ule } else { Pool::ult }, b)
            }
            FlagTerms::Result { origin: Origin::Logic, .. } => self.pool.boolean(false),
            FlagTerms::Result { operand, .. } => self.bit_of_word(operand, 0),
        }
    }

    /// ZF.
    pub(super) fn zero(&mut self) -> Term {
        match self.terms {
            FlagTerms::Bits(word) => self.bit_of_word(word, ZF),
            FlagTerms::Difference { a, b, borrow: false } => a.is(self.pool, Pool::eq, b),
            _ => {
                let r = self.result();
                let zero = Cut::constant(self.pool, r.width(), 0);
                r.is(self.pool, Pool::eq, zero)
            }
        }
    }

    /// SF.
    pub(super) fn sign(&mut self) -> Term {
        if let FlagTerms::Bits(word) = self.terms {
            return self.bit_of_word(word, SF);
        }
        let r = self.result();
        let zero = Cut::constant(self.pool, r.width(), 0);
        r.is(self.pool, Pool::slt, zero)
    }

    fn parity(&mut self) -> Term {
        if let FlagTerms::Bits(word) = self.terms {
            return self.bit_of_word(word, PF);
        }
        let r = self.result();
        even_parity(self.pool, r)
    }

    /// OF.
    pub(super) fn overflow(&mut self) -> Term {
        let (origin, result, operand) = match self.terms {
            FlagTerms::Bits(word) => return self.bit_of_word(word, OF),
            FlagTerms::Sum { a, b, .. } => {
                let r = self.result();
                let (x, y) = (a.with(self.pool, Pool::xor, r), b.with(self.pool, Pool::xor, r));
                let both = x.with(self.pool, Pool::and, y);
                return self.sign_of(both);
            }
            FlagTerms::Difference { a, b, .. } => {
                let r = self.result();
                let (x, y) = (a.with(self.pool, Pool::xor, b), a.with(self.pool, Pool::xor, r));
                let both = x.with(self.pool, Pool::and, y);
                return self.sign_of(both);
            }
            FlagTerms::Result { origin, result, operand } => (origin, result, operand),
        };
        let w = result.width();
        match origin {
            Origin::Logic | Origin::Sar => self.pool.boolean(false),
            Origin::Inc => {
                let edge = Cut::constant(self.pool, w, 1 << (w.bits() - 1));
                result.is(self.pool, Pool::eq, edge)
            }
            Origin::Dec => {
                let edge = Cut::constant(self.pool, w, w.mask() >> 1);
                result.is(self.pool, Pool::eq, edge)
            }
            Origin::Shl => {
                let (sign, out) = (self.sign_of(result), self.bit_of_word(operand, 0));
                self.pool.ne(sign, out)
            }
            Origin::Shr => self.bit_of_word(operand, 1),
            Origin::Mul => self.bit_of_word(operand, 0),
        }
    }

    /// `sign != overflow`.
    fn less(&mut self) -> Term {
        match self.terms {
            FlagTerms::Difference { a, b, borrow: false } => a.is(self.pool, Pool::slt, b),
            FlagTerms::Result { origin: Origin::Logic, .. } => self.sign(),
            _ => {
                let (sign, overflow) = (self.sign(), self.overflow());
                self.pool.ne(sign, overflow)
            }
        }
    }

    /// The operands of a comparison.
    fn compared(&self) -> Option<(Cut, Cut)> {
        match self.terms {
            FlagTerms::Difference { a, b, borrow: false } => Some((a, b)),
            _ => None,
        }
    }

    /// A condition.
    pub(super) fn holds(&mut self, cc: Condition) -> Term {
        let negated = cc as u8 & 1 != 0;
        let plain = match cc {
            Condition::O | Condition::No => self.overflow(),
            Condition::B | Condition::Ae => self.carry(),
            Condition::E | Condition::Ne => self.zero(),
            Condition::Be | Condition::A => match self.compared() {
                Some((a, b)) => a.is(self.pool, Pool::ule, b),
                None => {
                    let (carry, zero) = (self.carry(), self.zero());
                    self.pool.or(carry, zero)
                }
            },
            Condition::S | Condition::Ns => self.sign(),
            Condition::P | Condition::Np => self.parity(),
            Condition::L | Condition::Ge => self.less(),
            Condition::Le | Condition::G => match self.compared() {
                Some((a, b)) => a.is(self.pool, Pool::sle, b),
                None => {
                    let (less, zero) = (self.less(), self.zero());
                    self.pool.or(less, zero)
                }
            },
        };
        if negated { self.pool.not(plain) } else { plain }
    }

    /// The flags as bits in their places in `rflags`; AF as in `known`.
    pub(super) fn word(&mut self, known: u64) -> Word {
        if let FlagTerms::Bits(word) = self.terms {
            return word;
        }
        let word = Word::constant(self.pool, known & !FOLLOWED);
        let flags = [
            (CF, self.carry()),
            (PF, self.parity()),
            (ZF, self.zero()),
            (SF, self.sign()),
            (OF, self.overflow()),
        ];
        flags.into_iter().fold(word, |word, (bit, flag)| with_flag(self.pool, word, bit, flag))
    }
}

/// Whether the lowest byte of a term has an even number of ones.
fn even_parity(pool: &mut Pool, r: Cut) -> Term {
    let low = Cut::of(pool, Width::W8, r.term());
    let even: Vec<u64> = (0..256u64).map(|v| u64::from(v.count_ones() % 2 == 0)).collect();
    let table = pool.add_table(8, even);
    let even = pool.table(table, low.term());
    let one = pool.constant(8, 1);
    pool.eq(even, one)
}

/// A word with one more bit set, where a Bool says so.
pub(super) fn with_flag(pool: &mut Pool, word: Word, bit: u8, flag: Term) -> Word {
    let (set, clear) = (pool.constant(64, 1 << bit), pool.constant(64, 0));
    let flag = pool.ite(flag, set, clear);
    let word = pool.or(word.term(), flag);
    Word::of(pool, word)
}

/// PF, ZF and SF of a result, in their places in a word that is otherwise zero.
pub(super) fn flags_of_result(pool: &mut Pool, r: Cut) -> Word {
    let zero = Cut::constant(pool, r.width(), 0);
    let flags = [
        (PF, even_parity(pool, r)),
        (ZF, r.is(pool, Pool::eq, zero)),
        (SF, r.is(pool, Pool::slt, zero)),
    ];
    let word = Word::constant(pool, 0);
    flags.into_iter().fold(word, |word, (bit, flag)| with_flag(pool, word, bit, flag))
}

/// Writes the flags of `cpu` down as bits, so that single ones of them can be replaced. Gives the
/// word, whether or not it depends on the input.
pub(super) fn as_bits(pool: &mut Pool, cpu: &mut Cpu) -> Word {
    let known = cpu.flag_bits();
    let word = Flags::of(pool, cpu).map(|mut flags| flags.word(known));
    cpu.note(FlagKind::Bits, Width::W8, known, 0);
    match word {
        Some(word) => {
            // What is to replace them may fail, and then this is what they are.
            put_flags(cpu, FlagTerms::Bits(word));
            word
        }
        None => Word::constant(pool, known),
    }
}
