//! Bounds from the shape of a condition, where nothing can count it: Castro's summaries.
//!
//! After Castro, Costa and Martin, *Better bug reporting with better privacy* (ASPLOS 2008),
//! section 6.1: every term gets a summary (bounds of its values, how many there are, how evenly the
//! inputs spread over them), from which follows a lower bound on the inputs that a comparison
//! accepts, given that it accepts one. The bits are then an upper bound: never below the truth.
//!
//! What is different here: the domains of the bytes are taken into account from the start (a
//! random input means one with every byte in its domain); terms over one byte are summarised
//! exactly, by trying its values; densities are carried along for all terms, not only for
//! homogeneous ones; and the operands' bytes are accounted for on both sides of a comparison
//! (see `compare.rs`). Terms are walked in the order of their handles, never recursively.

mod combine;
mod compare;
mod rules;
mod space;
mod truth;
mod values;

pub use combine::{Limits, bound};
pub use truth::Truth;
pub use values::Values;

use rustc_hash::FxHashMap;
use stunt_models::Problem;
use stunt_terms::{InputByte, Op, Pool, Program, Term};

use space::InputSpace;
use values::Joint;

/// The summary of a term.
#[derive(Clone, Debug)]
pub enum Summary {
    /// Of a bit vector.
    Number(Values),
    /// Of a Bool.
    Truth(Truth),
}

impl Summary {
    fn held(&self) -> Summary {
        match self {
            Summary::Number(values) => Summary::Number(values.held()),
            Summary::Truth(truth) => Summary::Truth(truth.held()),
        }
    }
}

/// Table reads that may reach more entries than this are not looked into.
const LARGE_TABLE: u128 = 1 << 16;

/// Exact summaries of terms over one byte. They depend on the byte's domain only, so they stay
/// when other bytes are held.
pub(crate) struct Leaves {
    known: FxHashMap<Term, Summary>,
}

impl Leaves {
    /// Tries all values of each byte on the largest terms over that byte alone.
    pub(crate) fn of(problem: &Problem<'_>, terms: &[Term]) -> Leaves {
        let pool = problem.pool;
        let mut wanted: FxHashMap<InputByte, Vec<Term>> = FxHashMap::default();
        let mut seen: rustc_hash::FxHashSet<Term> = rustc_hash::FxHashSet::default();
        let mut want = |term: Term| {
            if let Some(byte) = pool.support(term).single()
                && seen.insert(term)
            {
                wanted.entry(byte).or_default().push(term);
            }
        };
        for &term in terms {
            if pool.support(term).single().is_none() {
                pool.op(term).operands().for_each(&mut want);
            }
        }
        problem.literals.iter().copied().for_each(&mut want);
        let mut known = FxHashMap::default();
        for (&byte, domain) in problem.bytes.iter().zip(problem.domains) {
            let Some(wanted) = wanted.get(&byte) else { continue };
            let inputs: Vec<u8> = domain.iter().collect();
            let mut columns = vec![Vec::with_capacity(inputs.len()); wanted.len()];
            let mut program = Program::compile(pool, wanted, &[byte]);
            program.run(&[inputs.as_slice()], |root, _, values| {
                columns[root].extend((0..values.len()).map(|lane| values.get(lane)));
            });
            for (column, &term) in columns.into_iter().zip(wanted) {
                let summary = if pool.is_bool(term) {
                    let holds = column.iter().filter(|&&v| v == 1).count();
                    Summary::Truth(Truth::counted(holds, column.len()))
                } else {
                    Summary::Number(Values::listed(pool.width(term), column))
                };
                known.insert(term, summary);
            }
        }
        Leaves { known }
    }
}

/// Summaries of terms over one space of inputs.
pub(crate) struct Summaries<'a> {
    pool: &'a Pool,
    space: &'a InputSpace,
    known: FxHashMap<Term, Summary>,
}

impl<'a> Summaries<'a> {
    /// Summarises `terms`, which come with all their operands, operands first.
    pub(crate) fn of(
        pool: &'a Pool,
        space: &'a InputSpace,
        leaves: &Leaves,
        terms: &[Term],
    ) -> Summaries<'a> {
        let mut summaries = Summaries { pool, space, known: FxHashMap::default() };
        for &term in terms {
            let summary = match leaves.known.get(&term) {
                Some(leaf) if space.size(pool.support(term)) == 0.0 => leaf.held(),
                Some(leaf) => leaf.clone(),
                // Below a leaf: only the leaf's own summary is used.
                None if pool.support(term).single().is_some() => continue,
                None => summaries.summarise(term),
            };
            summaries.known.insert(term, summary);
        }
        summaries
    }

    /// The summary of a Bool term.
    pub(crate) fn truth(&self, term: Term) -> Truth {
        match &self.known[&term] {
            Summary::Truth(truth) => *truth,
            Summary::Number(_) => unreachable!("a Bool term has a truth value"),
        }
    }

    fn number(&self, term: Term) -> &Values {
        match &self.known[&term] {
            Summary::Number(values) => values,
            Summary::Truth(_) => unreachable!("a bit vector has a number"),
        }
    }

    fn size(&self, term: Term) -> f64 {
        self.space.size(self.pool.support(term))
    }

    /// How the bytes of two terms relate, the result being `whole`.
    fn joint(&self, whole: Term, a: Term, b: Term) -> Joint {
        let fixed = |term: Term| match &self.known[&term] {
            Summary::Number(values) => values.is_fixed(),
            Summary::Truth(truth) => truth.most.contains(&0.0),
        };
        let independent =
            fixed(a) || fixed(b) || !self.space.share(self.pool.support(a), self.pool.support(b));
        Joint { independent, size: self.size(whole) }
    }

    fn summarise(&self, term: Term) -> Summary {
        if self.pool.is_bool(term) {
            Summary::Truth(self.bool_term(term))
        } else {
            let values = self.bits_term(term).with_facts(self.pool.facts(term));
            Summary::Number(values.settled(self.size(term)))
        }
    }

    fn bool_term(&self, term: Term) -> Truth {
        let pool = self.pool;
        let joint = |a, b| self.joint(term, a, b);
        match pool.op(term) {
            Op::Const(value) => Truth::constant(value == 1),
            Op::Not(a) => self.truth(a).negated(),
            Op::And(a, b) => self.truth(a).and(self.truth(b), joint(a, b)),
            Op::Or(a, b) => self.truth(a).or(self.truth(b), joint(a, b)),
            Op::Xor(a, b) => self.same(term, a, b).negated(),
            Op::Eq(a, b) if pool.is_bool(a) => self.same(term, a, b),
            Op::Eq(a, b) => compare::equal(self.number(a), self.number(b), joint(a, b)),
            Op::Ult(a, b) => compare::less(self.number(a), self.number(b), joint(a, b)),
            Op::Slt(a, b) => compare::signed_less(self.number(a), self.number(b), joint(a, b)),
            Op::Ite(c, a, b) => {
                let (then, other) = ((self.truth(a), joint(c, a)), (self.truth(b), joint(c, b)));
                self.truth(c).ite(then, other, self.size(term))
            }
            // Not Bools; the constructors see to it.
            Op::Byte(_)
            | Op::Neg(_)
            | Op::Add(..)
            | Op::Sub(..)
            | Op::Mul(..)
            | Op::UDiv(..)
            | Op::URem(..)
            | Op::SDiv(..)
            | Op::SRem(..)
            | Op::Shl(..)
            | Op::LShr(..)
            | Op::AShr(..)
            | Op::Concat(..)
            | Op::Extract { .. }
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Table(..) => Truth::unknown(self.size(term)),
        }
    }

    /// Two Bools are equal: the second where the first holds, and its opposite elsewhere.
    fn same(&self, whole: Term, a: Term, b: Term) -> Truth {
        let (first, second) = (self.truth(a), self.truth(b));
        let joint = self.joint(whole, a, b);
        first.ite((second, joint), (second.negated(), joint), joint.size)
    }

    fn bits_term(&self, term: Term) -> Values {
        let pool = self.pool;
        let width = pool.width(term);
        let joint = |a, b| self.joint(term, a, b);
        let v = |t| self.number(t);
        match pool.op(term) {
            Op::Const(value) => Values::constant(width, value),
            // Bytes are leaves; one that is in no literal has nothing to say.
            Op::Byte(_) => Values::unknown(width, self.size(term)),
            Op::Not(a) => rules::not(v(a)),
            Op::Neg(a) => rules::neg(v(a)),
            Op::And(a, b) => rules::and(joint(a, b), v(a), v(b)),
            Op::Or(a, b) => rules::or(joint(a, b), v(a), v(b)),
            Op::Xor(a, b) => rules::xor(joint(a, b), v(a), v(b)),
            Op::Add(a, b) => rules::add(joint(a, b), v(a), v(b)),
            Op::Sub(a, b) => rules::sub(joint(a, b), v(a), v(b)),
            Op::Mul(a, b) => rules::mul(joint(a, b), v(a), v(b)),
            Op::UDiv(a, b) => rules::udiv(joint(a, b), v(a), v(b)),
            Op::URem(a, b) => rules::urem(joint(a, b), v(a), v(b)),
            Op::SDiv(a, b) => rules::sdiv(joint(a, b), v(a), v(b)),
            Op::SRem(a, b) => rules::srem(joint(a, b), v(a), v(b)),
            Op::Shl(a, b) => rules::shl(joint(a, b), v(a), v(b)),
            Op::LShr(a, b) => rules::lshr(joint(a, b), v(a), v(b)),
            Op::AShr(a, b) => rules::ashr(joint(a, b), v(a), v(b)),
            Op::Concat(a, b) => rules::concat(joint(a, b), v(a), v(b)),
            Op::Extract { lo, arg } => rules::extract(width, lo, v(arg)),
            Op::ZeroExtend(a) => rules::zero_extend(width, v(a)),
            Op::SignExtend(a) => rules::sign_extend(width, v(a)),
            Op::Ite(c, a, b) => self.choice(term, c, a, b),
            Op::Table(table, index) => {
                let entries = &pool.table_data(table).entries;
                let index = v(index);
                let len = entries.len() as u128;
                let (from, to) = (index.min.min(len), index.max.saturating_add(1).min(len));
                if to - from > LARGE_TABLE {
                    return index.folded(width, u128::MAX);
                }
                let past =
                    index.max.checked_sub(index.min.max(len)).map_or(0, |n| n.saturating_add(1));
                rules::table(width, index, &entries[from as usize..to as usize], past)
            }
            // Bools; the constructors see to it.
            Op::Eq(..) | Op::Ult(..) | Op::Slt(..) => Values::unknown(width, self.size(term)),
        }
    }

    /// `a` where `c` holds, `b` elsewhere.
    fn choice(&self, term: Term, c: Term, a: Term, b: Term) -> Values {
        let (then, other, truth) = (self.number(a), self.number(b), self.truth(c));
        let (with_then, with_other) = (self.joint(term, c, a), self.joint(term, c, b));
        // An image comes through one of the branches. If that branch says nothing of the choice,
        // its image meets all inputs that take the branch.
        let through = |joint: Joint, loss: f64, branch: &Values| {
            if joint.independent { loss + branch.rarest } else { joint.size }
        };
        let by_then = through(with_then, truth.loss[1], then);
        let by_other = through(with_other, truth.loss[0], other);
        let mut result = Values {
            min: then.min.min(other.min),
            max: then.max.max(other.max),
            low: then.low.min(other.low),
            high: then.high.max(other.high),
            zeros: then.zeros & other.zeros,
            ones: then.ones & other.ones,
            most: then.most.saturating_add(other.most),
            commonest: crate::rounding::plus(
                then.commonest.min(truth.most[1]),
                other.commonest.min(truth.most[0]),
            ),
            ..Values::unknown(then.width, by_then.max(by_other))
        };
        if with_then.independent && with_other.independent {
            // Whichever branch is taken, all its images come, as often as they do there.
            result.least = then.least.min(other.least);
            result.commonest = result.commonest.min(then.commonest.max(other.commonest));
            result.uniform = then.uniform & other.uniform;
        }
        result
    }
}

#[cfg(test)]
#[path = "../../tests/common/mod.rs"]
mod common;

#[cfg(test)]
mod tests;
