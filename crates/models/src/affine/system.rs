//! A system of linear equations over GF(2), solved, and its solutions as a [`Space`].
//!
//! The solved form has one pivot per equation; a pivot occurs in its own equation only. So the
//! other bits are free, every choice of them gives exactly one solution, and there are
//! 2^(bits - rank) solutions.

use num_bigint::BigUint;
use rand::RngCore;

use crate::space::Space;

/// One equation: the exclusive or of some bits equals `value`.
#[derive(Clone)]
pub(super) struct Equation {
    /// The bits that occur, 64 to a word.
    pub(super) row: Vec<u64>,
    /// What their exclusive or is.
    pub(super) value: bool,
}

impl Equation {
    fn add(&mut self, other: &Equation) {
        for (word, other) in self.row.iter_mut().zip(&other.row) {
            *word ^= other;
        }
        self.value ^= other.value;
    }

    /// Whether the values of the bytes satisfy it.
    pub(super) fn holds(&self, values: &[u8]) -> bool {
        let ones: u32 = values
            .iter()
            .enumerate()
            .map(|(i, value)| ((self.row[i / 8] >> (i % 8 * 8)) as u8 & value).count_ones())
            .sum();
        (ones % 2 == 1) == self.value
    }

    fn has(&self, bit: usize) -> bool {
        self.row[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn lowest(&self) -> Option<usize> {
        let word = self.row.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.row[word].trailing_zeros() as usize)
    }
}

/// The solutions of a system of equations over the bits of `bytes` bytes.
pub(super) struct Solutions {
    bytes: usize,
    count: BigUint,
    /// Solved: `pivots[i]` occurs in `equations[i]` and in no other.
    equations: Vec<Equation>,
    pivots: Vec<usize>,
    /// For each bit the equation whose pivot it is.
    pivot_of: Vec<Option<u32>>,
}

impl Solutions {
    /// Solves the equations.
    pub(super) fn new(bytes: usize, system: Vec<Equation>) -> Solutions {
        let bits = bytes * 8;
        let mut equations: Vec<Equation> = Vec::new();
        let mut pivots: Vec<usize> = Vec::new();
        let mut pivot_of: Vec<Option<u32>> = vec![None; bits];
        let mut consistent = true;
        for mut next in system {
            // Pivots occur in their own equation only, so one pass removes them all.
            for (equation, &pivot) in equations.iter().zip(&pivots) {
                if next.has(pivot) {
                    next.add(equation);
                }
            }
            let Some(pivot) = next.lowest() else {
                consistent &= !next.value;
                continue;
            };
            for equation in &mut equations {
                if equation.has(pivot) {
                    equation.add(&next);
                }
            }
            pivot_of[pivot] = Some(equations.len() as u32);
            pivots.push(pivot);
            equations.push(next);
        }
        let count =
            if consistent { BigUint::from(1u8) << (bits - equations.len()) } else { BigUint::ZERO };
        Solutions { bytes, count, equations, pivots, pivot_of }
    }

    /// A bit as a form of the free bits: the bits that occur, and the constant.
    fn as_free(&self, bit: usize) -> Equation {
        match self.pivot_of[bit] {
            Some(i) => {
                let mut form = self.equations[i as usize].clone();
                form.row[bit / 64] ^= 1 << (bit % 64);
                form
            }
            None => {
                let mut row = vec![0; (self.bytes * 8).div_ceil(64)];
                row[bit / 64] |= 1 << (bit % 64);
                Equation { row, value: false }
            }
        }
    }
}

impl Space for Solutions {
    fn stage(&self) -> &'static str {
        "affine"
    }

    fn count(&self) -> &BigUint {
        &self.count
    }

    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]) {
        assert!(self.count != BigUint::ZERO, "there is no solution to draw");
        let mut bits: Vec<u64> =
            (0..(self.bytes * 8).div_ceil(64)).map(|_| rng.next_u64()).collect();
        for (equation, &pivot) in self.equations.iter().zip(&self.pivots) {
            // No other pivot occurs here, so the sum is over free bits and this pivot.
            let sum = equation.row.iter().zip(&bits).fold(0, |sum, (row, word)| sum ^ (row & word));
            if (sum.count_ones() % 2 == 1) != equation.value {
                bits[pivot / 64] ^= 1 << (pivot % 64);
            }
        }
        for (i, value) in out.iter_mut().enumerate() {
            *value = (bits[i / 8] >> (i % 8 * 8)) as u8;
        }
    }

    /// The byte's bits are forms of the free bits, so the byte takes the values that satisfy the
    /// dependencies between those forms, each equally often.
    fn marginal(&self, position: usize) -> Vec<BigUint> {
        if self.count == BigUint::ZERO {
            return vec![BigUint::ZERO; 256];
        }
        let mut independent: Vec<(Equation, u8, usize)> = Vec::new();
        let mut dependencies: Vec<(u8, bool)> = Vec::new();
        for bit in 0..8 {
            let mut form = self.as_free(position * 8 + bit);
            let mut mask = 1u8 << bit;
            for (other, other_mask, lowest) in &independent {
                if form.has(*lowest) {
                    form.add(other);
                    mask ^= other_mask;
                }
            }
            match form.lowest() {
                Some(lowest) => independent.push((form, mask, lowest)),
                None => dependencies.push((mask, form.value)),
            }
        }
        let each = &self.count >> independent.len();
        (0..=255u8)
            .map(|value| {
                let possible = dependencies
                    .iter()
                    .all(|&(mask, sum)| ((value & mask).count_ones() % 2 == 1) == sum);
                if possible { each.clone() } else { BigUint::ZERO }
            })
            .collect()
    }
}
