//! Conditions on the lazy flags, as terms.
//!
//! What produced the flags is known, so that `cmp; jb` gives `a <u b` and not a pattern of bits.
//! AF is not followed where flags must be written down as bits: nothing but `pushf` and `lahf` could
//! read it there.

use stunt_terms::{Pool, Term};

use crate::{
    code::{Condition, Width, slots},
    cpu::{Cpu, FlagKind},
};

use super::shadow::{FlagTerms, Noted, put_flags};

/// CF, ZF, SF and OF in `rflags`.
const CF: u8 = 0;
const PF: u8 = 2;
const ZF: u8 = 6;
const SF: u8 = 7;
const OF: u8 = 11;

/// The flags that are followed: all but AF.
pub(super) const FOLLOWED: u64 = 1 << CF | 1 << PF | 1 << ZF | 1 << SF | 1 << OF;

/// The flags of a processor, as terms.
pub(super) struct Flags<'a> {
    pub(super) pool: &'a mut Pool,
    pub(super) kind: FlagKind,
    pub(super) w: Width,
    pub(super) terms: FlagTerms,
}

/// The lower bits of what a slot holds: of a narrow term, the others are zero.
pub(super) fn low(pool: &mut Pool, w: Width, term: Term) -> Term {
    let bits = w.bits() as u8;
    match pool.width(term) {
        have if have == bits => term,
        have if have > bits => pool.extract(bits - 1, 0, term),
        _ => pool.zero_extend(bits, term),
    }
}

impl<'a> Flags<'a> {
    /// The flags of `cpu`, if they depend on the input.
    pub(super) fn of(pool: &'a mut Pool, cpu: &Cpu) -> Option<Self> {
        let Noted { terms, kind, w } = cpu.shadow.flags()?;
        Some(Self { pool, kind, w, terms })
    }

    fn bits(&self) -> u8 {
        self.w.bits() as u8
    }

    /// The operands of an addition or a subtraction, at the width.
    fn operands(&mut self) -> Option<(Term, Term)> {
        match self.terms {
            FlagTerms::Operands(a, b) => {
                Some((low(self.pool, self.w, a), low(self.pool, self.w, b)))
            }
            FlagTerms::Result(..) => None,
        }
    }

    /// The result, at the width.
    fn result(&mut self) -> Term {
        match self.terms {
            FlagTerms::Result(r, _) => low(self.pool, self.w, r),
            FlagTerms::Operands(..) => {
                let (a, b) = self.operands().expect("there are operands");
                let one = self.pool.constant(self.bits(), 1);
                match self.kind {
                    FlagKind::Add => self.pool.add(a, b),
                    FlagKind::AddCarry => {
                        let sum = self.pool.add(a, b);
                        self.pool.add(sum, one)
                    }
                    FlagKind::SubBorrow => {
                        let difference = self.pool.sub(a, b);
                        self.pool.sub(difference, one)
                    }
                    _ => self.pool.sub(a, b),
                }
            }
        }
    }

    fn bit_of(&mut self, term: Term, bit: u8) -> Term {
        if bit >= self.pool.width(term) {
            return self.pool.boolean(false);
        }
        let bit = self.pool.extract(bit, bit, term);
        let one = self.pool.constant(1, 1);
        self.pool.eq(bit, one)
    }

    fn operand_bit(&mut self, bit: u8) -> Term {
        match self.terms {
            FlagTerms::Result(_, operand) => self.bit_of(operand, bit),
            FlagTerms::Operands(..) => self.pool.boolean(false),
        }
    }

    fn flag(&mut self, bit: u8) -> Term {
        match self.terms {
            FlagTerms::Result(r, _) => self.bit_of(r, bit),
            FlagTerms::Operands(..) => self.pool.boolean(false),
        }
    }

    /// CF.
    pub(super) fn carry(&mut self) -> Term {
        match self.kind {
            FlagKind::Bits => self.flag(CF),
            FlagKind::Add | FlagKind::AddCarry => {
                let (_, b) = self.operands().expect("an addition has operands");
                let r = self.result();
                if self.kind == FlagKind::Add { self.pool.ult(r, b) } else { self.pool.ule(r, b) }
            }
            FlagKind::Sub | FlagKind::SubBorrow => {
                let (a, b) = self.operands().expect("a subtraction has operands");
                if self.kind == FlagKind::Sub { self.pool.ult(a, b) } else { self.pool.ule(a, b) }
            }
            FlagKind::Logic => self.pool.boolean(false),
            _ => self.operand_bit(0),
        }
    }

    /// ZF.
    pub(super) fn zero(&mut self) -> Term {
        match self.kind {
            FlagKind::Bits => self.flag(ZF),
            FlagKind::Sub => {
                let (a, b) = self.operands().expect("a subtraction has operands");
                self.pool.eq(a, b)
            }
            _ => {
                let r = self.result();
                let zero = self.pool.constant(self.bits(), 0);
                self.pool.eq(r, zero)
            }
        }
    }

    /// SF.
    pub(super) fn sign(&mut self) -> Term {
        if self.kind == FlagKind::Bits {
            return self.flag(SF);
        }
        let r = self.result();
        let zero = self.pool.constant(self.bits(), 0);
        self.pool.slt(r, zero)
    }

    fn parity(&mut self) -> Term {
        if self.kind == FlagKind::Bits {
            return self.flag(PF);
        }
        let r = self.result();
        even_parity(self.pool, r)
    }

    /// OF.
    pub(super) fn overflow(&mut self) -> Term {
        let top = self.bits() - 1;
        match self.kind {
            FlagKind::Bits => self.flag(OF),
            FlagKind::Add | FlagKind::AddCarry | FlagKind::Sub | FlagKind::SubBorrow => {
                let (a, b) = self.operands().expect("there are operands");
                let r = self.result();
                let (x, y) = match self.kind {
                    FlagKind::Add | FlagKind::AddCarry => {
                        (self.pool.xor(a, r), self.pool.xor(b, r))
                    }
                    _ => (self.pool.xor(a, b), self.pool.xor(a, r)),
                };
                let both = self.pool.and(x, y);
                self.bit_of(both, top)
            }
            FlagKind::Logic | FlagKind::Sar => self.pool.boolean(false),
            FlagKind::Inc | FlagKind::Dec => {
                let r = self.result();
                let edge = match self.kind {
                    FlagKind::Inc => 1 << top,
                    _ => u128::from(self.w.mask() >> 1),
                };
                let edge = self.pool.constant(self.bits(), edge);
                self.pool.eq(r, edge)
            }
            FlagKind::Shl => {
                let r = self.result();
                let (sign, out) = (self.bit_of(r, top), self.operand_bit(0));
                self.pool.ne(sign, out)
            }
            FlagKind::Shr => self.operand_bit(1),
            FlagKind::Mul => self.operand_bit(0),
        }
    }

    /// `sign != overflow`.
    fn less(&mut self) -> Term {
        match self.kind {
            FlagKind::Sub => {
                let (a, b) = self.operands().expect("a subtraction has operands");
                self.pool.slt(a, b)
            }
            FlagKind::Logic => self.sign(),
            _ => {
                let (sign, overflow) = (self.sign(), self.overflow());
                self.pool.ne(sign, overflow)
            }
        }
    }

    /// A condition.
    pub(super) fn holds(&mut self, cc: Condition) -> Term {
        let negated = cc as u8 & 1 != 0;
        let plain = match cc {
            Condition::O | Condition::No => self.overflow(),
            Condition::B | Condition::Ae => self.carry(),
            Condition::E | Condition::Ne => self.zero(),
            Condition::Be | Condition::A if self.kind == FlagKind::Sub => {
                let (a, b) = self.operands().expect("a subtraction has operands");
                self.pool.ule(a, b)
            }
            Condition::Be | Condition::A => {
                let (carry, zero) = (self.carry(), self.zero());
                self.pool.or(carry, zero)
            }
            Condition::S | Condition::Ns => self.sign(),
            Condition::P | Condition::Np => self.parity(),
            Condition::L | Condition::Ge => self.less(),
            Condition::Le | Condition::G if self.kind == FlagKind::Sub => {
                let (a, b) = self.operands().expect("a subtraction has operands");
                self.pool.sle(a, b)
            }
            Condition::Le | Condition::G => {
                let (less, zero) = (self.less(), self.zero());
                self.pool.or(less, zero)
            }
        };
        if negated { self.pool.not(plain) } else { plain }
    }

    /// The flags as bits in their places in `rflags`, 64 of them; AF as in `known`.
    pub(super) fn word(&mut self, known: u64) -> Term {
        if self.kind == FlagKind::Bits
            && let FlagTerms::Result(r, _) = self.terms
        {
            return r;
        }
        let word = self.pool.constant(64, u128::from(known & !FOLLOWED));
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
fn even_parity(pool: &mut Pool, r: Term) -> Term {
    let low = low(pool, Width::W8, r);
    let even: Vec<u64> = (0..256u64).map(|v| u64::from(v.count_ones() % 2 == 0)).collect();
    let table = pool.add_table(8, even);
    let even = pool.table(table, low);
    let one = pool.constant(8, 1);
    pool.eq(even, one)
}

fn with_flag(pool: &mut Pool, word: Term, bit: u8, flag: Term) -> Term {
    let (set, clear) = (pool.constant(64, 1 << bit), pool.constant(64, 0));
    let flag = pool.ite(flag, set, clear);
    pool.or(word, flag)
}

/// PF, ZF and SF of a result, in their places in a word that is otherwise zero.
pub(super) fn flags_of_result(pool: &mut Pool, r: Term) -> Term {
    let zero = pool.constant(pool.width(r), 0);
    let flags = [(PF, even_parity(pool, r)), (ZF, pool.eq(r, zero)), (SF, pool.slt(r, zero))];
    let word = pool.constant(64, 0);
    flags.into_iter().fold(word, |word, (bit, flag)| with_flag(pool, word, bit, flag))
}

/// Writes the flags of `cpu` down as bits, so that single ones of them can be replaced. Gives the
/// word, whether or not it depends on the input.
pub(super) fn as_bits(pool: &mut Pool, cpu: &mut Cpu) -> Term {
    let known = cpu.flag_bits();
    let (word, followed) = match Flags::of(pool, cpu) {
        Some(mut flags) => (flags.word(known), true),
        None => (pool.constant(64, u128::from(known)), false),
    };
    cpu.note(FlagKind::Bits, Width::W8, known, 0);
    cpu.set(slots::FLAG_RESULT, known);
    if followed {
        // What is to replace them may fail, and then this is what they are.
        let none = pool.constant(64, 0);
        put_flags(cpu, FlagTerms::Result(word, none));
    }
    word
}
