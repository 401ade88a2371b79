//! Random conditions and questions, and answers by trying everything.
#![allow(dead_code)]

use rand::Rng;
use rand::seq::SliceRandom;
use stunt_models::{Condition, Masks, mask_of};
use stunt_shapes::random::narrow;
use stunt_shapes::{Random, inputs, places};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

/// Byte `offset` of source 0.
pub fn at(offset: u32) -> InputByte {
    InputByte::new(0, offset)
}

/// Random terms over the first bytes of source 0, mostly of bytes.
pub fn random(bytes: u32) -> Random {
    Random::new(bytes, &[3, 8, 8, 8, 16, 32], 64)
}

/// A condition over `bytes` bytes with the input that it was made for.
pub struct Case {
    pub condition: Condition,
    pub hint: Assignment,
    /// For each byte the values to try.
    pub domains: Vec<Vec<u8>>,
}

/// A random condition that `hint` satisfies, with at most `size` values for each byte.
pub fn random_case(
    pool: &mut Pool,
    masks: &mut Masks,
    rng: &mut impl Rng,
    bytes: u32,
    size: u8,
    literals: usize,
) -> Case {
    let mut condition = Condition::new();
    let mut domains = Vec::new();
    for byte in places(bytes) {
        let literal = narrow(pool, rng, byte, size);
        condition.push(pool, masks, literal);
        let mask = mask_of(pool, literal).expect("a test of one byte");
        domains.push(mask.iter().collect::<Vec<u8>>());
    }
    let input: Vec<u8> =
        domains.iter().map(|values| *values.choose(rng).expect("some value is left")).collect();
    let hint = Assignment::from_bytes(input);
    for _ in 0..literals {
        let literal = random_literal(pool, rng, &hint, bytes);
        condition.push(pool, masks, literal);
    }
    assert!(!condition.is_contradiction());
    Case { condition, hint, domains }
}

/// A random literal that the hint satisfies.
pub fn random_literal(pool: &mut Pool, rng: &mut impl Rng, hint: &Assignment, bytes: u32) -> Term {
    let literal = random(bytes).truth(pool, rng, 2);
    if Evaluator::new().holds(pool, literal, hint) { literal } else { pool.not(literal) }
}

/// All inputs over the domains that satisfy the literals.
pub fn solutions(pool: &Pool, domains: &[Vec<u8>], literals: &[Term]) -> Vec<Vec<u8>> {
    inputs::solutions(pool, literals, &places(domains.len() as u32), domains)
}

/// Whether the assignment satisfies the condition.
pub fn satisfies(pool: &Pool, condition: &Condition, assignment: &Assignment) -> bool {
    let mut evaluator = Evaluator::new();
    condition.literals().all(|literal| evaluator.holds(pool, literal, assignment))
}
