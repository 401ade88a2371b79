//! Layer 3a: bounds.
//!
//! Every term of a part lies between bounds that follow from the domains of its bytes and from the
//! literals about it. Where they cross, nothing satisfies the part: a sum that no bytes can reach,
//! a field that one literal wants below and another above. Only `Unsat` is ever concluded.

use rustc_hash::FxHashMap;
use stunt_terms::{Op, Pool, Term, mask};

use super::Part;

/// How often the bounds are worked out anew from what the literals added.
const PASSES: usize = 3;
/// The largest table that is read through.
const MOST_ENTRIES: u128 = 1024;

/// The smallest and the largest value that a term may have.
type Range = (u128, u128);

/// Whether the bounds show that nothing satisfies the part.
pub(crate) fn exclude(pool: &Pool, part: &Part<'_>) -> bool {
    let literals: Vec<Term> = part.component.literals().collect();
    let terms = pool.reachable(&literals);
    let mut bounds = Bounds { pool, part, of: FxHashMap::default() };
    for _ in 0..PASSES {
        let crossed = terms.iter().any(|&term| !bounds.derive(term));
        if crossed {
            return true;
        }
        let mut changed = false;
        for &literal in &literals {
            match bounds.assert(literal) {
                Some(more) => changed |= more,
                None => return true,
            }
        }
        if !changed {
            return false;
        }
    }
    false
}

struct Bounds<'a> {
    pool: &'a Pool,
    part: &'a Part<'a>,
    of: FxHashMap<Term, Range>,
}

impl Bounds<'_> {
    fn range(&self, term: Term) -> Range {
        self.of.get(&term).copied().unwrap_or_else(|| {
            let facts = self.pool.facts(term);
            (facts.min, facts.max)
        })
    }

    /// Narrows the bounds of a term; whether they changed, or `None` if they cross.
    fn narrow(&mut self, term: Term, (first, last): Range) -> Option<bool> {
        let (old_first, old_last) = self.range(term);
        let (first, last) = (first.max(old_first), last.min(old_last));
        self.of.insert(term, (first, last));
        (first <= last).then_some((first, last) != (old_first, old_last))
    }

    /// Works out a term's bounds from those of its operands; false if they cross.
    fn derive(&mut self, term: Term) -> bool {
        if self.pool.is_bool(term) {
            return true;
        }
        let range = self.range_by_operands(term);
        range.is_none_or(|range| self.narrow(term, range).is_some())
    }

    fn range_by_operands(&self, term: Term) -> Option<Range> {
        let pool = self.pool;
        let all = mask(pool.width(term));
        let range = |t: Term| self.range(t);
        match pool.op(term) {
            Op::Byte(byte) => {
                let at = self.part.domains.partition_point(|&(other, _)| other < byte);
                let (_, domain) = self.part.domains.get(at)?;
                let (first, last) = (domain.nth(0)?, domain.nth(domain.len() - 1)?);
                Some((u128::from(first), u128::from(last)))
            }
            Op::ZeroExtend(x) => Some(range(x)),
            Op::Concat(x, y) => {
                let low = pool.width(y);
                let ((a, b), (c, d)) = (range(x), range(y));
                Some((a << low | c, b << low | d))
            }
            Op::Not(x) => {
                let (a, b) = range(x);
                Some((!b & all, !a & all))
            }
            Op::Add(x, y) => {
                let ((a, b), (c, d)) = (range(x), range(y));
                let (first, last) = (a.checked_add(c)?, b.checked_add(d)?);
                // All sums wrap once, or none does.
                match (first > all, last > all) {
                    (false, false) => Some((first, last)),
                    (true, true) => Some((first - all - 1, last - all - 1)),
                    _ => None,
                }
            }
            Op::Sub(x, y) => {
                let ((a, b), (c, d)) = (range(x), range(y));
                Some((a.checked_sub(d)?, b.checked_sub(c)?))
            }
            Op::Mul(x, y) => {
                let ((a, b), (c, d)) = (range(x), range(y));
                let last = b.checked_mul(d).filter(|&last| last <= all)?;
                Some((a * c, last))
            }
            Op::UDiv(x, y) => {
                let ((a, b), (c, d)) = (range(x), range(y));
                Some((a / d.max(1), b.checked_div(c)?))
            }
            Op::URem(x, y) => {
                let ((_, b), (c, d)) = (range(x), range(y));
                Some((0, if c == 0 { b } else { b.min(d - 1) }))
            }
            Op::Extract { lo, arg } => {
                let (a, b) = range(arg);
                (b >> lo <= all).then_some((a >> lo, b >> lo))
            }
            Op::And(x, y) => Some((0, range(x).1.min(range(y).1))),
            Op::Or(x, y) => Some((range(x).0.max(range(y).0), all)),
            Op::Ite(_, x, y) => {
                let ((a, b), (c, d)) = (range(x), range(y));
                Some((a.min(c), b.max(d)))
            }
            Op::Table(table, index) => {
                let (table, (first, last)) = (pool.table_data(table), range(index));
                if last - first >= MOST_ENTRIES {
                    return None;
                }
                let entries = (first..=last).map(|i| u128::from(table.read(i)));
                entries.fold(None, |range: Option<Range>, e| {
                    Some(range.map_or((e, e), |(a, b)| (a.min(e), b.max(e))))
                })
            }
            Op::Const(_)
            | Op::Neg(_)
            | Op::Xor(..)
            | Op::SDiv(..)
            | Op::SRem(..)
            | Op::Shl(..)
            | Op::LShr(..)
            | Op::AShr(..)
            | Op::SignExtend(_)
            | Op::Eq(..)
            | Op::Ult(..)
            | Op::Slt(..) => None,
        }
    }

    /// What a literal says about the bounds of its operands; whether anything changed, or `None`
    /// if it cannot hold.
    fn assert(&mut self, literal: Term) -> Option<bool> {
        let (test, holds) = match self.pool.op(literal) {
            Op::Not(test) => (test, false),
            _ => (literal, true),
        };
        match (self.pool.op(test), holds) {
            (Op::Eq(x, y), true) if !self.pool.is_bool(x) => {
                let more = self.narrow(x, self.range(y))?;
                Some(self.narrow(y, self.range(x))? | more)
            }
            (Op::Ult(x, c), holds) if self.pool.as_const(c).is_some() => {
                let c = self.pool.as_const(c).expect("asked above");
                match self.tested(x, c, holds) {
                    Some((subject, range)) => self.narrow(subject, range),
                    None => Some(false),
                }
            }
            (Op::Ult(x, y), true) => self.in_order(x, y, 1),
            (Op::Ult(x, y), false) => self.in_order(y, x, 0),
            _ => Some(false),
        }
    }

    /// `x < c` as bounds of what is tested: for a range check `x = y + k` that is `y`. `None`
    /// where the values allowed are no range of numbers.
    fn tested(&self, x: Term, c: u128, holds: bool) -> Option<(Term, Range)> {
        let all = mask(self.pool.width(x));
        let (subject, shift) = match self.pool.op(x) {
            Op::Add(y, k) => match self.pool.as_const(k) {
                Some(k) => (y, k),
                None => (x, 0),
            },
            _ => (x, 0),
        };
        let first = shift.wrapping_neg() & all;
        let last = first.wrapping_add(c).wrapping_sub(1) & all;
        let (first, last) = match holds {
            true => (first, last),
            false => (last.wrapping_add(1) & all, first.wrapping_sub(1) & all),
        };
        (first <= last).then_some((subject, (first, last)))
    }

    /// `x + gap <= y`.
    fn in_order(&mut self, x: Term, y: Term, gap: u128) -> Option<bool> {
        let (least, most) = (self.range(x).0.checked_add(gap)?, self.range(y).1.checked_sub(gap)?);
        let more = self.narrow(x, (0, most))?;
        Some(self.narrow(y, (least, u128::MAX))? | more)
    }
}
