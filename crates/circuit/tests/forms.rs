//! The recorded circuit in its other forms: partial re-evaluation, and clauses.

mod common;

use common::{circuit_of, random};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_circuit::{Cnf, Gate, Lit, Sliced};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool};

#[test]
fn evaluation_from_a_level_is_evaluation() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..60 {
        let mut pool = Pool::new();
        let truth = random(4).truth(&mut pool, &mut rng, 4);
        let (circuit, bits) = circuit_of(&pool, &[truth]);
        let words = rng.gen_range(1..20);
        let mut sliced = Sliced::new(&circuit, &bits[0], words, |byte| byte.offset as usize);
        let mut values = vec![[0u8; 4]; words * 64];
        for round in 0..12 {
            // Bytes of level `level` and above change, each case on its own.
            let level = if round == 0 { 0 } else { rng.gen_range(0..5) };
            for offset in level..4 {
                for (lane, value) in values.iter_mut().enumerate() {
                    value[offset] = rng.r#gen();
                    for bit in 0..8 {
                        let Some(wire) = sliced.input_mut(InputByte::new(0, offset as u32), bit)
                        else {
                            continue;
                        };
                        wire[lane / 64] &= !(1 << (lane % 64));
                        wire[lane / 64] |= u64::from(value[offset] >> bit & 1) << (lane % 64);
                    }
                }
            }
            sliced.evaluate_from(level);
            let mut evaluator = Evaluator::new();
            let output: Vec<u64> = sliced.output(0).collect();
            for (lane, value) in values.iter().enumerate() {
                evaluator.reset();
                let expected = evaluator.holds(&pool, truth, &Assignment::from_bytes(*value));
                assert_eq!(output[lane / 64] >> (lane % 64) & 1 == 1, expected);
                assert_eq!(sliced.word(0, lane / 64), output[lane / 64]);
            }
        }
    }
}

#[test]
fn broadcast_sets_a_byte_everywhere() {
    let mut pool = Pool::new();
    let byte = pool.input(0, 0);
    let (circuit, bits) = circuit_of(&pool, &[byte]);
    let mut sliced = Sliced::new(&circuit, &bits[0], 3, |_| 0);
    for value in [0u8, 0xa5, 0xff] {
        sliced.broadcast(InputByte::new(0, 0), value);
        sliced.evaluate_from(0);
        for bit in 0..8 {
            let word = if value >> bit & 1 == 1 { u64::MAX } else { 0 };
            assert!(sliced.output(bit).all(|got| got == word));
        }
    }
}

#[test]
fn gates_are_hashed_folded_and_ordered() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut pool = Pool::new();
    let terms: Vec<_> = (0..50).map(|_| random(4).truth(&mut pool, &mut rng, 4)).collect();
    let (circuit, bits) = circuit_of(&pool, &terms);
    let mut seen = std::collections::BTreeSet::new();
    for (node, &gate) in circuit.nodes().iter().enumerate() {
        assert!(seen.insert(format!("{gate:?}")), "a gate exists once");
        if let Gate::And(a, b) | Gate::Xor(a, b) = gate {
            assert!(a.node() < node && b.node() < node && a.node() != b.node());
            assert!(a.node() != 0 && b.node() != 0);
        }
        if let Gate::Xor(a, b) = gate {
            assert!(!a.is_inverted() && !b.is_inverted());
        }
    }
    let cone = circuit.cone(&bits.concat());
    assert!(cone.is_sorted() && cone.len() < circuit.nodes().len());
}

/// Whether the clauses have a model that extends the given input bits: by unit propagation,
/// which decides it because every gate is determined by the inputs.
fn propagates(cnf: &Cnf, input: &[bool]) -> bool {
    let mut value: Vec<Option<bool>> = vec![None; cnf.variables + 1];
    for (i, &bit) in input.iter().enumerate() {
        value[i + 1] = Some(bit);
    }
    loop {
        let mut changed = false;
        for clause in &cnf.clauses {
            let truth = |literal: i32| {
                value[literal.unsigned_abs() as usize].map(|value| value == (literal > 0))
            };
            if clause.iter().any(|&literal| truth(literal) == Some(true)) {
                continue;
            }
            let open: Vec<i32> =
                clause.iter().copied().filter(|&literal| truth(literal).is_none()).collect();
            match open[..] {
                [] => return false,
                [only] => {
                    value[only.unsigned_abs() as usize] = Some(only > 0);
                    changed = true;
                }
                _ => {}
            }
        }
        if !changed {
            assert!(value[1..].iter().all(Option::is_some), "inputs determine every gate");
            return true;
        }
    }
}

#[test]
fn clauses_mean_the_circuit() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let bytes = [InputByte::new(0, 0), InputByte::new(0, 1), InputByte::new(0, 2)];
    for _ in 0..40 {
        let mut pool = Pool::new();
        let truth = random(3).truth(&mut pool, &mut rng, 2);
        let (circuit, bits) = circuit_of(&pool, &[truth]);
        let cnf = Cnf::of(&circuit, &bytes, &bits[0]);
        assert_eq!(cnf.inputs, 24);
        for _ in 0..50 {
            let input: [u8; 3] = rng.r#gen();
            let expected = Evaluator::new().holds(&pool, truth, &Assignment::from_bytes(input));
            let bits: Vec<bool> = (0..24).map(|i| input[i / 8] >> (i % 8) & 1 == 1).collect();
            assert_eq!(propagates(&cnf, &bits), expected);
        }
    }
}

#[test]
fn dimacs_text() {
    let mut pool = Pool::new();
    let byte = pool.input(0, 7);
    let (low, high) = (pool.extract(0, 0, byte), pool.extract(7, 7, byte));
    let both = pool.and(low, high);
    let one = pool.constant(1, 1);
    let truth = pool.eq(both, one);
    let (circuit, bits) = circuit_of(&pool, &[truth]);
    let cnf = Cnf::of(&circuit, &[InputByte::new(0, 7)], &bits[0]);
    let mut lines: Vec<String> = cnf.dimacs().lines().map(str::to_owned).collect();
    assert_eq!(lines.remove(1), "c p show 1 2 3 4 5 6 7 8 0");
    assert!(lines[0].starts_with(&format!("p cnf {} {}", cnf.variables, lines.len() - 1)));
    let never = Cnf::of(&circuit, &[], &[Lit::FALSE]);
    assert_eq!(never.dimacs(), "p cnf 0 1\n0\n");
    assert_eq!(Cnf::of(&circuit, &[], &[Lit::TRUE]).dimacs(), "p cnf 0 0\n");
}
