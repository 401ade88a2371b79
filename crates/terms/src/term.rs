//! The one term type: what a term is, and the normal form that every term has.
//!
//! A [`Term`] is a handle into a [`Pool`](crate::Pool); equal handles are equal terms. A term has
//! a [`Sort`]: `Bool`, or a bit vector of 1 to 128 bits. Its leaves are constants and input bytes.
//!
//! # Normal form
//!
//! Terms are built only by the pool's constructors, which keep these rules:
//!
//! 1. No operator has only constant operands, and no term is left of which every bit is known
//!    (see `facts.rs`); such terms are constants.
//! 2. A constant operand of a commutative operator, and of a comparison, is the second one.
//!    Operands of commutative operators are otherwise ordered by handle.
//! 3. Of the comparisons only `Eq`, `Ult` and `Slt` occur. `a <= b` is `not (b < a)`.
//! 4. Every comparison with a constant tests an interval: `x = c`, `x <u c`, `x <s c`, or the range
//!    check `x - lo <u n`. A bit is compared with 1 only. The tested term is never an extension, a
//!    sum with a constant (but for the range check), a negation, or a concatenation that the
//!    interval leaves whole; those tests are tests of their operands.
//! 5. `x - c` is `x + (-c)`; a sum has at most one constant, outermost; `0 - x` is `Neg x`;
//!    multiples of one term are collected.
//! 6. Shifts by a constant do not occur: they are extracts, concatenations and extensions.
//!    Multiplication by a power of two is such a shift; so are unsigned division and remainder.
//!    A constant shifted by a term is a table read.
//! 7. Leading zeros are a `ZeroExtend`, never a `Concat` with a zero in front; no extension has
//!    an extension of the same kind as its operand, and none of a number that is not negative is
//!    a `SignExtend`.
//! 8. `Concat` leans to the right: its first operand is never a `Concat`. Neighbouring extracts
//!    of one term and neighbouring constants are merged.
//! 9. `Extract` never has a `Concat`, an extension, or another `Extract` as its operand.
//! 10. An `Ite` never has a negated condition, equal branches, or Bool branches of which one is
//!     constant (those are `And` and `Or`).
//! 11. A truth value as a number is `Ite c 1 0`, and is compared only through `c` itself.
//! 12. Bools are in negation normal form: `Not` stands on comparisons only. `Xor` of Bools is
//!     `Not (Eq a b)`. `Not (Not x)` does not occur at any sort.
//! 13. An equality of concatenations that are cut at one place is a conjunction of equalities.
//! 14. A table read at an index of at most 10 bits has as many entries as the index has values.
//!
//! # Adding an operator
//!
//! [`Op`], its value in `value.rs`, its rules in `rewrite/`, its text in `smtlib/`, its compiled
//! form in `program.rs`, and lines in `tests/rewrites.txt`; the circuit and the summary rules
//! of the crates above match on [`Op`] exhaustively, so the compiler names the other places.

use std::fmt;
use std::num::NonZeroU32;

/// A handle of a term in its [`Pool`](crate::Pool). Operands have smaller handles than their users.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(NonZeroU32);

impl Term {
    pub(crate) fn from_index(index: usize) -> Term {
        let raw = u32::try_from(index + 1).expect("a pool holds fewer than 2^32 terms");
        Term(NonZeroU32::new(raw).expect("an index plus one is not zero"))
    }

    /// The handle as a number, for those who keep terms packed.
    pub fn handle(self) -> NonZeroU32 {
        self.0
    }

    /// The term whose [`handle`](Term::handle) this is.
    pub fn from_handle(handle: NonZeroU32) -> Term {
        Term(handle)
    }

    /// The position of this term in its pool: dense, from 0, operands before their users.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.index())
    }
}

/// The widest bit vector.
pub const MAX_WIDTH: u8 = 128;

/// The sort of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    /// A truth value.
    Bool,
    /// A bit vector of that many bits, 1 to 128.
    Bits(u8),
}

impl Sort {
    /// How many bits a value of this sort has; a Bool has one.
    pub fn bits(self) -> u8 {
        match self {
            Sort::Bool => 1,
            Sort::Bits(width) => width,
        }
    }

    /// All ones in this sort.
    pub fn mask(self) -> u128 {
        mask(self.bits())
    }
}

/// The number with the `width` lowest bits set.
#[inline]
pub fn mask(width: u8) -> u128 {
    debug_assert!(width <= MAX_WIDTH);
    if width == MAX_WIDTH { u128::MAX } else { (1 << width) - 1 }
}

/// One byte of the input: which source (file, standard input, …; the caller numbers them) and
/// where in it. The byte is a variable; its value is in an [`Assignment`](crate::Assignment).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct InputByte {
    /// The number of the source.
    pub source: u16,
    /// The offset in the source.
    pub offset: u32,
}

impl InputByte {
    /// Byte `offset` of source `source`.
    pub fn new(source: u16, offset: u32) -> InputByte {
        InputByte { source, offset }
    }
}

impl fmt::Display for InputByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in{}@{}", self.source, self.offset)
    }
}

/// A handle of a constant table in its [`Pool`](crate::Pool); equal tables have equal handles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TableId(pub(crate) u32);

/// A constant table. Reading past its end gives zero, so that evaluation is total; whoever builds
/// a table read adds the bounds as a condition of its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Table {
    /// The width of an entry, 1 to 64 bits.
    pub width: u8,
    /// The entries, each within the width.
    pub entries: Box<[u64]>,
}

impl Table {
    /// The entry at `index`, or zero past the end.
    #[inline]
    pub fn read(&self, index: u128) -> u64 {
        usize::try_from(index).ok().and_then(|i| self.entries.get(i)).copied().unwrap_or(0)
    }
}

/// What a term is, seen from outside: its operator with its operands.
///
/// The sorts of the operands are as in SMT-LIB; `And`, `Or`, `Not`, `Eq` and `Ite` are also the
/// Boolean connectives when their operands are Bool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A constant; a Bool is 0 or 1.
    Const(u128),
    /// An input byte, 8 bits wide.
    Byte(InputByte),
    /// Complement of every bit, or of a truth value.
    Not(Term),
    /// Two's complement negation.
    Neg(Term),
    /// Conjunction, bit by bit.
    And(Term, Term),
    /// Disjunction, bit by bit.
    Or(Term, Term),
    /// Exclusive or, bit by bit; not on Bools.
    Xor(Term, Term),
    /// Sum modulo 2^width.
    Add(Term, Term),
    /// Difference modulo 2^width; the second operand is not constant.
    Sub(Term, Term),
    /// Product modulo 2^width.
    Mul(Term, Term),
    /// Unsigned quotient; all ones when the divisor is zero.
    UDiv(Term, Term),
    /// Unsigned remainder; the dividend when the divisor is zero.
    URem(Term, Term),
    /// Signed quotient, truncated; by zero: 1 for a negative dividend, else all ones.
    SDiv(Term, Term),
    /// Signed remainder with the dividend's sign; the dividend when the divisor is zero.
    SRem(Term, Term),
    /// Shift left; zero when shifted by the width or more. The amount is not constant.
    Shl(Term, Term),
    /// Logical shift right; zero when shifted by the width or more. The amount is not constant.
    LShr(Term, Term),
    /// Arithmetic shift right; all sign bits when shifted by the width or more.
    AShr(Term, Term),
    /// The first operand's bits above the second's.
    Concat(Term, Term),
    /// Bits `lo` up to the highest that the result's width gives.
    Extract {
        /// The lowest bit taken.
        lo: u8,
        /// What it is taken from.
        arg: Term,
    },
    /// Zeros in front, up to the term's width.
    ZeroExtend(Term),
    /// Copies of the sign bit in front, up to the term's width.
    SignExtend(Term),
    /// The second operand if the first (a Bool) is true, else the third.
    Ite(Term, Term, Term),
    /// The table's entry at the index, zero past its end.
    Table(TableId, Term),
    /// Equality; the operands may be Bools.
    Eq(Term, Term),
    /// Unsigned less than.
    Ult(Term, Term),
    /// Signed less than.
    Slt(Term, Term),
}

impl Op {
    /// The operands, in order.
    pub fn operands(self) -> Operands {
        let (items, len) = match self {
            Op::Const(_) | Op::Byte(_) => ([None; 3], 0),
            Op::Not(a)
            | Op::Neg(a)
            | Op::Extract { arg: a, .. }
            | Op::ZeroExtend(a)
            | Op::SignExtend(a)
            | Op::Table(_, a) => ([Some(a), None, None], 1),
            Op::And(a, b)
            | Op::Or(a, b)
            | Op::Xor(a, b)
            | Op::Add(a, b)
            | Op::Sub(a, b)
            | Op::Mul(a, b)
            | Op::UDiv(a, b)
            | Op::URem(a, b)
            | Op::SDiv(a, b)
            | Op::SRem(a, b)
            | Op::Shl(a, b)
            | Op::LShr(a, b)
            | Op::AShr(a, b)
            | Op::Concat(a, b)
            | Op::Eq(a, b)
            | Op::Ult(a, b)
            | Op::Slt(a, b) => ([Some(a), Some(b), None], 2),
            Op::Ite(a, b, c) => ([Some(a), Some(b), Some(c)], 3),
        };
        Operands { items, next: 0, len }
    }
}

/// The operands of an [`Op`], in order.
#[derive(Clone, Debug)]
pub struct Operands {
    items: [Option<Term>; 3],
    next: usize,
    len: usize,
}

impl Operands {
    /// The first `len` of the terms at these positions.
    #[inline]
    pub(crate) fn first(len: usize, positions: [u32; 3]) -> Operands {
        // Positions of terms are below the largest number; what is no position is not used.
        let term = |position: u32| NonZeroU32::new(position.wrapping_add(1)).map(Term);
        Operands { items: positions.map(term), next: 0, len }
    }
}

impl Iterator for Operands {
    type Item = Term;

    #[inline]
    fn next(&mut self) -> Option<Term> {
        if self.next == self.len {
            return None;
        }
        self.next += 1;
        self.items[self.next - 1]
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len - self.next, Some(self.len - self.next))
    }
}

impl ExactSizeIterator for Operands {}
