//! Constructors that are abbreviations: the operators of SMT-LIB that the normal form does not
//! have, and a few that callers want.

use crate::pool::Pool;
use crate::term::{InputByte, Sort, Term};

impl Pool {
    /// `a != b`.
    pub fn ne(&mut self, a: Term, b: Term) -> Term {
        let eq = self.eq(a, b);
        self.not(eq)
    }

    /// Unsigned `a <= b`.
    pub fn ule(&mut self, a: Term, b: Term) -> Term {
        let greater = self.ult(b, a);
        self.not(greater)
    }

    /// Unsigned `a > b`.
    pub fn ugt(&mut self, a: Term, b: Term) -> Term {
        self.ult(b, a)
    }

    /// Unsigned `a >= b`.
    pub fn uge(&mut self, a: Term, b: Term) -> Term {
        self.ule(b, a)
    }

    /// Signed `a <= b`.
    pub fn sle(&mut self, a: Term, b: Term) -> Term {
        let greater = self.slt(b, a);
        self.not(greater)
    }

    /// Signed `a > b`.
    pub fn sgt(&mut self, a: Term, b: Term) -> Term {
        self.slt(b, a)
    }

    /// Signed `a >= b`.
    pub fn sge(&mut self, a: Term, b: Term) -> Term {
        self.sle(b, a)
    }

    /// `a` implies `b`; Bools.
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_a = self.not(a);
        self.or(not_a, b)
    }

    /// All of them; true if there are none. Built as a balanced tree, so that a long conjunction
    /// is not a deep one.
    pub fn and_all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let truth = self.boolean(true);
        self.balanced(terms.into_iter().collect(), Pool::and).unwrap_or(truth)
    }

    /// Any of them; false if there are none. Built as a balanced tree.
    pub fn or_all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let falsity = self.boolean(false);
        self.balanced(terms.into_iter().collect(), Pool::or).unwrap_or(falsity)
    }

    fn balanced(
        &mut self,
        mut terms: Vec<Term>,
        join: fn(&mut Pool, Term, Term) -> Term,
    ) -> Option<Term> {
        while terms.len() > 1 {
            terms = terms
                .chunks(2)
                .map(|pair| match *pair {
                    [a, b] => join(self, a, b),
                    _ => pair[0],
                })
                .collect();
        }
        terms.first().copied()
    }

    /// A truth value as a number of `width` bits, 0 or 1 (x86 `setcc`, SMT-LIB `bvcomp`).
    pub fn truth_as_bits(&mut self, width: u8, condition: Term) -> Term {
        let (one, zero) = (self.constant(width, 1), self.constant(width, 0));
        self.ite(condition, one, zero)
    }

    /// Signed remainder with the divisor's sign, SMT-LIB `bvsmod`.
    pub fn smod(&mut self, a: Term, b: Term) -> Term {
        let remainder = self.srem(a, b);
        let zero = self.constant(self.width(a), 0);
        let (r_negative, b_negative) = (self.slt(remainder, zero), self.slt(b, zero));
        let (is_zero, same) = (self.eq(remainder, zero), self.eq(r_negative, b_negative));
        let keep = self.or(is_zero, same);
        let shifted = self.add(remainder, b);
        self.ite(keep, remainder, shifted)
    }

    /// Rotation to the left by a constant number of bits.
    pub fn rotate_left(&mut self, by: u8, a: Term) -> Term {
        let width = self.width(a);
        let by = by % width;
        if by == 0 {
            return a;
        }
        let high = self.extract(width - by - 1, 0, a);
        let low = self.extract(width - 1, width - by, a);
        self.concat(high, low)
    }

    /// Rotation to the right by a constant number of bits.
    pub fn rotate_right(&mut self, by: u8, a: Term) -> Term {
        let width = self.width(a);
        self.rotate_left(width - by % width, a)
    }

    /// Byte `offset` of source `source`.
    pub fn input(&mut self, source: u16, offset: u32) -> Term {
        self.byte(InputByte::new(source, offset))
    }

    /// The constant of a sort; a Bool is 0 or 1.
    pub fn constant_of(&mut self, sort: Sort, value: u128) -> Term {
        match sort {
            Sort::Bool => self.boolean(value & 1 == 1),
            Sort::Bits(width) => self.constant(width, value),
        }
    }
}
