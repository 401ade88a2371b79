//! Moving bits: extract, concatenation, extensions, and shifts by constants, which are these.

use super::Rule;
use crate::memo::Question;
use crate::pool::Pool;
use crate::term::{MAX_WIDTH, Op, Sort, Term, mask};
use crate::value;

impl Pool {
    /// Bits `hi` down to `lo`, both included.
    ///
    /// # Panics
    /// If `hi < lo` or `hi` is not a bit of the term.
    pub fn extract(&mut self, hi: u8, lo: u8, a: Term) -> Term {
        assert!(lo <= hi && hi < self.width(a), "an extract lies within its operand");
        self.slice(lo, hi - lo + 1, a)
    }

    /// The `width` bits from `lo` upwards.
    pub(super) fn slice(&mut self, lo: u8, width: u8, a: Term) -> Term {
        let whole = self.width(a);
        debug_assert!(width >= 1 && lo + width <= whole && !self.is_bool(a));
        if width == whole {
            return a;
        }
        let question = Question::Slice { lo, width };
        self.remembered(question, [a, a], |pool| pool.slice_anew(lo, width, a))
    }

    fn slice_anew(&mut self, lo: u8, width: u8, a: Term) -> Term {
        let sort = Sort::Bits(width);
        match self.op(a) {
            Op::Const(c) => return self.constant(width, c >> lo),
            Op::Extract { lo: below, arg } => {
                let slice = self.slice(lo + below, width, arg);
                return self.by(Rule::SliceSlice, slice);
            }
            Op::Concat(high, low) => {
                let border = self.width(low);
                let slice = if lo >= border {
                    self.slice(lo - border, width, high)
                } else if lo + width <= border {
                    self.slice(lo, width, low)
                } else {
                    let high = self.slice(0, lo + width - border, high);
                    let low = self.slice(lo, border - lo, low);
                    self.concat(high, low)
                };
                return self.by(Rule::SliceConcat, slice);
            }
            Op::ZeroExtend(x) => {
                let border = self.width(x);
                let slice = if lo >= border {
                    self.constant(width, 0)
                } else {
                    let inside = self.slice(lo, width.min(border - lo), x);
                    self.zero_extend(width, inside)
                };
                return self.by(Rule::SliceZeroExtend, slice);
            }
            Op::SignExtend(x) => {
                let border = self.width(x);
                let from = lo.min(border - 1);
                let inside = self.slice(from, width.min(border - from), x);
                let slice = self.sign_extend(width, inside);
                return self.by(Rule::SliceSignExtend, slice);
            }
            Op::Not(x) if self.is_sliceable(x) => {
                let x = self.slice(lo, width, x);
                let slice = self.not(x);
                return self.by(Rule::SliceBitwise, slice);
            }
            op @ (Op::And(x, y) | Op::Or(x, y) | Op::Xor(x, y))
                if self.is_sliceable(y) && (self.is_sliceable(x) || self.as_const(y).is_some()) =>
            {
                let (x, y) = (self.slice(lo, width, x), self.slice(lo, width, y));
                let slice = match op {
                    Op::And(..) => self.and(x, y),
                    Op::Or(..) => self.or(x, y),
                    _ => self.xor(x, y),
                };
                return self.by(Rule::SliceBitwise, slice);
            }
            Op::Ite(c, x, y) if self.is_sliceable(x) && self.is_sliceable(y) => {
                let (x, y) = (self.slice(lo, width, x), self.slice(lo, width, y));
                let slice = self.ite(c, x, y);
                return self.by(Rule::SliceIte, slice);
            }
            Op::Table(table, index) => {
                let cut = |entry: u64| value::extract(width, lo, u128::from(entry)) as u64;
                if let Some(slice) = self.map_table(table, index, width, cut) {
                    return self.by(Rule::SliceTable, slice);
                }
            }
            Op::Mul(x, c) => {
                if let Some(quotient) = self.magic_division(lo, width, x, c) {
                    return self.by(Rule::MagicDivision, quotient);
                }
            }
            _ => {}
        }
        // Deeper sums keep their high bits, which others may use: only a comparison of low bits
        // pushes down all the way (`low_bits`).
        if lo == 0 && self.is_sum(a) && self.op(a).operands().all(|t| self.is_sliceable(t)) {
            let low = self.map_sum(a, |pool, t| pool.slice(0, width, t));
            return self.by(Rule::SliceLow, low);
        }
        self.intern(sort, Op::Extract { lo, arg: a })
    }

    /// Whether the low bits of the term depend on low bits only.
    fn is_sum(&self, term: Term) -> bool {
        matches!(self.op(term), Op::Add(..) | Op::Sub(..) | Op::Mul(..) | Op::Neg(_))
    }

    /// A sum, difference, product or negation of other operands.
    fn map_sum(&mut self, sum: Term, mut operand: impl FnMut(&mut Pool, Term) -> Term) -> Term {
        match self.op(sum) {
            Op::Neg(x) => {
                let x = operand(self, x);
                self.neg(x)
            }
            op @ (Op::Add(x, y) | Op::Sub(x, y) | Op::Mul(x, y)) => {
                let (x, y) = (operand(self, x), operand(self, y));
                match op {
                    Op::Add(..) => self.add(x, y),
                    Op::Sub(..) => self.sub(x, y),
                    _ => self.mul(x, y),
                }
            }
            _ => unreachable!("the caller asked whether it is a sum"),
        }
    }

    /// The low bits of a sum, worked out from low bits all the way down; `None` if it is no sum. Sums
    /// of sums are walked with a stack of their own.
    pub(super) fn low_bits(&mut self, width: u8, sum: Term) -> Option<Term> {
        let outside = self.depth;
        if !self.is_sum(sum) || outside == Pool::MAX_PUSH {
            return None;
        }
        let mut open = vec![(sum, outside)];
        'sums: while let Some(&(sum, depth)) = open.last() {
            if self.low_bits.contains_key(&(sum, width)) {
                open.pop();
                continue;
            }
            self.depth = depth + 1;
            let goes_on = |pool: &Pool, t: Term| pool.is_sum(t) && depth + 1 < Pool::MAX_PUSH;
            for operand in self.operands(sum) {
                if !goes_on(self, operand) {
                    self.slice(0, width, operand);
                } else if !self.low_bits.contains_key(&(operand, width)) {
                    open.push((operand, depth + 1));
                    continue 'sums;
                }
            }
            let low = self.map_sum(sum, |pool, t| match pool.low_bits.get(&(t, width)) {
                Some(&low) if goes_on(pool, t) => low,
                _ => pool.slice(0, width, t),
            });
            self.low_bits.insert((sum, width), low);
            open.pop();
        }
        self.depth = outside;
        Some(self.low_bits[&(sum, width)])
    }

    /// Whether a slice of the term is simpler than an extract of it.
    fn is_sliceable(&self, term: Term) -> bool {
        match self.op(term) {
            Op::Const(_)
            | Op::Byte(_)
            | Op::Concat(..)
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Extract { .. } => true,
            Op::Table(table, index) => self.is_mappable(table, index),
            Op::Ite(..) => self.const_branches(term).is_some(),
            _ => false,
        }
    }

    /// Concatenation: `a` above `b`.
    ///
    /// # Panics
    /// If the result has more than 128 bits.
    pub fn concat(&mut self, a: Term, b: Term) -> Term {
        self.remembered(Question::Concat, [a, b], |pool| pool.concat_anew(a, b))
    }

    fn concat_anew(&mut self, a: Term, b: Term) -> Term {
        let (high, low) = (self.width(a), self.width(b));
        let width = high.checked_add(low).filter(|&w| w <= MAX_WIDTH);
        let width = width.expect("a bit vector has at most 128 bits");
        let sort = Sort::Bits(width);
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.constant(width, value::concat(low, x, y)),
            (Some(0), None) => {
                let extended = self.zero_extend(width, b);
                return self.by(Rule::ConcatZero, extended);
            }
            _ => {}
        }
        match self.op(a) {
            Op::Concat(x, y) => {
                let rest = self.concat(y, b);
                let concat = self.concat(x, rest);
                return self.by(Rule::ConcatAssoc, concat);
            }
            Op::ZeroExtend(x) => {
                let inside = self.concat(x, b);
                let extended = self.zero_extend(width, inside);
                return self.by(Rule::ConcatZeroExtend, extended);
            }
            _ => {}
        }
        if let (Some(c), Op::ZeroExtend(y)) = (self.as_const(a), self.op(b)) {
            let zeros = low - self.width(y);
            let front = self.constant(high + zeros, c << zeros);
            let concat = self.concat(front, y);
            return self.by(Rule::ConcatZeroExtend, concat);
        }
        // Neighbours: `a` and all of `b`, or `a` and the first part of `b`.
        if let Some((rule, merged)) = self.merged_neighbours(a, b) {
            return self.by(rule, merged);
        }
        if let Op::Concat(head, rest) = self.op(b)
            && let Some((rule, merged)) = self.merged_neighbours(a, head)
        {
            let concat = self.concat(merged, rest);
            return self.by(rule, concat);
        }
        self.intern(sort, Op::Concat(a, b))
    }

    /// `a ++ b` as one term that is no concatenation.
    fn merged_neighbours(&mut self, a: Term, b: Term) -> Option<(Rule, Term)> {
        let (high, low) = (self.width(a), self.width(b));
        let sort = Sort::Bits(high + low);
        match (self.op(a), self.op(b)) {
            (Op::Const(x), Op::Const(y)) => {
                Some((Rule::ConcatConsts, self.constant(high + low, value::concat(low, x, y))))
            }
            (Op::Extract { lo: l, arg: x }, Op::Extract { lo: k, arg: y })
                if x == y && l == k + low =>
            {
                Some((Rule::ConcatSlices, self.slice(k, high + low, x)))
            }
            (Op::Extract { lo, arg }, _) if lo == low && self.is_sum(arg) => {
                (self.slice(0, low, arg) == b)
                    .then(|| (Rule::ConcatLow, self.slice(0, low + high, arg)))
            }
            (Op::Table(s, i), Op::Table(t, j)) if i == j && high + low <= 64 => {
                let joined = self.join_tables(s, t, i, low)?;
                Some((Rule::ConcatTables, joined))
            }
            (Op::Ite(c, ..), Op::Ite(d, ..)) if c == d => {
                // Only of constants; counted by the lifting rule itself.
                let joined = self.lift_binary(sort, a, b, |x, y| value::concat(low, x, y))?;
                Some((Rule::LiftSame, joined))
            }
            _ => None,
        }
    }

    /// Zeros in front, up to `width` bits.
    ///
    /// # Panics
    /// If the term is wider than `width`.
    pub fn zero_extend(&mut self, width: u8, a: Term) -> Term {
        let from = self.width(a);
        assert!(from <= width && width <= MAX_WIDTH, "an extension does not cut");
        if from == width {
            return a;
        }
        let question = Question::ZeroExtend { width };
        self.remembered(question, [a, a], |pool| pool.zero_extend_anew(width, a))
    }

    fn zero_extend_anew(&mut self, width: u8, a: Term) -> Term {
        let from = self.width(a);
        let sort = Sort::Bits(width);
        match self.op(a) {
            Op::Const(c) => return self.constant(width, c),
            Op::ZeroExtend(x) => {
                let extended = self.zero_extend(width, x);
                return self.by(Rule::ExtendExtend, extended);
            }
            Op::Extract { lo: 0, arg } if self.facts(arg).max <= mask(from) => {
                let whole = self.width(arg);
                let low = self.slice(0, width.min(whole), arg);
                let extended = self.zero_extend(width, low);
                return self.by(Rule::ExtendLow, extended);
            }
            _ => {}
        }
        match self.lift_unary(sort, a, |x| x) {
            Some(lifted) => lifted,
            None => self.intern(sort, Op::ZeroExtend(a)),
        }
    }

    /// Copies of the sign bit in front, up to `width` bits.
    ///
    /// # Panics
    /// If the term is wider than `width`.
    pub fn sign_extend(&mut self, width: u8, a: Term) -> Term {
        let from = self.width(a);
        assert!(from <= width && width <= MAX_WIDTH, "an extension does not cut");
        if from == width {
            return a;
        }
        let question = Question::SignExtend { width };
        self.remembered(question, [a, a], |pool| pool.sign_extend_anew(width, a))
    }

    fn sign_extend_anew(&mut self, width: u8, a: Term) -> Term {
        let from = self.width(a);
        let sort = Sort::Bits(width);
        match self.op(a) {
            Op::Const(c) => return self.constant(width, value::sign_extend(from, width, c)),
            Op::SignExtend(x) => {
                let extended = self.sign_extend(width, x);
                return self.by(Rule::ExtendExtend, extended);
            }
            _ => {}
        }
        if self.facts(a).zeros >> (from - 1) & 1 == 1 {
            let extended = self.zero_extend(width, a);
            return self.by(Rule::SignExtendPositive, extended);
        }
        match self.lift_unary(sort, a, |x| value::sign_extend(from, width, x)) {
            Some(lifted) => lifted,
            None => self.intern(sort, Op::SignExtend(a)),
        }
    }

    /// Shift left; zero when shifted by the width or more.
    pub fn shl(&mut self, a: Term, b: Term) -> Term {
        let sort = self.sort(a);
        let width = sort.bits();
        let Some(by) = self.as_const(b) else {
            let shifted = self.shift_of_const(a, b, |c, i| value::shl(width, c, i));
            return shifted.unwrap_or_else(|| self.intern(sort, Op::Shl(a, b)));
        };
        if by >= u128::from(width) {
            return self.constant(width, 0);
        }
        self.shl_by(a, by as u8)
    }

    /// Shift left by less than the width.
    pub(super) fn shl_by(&mut self, a: Term, by: u8) -> Term {
        let width = self.width(a);
        if by == 0 {
            return a;
        }
        match self.op(a) {
            Op::Mul(x, c) => {
                if let Some(c) = self.as_const(c) {
                    let factor = self.constant(width, c << by);
                    let product = self.mul(x, factor);
                    return self.by(Rule::ShiftProduct, product);
                }
            }
            Op::Add(x, c) => {
                if let Some(c) = self.as_const(c) {
                    let (x, c) = (self.shl_by(x, by), self.constant(width, c << by));
                    let sum = self.add(x, c);
                    return self.by(Rule::ShiftSum, sum);
                }
            }
            _ => {}
        }
        let (high, zeros) = (self.slice(0, width - by, a), self.constant(by, 0));
        let shifted = self.concat(high, zeros);
        self.by(Rule::ShiftByConst, shifted)
    }

    /// Logical shift right; zero when shifted by the width or more.
    pub fn lshr(&mut self, a: Term, b: Term) -> Term {
        let sort = self.sort(a);
        let width = sort.bits();
        match self.as_const(b) {
            None => {
                let shifted = self.shift_of_const(a, b, |c, i| value::lshr(width, c, i));
                shifted.unwrap_or_else(|| self.intern(sort, Op::LShr(a, b)))
            }
            Some(0) => a,
            Some(by) if by >= u128::from(width) => self.constant(width, 0),
            Some(by) => {
                let kept = self.slice(by as u8, width - by as u8, a);
                let shifted = self.zero_extend(width, kept);
                self.by(Rule::ShiftByConst, shifted)
            }
        }
    }

    /// Arithmetic shift right; all sign bits when shifted by the width or more.
    pub fn ashr(&mut self, a: Term, b: Term) -> Term {
        let sort = self.sort(a);
        let width = sort.bits();
        if self.facts(a).zeros >> (width - 1) & 1 == 1 {
            let shifted = self.lshr(a, b);
            return self.by(Rule::SignExtendPositive, shifted);
        }
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => self.constant(width, value::ashr(width, x, y)),
            (_, None) => self.intern(sort, Op::AShr(a, b)),
            (_, Some(0)) => a,
            (_, Some(by)) => {
                let by = by.min(u128::from(width) - 1) as u8;
                let kept = self.slice(by, width - by, a);
                let shifted = self.sign_extend(width, kept);
                self.by(Rule::ShiftByConst, shifted)
            }
        }
    }

    /// A constant shifted by a term, as a table of all results; past its end they are zero.
    fn shift_of_const(
        &mut self,
        a: Term,
        b: Term,
        shift: impl Fn(u128, u128) -> u128,
    ) -> Option<Term> {
        let c = self.as_const(a)?;
        let width = self.width(a);
        if width > 64 {
            return None;
        }
        let entries: Vec<u64> = (0..u128::from(width)).map(|i| shift(c, i) as u64).collect();
        let table = self.add_table(width, entries);
        let read = self.table(table, b);
        Some(self.by(Rule::ShiftOfConst, read))
    }

    /// Where the term is cut by concatenation and zero extension, also under a complement, from
    /// low to high.
    pub(super) fn cuts(&self, term: Term) -> Vec<u8> {
        let mut cuts = Vec::new();
        // What is left to look at, and the position of its lowest bit. Concat leans right.
        let mut stack = vec![(term, 0)];
        while let Some((t, at)) = stack.pop() {
            match self.op(t) {
                Op::Concat(high, low) => {
                    let border = at + self.width(low);
                    cuts.push(border);
                    stack.push((high, border));
                    stack.push((low, at));
                }
                Op::ZeroExtend(x) => {
                    cuts.push(at + self.width(x));
                    stack.push((x, at));
                }
                Op::Not(x) => stack.push((x, at)),
                _ => {}
            }
        }
        cuts.sort_unstable();
        cuts
    }

    /// The lowest position at which both terms are cut.
    pub(super) fn common_cut(&self, a: Term, b: Term) -> Option<u8> {
        let is_cut = |t| matches!(self.op(t), Op::Concat(..) | Op::ZeroExtend(_));
        if !is_cut(a) || !is_cut(b) {
            return None;
        }
        let others = self.cuts(b);
        self.cuts(a).into_iter().find(|cut| others.contains(cut))
    }

    /// What the bits from `lo` on are: see [`Piece`].
    pub(super) fn piece(&self, term: Term, lo: u8, width: u8) -> Piece {
        let (mut t, mut lo) = (term, lo);
        loop {
            match self.op(t) {
                Op::Const(_) => return Piece::Const,
                Op::Not(x) => t = x,
                Op::Concat(high, low) => {
                    let border = self.width(low);
                    if lo >= border {
                        (t, lo) = (high, lo - border);
                    } else if lo + width <= border {
                        t = low;
                    } else {
                        return Piece::Part;
                    }
                }
                Op::ZeroExtend(x) => {
                    let border = self.width(x);
                    if lo >= border {
                        return Piece::Const;
                    } else if lo + width <= border {
                        t = x;
                    } else {
                        return Piece::Part;
                    }
                }
                _ if lo == 0 && width == self.width(t) => return Piece::Whole,
                _ => return Piece::Part,
            }
        }
    }

    /// The highest set bit and the lowest, if the set bits of `c` are one run.
    pub(super) fn single_run(c: u128) -> Option<(u8, u8)> {
        let lo = c.trailing_zeros();
        let shifted = c.checked_shr(lo)?;
        let width = shifted.trailing_ones();
        (shifted == mask(width as u8)).then_some(((lo + width - 1) as u8, lo as u8))
    }
}

/// A range of bits of a term, seen against its concatenations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// Constant bits.
    Const,
    /// All bits of one part.
    Whole,
    /// Some bits of a part, or of several parts.
    Part,
}
