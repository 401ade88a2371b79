//! A problem with all that belongs to it, and what a stage's answer to it is held against.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rand::{Rng, RngCore};
use stunt_models::{ByteSet, OwnedProblem, Problem, Space};
use stunt_shapes::{inputs, places};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

use super::{check, only_problem};

/// A problem with everything that it refers to.
#[derive(Default)]
pub struct Case {
    pub pool: Pool,
    pub bytes: Vec<InputByte>,
    pub domains: Vec<ByteSet>,
    pub literals: Vec<Term>,
}

impl Case {
    /// Bytes 0, 1, … of source 0 with those domains, and no literals yet.
    pub fn new(domains: Vec<ByteSet>) -> Case {
        Case { bytes: places(domains.len() as u32), domains, ..Case::default() }
    }

    /// That many bytes of any value.
    pub fn free(bytes: usize) -> Case {
        Case::new(vec![ByteSet::ALL; bytes])
    }

    /// A condition that is one component.
    pub fn of(build: impl FnOnce(&mut Pool) -> Vec<Term>) -> Case {
        let mut pool = Pool::new();
        let literals = build(&mut pool);
        let OwnedProblem { bytes, domains, literals } = only_problem(&pool, &literals);
        Case { pool, bytes, domains, literals }
    }

    /// The terms of all bytes.
    pub fn terms(&mut self) -> Vec<Term> {
        self.bytes.iter().map(|&byte| self.pool.byte(byte)).collect()
    }

    pub fn byte(&mut self, position: usize) -> Term {
        self.pool.byte(self.bytes[position])
    }

    pub fn problem(&self) -> Problem<'_> {
        Problem {
            pool: &self.pool,
            bytes: &self.bytes,
            domains: &self.domains,
            literals: &self.literals,
        }
    }

    /// Whether the values are a solution.
    pub fn solved_by(&self, values: &[u8]) -> bool {
        let mut assignment = Assignment::new();
        for (&byte, &value) in self.bytes.iter().zip(values) {
            assignment.set(byte, value);
        }
        let mut evaluator = Evaluator::new();
        values.iter().zip(&self.domains).all(|(&value, domain)| domain.contains(value))
            && self.literals.iter().all(|&l| evaluator.holds(&self.pool, l, &assignment))
    }

    /// Compares count, marginals and some samples to brute force.
    pub fn agrees(&self, space: &dyn Space, rng: &mut dyn RngCore) -> usize {
        let domains: Vec<Vec<u8>> = self.domains.iter().map(|d| d.iter().collect()).collect();
        let solutions = inputs::solutions(&self.pool, &self.literals, &self.bytes, &domains);
        check(space, self.bytes.len(), &solutions, rng, "a case");
        solutions.len()
    }

    /// Draws samples, all of which must be solutions.
    pub fn draws_solutions(&self, space: &dyn Space, rng: &mut dyn RngCore, draws: usize) {
        let mut out = vec![0; self.bytes.len()];
        for _ in 0..draws {
            space.sample(rng, &mut out);
            assert!(self.solved_by(&out), "a sample is a solution");
        }
    }

    /// The marginals of every byte add up to the count, and lie in its domain.
    pub fn marginals_add_up(&self, space: &dyn Space) {
        for (position, domain) in self.domains.iter().enumerate() {
            let marginal = space.marginal(position);
            assert_eq!(marginal.iter().sum::<BigUint>(), *space.count());
            for (value, count) in (0..=255u8).zip(&marginal) {
                assert!(domain.contains(value) || *count == BigUint::ZERO);
            }
        }
    }

    /// Draws many samples: each solution must come up about equally often.
    pub fn is_uniform(&self, space: &dyn Space, rng: &mut dyn RngCore, per_solution: usize) {
        let kinds = usize::try_from(space.count().clone()).expect("few solutions");
        let mut seen: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        let mut out = vec![0; self.bytes.len()];
        for _ in 0..kinds * per_solution {
            space.sample(rng, &mut out);
            *seen.entry(out.clone()).or_default() += 1;
        }
        assert!(seen.keys().all(|values| self.solved_by(values)));
        let missing = (kinds - seen.len()) as f64 * per_solution as f64;
        let expected = per_solution as f64;
        let chi: f64 =
            missing + seen.values().map(|&n| (n as f64 - expected).powi(2) / expected).sum::<f64>();
        let freedom = (kinds - 1) as f64;
        assert!(
            (chi - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(),
            "chi-square {chi} of {freedom}"
        );
    }
}

/// The leak in bits: all inputs over the solutions.
pub fn bits(space: &dyn Space, bytes: usize) -> f64 {
    let count = space.count();
    let shift = count.bits().saturating_sub(60);
    let top = u64::try_from(count >> shift).expect("60 bits");
    8.0 * bytes as f64 - (top as f64).log2() - shift as f64
}

/// A random domain of one of the usual kinds, with at most `most` values.
pub fn random_domain(rng: &mut impl Rng, most: u32) -> ByteSet {
    loop {
        let (a, b): (u8, u8) = (rng.r#gen(), rng.r#gen());
        let domain = match rng.gen_range(0..6) {
            0 => ByteSet::ALL,
            1 => ByteSet::filter(|v| (a.min(b)..=a.max(b)).contains(&v)),
            2 => ByteSet::filter(|v| v & a == b & a),
            3 => ByteSet::filter(|v| v.is_ascii_digit() || v == a),
            4 => ByteSet::filter(|v| v % (a % 16 + 2) == b % 2),
            _ => ByteSet::filter(|v| v == a || v == b),
        };
        if (1..=most).contains(&domain.len()) {
            return domain;
        }
    }
}
