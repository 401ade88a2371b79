//! Circuits made of terms, compared with evaluation.
#![allow(dead_code)]

use stunt_circuit::{Blaster, Circuit, Lit, Sliced};
use stunt_shapes::Random;
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

/// Random terms over the first bytes of source 0, at all widths.
pub fn random(bytes: u32) -> Random {
    Random::new(bytes, &[1, 3, 8, 16, 32], 128)
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
