//! A condition made easier where it is too hard: stronger, so that every solution still takes the
//! path, and such that every part of it can be drawn uniformly.
//!
//! What a program computes from some bytes, a hash for instance, may be beyond counting, and too
//! rare to be met by chance. Such bytes are fixed to the original's values, as few as will do, and
//! what is left falls apart into smaller parts. Fixed bytes are revealed in full, and the figures say
//! so, since they are those of the stronger condition.
//!
//! What always holds: the result implies the literals that were given, and the original satisfies it.
//! Which bytes are fixed depends on the condition alone; their values are the original's.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;
use stunt_leakage::Accounts;
use stunt_models::{ByteSet, Component, Condition};
use stunt_solver::{Budget, Look, Sampler, Solver};
use stunt_terms::{Assignment, InputByte, Pool, Term};

use crate::simplify::simplify;

/// How often, and within how many tries, a part of the condition must be met for it to be drawn so.
pub(crate) type Tries = (usize, usize);
/// What may be left open, in values, of a literal that is too hard: less at every step.
const LEFT: [f64; 3] = [4096.0, 256.0, 1.0];
/// After so many parts that were too hard, the first steps are left out.
const MOST_PATIENT: usize = 12;

/// A condition whose parts can all be drawn.
pub(crate) struct Eased {
    /// Its literals.
    pub literals: Vec<Term>,
    /// The bytes that were fixed.
    pub fixed: BTreeSet<InputByte>,
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
    let mut eased = Eased { literals: Vec::new(), fixed: BTreeSet::new() };
    let mut hard = 0;
    let mut open = vec![(literals.to_vec(), 0)];
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
            hard += 1;
            let step = if hard > MOST_PATIENT { LEFT.len().max(step) } else { step };
            let fix = match LEFT.get(step) {
                Some(&left) => chosen(pool, component, &tested, left),
                None => component.bytes().collect(),
            };
            let fix = if fix.is_empty() { component.bytes().collect() } else { fix };
            let mut stronger = own_literals;
            for &byte in &fix {
                let variable = pool.byte(byte);
                let value = pool.constant(8, u128::from(own.get(byte)));
                stronger.push(pool.eq(variable, value));
            }
            eased.fixed.extend(fix);
            open.push((simplify(pool, &mut accounts.masks, &stronger), step + 1));
        }
    }
    eased
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
