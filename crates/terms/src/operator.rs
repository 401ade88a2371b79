//! Operators without their operands, for code that keeps operands in places of its own.
//!
//! An [`Operator`] has all that a value depends on besides the values of the operands, so that it
//! can be applied millions of times without looking at a pool. What the operators mean is in
//! `value.rs`; where operands come from is for others to know.

use crate::pool::Pool;
use crate::term::{Table, Term, mask};
use crate::value;

/// What a term is, without its operands: the names are those of [`Op`](crate::Op).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "each is documented in `Op`")]
pub enum Kind {
    Const,
    Byte,
    Not,
    Neg,
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    UDiv,
    URem,
    SDiv,
    SRem,
    Shl,
    LShr,
    AShr,
    Concat,
    Extract,
    ZeroExtend,
    SignExtend,
    Ite,
    Table,
    Eq,
    Ult,
    Slt,
}

impl Kind {
    /// How many operands there are.
    #[inline]
    pub fn arity(self) -> usize {
        match self {
            Kind::Const | Kind::Byte => 0,
            Kind::Not
            | Kind::Neg
            | Kind::Extract
            | Kind::ZeroExtend
            | Kind::SignExtend
            | Kind::Table => 1,
            Kind::Ite => 3,
            Kind::And
            | Kind::Or
            | Kind::Xor
            | Kind::Add
            | Kind::Sub
            | Kind::Mul
            | Kind::UDiv
            | Kind::URem
            | Kind::SDiv
            | Kind::SRem
            | Kind::Shl
            | Kind::LShr
            | Kind::AShr
            | Kind::Concat
            | Kind::Eq
            | Kind::Ult
            | Kind::Slt => 2,
        }
    }
}

/// An operator that can be applied to numbers.
#[derive(Clone, Copy, Debug)]
pub struct Operator<'p> {
    kind: Kind,
    /// The width of the result.
    width: u8,
    /// The width of the operand that matters (the low part of a concatenation, what is extended
    /// or compared), or the lowest bit of an extract.
    detail: u8,
    table: Option<&'p Table>,
}

impl<'p> Operator<'p> {
    /// The operator of a term; `None` for constants and bytes.
    #[inline]
    pub fn of(pool: &'p Pool, term: Term) -> Option<Operator<'p>> {
        let kind = pool.kind(term);
        let mut operator = Operator::plain(kind, pool.width(term));
        let mut operands = pool.operands(term);
        match kind {
            Kind::Const | Kind::Byte => return None,
            Kind::Concat => operator.detail = operands.nth(1).map_or(0, |low| pool.width(low)),
            Kind::SignExtend | Kind::Slt => {
                operator.detail = operands.next().map_or(0, |a| pool.width(a));
            }
            Kind::Extract => operator.detail = pool.lowest_bit(term),
            Kind::Table => operator.table = pool.table_of(term),
            Kind::Not
            | Kind::Neg
            | Kind::And
            | Kind::Or
            | Kind::Xor
            | Kind::Add
            | Kind::Sub
            | Kind::Mul
            | Kind::UDiv
            | Kind::URem
            | Kind::SDiv
            | Kind::SRem
            | Kind::Shl
            | Kind::LShr
            | Kind::AShr
            | Kind::ZeroExtend
            | Kind::Ite
            | Kind::Eq
            | Kind::Ult => {}
        }
        Some(operator)
    }

    /// An operator of the given width on operands of the same width; the low bits for an extract.
    pub fn plain(kind: Kind, width: u8) -> Operator<'static> {
        Operator { kind, width, detail: 0, table: None }
    }

    /// Which operator it is.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The lowest bit that an extract takes; 0 for other operators.
    #[inline]
    pub fn lowest_bit(&self) -> u8 {
        if self.kind == Kind::Extract { self.detail } else { 0 }
    }

    /// The table of a table read.
    #[inline]
    pub fn table(&self) -> Option<&'p Table> {
        self.table
    }

    /// The width of the result; 1 for a Bool.
    #[inline]
    pub fn width(&self) -> u8 {
        self.width
    }

    /// The value on the operands' values; unused operands are ignored.
    ///
    /// # Panics
    /// If it is the kind of a constant or a byte, which are not applied to anything.
    #[inline]
    pub fn apply(&self, a: u128, b: u128, c: u128) -> u128 {
        let width = self.width;
        match self.kind {
            Kind::Const | Kind::Byte => unreachable!("constants and bytes have no operands"),
            Kind::Not => !a & mask(width),
            Kind::Neg => value::neg(width, a),
            Kind::And => a & b,
            Kind::Or => a | b,
            Kind::Xor => a ^ b,
            Kind::Add => value::add(width, a, b),
            Kind::Sub => value::sub(width, a, b),
            Kind::Mul => value::mul(width, a, b),
            Kind::UDiv => value::udiv(width, a, b),
            Kind::URem => value::urem(a, b),
            Kind::SDiv => value::sdiv(width, a, b),
            Kind::SRem => value::srem(width, a, b),
            Kind::Shl => value::shl(width, a, b),
            Kind::LShr => value::lshr(width, a, b),
            Kind::AShr => value::ashr(width, a, b),
            Kind::Concat => value::concat(self.detail, a, b),
            Kind::Extract => value::extract(width, self.detail, a),
            Kind::ZeroExtend => a,
            Kind::SignExtend => value::sign_extend(self.detail, width, a),
            Kind::Ite => {
                if a == 1 {
                    b
                } else {
                    c
                }
            }
            Kind::Table => self.table.map_or(0, |table| u128::from(table.read(a))),
            Kind::Eq => u128::from(a == b),
            Kind::Ult => u128::from(a < b),
            Kind::Slt => u128::from(value::slt(self.detail, a, b)),
        }
    }
}
