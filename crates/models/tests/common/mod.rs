//! Random problems, brute force, and checks of a space against the list of its solutions.
#![allow(dead_code)]

pub mod case;

use std::sync::Arc;

use num_bigint::BigUint;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_models::{Budget, Condition, Masks, OwnedProblem, Problem, Space};
use stunt_shapes::{Random, inputs};
use stunt_terms::{InputByte, Pool, Term};

/// A stage, by name.
pub type Stage = (&'static str, fn(&Problem<'_>, &Budget) -> Option<Arc<dyn Space>>);

/// A generator with a fixed seed.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// All solutions, by the evaluator of `stunt_terms`, in order.
pub fn brute_force(pool: &Pool, problem: &OwnedProblem) -> Vec<Vec<u8>> {
    let domains: Vec<Vec<u8>> = problem.domains.iter().map(|d| d.iter().collect()).collect();
    inputs::solutions(pool, &problem.literals, &problem.bytes, &domains)
}

/// Checks count, marginals and some samples against the solutions.
pub fn check(
    space: &dyn Space,
    bytes: usize,
    solutions: &[Vec<u8>],
    rng: &mut dyn RngCore,
    what: &str,
) {
    assert_eq!(*space.count(), BigUint::from(solutions.len()), "count of {what}");
    for position in 0..bytes {
        let mut expected = vec![BigUint::ZERO; 256];
        for solution in solutions {
            expected[usize::from(solution[position])] += 1u8;
        }
        assert!(space.marginal(position) == expected, "marginal {position} of {what}");
    }
    if !solutions.is_empty() {
        let mut out = vec![0; bytes];
        for _ in 0..8 {
            space.sample(rng, &mut out);
            assert!(solutions.binary_search(&out).is_ok(), "a sample of {what} is no solution");
        }
    }
}

/// The chi-square statistic of samples over all solutions is not suspiciously large.
pub fn check_uniform(
    space: &dyn Space,
    bytes: usize,
    solutions: &[Vec<u8>],
    rng: &mut dyn RngCore,
    what: &str,
) {
    let each = 40;
    let mut seen = vec![0u32; solutions.len()];
    let mut out = vec![0; bytes];
    for _ in 0..each * solutions.len() {
        space.sample(rng, &mut out);
        seen[solutions.binary_search(&out).expect("a sample is a solution")] += 1;
    }
    let each = each as f64;
    let statistic: f64 = seen.iter().map(|&n| (f64::from(n) - each).powi(2) / each).sum();
    let freedom = (solutions.len() - 1) as f64;
    // Mean and variance are `freedom` and twice that; five deviations.
    assert!(
        statistic < freedom + 5.0 * (2.0 * freedom).sqrt() + 5.0,
        "{what}: {statistic} over {freedom}"
    );
    assert!(
        solutions.len() < 30 || statistic > freedom - 5.0 * (2.0 * freedom).sqrt(),
        "{what}: too even"
    );
}

/// Conjunction of literals as the problems of its components; `None` for a contradiction.
pub fn problems(pool: &Pool, literals: &[Term]) -> Option<Vec<OwnedProblem>> {
    let (mut condition, mut masks) = (Condition::new(), Masks::new());
    for &literal in literals {
        condition.push(pool, &mut masks, literal);
    }
    (!condition.is_contradiction())
        .then(|| condition.components().map(|component| component.as_problem()).collect())
}

/// The one component of a condition.
pub fn only_problem(pool: &Pool, literals: &[Term]) -> OwnedProblem {
    let mut all = problems(pool, literals).expect("not a contradiction");
    assert_eq!(all.len(), 1, "one component");
    all.pop().unwrap()
}

/// Random terms over the first bytes of source 0.
pub fn random(bytes: u32) -> Random {
    Random::new(bytes, &[4, 8, 16, 32], 36)
}

/// A literal that restricts the byte to some values, any number up to `most`.
pub fn narrow(pool: &mut Pool, rng: &mut impl Rng, offset: u32, most: u8) -> Term {
    let values = rng.gen_range(1..=most);
    stunt_shapes::random::narrow(pool, rng, InputByte::new(0, offset), values)
}
