//! Which values of its byte a one-byte test allows, worked out once.
//!
//! Most tests of a parser look at one byte. Such a test *is* a set of byte values, whatever its
//! term looks like, and the set is all that counting needs. The memo belongs to one pool: terms of
//! another pool would get wrong answers.

use rustc_hash::FxHashMap;
use stunt_terms::{InputByte, Kind, Op, Pool, Term};

use crate::byteset::ByteSet;
use crate::code::Code;

/// Memo from Bool terms over one byte to the values for which they hold.
#[derive(Default)]
pub struct Masks {
    known: FxHashMap<Term, ByteSet>,
}

impl Masks {
    /// An empty memo.
    pub fn new() -> Masks {
        Masks::default()
    }

    /// The byte that a Bool term is about and the values for which it holds; `None` if the term
    /// depends on no byte or on several.
    pub fn mask_of(&mut self, pool: &Pool, term: Term) -> Option<(InputByte, ByteSet)> {
        debug_assert!(pool.is_bool(term));
        let byte = pool.support(term).single()?;
        // A comparison is sooner worked out than found.
        if let Some(mask) = comparison(pool, term) {
            return Some((byte, mask));
        }
        let mask = self.known.entry(term).or_insert_with(|| allowed(pool, term, byte));
        Some((byte, *mask))
    }

    /// How many terms the memo holds.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether the memo holds no term.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// The values of its byte for which a Bool term over one byte holds; `None` for other terms.
pub fn mask_of(pool: &Pool, term: Term) -> Option<ByteSet> {
    let byte = pool.support(term).single()?;
    Some(allowed(pool, term, byte))
}

/// How deep connectives are taken apart before all values are tried instead.
const DEEPEST: u32 = 16;

fn allowed(pool: &Pool, term: Term, byte: InputByte) -> ByteSet {
    at_sight(pool, term, DEEPEST).unwrap_or_else(|| tried(pool, term, byte))
}

/// The set of a comparison, and of connectives of such: what nearly all one-byte tests are after
/// simplification.
fn at_sight(pool: &Pool, term: Term, depth: u32) -> Option<ByteSet> {
    if depth == 0 {
        return None;
    }
    let part = |t: Term| at_sight(pool, t, depth - 1);
    match pool.op(term) {
        Op::Not(x) => Some(part(x)?.complement()),
        Op::And(x, y) => Some(part(x)?.intersect(&part(y)?)),
        Op::Or(x, y) => Some(part(x)?.complement().intersect(&part(y)?.complement()).complement()),
        Op::Eq(x, c) => match pool.op(x) {
            Op::Table(table, index) if matches!(pool.op(index), Op::Byte(_)) => {
                let (table, wanted) = (pool.table_data(table), pool.as_const(c)?);
                Some(ByteSet::filter(|v| u128::from(table.read(u128::from(v))) == wanted))
            }
            _ => comparison(pool, term),
        },
        _ => comparison(pool, term),
    }
}

/// The set of a comparison of the byte itself with a constant, or of its negation.
fn comparison(pool: &Pool, term: Term) -> Option<ByteSet> {
    let is_byte = |t: Term| pool.kind(t) == Kind::Byte;
    let constant = |t: Term| pool.as_const(t).map(|c| c as u8);
    match pool.op(term) {
        Op::Not(x) if matches!(pool.kind(x), Kind::Eq | Kind::Ult | Kind::Slt) => {
            comparison(pool, x).map(|mask| mask.complement())
        }
        Op::Eq(x, c) if is_byte(x) => constant(c).map(|c| ByteSet::range(c, c)),
        Op::Ult(x, c) => {
            let shift = match pool.op(x) {
                Op::Byte(_) => 0,
                Op::Add(b, shift) if is_byte(b) => constant(shift)?,
                _ => return None,
            };
            // A bound of 0 does not occur in normal form.
            let first = shift.wrapping_neg();
            constant(c).map(|c| ByteSet::range(first, first.wrapping_add(c).wrapping_sub(1)))
        }
        Op::Slt(x, c) if is_byte(x) => constant(c).map(|c| ByteSet::range(0x80, c.wrapping_sub(1))),
        _ => None,
    }
}

fn tried(pool: &Pool, term: Term, byte: InputByte) -> ByteSet {
    let input = pool.reachable(&[term]).into_iter().find(|&t| pool.op(t) == Op::Byte(byte));
    let input = input.expect("a byte of the support is below the term");
    let code = Code::compile(pool, &[term], &[input]).expect("the term has no other byte");
    let mut registers = code.registers();
    ByteSet::filter(|value| {
        registers[0] = u128::from(value);
        code.run(&mut registers);
        code.output(&registers, 0) == 1
    })
}
