//! Random conditions and questions, and answers by trying everything.
#![allow(dead_code)]

use rand::Rng;
use stunt_models::{Condition, Masks};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term, mask};

/// Byte `offset` of source 0.
pub fn at(offset: u32) -> InputByte {
    InputByte::new(0, offset)
}

/// A random term of the width over the first `bytes` bytes of source 0.
pub fn random_term(pool: &mut Pool, rng: &mut impl Rng, width: u8, bytes: u32, depth: u32) -> Term {
    if depth == 0 {
        if rng.gen_ratio(1, 4) {
            let value = if rng.r#gen() { rng.gen_range(0..16) } else { rng.r#gen::<u128>() };
            return pool.constant(width, value & mask(width));
        }
        let mut word = pool.input(0, rng.gen_range(0..bytes));
        while pool.width(word) < width && pool.width(word) <= 120 && rng.gen_ratio(3, 5) {
            let next = pool.input(0, rng.gen_range(0..bytes));
            word = pool.concat(next, word);
        }
        return fit(pool, rng, word, width);
    }
    let depth = depth - 1;
    let one = |pool: &mut Pool, rng: &mut _| random_term(pool, rng, width, bytes, depth);
    match rng.gen_range(0..24) {
        0 => {
            let a = one(pool, rng);
            pool.not(a)
        }
        1 => {
            let a = one(pool, rng);
            pool.neg(a)
        }
        2 => {
            let c = random_bool(pool, rng, bytes, depth);
            let (a, b) = (one(pool, rng), one(pool, rng));
            pool.ite(c, a, b)
        }
        3 => {
            let entry = rng.gen_range(1..=width.min(64));
            let entries: Vec<u64> = (0..rng.gen_range(1..40))
                .map(|_| rng.r#gen::<u64>() & mask(entry) as u64)
                .collect();
            let table = pool.add_table(entry, entries);
            let index_width = rng.gen_range(1..=8);
            let index = random_term(pool, rng, index_width, bytes, depth);
            let read = pool.table(table, index);
            fit(pool, rng, read, width)
        }
        4 => {
            let other = rng.gen_range(1..=64);
            let a = random_term(pool, rng, other, bytes, depth);
            fit(pool, rng, a, width)
        }
        n => {
            let (a, b) = (one(pool, rng), one(pool, rng));
            match n {
                5 => pool.mul(a, b),
                6 => pool.udiv(a, b),
                7 => pool.urem(a, b),
                8 => pool.sdiv(a, b),
                9 => pool.srem(a, b),
                10 => pool.shl(a, b),
                11 => pool.lshr(a, b),
                12 => pool.ashr(a, b),
                13 | 14 => pool.sub(a, b),
                15 | 16 => pool.and(a, b),
                17 | 18 => pool.or(a, b),
                19 | 20 => pool.xor(a, b),
                _ => pool.add(a, b),
            }
        }
    }
}

/// A random Bool term.
pub fn random_bool(pool: &mut Pool, rng: &mut impl Rng, bytes: u32, depth: u32) -> Term {
    if depth > 0 && rng.gen_ratio(1, 3) {
        let a = random_bool(pool, rng, bytes, depth - 1);
        let b = random_bool(pool, rng, bytes, depth - 1);
        return match rng.gen_range(0..5) {
            0 => pool.and(a, b),
            1 => pool.or(a, b),
            2 => pool.eq(a, b),
            3 => pool.xor(a, b),
            _ => pool.not(a),
        };
    }
    let width = [3, 8, 8, 8, 16, 32][rng.gen_range(0..6)];
    let depth = depth.saturating_sub(1);
    let a = random_term(pool, rng, width, bytes, depth);
    let b = random_term(pool, rng, width, bytes, depth);
    match rng.gen_range(0..4) {
        0 => pool.eq(a, b),
        1 => pool.slt(a, b),
        _ => pool.ult(a, b),
    }
}

fn fit(pool: &mut Pool, rng: &mut impl Rng, a: Term, width: u8) -> Term {
    let from = pool.width(a);
    if from == width {
        a
    } else if from > width {
        let lo = rng.gen_range(0..=from - width);
        pool.extract(lo + width - 1, lo, a)
    } else if rng.r#gen() {
        pool.zero_extend(width, a)
    } else {
        pool.sign_extend(width, a)
    }
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
    size: usize,
    literals: usize,
) -> Case {
    let mut condition = Condition::new();
    let mut domains = Vec::new();
    for offset in 0..bytes {
        let mut values: Vec<u8> = (0..size)
            .map(|_| if rng.r#gen() { rng.gen_range(0..12) } else { rng.r#gen() })
            .collect();
        values.sort_unstable();
        values.dedup();
        let byte = pool.input(0, offset);
        let tests: Vec<Term> = values
            .iter()
            .map(|&value| {
                let value = pool.constant(8, u128::from(value));
                pool.eq(byte, value)
            })
            .collect();
        let any = pool.or_all(tests);
        condition.push(pool, masks, any);
        domains.push(values);
    }
    let input: Vec<u8> =
        domains.iter().map(|values| values[rng.gen_range(0..values.len())]).collect();
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
    let literal = random_bool(pool, rng, bytes, 2);
    if Evaluator::new().holds(pool, literal, hint) { literal } else { pool.not(literal) }
}

/// All inputs over the domains that satisfy the literals.
pub fn solutions(pool: &Pool, domains: &[Vec<u8>], literals: &[Term]) -> Vec<Vec<u8>> {
    let mut evaluator = Evaluator::new();
    let mut found = Vec::new();
    let mut digits = vec![0; domains.len()];
    loop {
        let input: Vec<u8> = digits.iter().zip(domains).map(|(&digit, d)| d[digit]).collect();
        let assignment = Assignment::from_bytes(input.clone());
        evaluator.reset();
        if literals.iter().all(|&literal| evaluator.holds(pool, literal, &assignment)) {
            found.push(input);
        }
        let Some(next) = (0..digits.len()).find(|&i| digits[i] + 1 < domains[i].len()) else {
            return found;
        };
        digits[next] += 1;
        digits[..next].fill(0);
    }
}

/// Whether the assignment satisfies the condition.
pub fn satisfies(pool: &Pool, condition: &Condition, assignment: &Assignment) -> bool {
    let mut evaluator = Evaluator::new();
    condition.literals().all(|literal| evaluator.holds(pool, literal, assignment))
}
