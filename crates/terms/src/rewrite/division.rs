//! Division and remainder, and the multiplications by which compilers replace them.

use super::Rule;
use crate::pool::Pool;
use crate::term::{Op, Term, mask};
use crate::value;

impl Pool {
    /// Unsigned quotient; all ones when the divisor is zero.
    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        let width = sort.bits();
        if let Some(c) = self.as_const(b)
            && let Some((rule, quotient)) = self.udiv_const(a, c)
        {
            return self.by(rule, quotient);
        }
        match self.lift_binary(sort, a, b, |x, y| value::udiv(width, x, y)) {
            Some(lifted) => lifted,
            None => self.intern(sort, Op::UDiv(a, b)),
        }
    }

    fn udiv_const(&mut self, a: Term, c: u128) -> Option<(Rule, Term)> {
        let width = self.width(a);
        if let Some(x) = self.as_const(a) {
            return Some((Rule::Known, self.constant(width, value::udiv(width, x, c))));
        }
        if c == 0 {
            return Some((Rule::Known, self.constant(width, mask(width))));
        }
        if c == 1 {
            return Some((Rule::DivOne, a));
        }
        if c.is_power_of_two() {
            let by = self.constant(width, u128::from(c.trailing_zeros()));
            return Some((Rule::DivShift, self.lshr(a, by)));
        }
        match self.op(a) {
            Op::ZeroExtend(x) => {
                let narrow = self.width(x);
                // A divisor that does not fit is above every value: the facts give zero.
                if c > mask(narrow) {
                    return None;
                }
                let c = self.constant(narrow, c);
                let quotient = self.udiv(x, c);
                Some((Rule::DivNarrow, self.zero_extend(width, quotient)))
            }
            Op::UDiv(x, d) => {
                let product = self.as_const(d)?.checked_mul(c).filter(|&p| p <= mask(width))?;
                let product = self.constant(width, product);
                Some((Rule::DivDiv, self.udiv(x, product)))
            }
            _ => None,
        }
    }

    /// Unsigned remainder; the dividend when the divisor is zero.
    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        if let Some(c) = self.as_const(b)
            && let Some((rule, remainder)) = self.urem_const(a, c)
        {
            return self.by(rule, remainder);
        }
        match self.lift_binary(sort, a, b, value::urem) {
            Some(lifted) => lifted,
            None => self.intern(sort, Op::URem(a, b)),
        }
    }

    fn urem_const(&mut self, a: Term, c: u128) -> Option<(Rule, Term)> {
        let width = self.width(a);
        if let Some(x) = self.as_const(a) {
            return Some((Rule::Known, self.constant(width, value::urem(x, c))));
        }
        if c == 0 || self.facts(a).max < c {
            return Some((Rule::RemSmall, a));
        }
        if c.is_power_of_two() {
            let low = self.constant(width, c - 1);
            return Some((Rule::RemMask, self.and(a, low)));
        }
        if let Op::ZeroExtend(x) = self.op(a) {
            // `c` fits the narrow width, or the facts would have said that `a` is below it.
            let c = self.constant(self.width(x), c);
            let remainder = self.urem(x, c);
            return Some((Rule::RemNarrow, self.zero_extend(width, remainder)));
        }
        None
    }

    /// Signed quotient, truncated; SMT-LIB's value when the divisor is zero.
    pub fn sdiv(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        let width = sort.bits();
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            return self.constant(width, value::sdiv(width, x, y));
        }
        if self.are_not_negative(a, b) {
            let quotient = self.udiv(a, b);
            return self.by(Rule::SignedPositive, quotient);
        }
        match self.as_const(b) {
            Some(c) if c == mask(width) => {
                let negated = self.neg(a);
                return self.by(Rule::SignedUnit, negated);
            }
            Some(1) => return self.by(Rule::SignedUnit, a),
            _ => {}
        }
        match self.lift_binary(sort, a, b, |x, y| value::sdiv(width, x, y)) {
            Some(lifted) => lifted,
            None => self.intern(sort, Op::SDiv(a, b)),
        }
    }

    /// Signed remainder with the dividend's sign; the dividend when the divisor is zero.
    pub fn srem(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        let width = sort.bits();
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            return self.constant(width, value::srem(width, x, y));
        }
        if self.are_not_negative(a, b) {
            let remainder = self.urem(a, b);
            return self.by(Rule::SignedPositive, remainder);
        }
        if let Some(c) = self.as_const(b)
            && (c == 1 || c == mask(width))
        {
            let zero = self.constant(width, 0);
            return self.by(Rule::SignedUnit, zero);
        }
        match self.lift_binary(sort, a, b, |x, y| value::srem(width, x, y)) {
            Some(lifted) => lifted,
            None => self.intern(sort, Op::SRem(a, b)),
        }
    }

    fn are_not_negative(&self, a: Term, b: Term) -> bool {
        let sign = 1 << (self.width(a) - 1);
        self.facts(a).zeros & self.facts(b).zeros & sign != 0
    }

    /// Bits `lo` on of `x * m`, where they are `x / d` for every value of `x`.
    ///
    /// With `d = ceil(2^lo / m)` and `e = m * d - 2^lo`: `x * m / 2^lo = x / d + x * e / (d * 2^lo)`.
    /// The fraction of `x / d` is at most `(d - 1) / d`, so both have the same whole part as long
    /// as `x * e < 2^lo`, for the largest `x` and thus for all.
    pub(super) fn magic_division(&mut self, lo: u8, width: u8, x: Term, m: Term) -> Option<Term> {
        let m = self.as_const(m)?;
        let max = self.facts(x).max;
        let largest = max.checked_mul(m)?;
        let power = 1u128.checked_shl(u32::from(lo))?;
        if lo == 0 || m >= power || largest > mask(self.width(x)) || largest >> lo > mask(width) {
            return None;
        }
        let d = power.div_ceil(m);
        let excess = m.checked_mul(d)? - power;
        if max.checked_mul(excess)? >= power || d > mask(self.width(x)) {
            return None;
        }
        let divisor = self.constant(self.width(x), d);
        let quotient = self.udiv(x, divisor);
        Some(self.slice(0, width, quotient))
    }

    /// `x - q * c` with `q = x / c` is `x rem c`.
    pub(super) fn remainder_by_product(&mut self, x: Term, q: Term, c: u128) -> Option<Term> {
        let Op::UDiv(dividend, divisor) = self.op(self.strip_zero_extend(q)) else { return None };
        if self.as_const(divisor) != Some(c) {
            return None;
        }
        let width = self.width(x);
        if self.zero_extend(width, dividend) != x {
            return None;
        }
        let divisor = self.constant(width, c);
        Some(self.urem(x, divisor))
    }
}
