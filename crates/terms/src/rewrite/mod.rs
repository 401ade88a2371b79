//! The constructors of terms, and the rules by which they simplify.
//!
//! Compiled code hides what the programmer wrote: a range check becomes a subtraction and one
//! unsigned comparison, a 32-bit load becomes shifts and ors, a division a multiplication. The
//! rules undo this as terms are built, and keep the normal form stated in `term.rs`.
//!
//! Rules for writing rules:
//! 1. A rule makes the term smaller, or brings it closer to normal form; no rule undoes another.
//! 2. A rule looks at most three levels deep and never walks a chain; where it must (low bits of
//!    a sum), the walk is bounded by [`Pool::MAX_PUSH`] and remembered. What a test of a term says
//!    about its operands is a question for `ask.rs`, whose walks are on no call stack.
//! 3. A rule has a name in `rule.rs` and reports each application through [`Pool::by`].
//! 4. A rule holds for all values, SMT-LIB's division by zero included; it is checked at small
//!    widths for all of them (`tests/rewrites.rs`).

mod arith;
mod ask;
mod bitwise;
mod choice;
mod compare;
mod connective;
mod division;
mod interval;
mod rule;
mod select;
mod slice;
mod table;

pub(crate) use ask::Ask;
pub(crate) use interval::Interval;
pub(crate) use rule::Rule;
pub use rule::RuleCounts;
pub(crate) use table::Accepted;

use std::num::NonZeroU32;

use crate::pool::Pool;
use crate::term::{InputByte, MAX_WIDTH, Op, Sort, Term, mask};

/// Constants below this are kept at hand, for each width: programs are full of them.
const SMALL: usize = 64;
/// How many widths there are, counted from none.
const SMALL_WIDTHS: usize = MAX_WIDTH as usize + 1;

impl Pool {
    /// How deep low bits are pushed into sums.
    pub(crate) const MAX_PUSH: u16 = 128;

    /// The constant of `width` bits; higher bits of `value` are cut off.
    ///
    /// # Panics
    /// If the width is not 1 to 128.
    pub fn constant(&mut self, width: u8, value: u128) -> Term {
        assert!((1..=MAX_WIDTH).contains(&width), "a bit vector has 1 to 128 bits");
        if value < SMALL as u128 && self.small.len() == SMALL * SMALL_WIDTHS {
            let known = self.small[usize::from(width) * SMALL + value as usize];
            if let Some(handle) = NonZeroU32::new(known) {
                return Term::from_handle(handle);
            }
        }
        self.constant_anew(width, value)
    }

    #[inline(never)]
    fn constant_anew(&mut self, width: u8, value: u128) -> Term {
        let term = self.intern(Sort::Bits(width), Op::Const(value & mask(width)));
        if value < SMALL as u128 {
            self.small.resize(SMALL * SMALL_WIDTHS, 0);
            self.small[usize::from(width) * SMALL + value as usize] = term.handle().get();
        }
        term
    }

    /// The truth value.
    pub fn boolean(&mut self, value: bool) -> Term {
        // Every connective asks for both: they are kept at hand.
        if let Some(truth) = self.truths[usize::from(value)] {
            return truth;
        }
        let truth = self.intern(Sort::Bool, Op::Const(u128::from(value)));
        self.truths[usize::from(value)] = Some(truth);
        truth
    }

    /// The input byte as a term of 8 bits.
    pub fn byte(&mut self, byte: InputByte) -> Term {
        self.intern(Sort::Bits(8), Op::Byte(byte))
    }

    /// Notes that a rule gave `term`.
    pub(crate) fn by(&mut self, rule: Rule, term: Term) -> Term {
        self.rules.add(rule);
        term
    }

    /// The condition and both values, if the term is an `ite` of constants.
    pub(crate) fn const_branches(&self, term: Term) -> Option<(Term, u128, u128)> {
        match self.op(term) {
            Op::Ite(condition, a, b) => Some((condition, self.as_const(a)?, self.as_const(b)?)),
            _ => None,
        }
    }

    /// A unary operator on an `ite` of constants, as an `ite` of constants.
    pub(crate) fn lift_unary(
        &mut self,
        sort: Sort,
        a: Term,
        f: impl Fn(u128) -> u128,
    ) -> Option<Term> {
        let (condition, k, l) = self.const_branches(a)?;
        let (k, l) = (self.constant_of(sort, f(k)), self.constant_of(sort, f(l)));
        let lifted = self.ite(condition, k, l);
        Some(self.by(Rule::LiftConst, lifted))
    }

    /// A binary operator on `ite`s of constants with one condition, or on one and a constant.
    pub(crate) fn lift_binary(
        &mut self,
        sort: Sort,
        a: Term,
        b: Term,
        f: impl Fn(u128, u128) -> u128,
    ) -> Option<Term> {
        let (left, right) = (self.const_branches(a), self.const_branches(b));
        let (rule, condition, k, l) = match (left, right) {
            (Some((c, k, l)), Some((d, m, n))) if c == d => (Rule::LiftSame, c, f(k, m), f(l, n)),
            (Some((c, k, l)), None) => {
                let v = self.as_const(b)?;
                (Rule::LiftConst, c, f(k, v), f(l, v))
            }
            (None, Some((c, k, l))) => {
                let v = self.as_const(a)?;
                (Rule::LiftConst, c, f(v, k), f(v, l))
            }
            _ => return None,
        };
        let (k, l) = (self.constant_of(sort, k), self.constant_of(sort, l));
        let lifted = self.ite(condition, k, l);
        Some(self.by(rule, lifted))
    }

    /// The operand of a zero extension, or the term itself.
    pub(crate) fn strip_zero_extend(&self, term: Term) -> Term {
        match self.op(term) {
            Op::ZeroExtend(inner) => inner,
            _ => term,
        }
    }

    /// A commutative operator's operands in order: a constant second, else the older term first.
    pub(crate) fn ordered(&self, a: Term, b: Term) -> (Term, Term) {
        let constant = (self.as_const(a).is_some(), self.as_const(b).is_some());
        match constant {
            (true, false) => (b, a),
            (false, true) => (a, b),
            _ => (a.min(b), a.max(b)),
        }
    }
}
