//! A condition made easier where it is too hard: stronger, so that every solution still takes the
//! path, and such that every part of it can be drawn uniformly.
//!
//! What a program computes from some bytes, a hash for instance, may be beyond counting, and too
//! rare to be met by chance. Such bytes are fixed to the original's values, as few as will do, and
//! what is left falls apart into smaller parts. Fixed bytes are revealed in full, and the figures say
//! so, since they are those of the stronger condition.
//!
//! Before that, questions are fixed. A program that counts the brackets of a text asks each byte
//! whether it is one; that the answers stay the same is far less than that the bytes do.
//!
//! What always holds: the result implies the literals that were given, and the original satisfies it.
//! Which bytes are fixed depends on the condition alone; their values are the original's.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rustc_hash::{FxHashMap, FxHashSet};
use stunt_leakage::Accounts;
use stunt_models::{ByteSet, Component, Condition};
use stunt_solver::{Budget, Look, Sampler, Solver};
use stunt_terms::{Assignment, Evaluator, InputByte, Op, Pool, Term};

use crate::simplify::simplify;

/// How often, and within how many tries, a part of the condition must be met for it to be drawn so.
pub(crate) type Tries = (usize, usize);
/// What may be left open, in values, of a literal that is too hard: less at every step. At first of products
/// alone, where there are any: a sum over the same bytes, of which much would have to be fixed, can often be
/// counted as soon as they are gone.
const LEFT: [(Which, f64); 5] = [
    (Which::Products, 256.0),
    (Which::Products, 1.0),
    (Which::All, 4096.0),
    (Which::All, 256.0),
    (Which::All, 1.0),
];
/// After so many parts that were too hard, the first steps are left out.
const MOST_PATIENT: usize = 12;

/// Which literals have bytes fixed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Those that multiply or divide what depends on bytes.
    Products,
    /// All that are too hard.
    All,
}

/// A condition whose parts can all be drawn.
pub(crate) struct Eased {
    /// Its literals.
    pub literals: Vec<Term>,
    /// The bytes that were fixed.
    pub fixed: BTreeSet<InputByte>,
    /// Whether anything was fixed, bytes or answers.
    pub stronger: bool,
}

/// Makes a simplified condition easier, where it has to be.
pub(crate) fn ease(
    pool: &mut Pool,
    accounts: &mut Accounts,
    sampler: &mut Sampler,
    own: &Assignment,
    literals: &[Term],
    tries: Tries,
) -> Eased {
    let mut solver = Solver::new(Budget::default());
    let mut eased = Eased { literals: Vec::new(), fixed: BTreeSet::new(), stronger: false };
    let mut hard = 0;
    let mut open = vec![(literals.to_vec(), None)];
    while let Some((literals, step)) = open.pop() {
        let mut condition = Condition::new();
        for &literal in &literals {
            condition.push(pool, &mut accounts.masks, literal);
        }
        if condition.is_contradiction() {
            eased.literals.extend(literals);
            continue;
        }
        let mut components: Vec<_> = condition.components().collect();
        components.sort_by_cached_key(|component| component.bytes().next());
        for component in components {
            let own_literals: Vec<Term> = component.all_literals().collect();
            let tested = if component.single().is_some() {
                None
            } else {
                // Always the same tries: what is fixed must not depend on chance.
                let mut rng = ChaCha8Rng::seed_from_u64(0);
                let counter = &mut accounts.counter;
                match sampler.look(pool, &mut solver, counter, component, tries, &mut rng) {
                    Look::Missed(tested) => Some(tested),
                    Look::Counted | Look::Met | Look::Empty => None,
                }
            };
            let Some(tested) = tested else {
                eased.literals.extend(own_literals);
                continue;
            };
            eased.stronger = true;
            if step.is_none() {
                let answers = answers(pool, &tested, own);
                if !answers.is_empty() {
                    let stronger = [own_literals, answers].concat();
                    open.push((simplify(pool, &mut accounts.masks, &stronger), Some(0)));
                    continue;
                }
            }
            hard += 1;
            let step = step.unwrap_or(0);
            let step = if hard > MOST_PATIENT { LEFT.len().max(step) } else { step };
            let (step, fix) = fixed_at(pool, component, &tested, step);
            let mut stronger = own_literals;
            for &byte in &fix {
                let variable = pool.byte(byte);
                let value = pool.constant(8, u128::from(own.get(byte)));
                stronger.push(pool.eq(variable, value));
            }
            eased.fixed.extend(fix);
            open.push((simplify(pool, &mut accounts.masks, &stronger), Some(step + 1)));
        }
    }
    eased
}

/// The answers that the original gives to the questions about single bytes on which literals depend,
/// of those literals that depend on nothing else.
fn answers(pool: &mut Pool, literals: &[Term], own: &Assignment) -> Vec<Term> {
    let mut all = Vec::new();
    for &literal in literals {
        if let Some(questions) = questions(pool, literal) {
            all.extend(questions);
        }
    }
    all.sort_unstable();
    all.dedup();
    let mut evaluator = Evaluator::new();
    all.into_iter()
        .map(|question| {
            let holds = evaluator.holds(pool, question, own);
            if holds { question } else { pool.not(question) }
        })
        .collect()
}

/// What a literal asks single bytes; none if it depends on a byte in another way.
fn questions(pool: &Pool, literal: Term) -> Option<Vec<Term>> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut open = vec![literal];
    while let Some(term) = open.pop() {
        let bytes = pool.support(term).iter().take(2).count();
        if bytes == 0 || !seen.insert(term) {
            continue;
        }
        if bytes == 1 && pool.is_bool(term) {
            found.push(term);
        } else if let Op::Byte(_) = pool.op(term) {
            return None;
        } else {
            open.extend(pool.operands(term));
        }
    }
    Some(found)
}

/// The bytes to be fixed at a step or, if that would be none, at the next one: in the end, all. And which step
/// it was.
fn fixed_at(
    pool: &Pool,
    component: &Component,
    literals: &[Term],
    step: usize,
) -> (usize, Vec<InputByte>) {
    for (step, &(which, left)) in LEFT.iter().enumerate().skip(step) {
        let takes = |literal: &Term| which == Which::All || has_product(pool, *literal);
        let taken: Vec<Term> = literals.iter().copied().filter(takes).collect();
        let fix = chosen(pool, component, &taken, left);
        if !fix.is_empty() {
            return (step, fix);
        }
    }
    (LEFT.len(), component.bytes().collect())
}

/// Whether a literal multiplies, or divides by, what is not constant.
pub(crate) fn has_product(pool: &Pool, literal: Term) -> bool {
    let (mut open, mut seen) = (vec![literal], FxHashSet::default());
    while let Some(term) = open.pop() {
        if pool.as_const(term).is_some() || !seen.insert(term) {
            continue;
        }
        if let Op::Mul(a, b) | Op::UDiv(a, b) | Op::URem(a, b) = pool.op(term)
            && pool.as_const(a).is_none()
            && pool.as_const(b).is_none()
        {
            return true;
        }
        open.extend(pool.operands(term));
    }
    false
}

/// Bytes to be fixed such that none of the literals has more than `left` cases: one after the other,
/// always the one that most of them look at.
fn chosen(pool: &Pool, component: &Component, literals: &[Term], left: f64) -> Vec<InputByte> {
    let size = |byte: InputByte| {
        let domain = component.domain(byte).unwrap_or(ByteSet::ALL);
        f64::from(domain.len())
    };
    let mut open: Vec<Vec<InputByte>> = literals
        .iter()
        .map(|&literal| pool.support(literal).iter().filter(|&byte| size(byte) > 1.0).collect())
        .collect();
    let mut fixed = Vec::new();
    loop {
        open.retain(|bytes| bytes.iter().map(|&byte| size(byte)).product::<f64>() > left);
        let mut votes: FxHashMap<InputByte, usize> = FxHashMap::default();
        for &byte in open.iter().flatten() {
            *votes.entry(byte).or_default() += 1;
        }
        let best = votes.into_iter().max_by_key(|&(byte, votes)| (votes, std::cmp::Reverse(byte)));
        let Some((byte, _)) = best else { return fixed };
        fixed.push(byte);
        for bytes in &mut open {
            bytes.retain(|&other| other != byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Assignment {
        let mut own = Assignment::default();
        for (offset, &value) in (0..).zip(bytes) {
            own.set(InputByte::new(0, offset), value);
        }
        own
    }

    /// How many of so many bytes are `=`, as a program counts them.
    fn marks(pool: &mut Pool, bytes: u32) -> Term {
        let (mark, one, none) =
            (pool.constant(8, u128::from(b'=')), pool.constant(64, 1), pool.constant(64, 0));
        let mut count = none;
        for offset in 0..bytes {
            let byte = pool.byte(InputByte::new(0, offset));
            let is = pool.eq(byte, mark);
            let adds = pool.ite(is, one, none);
            count = pool.add(count, adds);
        }
        count
    }

    #[test]
    fn what_is_counted_is_told_by_the_answers() {
        let mut pool = Pool::new();
        let count = marks(&mut pool, 6);
        let two = pool.constant(64, 2);
        let literal = pool.eq(count, two);
        let own = text(b"a=bc=d");
        let answers = answers(&mut pool, &[literal], &own);
        assert_eq!(answers.len(), 6);
        let holds = |bytes: &[u8; 6]| {
            let (other, mut evaluator) = (text(bytes), Evaluator::new());
            let all = answers.iter().all(|&answer| evaluator.holds(&pool, answer, &other));
            (all, evaluator.holds(&pool, literal, &other))
        };
        assert_eq!(holds(b"a=bc=d"), (true, true));
        assert_eq!(holds(b"x=..=z"), (true, true));
        // The same count, but other answers; and another count.
        assert_eq!(holds(b"=abc=d"), (false, true));
        assert!(!holds(b"a=====").0);
    }

    #[test]
    fn products_are_fixed_before_what_is_summed() {
        // An image: a width, a height, and a sum over both and more that nobody could guess.
        let mut pool = Pool::new();
        let bytes: Vec<Term> = (0..12).map(|at| pool.byte(InputByte::new(0, at))).collect();
        let number = |pool: &mut Pool, bytes: &[Term]| {
            let mut number = bytes[0];
            for &byte in &bytes[1..] {
                number = pool.concat(number, byte);
            }
            number
        };
        let (width, height) = (number(&mut pool, &bytes[..4]), number(&mut pool, &bytes[4..8]));
        let size = pool.mul(width, height);
        let (first, last) = (pool.constant(32, 0x1234_5678), number(&mut pool, &bytes[8..]));
        let of_size = pool.eq(size, first);
        let sum = pool.xor(width, last);
        let other = pool.constant(32, 0x0102_0304);
        let sum = pool.eq(sum, other);
        assert!(has_product(&pool, of_size) && !has_product(&pool, sum));
        let mut condition = Condition::new();
        let mut accounts = Accounts::new(stunt_models::Budget::quick());
        for literal in [of_size, sum] {
            condition.push(&pool, &mut accounts.masks, literal);
        }
        let component = condition.components().next().expect("there is one");
        let (step, fix) = fixed_at(&pool, component, &[of_size, sum], 0);
        assert_eq!(step, 0);
        assert!(fix.iter().all(|byte| byte.offset < 8), "{fix:?}");
        // Without a product, it begins with what comes then.
        let (step, fix) = fixed_at(&pool, component, &[sum], 0);
        assert_eq!((step, fix.len()), (2, 7));
    }

    #[test]
    fn a_literal_that_looks_at_values_has_no_questions() {
        let mut pool = Pool::new();
        let count = marks(&mut pool, 3);
        let value = pool.byte(InputByte::new(0, 3));
        let wide = pool.zero_extend(64, value);
        let sum = pool.add(count, wide);
        let nine = pool.constant(64, 9);
        let literal = pool.eq(sum, nine);
        assert_eq!(questions(&pool, literal), None);
        assert!(answers(&mut pool, &[literal], &text(b"===\x06")).is_empty());
    }
}
