//! What the tests of this crate share: random literals and figures by trying every input.

#![allow(dead_code)]

use num_bigint::BigUint;
use stunt_shapes::{Random, inputs};
use stunt_terms::{InputByte, Pool, Term};

/// Random terms of all widths over the first `count` bytes of source 0.
pub fn random_terms(count: u32) -> Random {
    Random::new(count, &[1, 3, 4, 8, 8, 13, 16, 32, 64, 128], 128)
}

/// What trying every input finds.
pub struct Tried {
    pub count: u64,
    /// For each byte, for each value: how many solutions have it.
    pub marginals: Vec<[u64; 256]>,
}

/// Tries every input whose bytes have values from the lists.
pub fn try_all(pool: &Pool, literals: &[Term], bytes: &[InputByte], values: &[Vec<u8>]) -> Tried {
    let solutions = inputs::solutions(pool, literals, bytes, values);
    let mut marginals = vec![[0; 256]; bytes.len()];
    for solution in &solutions {
        for (marginal, &value) in marginals.iter_mut().zip(solution) {
            marginal[usize::from(value)] += 1;
        }
    }
    Tried { count: solutions.len() as u64, marginals }
}

/// A plain logarithm of a small count.
pub fn bits_of(count: u64, bytes: usize) -> f64 {
    8.0 * bytes as f64 - (count as f64).log2()
}

/// `2^bits`.
pub fn two_to(bits: u32) -> BigUint {
    BigUint::from(1u32) << bits
}

/// RESPA's figure 2: `find("matos", "joe emmet")`, its exclusions and the one match.
pub fn respa_figure(pool: &mut Pool) -> Vec<Term> {
    let excluded: [&[u8]; 5] = [b"joe e", b"oe emm", b"e mmme", b" emmet", b"emmet"];
    let bytes = stunt_shapes::input(pool, 0, 5);
    let mut literals = Vec::new();
    for (&byte, characters) in bytes.iter().zip(excluded) {
        literals.extend(stunt_shapes::none_of(pool, byte, characters));
    }
    literals.extend(stunt_shapes::equals(pool, &bytes, b"m"));
    literals
}
