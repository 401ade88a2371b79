//! Sums, differences, negation and products.
//!
//! Address arithmetic writes a product as shifts and sums (`lea`), and a difference as a sum with
//! a negative constant. Here a sum has its constant outermost, and multiples of one term are
//! collected.

use super::Rule;
use crate::memo::Question;
use crate::pool::Pool;
use crate::term::{Op, Term};
use crate::value;

impl Pool {
    /// Two's complement negation.
    pub fn neg(&mut self, a: Term) -> Term {
        let sort = self.sort(a);
        let width = sort.bits();
        match self.op(a) {
            Op::Const(c) => return self.constant(width, value::neg(width, c)),
            Op::Neg(x) => return self.by(Rule::NegNeg, x),
            Op::Not(x) => {
                let one = self.constant(width, 1);
                let sum = self.add(x, one);
                return self.by(Rule::NegNot, sum);
            }
            Op::Sub(x, y) => {
                let difference = self.sub(y, x);
                return self.by(Rule::NegSub, difference);
            }
            Op::Add(x, c) => {
                if let Some(c) = self.as_const(c) {
                    let from = self.constant(width, value::neg(width, c));
                    let difference = self.sub(from, x);
                    return self.by(Rule::NegSum, difference);
                }
            }
            Op::Mul(x, c) => {
                if let Some(c) = self.as_const(c) {
                    let factor = self.constant(width, value::neg(width, c));
                    let product = self.mul(x, factor);
                    return self.by(Rule::NegProduct, product);
                }
            }
            Op::ZeroExtend(bit) if self.width(bit) == 1 => {
                let mask = self.sign_extend(width, bit);
                return self.by(Rule::NegBit, mask);
            }
            _ => {}
        }
        match self.lift_unary(sort, a, |x| value::neg(width, x)) {
            Some(lifted) => lifted,
            None => self.intern(sort, Op::Neg(a)),
        }
    }

    /// Sum modulo 2^width.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        self.remembered(Question::Add, [a, b], |pool| pool.add_anew(a, b))
    }

    fn add_anew(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        let (a, b) = self.ordered(a, b);
        let simpler = match self.as_const(b) {
            Some(c) => self.add_const(a, c),
            None => self.add_terms(a, b),
        };
        if let Some((rule, sum)) = simpler {
            return self.by(rule, sum);
        }
        if let Some(lifted) = self.lift_binary(sort, a, b, |x, y| value::add(sort.bits(), x, y)) {
            return lifted;
        }
        if let Some(joined) = self.disjoint_sum(a, b) {
            return self.by(Rule::AddDisjoint, joined);
        }
        self.intern(sort, Op::Add(a, b))
    }

    fn add_const(&mut self, a: Term, c: u128) -> Option<(Rule, Term)> {
        let width = self.width(a);
        if c == 0 {
            return Some((Rule::AddZero, a));
        }
        match self.op(a) {
            Op::Const(d) => Some((Rule::AddConsts, self.constant(width, value::add(width, c, d)))),
            Op::Add(x, d) => {
                let d = self.as_const(d)?;
                let sum = self.constant(width, value::add(width, c, d));
                Some((Rule::AddConsts, self.add(x, sum)))
            }
            Op::Sub(d, x) => {
                let d = self.as_const(d)?;
                let from = self.constant(width, value::add(width, c, d));
                Some((Rule::AddConstMinus, self.sub(from, x)))
            }
            Op::Neg(x) => {
                let from = self.constant(width, c);
                Some((Rule::AddNeg, self.sub(from, x)))
            }
            Op::Not(x) => {
                let from = self.constant(width, value::sub(width, c, 1));
                Some((Rule::AddNot, self.sub(from, x)))
            }
            Op::Table(table, index) => {
                let read = self.map_table(table, index, width, |e| {
                    value::add(width, u128::from(e), c) as u64
                })?;
                Some((Rule::TableMap, read))
            }
            _ => None,
        }
    }

    fn add_terms(&mut self, a: Term, b: Term) -> Option<(Rule, Term)> {
        for (x, y) in [(a, b), (b, a)] {
            match self.op(y) {
                Op::Add(v, c) if self.as_const(c).is_some() => {
                    let sum = self.add(x, v);
                    return Some((Rule::AddConstOut, self.add(sum, c)));
                }
                Op::Sub(c, v) if self.as_const(c).is_some() => {
                    let difference = self.sub(x, v);
                    return Some((Rule::AddConstMinus, self.add(difference, c)));
                }
                Op::Sub(v, w) if w == x => return Some((Rule::AddSub, v)),
                Op::Neg(v) => return Some((Rule::AddNeg, self.sub(x, v))),
                _ => {}
            }
        }
        let ((x, j), (y, k)) = self.scaled_pair(a, b);
        let width = self.width(a);
        if x == y {
            let factor = self.constant(width, value::add(width, j, k));
            return Some((Rule::AddLike, self.mul(x, factor)));
        }
        // x + q * -c with q = x / c.
        for (whole, q, k) in [(a, y, k), (b, x, j)] {
            if let Some(remainder) = self.remainder_by_product(whole, q, value::neg(width, k)) {
                return Some((Rule::RemByProduct, remainder));
            }
        }
        None
    }

    /// Difference modulo 2^width.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        self.remembered(Question::Sub, [a, b], |pool| pool.sub_anew(a, b))
    }

    fn sub_anew(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        let width = sort.bits();
        if let Some(c) = self.as_const(b) {
            let minus = self.constant(width, value::neg(width, c));
            let sum = self.add(a, minus);
            return self.by(Rule::SubConst, sum);
        }
        if self.as_const(a) == Some(0) {
            return self.neg(b);
        }
        if let Some((rule, difference)) = self.simpler_difference(a, b) {
            return self.by(rule, difference);
        }
        match self.lift_binary(sort, a, b, |x, y| value::sub(width, x, y)) {
            Some(lifted) => lifted,
            None => self.intern(sort, Op::Sub(a, b)),
        }
    }

    fn simpler_difference(&mut self, a: Term, b: Term) -> Option<(Rule, Term)> {
        let width = self.width(a);
        if a == b {
            return Some((Rule::SubSame, self.constant(width, 0)));
        }
        if self.as_const(a) == Some(u128::MAX >> (128 - width)) {
            return Some((Rule::XorNot, self.not(b)));
        }
        match self.op(b) {
            Op::Neg(y) => return Some((Rule::SubNeg, self.add(a, y))),
            Op::Not(y) => {
                // a - ~y = a + y + 1
                let (sum, one) = (self.add(a, y), self.constant(width, 1));
                return Some((Rule::SubNeg, self.add(sum, one)));
            }
            Op::Add(y, c) => {
                if let Some(c) = self.as_const(c) {
                    let (difference, minus) =
                        (self.sub(a, y), self.constant(width, value::neg(width, c)));
                    return Some((Rule::SubConstOut, self.add(difference, minus)));
                }
                if y == a {
                    return Some((Rule::SubShared, self.neg(c)));
                }
                if c == a {
                    return Some((Rule::SubShared, self.neg(y)));
                }
            }
            Op::Sub(c, y) => {
                if let Some(c) = self.as_const(c) {
                    let (sum, minus) = (self.add(a, y), self.constant(width, value::neg(width, c)));
                    return Some((Rule::SubConstMinus, self.add(sum, minus)));
                }
                if c == a {
                    return Some((Rule::SubShared, y));
                }
            }
            _ => {}
        }
        match self.op(a) {
            Op::Add(x, c) if self.as_const(c).is_some() => {
                let difference = self.sub(x, b);
                return Some((Rule::SubConstOut, self.add(difference, c)));
            }
            Op::Add(x, y) if x == b => return Some((Rule::SubShared, y)),
            Op::Add(x, y) if y == b => return Some((Rule::SubShared, x)),
            _ => {}
        }
        let ((x, j), (y, k)) = self.scaled_pair(a, b);
        if x == y {
            let factor = self.constant(width, value::sub(width, j, k));
            return Some((Rule::AddLike, self.mul(x, factor)));
        }
        let remainder = self.remainder_by_product(a, y, k)?;
        Some((Rule::RemByProduct, remainder))
    }

    /// The term as a multiple `base * factor`; factor 1 if it is none.
    pub(super) fn scaled(&mut self, term: Term) -> (Term, u128) {
        let width = self.width(term);
        match self.op(term) {
            Op::Mul(x, c) => match self.as_const(c) {
                Some(c) => (x, c),
                None => (term, 1),
            },
            Op::Neg(x) => (x, crate::term::mask(width)),
            Op::Concat(..) => self.shifted(term, width).unwrap_or((term, 1)),
            Op::ZeroExtend(inner) => self.shifted(inner, width).unwrap_or((term, 1)),
            _ => (term, 1),
        }
    }

    /// Both terms as multiples, of one term where one is the other shifted.
    fn scaled_pair(&mut self, a: Term, b: Term) -> ((Term, u128), (Term, u128)) {
        let (left, right) = (self.scaled(a), self.scaled(b));
        if left.0 != right.0 {
            if let Some(factor) = self.shift_of(a, right.0) {
                return ((right.0, factor), right);
            }
            if let Some(factor) = self.shift_of(b, left.0) {
                return (left, (left.0, factor));
            }
        }
        (left, right)
    }

    /// `2^k` if the term is `base << k`, `k > 0`, for a base that is a concatenation itself.
    fn shift_of(&mut self, term: Term, base: Term) -> Option<u128> {
        if !matches!((self.op(term), self.op(base)), (Op::Concat(..), Op::Concat(..))) {
            return None;
        }
        let by = *self.cuts(term).first()?;
        let low = self.slice(0, by, term);
        (self.as_const(low) == Some(0) && self.shl_by(base, by) == term).then_some(1 << by)
    }

    /// `x ++ 0…0` as a multiple of `x`, at `width` bits.
    fn shifted(&mut self, term: Term, width: u8) -> Option<(Term, u128)> {
        let Op::Concat(high, zeros) = self.op(term) else { return None };
        if self.as_const(zeros) != Some(0) {
            return None;
        }
        let by = self.width(zeros);
        let base = match self.op(high) {
            // The bits of x that were shifted out do not matter.
            Op::Extract { lo: 0, arg } if self.width(term) == width && self.width(arg) >= width => {
                self.slice(0, width, arg)
            }
            _ => self.zero_extend(width, high),
        };
        Some((base, 1 << by))
    }

    /// Product modulo 2^width.
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        let width = sort.bits();
        let (a, b) = self.ordered(a, b);
        if let Some(c) = self.as_const(b)
            && let Some((rule, product)) = self.mul_const(a, c)
        {
            return self.by(rule, product);
        }
        match self.lift_binary(sort, a, b, |x, y| value::mul(width, x, y)) {
            Some(lifted) => lifted,
            None => self.intern(sort, Op::Mul(a, b)),
        }
    }

    fn mul_const(&mut self, a: Term, c: u128) -> Option<(Rule, Term)> {
        let width = self.width(a);
        if let Some(d) = self.as_const(a) {
            return Some((Rule::MulConsts, self.constant(width, value::mul(width, c, d))));
        }
        if c == 0 {
            return Some((Rule::MulZero, self.constant(width, 0)));
        }
        if c == 1 {
            return Some((Rule::MulOne, a));
        }
        if let Op::Add(x, d) = self.op(a)
            && let Some(d) = self.as_const(d)
        {
            let factor = self.constant(width, c);
            let (product, offset) =
                (self.mul(x, factor), self.constant(width, value::mul(width, c, d)));
            return Some((Rule::MulSum, self.add(product, offset)));
        }
        let (base, factor) = self.scaled(a);
        if factor != 1 {
            let factor = self.constant(width, value::mul(width, c, factor));
            return Some((Rule::MulConsts, self.mul(base, factor)));
        }
        if c == crate::term::mask(width) {
            return Some((Rule::MulMinusOne, self.neg(a)));
        }
        if c.is_power_of_two() {
            return Some((Rule::MulShift, self.shl_by(a, c.trailing_zeros() as u8)));
        }
        None
    }
}
