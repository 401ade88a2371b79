//! `and`, `or` and `xor`, bit by bit.

use super::Rule;
use super::slice::Piece;
use crate::memo::Question;
use crate::pool::Pool;
use crate::term::{Op, Sort, Term};

/// The three bitwise operators.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bitwise {
    And,
    Or,
    Xor,
}

impl Bitwise {
    fn apply(self, a: u128, b: u128) -> u128 {
        match self {
            Bitwise::And => a & b,
            Bitwise::Or => a | b,
            Bitwise::Xor => a ^ b,
        }
    }

    fn build(self, pool: &mut Pool, a: Term, b: Term) -> Term {
        match self {
            Bitwise::And => pool.and(a, b),
            Bitwise::Or => pool.or(a, b),
            Bitwise::Xor => pool.xor(a, b),
        }
    }
}

impl Pool {
    /// Conjunction, bit by bit or of Bools.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.remembered(Question::And, [a, b], |pool| pool.and_anew(a, b))
    }

    fn and_anew(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        if sort == Sort::Bool {
            return self.and_bool(a, b);
        }
        let (a, b) = self.ordered(a, b);
        let all = sort.mask();
        match self.as_const(b) {
            Some(0) => return b,
            Some(c) if c == all => return a,
            Some(c) => {
                if let Some(d) = self.as_const(a) {
                    return self.constant_of(sort, c & d);
                }
                if !self.facts(a).zeros & !c & all == 0 {
                    return self.by(Rule::AndFactless, a);
                }
                if let Op::And(x, d) = self.op(a)
                    && let Some(d) = self.as_const(d)
                {
                    let mask = self.constant_of(sort, c & d);
                    let and = self.and(x, mask);
                    return self.by(Rule::AndChain, and);
                }
            }
            None => {
                if a == b {
                    return self.by(Rule::AndSame, a);
                }
                if self.are_complements(a, b) {
                    let zero = self.constant_of(sort, 0);
                    return self.by(Rule::AndComplement, zero);
                }
                if let Some(absorbed) = self.absorbed(a, b, true) {
                    return self.by(Rule::AndAbsorb, absorbed);
                }
            }
        }
        if let Some(simpler) = self.simpler_bitwise(Bitwise::And, a, b) {
            return simpler;
        }
        if let Some(c) = self.as_const(b)
            && let Some((hi, lo)) = Pool::single_run(c)
        {
            let run = self.slice(lo, hi - lo + 1, a);
            let masked = if lo == 0 {
                run
            } else {
                let zeros = self.constant(lo, 0);
                self.concat(run, zeros)
            };
            let masked = self.zero_extend(sort.bits(), masked);
            return self.by(Rule::AndRun, masked);
        }
        self.intern(sort, Op::And(a, b))
    }

    /// Disjunction, bit by bit or of Bools.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        self.remembered(Question::Or, [a, b], |pool| pool.or_anew(a, b))
    }

    fn or_anew(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        if sort == Sort::Bool {
            return self.or_bool(a, b);
        }
        let (a, b) = self.ordered(a, b);
        let all = sort.mask();
        match self.as_const(b) {
            Some(0) => return a,
            Some(c) if c == all => return b,
            Some(c) => {
                if let Some(d) = self.as_const(a) {
                    return self.constant_of(sort, c | d);
                }
                if let Op::Or(x, d) = self.op(a)
                    && let Some(d) = self.as_const(d)
                {
                    let mask = self.constant_of(sort, c | d);
                    let or = self.or(x, mask);
                    return self.by(Rule::OrChain, or);
                }
            }
            None => {
                if a == b {
                    return self.by(Rule::OrSame, a);
                }
                if self.are_complements(a, b) {
                    let ones = self.constant_of(sort, all);
                    return self.by(Rule::OrComplement, ones);
                }
                if let Some(absorbed) = self.absorbed(a, b, false) {
                    return self.by(Rule::OrAbsorb, absorbed);
                }
            }
        }
        match self.simpler_bitwise(Bitwise::Or, a, b) {
            Some(simpler) => simpler,
            None => self.intern(sort, Op::Or(a, b)),
        }
    }

    /// Exclusive or, bit by bit or of Bools.
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        self.remembered(Question::Xor, [a, b], |pool| pool.xor_anew(a, b))
    }

    fn xor_anew(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "both operands have one sort");
        let sort = self.sort(a);
        if sort == Sort::Bool {
            let equal = self.eq(a, b);
            return self.not(equal);
        }
        let (a, b) = self.ordered(a, b);
        match self.as_const(b) {
            Some(0) => return a,
            Some(c) if c == sort.mask() => {
                let not = self.not(a);
                return self.by(Rule::XorNot, not);
            }
            Some(c) => {
                if let Some(d) = self.as_const(a) {
                    return self.constant_of(sort, c ^ d);
                }
                if let Op::Xor(x, d) = self.op(a)
                    && let Some(d) = self.as_const(d)
                {
                    let mask = self.constant_of(sort, c ^ d);
                    let xor = self.xor(x, mask);
                    return self.by(Rule::XorChain, xor);
                }
            }
            None => {
                if a == b {
                    let zero = self.constant_of(sort, 0);
                    return self.by(Rule::XorSame, zero);
                }
                for (x, y) in [(a, b), (b, a)] {
                    match self.op(y) {
                        Op::Xor(p, q) if p == x => return self.by(Rule::XorCancel, q),
                        Op::Xor(p, q) if q == x => return self.by(Rule::XorCancel, p),
                        _ => {}
                    }
                }
            }
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Op::Not(x) = self.op(x) {
                let xor = self.xor(x, y);
                let not = self.not(xor);
                return self.by(Rule::XorNot, not);
            }
        }
        match self.simpler_bitwise(Bitwise::Xor, a, b) {
            Some(simpler) => simpler,
            None => self.intern(sort, Op::Xor(a, b)),
        }
    }

    /// `x & (x | y)`, `x & (x & y)` and their duals, in either order.
    fn absorbed(&self, a: Term, b: Term, conjunction: bool) -> Option<Term> {
        [(a, b), (b, a)].into_iter().find_map(|(x, y)| match self.op(y) {
            Op::And(p, q) if p == x || q == x => Some(if conjunction { y } else { x }),
            Op::Or(p, q) if p == x || q == x => Some(if conjunction { x } else { y }),
            _ => None,
        })
    }

    /// The rules that the three operators share.
    fn simpler_bitwise(&mut self, op: Bitwise, a: Term, b: Term) -> Option<Term> {
        let sort = self.sort(a);
        if let Some(lifted) = self.lift_binary(sort, a, b, |x, y| op.apply(x, y)) {
            return Some(lifted);
        }
        if let Some(selected) = self.masked_selection(op, a, b) {
            return Some(selected);
        }
        if let (Op::Table(table, index), Some(c)) = (self.op(a), self.as_const(b))
            && let Some(read) =
                self.map_table(table, index, sort.bits(), |e| op.apply(u128::from(e), c) as u64)
        {
            return Some(self.by(Rule::TableMap, read));
        }
        self.by_pieces(op, a, b)
    }

    /// Truth values as numbers: masks that select, and 0/1 flags that combine.
    fn masked_selection(&mut self, op: Bitwise, a: Term, b: Term) -> Option<Term> {
        let sort = self.sort(a);
        let all = sort.mask();
        if let (Some((c, k)), Some((d, l))) = (self.as_flag(a), self.as_flag(b))
            && k == l
        {
            let [c, d] = [c, d].map(|(truth, is_set)| if is_set { truth } else { self.not(truth) });
            let both = op.build(self, c, d);
            let (k, zero) = (self.constant_of(sort, k), self.constant_of(sort, 0));
            let flag = self.ite(both, k, zero);
            return Some(self.by(Rule::BitwiseTruth, flag));
        }
        if op == Bitwise::Xor {
            return None;
        }
        for (x, y) in [(a, b), (b, a)] {
            let Some((c, k, l)) = self.const_branches(x) else { continue };
            if (k, l) == (all, 0) || (k, l) == (0, all) {
                let (k, l) = (self.constant_of(sort, k), self.constant_of(sort, l));
                let (then, other) = (op.build(self, k, y), op.build(self, l, y));
                let selected = self.ite(c, then, other);
                return Some(self.by(Rule::BitwiseIte, selected));
            }
        }
        None
    }

    /// A number that is `k` or zero: the truth value behind it, whether `k` stands for true, and `k`.
    fn as_flag(&self, term: Term) -> Option<((Term, bool), u128)> {
        match self.const_branches(term)? {
            (c, k, 0) => Some(((c, true), k)),
            (c, 0, k) => Some(((c, false), k)),
            _ => None,
        }
    }

    /// The operator piece by piece, where no part is cut for nothing: in every segment one side
    /// is constant, or both are whole parts. Else at the places where both sides are cut.
    fn by_pieces(&mut self, op: Bitwise, a: Term, b: Term) -> Option<Term> {
        let (left, right) = (self.cuts(a), self.cuts(b));
        if left.is_empty() && right.is_empty() {
            return None;
        }
        let ends = [0, self.width(a)];
        let mut cuts: Vec<u8> = left.iter().chain(&right).copied().chain(ends).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let is_fine = cuts.windows(2).all(|segment| {
            let (lo, width) = (segment[0], segment[1] - segment[0]);
            let pieces = (self.piece(a, lo, width), self.piece(b, lo, width));
            matches!(pieces, (Piece::Const, _) | (_, Piece::Const) | (Piece::Whole, Piece::Whole))
        });
        if !is_fine {
            cuts.retain(|cut| ends.contains(cut) || left.contains(cut) && right.contains(cut));
            if cuts.len() == ends.len() {
                return None;
            }
        }
        let mut joined = None;
        for segment in cuts.windows(2) {
            let (lo, width) = (segment[0], segment[1] - segment[0]);
            let (x, y) = (self.slice(lo, width, a), self.slice(lo, width, b));
            let piece = op.build(self, x, y);
            joined = Some(match joined {
                None => piece,
                Some(low) => self.concat(piece, low),
            });
        }
        let joined = joined.expect("a term has at least one bit");
        Some(self.by(Rule::BitwisePieces, joined))
    }

    /// The sum of terms without common bits, as a concatenation.
    pub(super) fn disjoint_sum(&mut self, a: Term, b: Term) -> Option<Term> {
        let all = self.sort(a).mask();
        if (self.facts(a).zeros | self.facts(b).zeros) & all != all {
            return None;
        }
        self.by_pieces(Bitwise::Or, a, b)
    }
}
