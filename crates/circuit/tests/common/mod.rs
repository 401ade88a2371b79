//! Random terms and circuits made of them, for the tests of this crate.
#![allow(dead_code)]

use rand::Rng;
use stunt_circuit::{Blaster, Circuit, Lit, Sliced};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

/// All binary operators on bit vectors, by number.
pub const BINARY: usize = 16;

/// The binary operator with that number.
pub fn binary(pool: &mut Pool, number: usize, a: Term, b: Term) -> Term {
    match number {
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
        13 => pool.eq(a, b),
        14 => pool.ult(a, b),
        15 => pool.slt(a, b),
        _ => unreachable!("there are {BINARY} of them"),
    }
}

/// A random term of the width over the first `bytes` bytes of source 0.
pub fn random_term(pool: &mut Pool, rng: &mut impl Rng, width: u8, bytes: u32, depth: u32) -> Term {
    if depth == 0 {
        if rng.gen_ratio(1, 5) {
            return pool.constant(width, rng.r#gen::<u128>() & stunt_terms::mask(width));
        }
        let mut word = pool.input(0, rng.gen_range(0..bytes));
        while pool.width(word) < width && pool.width(word) <= 120 && rng.gen_ratio(4, 5) {
            let next = pool.input(0, rng.gen_range(0..bytes));
            word = pool.concat(next, word);
        }
        return fit(pool, rng, word, width);
    }
    let depth = depth - 1;
    match rng.gen_range(0..20) {
        0 => {
            let a = random_term(pool, rng, width, bytes, depth);
            pool.not(a)
        }
        1 => {
            let a = random_term(pool, rng, width, bytes, depth);
            pool.neg(a)
        }
        2 => {
            let c = random_bool(pool, rng, bytes, depth);
            let (a, b) = (
                random_term(pool, rng, width, bytes, depth),
                random_term(pool, rng, width, bytes, depth),
            );
            pool.ite(c, a, b)
        }
        3 => {
            let entry = rng.gen_range(1..=width.min(64));
            let length = rng.gen_range(1..40);
            let entries: Vec<u64> =
                (0..length).map(|_| rng.r#gen::<u64>() & stunt_terms::mask(entry) as u64).collect();
            let table = pool.add_table(entry, entries);
            let index_width = rng.gen_range(1..=8);
            let index = random_term(pool, rng, index_width, bytes, depth);
            let read = pool.table(table, index);
            fit(pool, rng, read, width)
        }
        4 => {
            let other = rng.gen_range(1..=128);
            let a = random_term(pool, rng, other, bytes, depth);
            fit(pool, rng, a, width)
        }
        n => {
            let (a, b) = (
                random_term(pool, rng, width, bytes, depth),
                random_term(pool, rng, width, bytes, depth),
            );
            binary(pool, (n - 5) % 13, a, b)
        }
    }
}

/// A random Bool term.
pub fn random_bool(pool: &mut Pool, rng: &mut impl Rng, bytes: u32, depth: u32) -> Term {
    if depth > 0 && rng.gen_ratio(1, 3) {
        let (a, b) =
            (random_bool(pool, rng, bytes, depth - 1), random_bool(pool, rng, bytes, depth - 1));
        return match rng.gen_range(0..5) {
            0 => pool.and(a, b),
            1 => pool.or(a, b),
            2 => pool.eq(a, b),
            3 => pool.xor(a, b),
            _ => pool.not(a),
        };
    }
    let width = [1, 3, 8, 16, 32][rng.gen_range(0..5)];
    let depth = depth.saturating_sub(1);
    let (a, b) =
        (random_term(pool, rng, width, bytes, depth), random_term(pool, rng, width, bytes, depth));
    binary(pool, rng.gen_range(13..16), a, b)
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

/// The bits of a term as a circuit.
pub fn circuit_of(pool: &Pool, terms: &[Term]) -> (Circuit, Vec<Vec<Lit>>) {
    let mut blaster = Blaster::new(Circuit::new());
    let bits = terms
        .iter()
        .map(|&term| {
            let Ok(bits) = blaster.bits(pool, term);
            bits.to_vec()
        })
        .collect();
    (blaster.algebra, bits)
}

/// Compares the circuit of a term with the evaluator on the given inputs, each `bytes` long.
pub fn compare(pool: &Pool, term: Term, inputs: &[Vec<u8>], what: &str) {
    let (circuit, bits) = circuit_of(pool, &[term]);
    let words = inputs.len().div_ceil(64);
    let mut sliced = Sliced::new(&circuit, &bits[0], words, |_| 0);
    for (lane, input) in inputs.iter().enumerate() {
        for (offset, value) in input.iter().enumerate() {
            for bit in 0..8 {
                if value >> bit & 1 == 1
                    && let Some(wire) = sliced.input_mut(InputByte::new(0, offset as u32), bit)
                {
                    wire[lane / 64] |= 1 << (lane % 64);
                }
            }
        }
    }
    sliced.evaluate_from(0);
    let mut evaluator = Evaluator::new();
    for (lane, input) in inputs.iter().enumerate() {
        evaluator.reset();
        let expected = evaluator.eval(pool, term, &Assignment::from_bytes(input.clone()));
        let got = (0..bits[0].len()).fold(0u128, |value, i| {
            value | u128::from(sliced.word(i, lane / 64) >> (lane % 64) & 1) << i
        });
        assert_eq!(got, expected, "{what}, case {lane}");
    }
}
