//! Term construction.

use crate::pool::Pool;
use crate::term::{InputByte, MAX_WIDTH, Op, Sort, TableId, Term, mask};
use crate::value;

/// How often each rule was applied.
#[derive(Default)]
pub struct RuleCounts {}

impl Pool {
    /// The constant of `width` bits; higher bits of `value` are cut off.
    pub fn constant(&mut self, width: u8, value: u128) -> Term {
        assert!((1..=MAX_WIDTH).contains(&width));
        self.intern(Sort::Bits(width), Op::Const(value & mask(width)))
    }
    /// The truth value.
    pub fn boolean(&mut self, value: bool) -> Term {
        self.intern(Sort::Bool, Op::Const(u128::from(value)))
    }
    /// The input byte as a term.
    pub fn byte(&mut self, byte: InputByte) -> Term {
        self.intern(Sort::Bits(8), Op::Byte(byte))
    }
    fn fold1(&mut self, sort: Sort, op: Op, a: Term, f: impl Fn(u128) -> u128) -> Term {
        match self.as_const(a) {
            Some(x) => { let v = f(x) & sort.mask(); self.intern(sort, Op::Const(v)) }
            None => self.intern(sort, op),
        }
    }
    fn fold2(&mut self, sort: Sort, op: Op, a: Term, b: Term, f: impl Fn(u128, u128) -> u128) -> Term {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => { let v = f(x, y) & sort.mask(); self.intern(sort, Op::Const(v)) }
            _ => self.intern(sort, op),
        }
    }
    /// Complement.
    pub fn not(&mut self, a: Term) -> Term {
        if let Op::Not(x) = self.op(a) { return x; }
        self.fold1(self.sort(a), Op::Not(a), a, |x| !x)
    }
    /// Negation.
    pub fn neg(&mut self, a: Term) -> Term { let w = self.width(a); self.fold1(self.sort(a), Op::Neg(a), a, |x| value::neg(w, x)) }
    /// Conjunction.
    pub fn and(&mut self, a: Term, b: Term) -> Term { self.fold2(self.sort(a), Op::And(a, b), a, b, |x, y| x & y) }
    /// Disjunction.
    pub fn or(&mut self, a: Term, b: Term) -> Term { self.fold2(self.sort(a), Op::Or(a, b), a, b, |x, y| x | y) }
    /// Exclusive or; also of Bools.
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        if self.is_bool(a) { let e = self.eq(a, b); return self.not(e); }
        self.fold2(self.sort(a), Op::Xor(a, b), a, b, |x, y| x ^ y)
    }
    /// Sum.
    pub fn add(&mut self, a: Term, b: Term) -> Term { let w = self.width(a); self.fold2(self.sort(a), Op::Add(a, b), a, b, |x, y| value::add(w, x, y)) }
    /// Difference.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        if self.as_const(b).is_some() { let n = self.neg(b); return self.add(a, n); }
        let w = self.width(a); self.fold2(self.sort(a), Op::Sub(a, b), a, b, |x, y| value::sub(w, x, y)) }
    /// Product.
    pub fn mul(&mut self, a: Term, b: Term) -> Term { let w = self.width(a); self.fold2(self.sort(a), Op::Mul(a, b), a, b, |x, y| value::mul(w, x, y)) }
    /// Unsigned quotient.
    pub fn udiv(&mut self, a: Term, b: Term) -> Term { let w = self.width(a); self.fold2(self.sort(a), Op::UDiv(a, b), a, b, |x, y| value::udiv(w, x, y)) }
    /// Unsigned remainder.
    pub fn urem(&mut self, a: Term, b: Term) -> Term { self.fold2(self.sort(a), Op::URem(a, b), a, b, value::urem) }
    /// Signed quotient.
    pub fn sdiv(&mut self, a: Term, b: Term) -> Term { let w = self.width(a); self.fold2(self.sort(a), Op::SDiv(a, b), a, b, |x, y| value::sdiv(w, x, y)) }
    /// Signed remainder.
    pub fn srem(&mut self, a: Term, b: Term) -> Term { let w = self.width(a); self.fold2(self.sort(a), Op::SRem(a, b), a, b, |x, y| value::srem(w, x, y)) }
    /// Shift left.
    pub fn shl(&mut self, a: Term, b: Term) -> Term { let w = self.width(a); self.fold2(self.sort(a), Op::Shl(a, b), a, b, |x, y| value::shl(w, x, y)) }
    /// Logical shift right.
    pub fn lshr(&mut self, a: Term, b: Term) -> Term { let w = self.width(a); self.fold2(self.sort(a), Op::LShr(a, b), a, b, |x, y| value::lshr(w, x, y)) }
    /// Arithmetic shift right.
    pub fn ashr(&mut self, a: Term, b: Term) -> Term { let w = self.width(a); self.fold2(self.sort(a), Op::AShr(a, b), a, b, |x, y| value::ashr(w, x, y)) }
    /// Concatenation: `a` above `b`.
    pub fn concat(&mut self, a: Term, b: Term) -> Term {
        let low = self.width(b);
        let sort = Sort::Bits(self.width(a) + low);
        self.fold2(sort, Op::Concat(a, b), a, b, |x, y| value::concat(low, x, y))
    }
    /// Bits `hi` down to `lo`, both included.
    pub fn extract(&mut self, hi: u8, lo: u8, a: Term) -> Term {
        let width = hi - lo + 1;
        if width == self.width(a) { return a; }
        self.fold1(Sort::Bits(width), Op::Extract { lo, arg: a }, a, |x| value::extract(width, lo, x))
    }
    /// Zeros in front, up to `width` bits.
    pub fn zero_extend(&mut self, width: u8, a: Term) -> Term {
        if width == self.width(a) { return a; }
        self.fold1(Sort::Bits(width), Op::ZeroExtend(a), a, |x| x)
    }
    /// Sign bits in front, up to `width` bits.
    pub fn sign_extend(&mut self, width: u8, a: Term) -> Term {
        let from = self.width(a);
        if width == from { return a; }
        self.fold1(Sort::Bits(width), Op::SignExtend(a), a, |x| value::sign_extend(from, width, x))
    }
    /// `then` if `condition`, else `other`.
    pub fn ite(&mut self, condition: Term, then: Term, other: Term) -> Term {
        match self.as_const(condition) {
            Some(1) => then,
            Some(_) => other,
            None => { let s = self.sort(then); self.intern(s, Op::Ite(condition, then, other)) }
        }
    }
    /// The table's entry at `index`.
    pub fn table(&mut self, table: TableId, index: Term) -> Term {
        let sort = Sort::Bits(self.table_data(table).width);
        match self.as_const(index) {
            Some(i) => { let v = u128::from(self.table_data(table).read(i)); self.intern(sort, Op::Const(v)) }
            None => self.intern(sort, Op::Table(table, index)),
        }
    }
    /// Equality.
    pub fn eq(&mut self, a: Term, b: Term) -> Term { self.fold2(Sort::Bool, Op::Eq(a, b), a, b, |x, y| u128::from(x == y)) }
    /// Unsigned `a < b`.
    pub fn ult(&mut self, a: Term, b: Term) -> Term { self.fold2(Sort::Bool, Op::Ult(a, b), a, b, |x, y| u128::from(x < y)) }
    /// Signed `a < b`.
    pub fn slt(&mut self, a: Term, b: Term) -> Term { let w = self.width(a); self.fold2(Sort::Bool, Op::Slt(a, b), a, b, |x, y| u128::from(value::slt(w, x, y))) }
}
