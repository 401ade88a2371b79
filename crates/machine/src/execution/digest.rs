//! Digests of terms: what a term is, as a number that is the same in every pool.
//!
//! A term's handle tells when it was built, and so which input was bound when it was. A search that
//! puts outcomes in order by such a number would go another way for another input of the same path. A
//! digest depends on the operators, the constants and the input bytes alone. The operands of a
//! commutative operator are ordered by handle, so that their order does not count.
//!
//! What always holds: equal terms have equal digests, and every term is looked at once.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use stunt_terms::{Op, Pool, Term};

use super::mixed;

/// The digests of the terms of one pool, as far as they were asked for.
#[derive(Default)]
pub(super) struct Digests {
    known: Vec<u64>,
}

impl Digests {
    /// The digest of a term.
    pub(super) fn of(&mut self, pool: &Pool, term: Term) -> u64 {
        // Operands come before their users.
        for index in self.known.len()..=term.index() {
            let digest = self.next(pool, pool.at(index));
            self.known.push(digest);
        }
        self.known[term.index()]
    }

    fn next(&self, pool: &Pool, term: Term) -> u64 {
        let mut hash = FxHasher::default();
        (pool.kind(term) as u8, pool.is_bool(term)).hash(&mut hash);
        if !pool.is_bool(term) {
            pool.width(term).hash(&mut hash);
        }
        let operands = pool.operands(term).map(|operand| self.known[operand.index()]);
        match pool.op(term) {
            Op::Const(value) => value.hash(&mut hash),
            Op::Byte(byte) => (byte.source, byte.offset).hash(&mut hash),
            Op::And(..) | Op::Or(..) | Op::Xor(..) | Op::Add(..) | Op::Mul(..) | Op::Eq(..) => {
                operands.fold(0u64, u64::wrapping_add).hash(&mut hash);
            }
            Op::Extract { lo, .. } => (lo, operands.last()).hash(&mut hash),
            Op::Table(table, _) => {
                pool.table_data(table).hash(&mut hash);
                operands.last().hash(&mut hash);
            }
            Op::Not(_)
            | Op::Neg(_)
            | Op::Sub(..)
            | Op::UDiv(..)
            | Op::URem(..)
            | Op::SDiv(..)
            | Op::SRem(..)
            | Op::Shl(..)
            | Op::LShr(..)
            | Op::AShr(..)
            | Op::Concat(..)
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Ite(..)
            | Op::Ult(..)
            | Op::Slt(..) => operands.for_each(|operand| operand.hash(&mut hash)),
        }
        mixed(hash.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few terms, with their parts built in one order or the other.
    fn terms(pool: &mut Pool, backwards: bool) -> Vec<Term> {
        let bytes = if backwards { [1, 0] } else { [0, 1] };
        let mut inputs = bytes.map(|offset| pool.input(0, offset));
        inputs.sort_by_key(|&term| match pool.op(term) {
            Op::Byte(byte) => byte.offset,
            _ => 9,
        });
        let [a, b] = inputs;
        let (seven, eight) = (pool.constant(8, 7), pool.constant(8, 8));
        let sum = if backwards { pool.add(b, a) } else { pool.add(a, b) };
        let table = pool.add_table(8, vec![3, 1, 4, 1]);
        let entry = pool.table(table, a);
        vec![
            a,
            b,
            sum,
            entry,
            pool.eq(sum, seven),
            pool.eq(sum, eight),
            pool.ult(a, b),
            pool.ult(b, a),
            pool.extract(3, 0, a),
            pool.extract(4, 1, a),
        ]
    }

    #[test]
    fn digests_tell_what_a_term_is_and_not_when_it_was_built() {
        let (mut one, mut two) = (Pool::new(), Pool::new());
        for offset in 0..40 {
            // Handles are others here.
            two.input(3, offset);
        }
        let (these, those) = (terms(&mut one, false), terms(&mut two, true));
        let (mut first, mut second) = (Digests::default(), Digests::default());
        let digests: Vec<u64> = these.iter().map(|&term| first.of(&one, term)).collect();
        let others: Vec<u64> = those.iter().map(|&term| second.of(&two, term)).collect();
        assert_eq!(digests, others);
        let mut different = digests.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), digests.len(), "different terms have different digests");
    }
}
