//! What a stage's answer is held against: every case of a small problem, tried one by one; and
//! random terms to make such problems from.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rand::seq::SliceRandom;
use rand::{Rng, RngCore};
use stunt_models::{ByteSet, Problem, Space};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

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
        let bytes = (0..domains.len() as u32).map(|offset| InputByte::new(0, offset)).collect();
        Case { domains, bytes, ..Case::default() }
    }

    /// That many bytes of any value.
    pub fn free(bytes: usize) -> Case {
        Case::new(vec![ByteSet::ALL; bytes])
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

    /// All solutions, by trying every case.
    pub fn solutions(&self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut ranks = vec![0u32; self.domains.len()];
        loop {
            let values: Vec<u8> = ranks
                .iter()
                .zip(&self.domains)
                .map(|(&rank, domain)| domain.nth(rank).expect("a rank within the domain"))
                .collect();
            if self.solved_by(&values) {
                found.push(values);
            }
            let Some(next) = (0..ranks.len()).find(|&i| ranks[i] + 1 < self.domains[i].len())
            else {
                return found;
            };
            ranks[next] += 1;
            ranks[..next].fill(0);
        }
    }

    /// Compares count and marginals to brute force, and draws some samples.
    pub fn agrees(&self, space: &dyn Space, rng: &mut dyn RngCore) -> usize {
        let solutions = self.solutions();
        assert_eq!(*space.count(), BigUint::from(solutions.len()), "count");
        for position in 0..self.bytes.len() {
            let mut plain = vec![0u64; 256];
            for solution in &solutions {
                plain[usize::from(solution[position])] += 1;
            }
            let plain: Vec<BigUint> = plain.into_iter().map(BigUint::from).collect();
            assert!(space.marginal(position) == plain, "marginal of byte {position}");
        }
        if !solutions.is_empty() {
            self.draws_solutions(space, rng, 5);
        }
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

/// A random bit vector of `width` bits over some terms of 8 bits.
pub fn random_bits(
    pool: &mut Pool,
    rng: &mut impl Rng,
    bytes: &[Term],
    width: u8,
    depth: u32,
) -> Term {
    if depth == 0 || rng.gen_bool(0.1) {
        let byte = *bytes.choose(rng).expect("some bytes");
        return match rng.gen_range(0..6) {
            0 => {
                let value = rng.r#gen::<u128>();
                pool.constant(width, value)
            }
            _ if width < 8 => {
                let lo = rng.gen_range(0..=8 - width);
                pool.extract(lo + width - 1, lo, byte)
            }
            1 => pool.sign_extend(width, byte),
            _ => pool.zero_extend(width, byte),
        };
    }
    let depth = depth - 1;
    let mut sub = |pool: &mut Pool, width| random_bits(pool, rng, bytes, width, depth);
    let (a, b) = (sub(pool, width), sub(pool, width));
    match rng.gen_range(0..20) {
        0 => pool.not(a),
        1 => pool.neg(a),
        2 => pool.and(a, b),
        3 => pool.or(a, b),
        4 | 5 => pool.xor(a, b),
        6 | 7 => pool.add(a, b),
        8 => pool.sub(a, b),
        9 => pool.mul(a, b),
        10 => pool.udiv(a, b),
        11 => pool.urem(a, b),
        12 => pool.sdiv(a, b),
        13 => pool.shl(a, b),
        14 => pool.lshr(a, b),
        15 => pool.ashr(a, b),
        16 if width > 1 => {
            let cut = rng.gen_range(1..width);
            let (high, low) = (pool.extract(width - 1, cut, a), pool.extract(cut - 1, 0, b));
            pool.concat(high, low)
        }
        17 if width > 1 => {
            let by = rng.gen_range(1..width);
            pool.rotate_left(by, a)
        }
        18 => {
            let condition = random_truth(pool, rng, bytes, depth);
            pool.ite(condition, a, b)
        }
        _ => {
            let entries: Vec<u64> = (0..rng.gen_range(1..40))
                .map(|_| rng.r#gen::<u64>() & ((1 << width) - 1))
                .collect();
            let table = pool.add_table(width, entries);
            let index = random_bits(pool, rng, bytes, 5, depth);
            pool.table(table, index)
        }
    }
}

/// A random Bool over some terms of 8 bits.
pub fn random_truth(pool: &mut Pool, rng: &mut impl Rng, bytes: &[Term], depth: u32) -> Term {
    let width = *[1, 4, 8, 8, 16].choose(rng).expect("some widths");
    let depth = depth.saturating_sub(1);
    match rng.gen_range(0..8) {
        0 if depth > 0 => {
            let (a, b) =
                (random_truth(pool, rng, bytes, depth), random_truth(pool, rng, bytes, depth));
            if rng.r#gen() { pool.and(a, b) } else { pool.or(a, b) }
        }
        1 if depth > 0 => {
            let a = random_truth(pool, rng, bytes, depth);
            pool.not(a)
        }
        kind => {
            let a = random_bits(pool, rng, bytes, width, depth);
            let b = random_bits(pool, rng, bytes, width, depth);
            match kind {
                2 | 3 => pool.ult(a, b),
                4 => pool.slt(a, b),
                5 => pool.ne(a, b),
                _ => pool.eq(a, b),
            }
        }
    }
}

/// The bytes of a little-endian field as one term.
pub fn little_endian(pool: &mut Pool, bytes: &[Term]) -> Term {
    let (first, rest) = bytes.split_first().expect("a field has bytes");
    rest.iter().fold(*first, |low, &byte| pool.concat(byte, low))
}

/// The table of CRC-32 (reflected, as in zip and PNG).
pub fn crc_table() -> Vec<u64> {
    (0..256u64)
        .map(|n| (0..8).fold(n, |c, _| if c & 1 == 1 { 0xedb8_8320 ^ c >> 1 } else { c >> 1 }))
        .collect()
}

/// CRC-32 of plain bytes, for comparison.
pub fn crc_of(bytes: &[u8]) -> u32 {
    let table = crc_table();
    !bytes.iter().fold(u32::MAX, |crc, &b| table[(crc as u8 ^ b) as usize] as u32 ^ crc >> 8)
}

/// CRC-32 as a term, by the table.
pub fn crc_by_table(pool: &mut Pool, bytes: &[Term]) -> Term {
    let table = pool.add_table(32, crc_table());
    let mut crc = pool.constant(32, 0xffff_ffff);
    for &byte in bytes {
        let low = pool.extract(7, 0, crc);
        let index = pool.xor(low, byte);
        let entry = pool.table(table, index);
        let high = pool.extract(31, 8, crc);
        let shifted = pool.zero_extend(32, high);
        crc = pool.xor(entry, shifted);
    }
    pool.not(crc)
}

/// CRC-32 as a term, bit by bit: with a mask made by negation, or with if-then-else.
pub fn crc_by_bits(pool: &mut Pool, bytes: &[Term], masked: bool) -> Term {
    let polynomial = pool.constant(32, 0xedb8_8320);
    let one = pool.constant(1, 1);
    let mut crc = pool.constant(32, 0xffff_ffff);
    for &byte in bytes {
        let wide = pool.zero_extend(32, byte);
        crc = pool.xor(crc, wide);
        for _ in 0..8 {
            let bit = pool.extract(0, 0, crc);
            let high = pool.extract(31, 1, crc);
            let shifted = pool.zero_extend(32, high);
            crc = if masked {
                let wide = pool.zero_extend(32, bit);
                let mask = pool.neg(wide);
                let poly = pool.and(mask, polynomial);
                pool.xor(shifted, poly)
            } else {
                let set = pool.eq(bit, one);
                let changed = pool.xor(shifted, polynomial);
                pool.ite(set, changed, shifted)
            };
        }
    }
    pool.not(crc)
}
