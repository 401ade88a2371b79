//! Figures and draws, compared with the list of all solutions.

mod common;

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_leakage::Bits;
use stunt_path::{Original, Test, TestKind};
use stunt_search::{PathCondition, camouflage, castro};
use stunt_shapes::{fnv1a, input};
use stunt_terms::{Pool, Term};

fn truth(solutions: &[Vec<u8>]) -> f64 {
    24.0 - (solutions.len() as f64).log2()
}

#[test]
fn figures_are_exact_or_above_the_truth() {
    let mut exact = 0;
    for seed in 0..400 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut case = common::case(&mut rng);
        let solutions = case.solutions(&case.literals.clone());
        let tests = case.tests();
        let mut condition = PathCondition::new(&mut case.pool, &tests, &case.original);
        let measured = condition.measure();
        match measured.total {
            Bits::Exact(bits) => {
                assert!((bits - truth(&solutions)).abs() < 1e-6, "seed {seed}");
                exact += 1;
            }
            other => assert!(other.upper() >= truth(&solutions) - 1e-9, "seed {seed}"),
        }
        for (position, leak) in measured.bytes.iter().enumerate() {
            let mut counts = BTreeMap::new();
            for solution in &solutions {
                *counts.entry(solution[position]).or_insert(0.0) += 1.0;
            }
            let all = solutions.len() as f64;
            let entropy: f64 = counts.values().map(|n: &f64| -(n / all) * (n / all).log2()).sum();
            match leak.bits {
                Bits::Exact(bits) => assert!((bits - (8.0 - entropy)).abs() < 1e-6, "seed {seed}"),
                other => assert!(other.upper() >= 8.0 - entropy - 1e-9, "seed {seed}"),
            }
        }
    }
    assert!(exact > 380, "nearly all are counted: {exact}");
}

#[test]
fn draws_are_uniform() {
    let mut tried = 0;
    for seed in 0..300 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut case = common::case(&mut rng);
        let solutions = case.solutions(&case.literals.clone());
        if !(2..=100).contains(&solutions.len()) {
            continue;
        }
        tried += 1;
        let tests = case.tests();
        let mut condition = PathCondition::new(&mut case.pool, &tests, &case.original);
        let mut seen = vec![0u32; solutions.len()];
        let draws = 40 * solutions.len();
        for _ in 0..draws {
            let double = castro(&mut condition, &case.original, &mut rng).expect("a double");
            assert!(double.not_uniform.is_none() && double.fixed == 0, "seed {seed}");
            let at = solutions.binary_search(&double.bytes[0]).expect("a solution");
            seen[at] += 1;
        }
        let statistic: f64 = seen.iter().map(|&n| (f64::from(n) - 40.0).powi(2) / 40.0).sum();
        // Five standard deviations and a bit more for few degrees of freedom.
        let freedom = (solutions.len() - 1) as f64;
        assert!(statistic < freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0, "seed {seed}");
    }
    assert!(tried > 10, "{tried}");
}

/// A hash of eight letters that nobody can invert, and a digit beside it.
fn hashed(pool: &mut Pool) -> (Vec<Test>, Original) {
    let bytes = input(pool, 0, 9);
    let hash = fnv1a(pool, &bytes[..8], 32);
    let own = b"password7";
    let values = stunt_terms::Assignment::from_bytes(own.to_vec());
    let value = stunt_terms::Evaluator::new().eval(pool, hash, &values);
    let value = pool.constant(32, value);
    let mut literals: Vec<Term> = vec![pool.eq(hash, value)];
    let (shift, ten) = (pool.constant(8, 0xd0), pool.constant(8, 10));
    let digit = pool.add(bytes[8], shift);
    literals.push(pool.ult(digit, ten));
    let mut original = Original::new();
    original.push(own.to_vec(), Vec::new());
    let test = |condition| Test { condition, address: 0, kind: TestKind::Branch };
    (literals.into_iter().map(test).collect(), original)
}

#[test]
fn what_is_too_hard_stays_and_counts_as_revealed() {
    let mut pool = Pool::new();
    let (tests, original) = hashed(&mut pool);
    let mut condition = PathCondition::new(&mut pool, &tests, &original);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut digits = BTreeMap::new();
    for _ in 0..200 {
        let double = castro(&mut condition, &original, &mut rng).expect("a double");
        assert!(double.not_uniform.is_none());
        assert!(double.fixed >= 4, "some bytes are fixed");
        *digits.entry(double.bytes[0][8]).or_insert(0) += 1;
    }
    assert_eq!(digits.len(), 10, "the digit is free");
    let fixed = condition.fixed().to_vec();
    let measured = condition.measure();
    assert!(measured.total.upper() >= 8.0 * fixed.len() as f64);
    for leak in &measured.bytes {
        if fixed.contains(&leak.byte) {
            assert_eq!(leak.bits, Bits::Exact(8.0));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_double() {
    let draw = |seed| {
        let mut pool = Pool::new();
        let (tests, original) = hashed(&mut pool);
        let mut condition = PathCondition::new(&mut pool, &tests, &original);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let castro = castro(&mut condition, &original, &mut rng).expect("a double").bytes;
        let (camouflage, _) = camouflage(&mut condition, &original, &mut rng).expect("a double");
        (castro, camouflage.bytes)
    };
    assert_eq!(draw(5), draw(5));
    assert!((0..20).map(draw).any(|other| other != draw(5)));
}

#[test]
fn camouflage_differs_where_it_can_and_counts_that() {
    let mut pool = Pool::new();
    let (tests, original) = hashed(&mut pool);
    let mut condition = PathCondition::new(&mut pool, &tests, &original);
    let before = {
        condition.ease(&original);
        condition.total().upper()
    };
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (double, measured) = camouflage(&mut condition, &original, &mut rng).expect("a double");
    assert_ne!(double.bytes[0][8], b'7');
    // One of ten digits less.
    assert!(measured.total.upper() > before + 0.1);
}
