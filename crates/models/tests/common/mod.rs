//! Random problems, brute force, and checks of a space against the list of its solutions.
#![allow(dead_code)]

use std::sync::Arc;

use num_bigint::BigUint;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_models::{Budget, ByteSet, Condition, Masks, OwnedProblem, Problem, Space};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

/// A stage, by name.
pub type Stage = (&'static str, fn(&Problem<'_>, &Budget) -> Option<Arc<dyn Space>>);

/// A generator with a fixed seed.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// All solutions, by the evaluator of `stunt_terms`, in order.
pub fn brute_force(pool: &Pool, problem: &OwnedProblem) -> Vec<Vec<u8>> {
    let domains: Vec<Vec<u8>> = problem.domains.iter().map(|d| d.iter().collect()).collect();
    let cases: usize = domains.iter().map(Vec::len).product();
    assert!(cases <= 1 << 20, "too many cases for brute force");
    let mut evaluator = Evaluator::new();
    let mut assignment = Assignment::new();
    let mut solutions = Vec::new();
    for case in 0..cases {
        let mut rest = case;
        let mut values = vec![0; domains.len()];
        for (value, domain) in values.iter_mut().zip(&domains).rev() {
            *value = domain[rest % domain.len()];
            rest /= domain.len();
        }
        for (byte, &value) in problem.bytes.iter().zip(&values) {
            assignment.set(*byte, value);
        }
        evaluator.reset();
        if problem.literals.iter().all(|&l| evaluator.holds(pool, l, &assignment)) {
            solutions.push(values);
        }
    }
    solutions
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

/// Random terms.
pub struct Random<'a> {
    pub pool: &'a mut Pool,
    pub rng: &'a mut ChaCha8Rng,
    pub bytes: u32,
}

impl Random<'_> {
    /// A literal that restricts the byte to a few values.
    pub fn narrow(&mut self, offset: u32, most: u32) -> Term {
        let byte = self.pool.input(0, offset);
        let size = self.rng.gen_range(1..=most);
        if self.rng.gen_bool(0.5) {
            let low = self.rng.gen_range(0..=256 - size);
            let (low, size) =
                (self.pool.constant(8, low.into()), self.pool.constant(8, size.into()));
            let from = self.pool.sub(byte, low);
            self.pool.ult(from, size)
        } else {
            let values: Vec<Term> = (0..size)
                .map(|_| {
                    let value = self.rng.r#gen::<u8>();
                    let value = self.pool.constant(8, value.into());
                    self.pool.eq(byte, value)
                })
                .collect();
            self.pool.or_all(values)
        }
    }

    /// A random Bool term.
    pub fn truth(&mut self, depth: u32) -> Term {
        let choice = if depth == 0 { self.rng.gen_range(0..3) } else { self.rng.gen_range(0..8) };
        match choice {
            0..=2 => {
                let width = [4, 8, 16, 32][self.rng.gen_range(0..4)];
                let a = self.bits(width, depth);
                let b = self.bits(width, depth.saturating_sub(1));
                match self.rng.gen_range(0..6) {
                    0 => self.pool.ult(a, b),
                    1 => self.pool.slt(a, b),
                    2 => self.pool.ule(a, b),
                    3 => self.pool.ne(a, b),
                    _ => self.pool.eq(a, b),
                }
            }
            3 => {
                let (a, b) = (self.truth(depth - 1), self.truth(depth - 1));
                self.pool.and(a, b)
            }
            4 => {
                let (a, b) = (self.truth(depth - 1), self.truth(depth - 1));
                self.pool.or(a, b)
            }
            5 => {
                let a = self.truth(depth - 1);
                self.pool.not(a)
            }
            6 => {
                let (a, b) = (self.truth(depth - 1), self.truth(depth - 1));
                self.pool.eq(a, b)
            }
            _ => {
                let (c, a, b) =
                    (self.truth(depth - 1), self.truth(depth - 1), self.truth(depth - 1));
                self.pool.ite(c, a, b)
            }
        }
    }

    /// A random bit vector.
    pub fn bits(&mut self, width: u8, depth: u32) -> Term {
        if depth == 0 || self.rng.gen_bool(0.1) {
            if self.rng.gen_bool(0.2) {
                let value = if self.rng.gen_bool(0.5) {
                    self.rng.gen_range(0..8)
                } else {
                    self.rng.r#gen::<u32>()
                };
                return self.pool.constant(width, value.into());
            }
            let offset = self.rng.gen_range(0..self.bytes);
            let byte = self.pool.input(0, offset);
            return match width {
                8 => byte,
                1..=7 => {
                    let lo = self.rng.gen_range(0..=8 - width);
                    self.pool.extract(lo + width - 1, lo, byte)
                }
                _ if self.rng.gen_bool(0.3) => self.pool.sign_extend(width, byte),
                _ => self.pool.zero_extend(width, byte),
            };
        }
        let pair =
            |random: &mut Self| (random.bits(width, depth - 1), random.bits(width, depth - 1));
        match self.rng.gen_range(0..22) {
            0 => {
                let a = self.bits(width, depth - 1);
                self.pool.not(a)
            }
            1 => {
                let a = self.bits(width, depth - 1);
                self.pool.neg(a)
            }
            2 => {
                let (a, b) = pair(self);
                self.pool.and(a, b)
            }
            3 => {
                let (a, b) = pair(self);
                self.pool.or(a, b)
            }
            4 => {
                let (a, b) = pair(self);
                self.pool.xor(a, b)
            }
            5..=7 => {
                let (a, b) = pair(self);
                self.pool.add(a, b)
            }
            8 => {
                let (a, b) = pair(self);
                self.pool.sub(a, b)
            }
            9 => {
                let (a, b) = pair(self);
                self.pool.mul(a, b)
            }
            10 => {
                let (a, b) = pair(self);
                self.pool.udiv(a, b)
            }
            11 => {
                let (a, b) = pair(self);
                self.pool.urem(a, b)
            }
            12 => {
                let (a, b) = pair(self);
                self.pool.sdiv(a, b)
            }
            13 => {
                let (a, b) = pair(self);
                self.pool.srem(a, b)
            }
            14 => {
                let (a, b) = pair(self);
                self.pool.shl(a, b)
            }
            15 => {
                let (a, b) = pair(self);
                self.pool.lshr(a, b)
            }
            16 => {
                let (a, b) = pair(self);
                self.pool.ashr(a, b)
            }
            17 if width > 1 => {
                let low = self.rng.gen_range(1..width);
                let (a, b) = (self.bits(width - low, depth - 1), self.bits(low, depth - 1));
                self.pool.concat(a, b)
            }
            18 => {
                let lo = self.rng.gen_range(0..4);
                let wide = self.bits(width + 4, depth - 1);
                self.pool.extract(lo + width - 1, lo, wide)
            }
            19 if width > 1 => {
                let narrow = self.rng.gen_range(1..width);
                let a = self.bits(narrow, depth - 1);
                if self.rng.gen_bool(0.5) {
                    self.pool.sign_extend(width, a)
                } else {
                    self.pool.zero_extend(width, a)
                }
            }
            20 if width <= 64 => {
                let length = self.rng.gen_range(1..40);
                let limit = stunt_terms::mask(width) as u64;
                let entries: Vec<u64> =
                    (0..length).map(|_| self.rng.r#gen::<u64>() & limit).collect();
                let table = self.pool.add_table(width, entries);
                let index = self.bits(6, depth - 1);
                self.pool.table(table, index)
            }
            _ => {
                let condition = self.truth(depth - 1);
                let (a, b) = pair(self);
                self.pool.ite(condition, a, b)
            }
        }
    }
}

/// The set of values as domains are printed in failures: sizes only.
pub fn sizes(domains: &[ByteSet]) -> Vec<u32> {
    domains.iter().map(ByteSet::len).collect()
}

/// Byte `offset` of source 0.
pub fn at(offset: u32) -> InputByte {
    InputByte::new(0, offset)
}
