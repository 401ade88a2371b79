//! How a term falls apart into terms that share no byte.
//!
//! A term is a function of other terms with disjoint bytes, its *parts*; mostly its operands, but
//! where operands overlap (`(s & 0xffff) + (s >> 16)`), the terms further down in which they meet.
//! A sum falls apart into all its summands at once. Nothing is counted here.

use rustc_hash::{FxHashMap, FxHashSet};
use stunt_terms::{InputByte, Op, Support, Term, mask};

use crate::budget::Budget;
use crate::space::Problem;

/// Small enough to enumerate the bytes themselves.
const FEW_CASES: u64 = 1 << 16;
/// Functions of more parts than this are hopeless.
const MOST_PARTS: usize = 64;
/// Terms between a term and its parts.
const MOST_EXPANDED: usize = 20_000;
/// Summands of a sum.
const MOST_SUMMANDS: usize = 20_000;

/// How a term's value comes from its parts.
pub(crate) enum Shape {
    /// The byte at this position.
    Byte(usize),
    /// A sum of parts, each added (`false`) or subtracted (`true`), and a constant.
    Sum(Vec<(Term, bool)>, u128),
    /// Whether two parts are equal.
    Equal(Term, Term),
    /// Whether one part is less than another; signed or not.
    Less(Term, Term, bool),
    /// Any function of the parts.
    Function(Parts),
}

/// Terms that share no byte, from which others can be worked out.
#[derive(Clone, Default)]
pub(crate) struct Parts {
    pub terms: Vec<Term>,
    /// Terms that are the low bits of a part, though they are not made from it.
    pub low_bits: Vec<(Term, Term)>,
}

impl Shape {
    /// The parts.
    pub fn parts(&self) -> Vec<Term> {
        match self {
            Shape::Byte(_) => Vec::new(),
            Shape::Sum(parts, _) => parts.iter().map(|&(part, _)| part).collect(),
            Shape::Equal(a, b) | Shape::Less(a, b, _) => vec![*a, *b],
            Shape::Function(parts) => parts.terms.clone(),
        }
    }
}

/// Finds the shapes of terms.
pub(crate) struct Shapes<'a, 'p> {
    problem: &'a Problem<'p>,
    positions: FxHashMap<InputByte, usize>,
    /// The terms of bytes.
    bytes: FxHashMap<InputByte, Term>,
    /// Up to so many combinations of bytes are enumerated.
    few: u64,
}

impl<'a, 'p> Shapes<'a, 'p> {
    pub fn new(problem: &'a Problem<'p>, budget: &Budget) -> Shapes<'a, 'p> {
        let positions = problem.bytes.iter().copied().zip(0..).collect();
        let mut bytes = FxHashMap::default();
        for term in problem.pool.reachable(problem.literals) {
            if let Op::Byte(byte) = problem.pool.op(term) {
                bytes.insert(byte, term);
            }
        }
        Shapes { problem, positions, bytes, few: FEW_CASES.min(budget.cases) }
    }

    /// The shape of a term that is not constant; `None` if its parts are too many.
    pub fn shape(&self, term: Term) -> Option<Shape> {
        let pool = self.problem.pool;
        let op = pool.op(term);
        if let Op::Byte(byte) = op {
            return Some(Shape::Byte(self.positions[&byte]));
        }
        if let Some(terms) = self.few_bytes(pool.support(term)) {
            return Some(Shape::Function(Parts { terms, low_bits: Vec::new() }));
        }
        match op {
            Op::Add(..) | Op::Sub(..) | Op::Neg(_) => {
                if let Some(sum) = self.sum(term) {
                    return Some(sum);
                }
            }
            Op::Eq(a, b) if self.apart(a, b) => return Some(Shape::Equal(a, b)),
            Op::Ult(a, b) if self.apart(a, b) => return Some(Shape::Less(a, b, false)),
            Op::Slt(a, b) if self.apart(a, b) => return Some(Shape::Less(a, b, true)),
            _ => {}
        }
        Some(Shape::Function(self.parts(op.operands())?))
    }

    /// The parts of a function of all these terms.
    pub fn parts(&self, terms: impl IntoIterator<Item = Term>) -> Option<Parts> {
        let pool = self.problem.pool;
        let variable = |term: &Term| !pool.support(*term).is_empty();
        let mut parts: std::collections::BTreeSet<Term> =
            terms.into_iter().filter(variable).collect();
        let (mut expanded, mut low_bits) = (0, Vec::new());
        loop {
            if parts.len() > MOST_PARTS {
                return None;
            }
            // The part with the largest handle cannot be below another one, so it is split.
            let overlapping = parts.iter().rev().copied().find(|&part| {
                let support = pool.support(part);
                parts.iter().any(|&other| other != part && pool.support(other).intersects(support))
            });
            let Some(part) = overlapping else {
                return Some(Parts { terms: parts.into_iter().collect(), low_bits });
            };
            expanded += 1;
            if expanded > MOST_EXPANDED {
                return None;
            }
            parts.remove(&part);
            if let Some(&wide) = parts.iter().find(|&&wide| self.is_low_bits(part, wide)) {
                low_bits.push((part, wide));
                continue;
            }
            parts.extend(pool.op(part).operands().filter(variable));
        }
    }

    fn apart(&self, a: Term, b: Term) -> bool {
        let pool = self.problem.pool;
        let (a, b) = (pool.support(a), pool.support(b));
        !a.is_empty() && !b.is_empty() && !a.intersects(b)
    }

    /// The terms of the bytes, if their domains have few combinations.
    fn few_bytes(&self, support: &Support) -> Option<Vec<Term>> {
        let mut cases = 1u64;
        let mut terms = Vec::new();
        for byte in support.iter() {
            cases *= u64::from(self.problem.domains[self.positions[&byte]].len());
            if cases > self.few || terms.len() > MOST_PARTS {
                return None;
            }
            terms.push(self.bytes[&byte]);
        }
        Some(terms)
    }

    /// The summands, if they share no byte.
    fn sum(&self, term: Term) -> Option<Shape> {
        let pool = self.problem.pool;
        let (parts, constant) = self.summands(term)?;
        let mut seen: FxHashSet<InputByte> = FxHashSet::default();
        let fresh =
            parts.iter().all(|&(part, _)| pool.support(part).iter().all(|b| seen.insert(b)));
        (fresh && parts.len() > 1).then_some(Shape::Sum(parts, constant))
    }

    /// Whether one term is the low bits of a wider one: both are sums, of the same summands. The
    /// low half of a sum is often worked out by itself, in fewer bits.
    fn is_low_bits(&self, narrow: Term, wide: Term) -> bool {
        let pool = self.problem.pool;
        let width = pool.width(narrow);
        let sum = |term: Term| matches!(pool.op(term), Op::Add(..) | Op::Sub(..));
        if !sum(narrow) || !sum(wide) || width >= pool.width(wide) {
            return false;
        }
        // What a summand is an extension of, and how, as far as the low bits show.
        let base = |(term, minus): (Term, bool)| match pool.op(term) {
            Op::ZeroExtend(inner) if pool.width(inner) == width => (inner, 0, minus),
            Op::SignExtend(inner) if pool.width(inner) == width => (inner, 0, minus),
            Op::ZeroExtend(inner) if pool.width(inner) < width => (inner, 1, minus),
            Op::SignExtend(inner) if pool.width(inner) < width => (inner, 2, minus),
            _ => (term, 0, minus),
        };
        let sorted = |term: Term| {
            let (parts, constant) = self.summands(term)?;
            let mut parts: Vec<(Term, u8, bool)> = parts.into_iter().map(base).collect();
            parts.sort_unstable();
            Some((parts, constant & mask(width)))
        };
        matches!((sorted(narrow), sorted(wide)), (Some(a), Some(b)) if a == b)
    }

    /// What a term is the sum of, with signs, and the constant part.
    fn summands(&self, term: Term) -> Option<(Vec<(Term, bool)>, u128)> {
        let pool = self.problem.pool;
        let (mut parts, mut constant) = (Vec::new(), 0u128);
        let mut stack = vec![(term, false)];
        while let Some((term, minus)) = stack.pop() {
            match pool.op(term) {
                Op::Const(value) if minus => constant = constant.wrapping_sub(value),
                Op::Const(value) => constant = constant.wrapping_add(value),
                Op::Add(a, b) => stack.extend([(b, minus), (a, minus)]),
                Op::Sub(a, b) => stack.extend([(b, !minus), (a, minus)]),
                Op::Neg(a) => stack.push((a, !minus)),
                _ => parts.push((term, minus)),
            }
            // A sum of sums of the same term has more summands than terms.
            if parts.len() > MOST_SUMMANDS {
                return None;
            }
        }
        Some((parts, constant))
    }
}
