//! Random conditions over a few bytes, small enough to try every input, and the trying.
//!
//! All operators and many widths occur. Bytes get small domains through literals over one byte, so
//! that the product of the domains can be enumerated whatever the other literals are.

#![allow(dead_code)]

pub mod conditions;

use num_bigint::BigUint;
use rand::Rng;
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

/// The bytes that random terms are made of.
pub struct Source {
    pub bytes: Vec<InputByte>,
    /// How many operators deep a term may be.
    pub depth: u32,
}

impl Source {
    /// Bytes 0 to `count - 1` of source 0.
    pub fn new(count: u32, depth: u32) -> Source {
        Source { bytes: (0..count).map(|offset| InputByte::new(0, offset)).collect(), depth }
    }

    /// A width: often a usual one, sometimes any.
    pub fn width(&self, rng: &mut impl Rng) -> u8 {
        const USUAL: [u8; 9] = [1, 3, 4, 8, 8, 16, 32, 64, 128];
        if rng.gen_bool(0.8) {
            USUAL[rng.gen_range(0..USUAL.len())]
        } else {
            rng.gen_range(1..=128)
        }
    }

    /// A number that tests like: small, near a power of two, or any.
    pub fn number(&self, rng: &mut impl Rng, width: u8) -> u128 {
        let value = match rng.gen_range(0..5) {
            0 => rng.gen_range(0..4),
            1 => rng.gen_range(0..300),
            2 => 1u128 << rng.gen_range(0..width),
            3 => (1u128 << rng.gen_range(0..width)).wrapping_sub(1),
            _ => rng.r#gen(),
        };
        value & stunt_terms::mask(width)
    }

    /// A random bit vector.
    pub fn bits(&self, rng: &mut impl Rng, pool: &mut Pool, width: u8, depth: u32) -> Term {
        if depth == 0 || rng.gen_bool(0.1) {
            return self.leaf(rng, pool, width);
        }
        let depth = depth - 1;
        let some = |rng: &mut _, pool: &mut Pool| self.bits(rng, pool, width, depth);
        match rng.gen_range(0..24) {
            0 => {
                let a = some(rng, pool);
                pool.not(a)
            }
            1 => {
                let a = some(rng, pool);
                pool.neg(a)
            }
            2..=15 => {
                let a = some(rng, pool);
                let b = if rng.gen_bool(0.35) {
                    let value = self.number(rng, width);
                    pool.constant(width, value)
                } else {
                    some(rng, pool)
                };
                match rng.gen_range(0..14) {
                    0 => pool.and(a, b),
                    1 => pool.or(a, b),
                    2 => pool.xor(a, b),
                    3 => pool.add(a, b),
                    4 => pool.sub(a, b),
                    5 => pool.mul(a, b),
                    6 => pool.udiv(a, b),
                    7 => pool.urem(a, b),
                    8 => pool.sdiv(a, b),
                    9 => pool.srem(a, b),
                    10 => pool.shl(a, b),
                    11 => pool.lshr(a, b),
                    12 => pool.ashr(a, b),
                    _ => pool.sub(b, a),
                }
            }
            16 | 17 if width > 1 => {
                let low = rng.gen_range(1..width);
                let high = self.bits(rng, pool, width - low, depth);
                let low = self.bits(rng, pool, low, depth);
                pool.concat(high, low)
            }
            18 => {
                let wide = rng.gen_range(width..=128);
                let a = self.bits(rng, pool, wide, depth);
                let lo = rng.gen_range(0..=wide - width);
                pool.extract(lo + width - 1, lo, a)
            }
            19 | 20 if width > 1 => {
                let narrow = rng.gen_range(1..=width);
                let a = self.bits(rng, pool, narrow, depth);
                if rng.r#gen() { pool.zero_extend(width, a) } else { pool.sign_extend(width, a) }
            }
            21 if width <= 64 => {
                let len = [3usize, 16, 200, 256, 300][rng.gen_range(0..5)];
                let few = rng.gen_range(1..20u64);
                let limit = stunt_terms::mask(width) as u64;
                let entries: Vec<u64> = (0..len)
                    .map(|_| rng.gen_range(0..few).wrapping_mul(0x9e37_79b9_7f4a_7c15) & limit)
                    .collect();
                let table = pool.add_table(width, entries);
                let index_width = rng.gen_range(2..=12);
                let index = self.bits(rng, pool, index_width, depth);
                pool.table(table, index)
            }
            _ => {
                let c = self.truth(rng, pool, depth);
                let (a, b) = (some(rng, pool), some(rng, pool));
                pool.ite(c, a, b)
            }
        }
    }

    fn leaf(&self, rng: &mut impl Rng, pool: &mut Pool, width: u8) -> Term {
        if rng.gen_bool(0.15) {
            let value = self.number(rng, width);
            return pool.constant(width, value);
        }
        let byte = pool.byte(self.bytes[rng.gen_range(0..self.bytes.len())]);
        match width {
            0..=7 => {
                let lo = rng.gen_range(0..=8 - width);
                pool.extract(lo + width - 1, lo, byte)
            }
            _ if rng.gen_bool(0.2) => pool.sign_extend(width, byte),
            16.. if rng.gen_bool(0.4) => {
                let other = pool.byte(self.bytes[rng.gen_range(0..self.bytes.len())]);
                let word = pool.concat(other, byte);
                pool.zero_extend(width, word)
            }
            _ => pool.zero_extend(width, byte),
        }
    }

    /// A random Bool.
    pub fn truth(&self, rng: &mut impl Rng, pool: &mut Pool, depth: u32) -> Term {
        let below = depth.saturating_sub(1);
        match rng.gen_range(0..if depth == 0 { 7 } else { 12 }) {
            0..=6 => {
                let width = self.width(rng);
                let a = self.bits(rng, pool, width, below);
                let b = if rng.gen_bool(0.5) {
                    let value = self.number(rng, width);
                    pool.constant(width, value)
                } else {
                    self.bits(rng, pool, width, below)
                };
                let (a, b) = if rng.gen_bool(0.3) { (b, a) } else { (a, b) };
                let test = match rng.gen_range(0..3) {
                    0 => pool.eq(a, b),
                    1 => pool.ult(a, b),
                    _ => pool.slt(a, b),
                };
                if rng.r#gen() { pool.not(test) } else { test }
            }
            kind => {
                let (a, b) = (self.truth(rng, pool, below), self.truth(rng, pool, below));
                match kind {
                    7 => pool.and(a, b),
                    8 => pool.or(a, b),
                    9 => pool.eq(a, b),
                    10 => pool.xor(a, b),
                    _ => {
                        let c = self.truth(rng, pool, below);
                        pool.ite(c, a, b)
                    }
                }
            }
        }
    }

    /// A literal over one byte that leaves it few values; for `None`, all.
    pub fn narrow(&self, rng: &mut impl Rng, pool: &mut Pool, byte: InputByte, values: u8) -> Term {
        let x = pool.byte(byte);
        match rng.gen_range(0..4) {
            // An interval.
            0 => {
                let start: u8 = rng.r#gen();
                let start = pool.constant(8, u128::from(start));
                let moved = pool.sub(x, start);
                let limit = pool.constant(8, u128::from(values));
                pool.ult(moved, limit)
            }
            // Some bits free, the others fixed.
            1 => {
                let mut free = 0u8;
                while (2u32 << free.count_ones()) <= u32::from(values) {
                    free |= 1 << rng.gen_range(0..8);
                }
                let fixed: u8 = rng.r#gen();
                let mask = pool.constant(8, u128::from(!free));
                let masked = pool.and(x, mask);
                let want = pool.constant(8, u128::from(fixed & !free));
                pool.eq(masked, want)
            }
            // Any set.
            _ => {
                let mut entries = vec![0u64; 256];
                for _ in 0..values {
                    entries[rng.gen_range(0..256usize)] = 1;
                }
                let table = pool.add_table(1, entries);
                let read = pool.table(table, x);
                let one = pool.constant(1, 1);
                pool.eq(read, one)
            }
        }
    }
}

/// Calls `visit` with every input whose bytes have values from the lists.
pub fn each_input(
    bytes: &[InputByte],
    values: &[Vec<u8>],
    mut visit: impl FnMut(&Assignment, &[u8]),
) {
    let mut at = vec![0; bytes.len()];
    let mut input = Assignment::new();
    let mut current: Vec<u8> = values.iter().map(|list| list[0]).collect();
    for (byte, value) in bytes.iter().zip(&current) {
        input.set(*byte, *value);
    }
    loop {
        visit(&input, &current);
        let mut digit = 0;
        loop {
            if digit == bytes.len() {
                return;
            }
            at[digit] = (at[digit] + 1) % values[digit].len();
            current[digit] = values[digit][at[digit]];
            input.set(bytes[digit], current[digit]);
            if at[digit] > 0 {
                break;
            }
            digit += 1;
        }
    }
}

/// What trying every input finds.
pub struct Tried {
    pub count: u64,
    /// For each byte, for each value: how many solutions have it.
    pub marginals: Vec<[u64; 256]>,
}

/// Tries every input whose bytes have values from the lists.
pub fn try_all(pool: &Pool, literals: &[Term], bytes: &[InputByte], values: &[Vec<u8>]) -> Tried {
    let mut tried = Tried { count: 0, marginals: vec![[0; 256]; bytes.len()] };
    let mut evaluator = Evaluator::new();
    each_input(bytes, values, |input, current| {
        evaluator.reset();
        if literals.iter().all(|&literal| evaluator.holds(pool, literal, input)) {
            tried.count += 1;
            for (marginal, &value) in tried.marginals.iter_mut().zip(current) {
                marginal[usize::from(value)] += 1;
            }
        }
    });
    tried
}

/// A plain logarithm of a small count.
pub fn bits_of(count: u64, bytes: usize) -> f64 {
    8.0 * bytes as f64 - (count as f64).log2()
}

/// `2^bits`.
pub fn two_to(bits: u32) -> BigUint {
    BigUint::from(1u32) << bits
}
