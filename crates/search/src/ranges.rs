//! Between which numbers a term lies, given what its bytes may be.
//!
//! Programs guard their arithmetic: does ten times this overflow, is that still below a limit? Of
//! digits the answer is often known beforehand, and a test that cannot fail says nothing.
//!
//! What always holds: a term's value is within its range for all values of the bytes within their
//! domains. A range may be too wide, never too narrow.

use rustc_hash::FxHashMap;
use stunt_models::ByteSet;
use stunt_terms::{InputByte, Op, Pool, Term, mask};

/// The lowest and the highest number.
type Range = (u128, u128);

/// So many entries of a table are looked at.
const MOST_ENTRIES: u128 = 4096;

/// Ranges of terms under fixed domains.
#[derive(Default)]
pub(crate) struct Ranges {
    known: FxHashMap<Term, Range>,
}

impl Ranges {
    /// Forgets all: for when domains have changed.
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// What a comparison comes to, if the ranges of its operands decide it.
    pub fn decide(
        &mut self,
        pool: &Pool,
        domains: &FxHashMap<InputByte, ByteSet>,
        term: Term,
    ) -> Option<bool> {
        let (a, b) = match pool.op(term) {
            Op::Eq(a, b) | Op::Ult(a, b) | Op::Slt(a, b) if !pool.is_bool(a) => (a, b),
            _ => return None,
        };
        let (a, b) = (self.of(pool, domains, a), self.of(pool, domains, b));
        let less = |a: Range, b: Range| match () {
            () if a.1 < b.0 => Some(true),
            () if a.0 >= b.1 => Some(false),
            () => None,
        };
        match pool.op(term) {
            Op::Eq(..) if a.1 < b.0 || b.1 < a.0 => Some(false),
            Op::Eq(..) if a.0 == a.1 && a == b => Some(true),
            Op::Ult(..) => less(a, b),
            Op::Slt(x, _) => {
                // Numbers of one sign keep their order when the sign bit is turned over.
                let sign = 1 << (pool.width(x) - 1);
                let turned =
                    |r: Range| ((r.0 ^ r.1) & sign == 0).then_some((r.0 ^ sign, r.1 ^ sign));
                less(turned(a)?, turned(b)?)
            }
            _ => None,
        }
    }

    /// The range of a term; operands first, without recursion.
    pub fn of(
        &mut self,
        pool: &Pool,
        domains: &FxHashMap<InputByte, ByteSet>,
        term: Term,
    ) -> Range {
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            let before = open.len();
            if !self.known.contains_key(&next) {
                open.extend(pool.operands(next).filter(|it| !self.known.contains_key(it)));
                if open.len() > before {
                    continue;
                }
                let range = self.work_out(pool, domains, next);
                debug_assert!(range.0 <= range.1);
                self.known.insert(next, range);
            }
            open.pop();
        }
        self.known[&term]
    }

    fn work_out(&self, pool: &Pool, domains: &FxHashMap<InputByte, ByteSet>, term: Term) -> Range {
        let width = pool.sort(term).bits();
        let most = mask(width);
        let full = (0, most);
        let of = |term: Term| self.known[&term];
        let sign = 1u128 << (width - 1);
        match pool.op(term) {
            Op::Const(value) => (value, value),
            Op::Byte(byte) => match domains.get(&byte) {
                Some(domain) if !domain.is_empty() => {
                    let last = domain.nth(domain.len() - 1);
                    (u128::from(domain.nth(0).unwrap_or(0)), u128::from(last.unwrap_or(255)))
                }
                _ => full,
            },
            Op::Eq(..) | Op::Ult(..) | Op::Slt(..) => full,
            Op::Not(a) => (most - of(a).1, most - of(a).0),
            Op::Neg(a) => match of(a) {
                (0, 0) => (0, 0),
                (0, _) => full,
                (low, high) => (most - high + 1, most - low + 1),
            },
            Op::And(a, b) => (0, of(a).1.min(of(b).1)),
            Op::Or(a, b) => (of(a).0.max(of(b).0), all_below(of(a).1 | of(b).1)),
            Op::Xor(a, b) => (0, all_below(of(a).1 | of(b).1)),
            Op::Add(a, b) => sum(of(a), of(b), most).unwrap_or(full),
            Op::Sub(a, b) => {
                let (a, b) = (of(a), of(b));
                if a.0 >= b.1 {
                    (a.0 - b.1, a.1 - b.0)
                } else if a.1 < b.0 {
                    (most - (b.1 - a.0) + 1, most - (b.0 - a.1) + 1)
                } else {
                    full
                }
            }
            Op::Mul(a, b) => match of(a).1.checked_mul(of(b).1) {
                Some(high) if high <= most => (of(a).0 * of(b).0, high),
                _ => full,
            },
            Op::UDiv(a, b) if of(b).0 > 0 => (of(a).0 / of(b).1, of(a).1 / of(b).0),
            Op::URem(a, b) => remainder(of(a), of(b)),
            Op::SDiv(a, b) if of(a).1 < sign && of(b).1 < sign && of(b).0 > 0 => {
                (of(a).0 / of(b).1, of(a).1 / of(b).0)
            }
            Op::SRem(a, b) if of(a).1 < sign && of(b).1 < sign => remainder(of(a), of(b)),
            Op::LShr(a, _) => (0, of(a).1),
            Op::AShr(a, _) if of(a).1 < sign => (0, of(a).1),
            Op::UDiv(..) | Op::SDiv(..) | Op::SRem(..) | Op::Shl(..) | Op::AShr(..) => full,
            Op::Concat(a, b) => {
                let shift = pool.width(b);
                (of(a).0 << shift | of(b).0, of(a).1 << shift | of(b).1)
            }
            Op::Extract { lo, arg } => {
                let (low, high) = (of(arg).0 >> lo, of(arg).1 >> lo);
                // What is cut off in front must be the same for all.
                if low & !most == high & !most { (low & most, high & most) } else { full }
            }
            Op::ZeroExtend(a) => of(a),
            Op::SignExtend(a) => {
                let narrow = mask(pool.width(a));
                let sign = 1u128 << (pool.width(a) - 1);
                match of(a) {
                    (low, high) if high < sign => (low, high),
                    (low, high) if low >= sign => (low + (most - narrow), high + (most - narrow)),
                    _ => full,
                }
            }
            Op::Ite(_, a, b) => (of(a).0.min(of(b).0), of(a).1.max(of(b).1)),
            Op::Table(table, index) => {
                let entries = &pool.table_data(table).entries;
                let (first, last) = of(index);
                let (first, last) =
                    if last - first < MOST_ENTRIES { (first, last) } else { (0, u128::MAX) };
                let end = entries.len() as u128;
                let inside =
                    &entries[first.min(end) as usize..last.saturating_add(1).min(end) as usize];
                let beyond = (last >= end).then_some(0);
                let all = inside.iter().map(|&entry| u128::from(entry)).chain(beyond);
                all.fold(None, |range: Option<Range>, entry| match range {
                    None => Some((entry, entry)),
                    Some((low, high)) => Some((low.min(entry), high.max(entry))),
                })
                .unwrap_or(full)
            }
        }
    }
}

/// A sum modulo `most + 1`, if all sums go over the end equally often.
fn sum(a: Range, b: Range, most: u128) -> Option<Range> {
    let (low, high) = (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?);
    if high <= most {
        Some((low, high))
    } else if low > most {
        Some((low & most, high & most))
    } else {
        None
    }
}

fn remainder(a: Range, b: Range) -> Range {
    // By zero it is the dividend.
    if b.0 == 0 {
        (0, a.1)
    } else if a.1 < b.0 {
        a
    } else {
        (0, a.1.min(b.1 - 1))
    }
}

/// The largest number with as many bits.
fn all_below(number: u128) -> u128 {
    if number == 0 { 0 } else { u128::MAX >> number.leading_zeros() }
}
