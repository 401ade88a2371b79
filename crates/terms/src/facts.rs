//! What holds of every value of a term, whatever the input: bits that are always 0 or always 1,
//! and the smallest and largest unsigned value.
//!
//! Sound, not complete: a fact that is stated holds for all assignments. Terms of more than 64
//! bits have facts too, as long as they fit: the two bounds and masks are kept in `u128`.

use crate::pool::Pool;
use crate::term::{Op, Sort, Term, mask};

/// Facts of reads from tables with more entries than this are not worked out.
const LARGE_TABLE: u128 = 4096;

/// Facts about a term's value. A Bool is the number 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Bits that are 0 in every value, within the width.
    pub zeros: u128,
    /// Bits that are 1 in every value.
    pub ones: u128,
    /// No value is below this.
    pub min: u128,
    /// No value is above this.
    pub max: u128,
}

impl Facts {
    /// A number by which different facts are told apart most of the time.
    pub(crate) fn hash(&self) -> u32 {
        let words = [self.zeros as u64, self.ones as u64, self.min as u64, self.max as u64];
        let hash = words.into_iter().fold(0u64, |hash, word| {
            (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        (hash >> 32) as u32
    }

    #[inline]
    pub(crate) fn constant(sort: Sort, value: u128) -> Facts {
        Facts { zeros: !value & sort.mask(), ones: value, min: value, max: value }
    }

    fn unknown(sort: Sort) -> Facts {
        Facts { zeros: 0, ones: 0, min: 0, max: sort.mask() }
    }

    /// From bounds: the leading bits that `min` and `max` share are known.
    fn range(sort: Sort, min: u128, max: u128) -> Facts {
        Facts { min, max, ..Facts::unknown(sort) }.tightened(sort)
    }

    fn bits(sort: Sort, zeros: u128, ones: u128) -> Facts {
        Facts { zeros, ones, min: 0, max: sort.mask() }.tightened(sort)
    }

    /// Lets bounds and bits learn from each other.
    fn tightened(mut self, sort: Sort) -> Facts {
        let all = sort.mask();
        self.min = self.min.max(self.ones);
        self.max = self.max.min(!self.zeros & all);
        debug_assert!(self.min <= self.max);
        let differing = self.min ^ self.max;
        let shared = match differing.checked_ilog2() {
            None => all,
            Some(top) => all & !mask(top as u8 + 1),
        };
        self.zeros |= !self.min & shared;
        self.ones |= self.min & shared;
        self
    }

    fn join(self, other: Facts) -> Facts {
        Facts {
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The facts of whatever entry of a table; nothing if there are too many to look at.
    pub(crate) fn of_entries(sort: Sort, entries: &[u64]) -> Option<Facts> {
        if entries.len() as u128 > LARGE_TABLE {
            return None;
        }
        let constants = entries.iter().map(|&entry| Facts::constant(sort, u128::from(entry)));
        constants.reduce(Facts::join)
    }

    /// How many low bits are zero in every value.
    fn trailing_zeros(self) -> u32 {
        (!self.zeros).trailing_zeros()
    }

    /// The facts of `op`, whose operands are in the pool already.
    pub(crate) fn of(pool: &Pool, sort: Sort, op: Op) -> Facts {
        let all = sort.mask();
        let unknown = Facts::unknown(sort);
        let facts = |t: Term| pool.facts(t);
        match op {
            Op::Const(value) => Facts::constant(sort, value),
            Op::Byte(_) => unknown,
            Op::Not(a) => {
                let a = facts(a);
                Facts { zeros: a.ones, ones: a.zeros, min: !a.max & all, max: !a.min & all }
            }
            Op::Neg(a) => Facts::bits(
                sort,
                mask(facts(a).trailing_zeros().min(u32::from(sort.bits())) as u8),
                0,
            ),
            Op::And(a, b) => {
                let (a, b) = (facts(a), facts(b));
                let bits = Facts::bits(sort, a.zeros | b.zeros, a.ones & b.ones);
                Facts { max: bits.max.min(a.max).min(b.max), ..bits }.tightened(sort)
            }
            Op::Or(a, b) => {
                let (a, b) = (facts(a), facts(b));
                let bits = Facts::bits(sort, a.zeros & b.zeros, a.ones | b.ones);
                Facts { min: bits.min.max(a.min).max(b.min), ..bits }.tightened(sort)
            }
            Op::Xor(a, b) => {
                let (a, b) = (facts(a), facts(b));
                let zeros = a.zeros & b.zeros | a.ones & b.ones;
                Facts::bits(sort, zeros, a.zeros & b.ones | a.ones & b.zeros)
            }
            Op::Add(a, b) => {
                let (a, b) = (facts(a), facts(b));
                let low =
                    mask(a.trailing_zeros().min(b.trailing_zeros()).min(u32::from(sort.bits()))
                        as u8);
                match (a.min.checked_add(b.min), a.max.checked_add(b.max)) {
                    // No sum wraps, or every sum wraps once.
                    (Some(min), Some(max)) if max <= all || (min > all && max - all - 1 <= all) => {
                        let facts = Facts::range(sort, min & all, max & all);
                        Facts { zeros: facts.zeros | low, ..facts }.tightened(sort)
                    }
                    _ => Facts::bits(sort, low, 0),
                }
            }
            Op::Sub(a, b) => {
                let (a, b) = (facts(a), facts(b));
                if a.min >= b.max {
                    Facts::range(sort, a.min - b.max, a.max - b.min)
                } else {
                    unknown
                }
            }
            Op::Mul(a, b) => {
                let (a, b) = (facts(a), facts(b));
                let low = (a.trailing_zeros() + b.trailing_zeros()).min(u32::from(sort.bits()));
                match a.max.checked_mul(b.max) {
                    Some(max) if max <= all => {
                        let facts = Facts::range(sort, a.min * b.min, max);
                        Facts { zeros: facts.zeros | mask(low as u8), ..facts }.tightened(sort)
                    }
                    _ => Facts::bits(sort, mask(low as u8), 0),
                }
            }
            Op::UDiv(a, b) => {
                let (a, b) = (facts(a), facts(b));
                match a.max.checked_div(b.min) {
                    Some(max) => Facts::range(sort, a.min / b.max, max),
                    None => unknown,
                }
            }
            Op::URem(a, b) => {
                let (a, b) = (facts(a), facts(b));
                let max = if b.min == 0 { a.max } else { a.max.min(b.max - 1) };
                Facts::range(sort, 0, max)
            }
            Op::LShr(a, _) => Facts::range(sort, 0, facts(a).max),
            Op::SDiv(..) | Op::SRem(..) | Op::Shl(..) | Op::AShr(..) => unknown,
            Op::Concat(a, b) => {
                let low = pool.width(b);
                let (a, b) = (facts(a), facts(b));
                Facts {
                    zeros: a.zeros << low | b.zeros,
                    ones: a.ones << low | b.ones,
                    min: a.min << low | b.min,
                    max: a.max << low | b.max,
                }
            }
            Op::Extract { lo, arg } => {
                let a = facts(arg);
                let bits = Facts::bits(sort, a.zeros >> lo & all, a.ones >> lo & all);
                // The high part of a value is bounded by the high parts of its bounds.
                if a.max >> lo <= all {
                    Facts { min: bits.min.max(a.min >> lo), max: bits.max.min(a.max >> lo), ..bits }
                        .tightened(sort)
                } else {
                    bits
                }
            }
            Op::ZeroExtend(a) => {
                let front = all & !mask(pool.width(a));
                let a = facts(a);
                Facts { zeros: a.zeros | front, ..a }
            }
            Op::SignExtend(a) => {
                let width = pool.width(a);
                let front = all & !mask(width);
                let a = facts(a);
                let sign = 1 << (width - 1);
                let zeros = if a.zeros & sign != 0 { a.zeros | front } else { a.zeros };
                let ones = if a.ones & sign != 0 { a.ones | front } else { a.ones };
                Facts::bits(sort, zeros, ones)
            }
            Op::Ite(_, a, b) => facts(a).join(facts(b)),
            Op::Table(id, index) => {
                let table = pool.table_data(id);
                let index = facts(index);
                let len = table.entries.len() as u128;
                let (from, to) =
                    (index.min.min(len), (index.max + u128::from(index.max < len)).min(len));
                if to - from > LARGE_TABLE {
                    return unknown;
                }
                let read = &table.entries[from as usize..to as usize];
                let past_end = (index.max >= len).then_some(&0);
                if read.len() == table.entries.len()
                    && let Some(all) = pool.table_facts(id)
                {
                    return past_end.map_or(all, |_| all.join(Facts::constant(sort, 0)));
                }
                read.iter()
                    .chain(past_end)
                    .map(|&entry| Facts::constant(sort, u128::from(entry)))
                    .reduce(Facts::join)
                    .unwrap_or(unknown)
            }
            Op::Eq(a, b) => {
                let (a, b) = (facts(a), facts(b));
                let differ =
                    a.max < b.min || b.max < a.min || a.zeros & b.ones | a.ones & b.zeros != 0;
                if differ { Facts::constant(sort, 0) } else { unknown }
            }
            Op::Ult(a, b) => {
                let (a, b) = (facts(a), facts(b));
                if a.max < b.min {
                    Facts::constant(sort, 1)
                } else if b.max <= a.min {
                    Facts::constant(sort, 0)
                } else {
                    unknown
                }
            }
            Op::Slt(..) => unknown,
        }
    }
}
