//! Bytes that a literal defines, compared with the list of all solutions.

mod common;

use common::{brute_force, rng};
use num_bigint::BigUint;
use rand::Rng;
use stunt_models::{Budget, ByteSet, OwnedProblem, Space, defined};
use stunt_shapes::{fnv1a, input, places};
use stunt_terms::{Pool, Term};

/// A problem in which literals define bytes, directly and in chains, beside others.
fn problem(pool: &mut Pool, rng: &mut impl Rng) -> OwnedProblem {
    let bytes = places(4);
    let terms = input(pool, 0, 4);
    let mut domains: Vec<ByteSet> = (0..4)
        .map(|_| {
            let (first, size) = (rng.r#gen::<u8>(), rng.gen_range(1..12u8));
            ByteSet::filter(|value| value.wrapping_sub(first) < size)
        })
        .collect();
    let mut literals: Vec<Term> = Vec::new();
    let hash = fnv1a(pool, &terms[..2], 32);
    let low = pool.extract(7, 0, hash);
    match rng.gen_range(0..8) {
        4 => {
            // A sum that is zero with its check, in one byte and with other signs.
            domains[2] = ByteSet::ALL;
            let sum = pool.add(terms[0], terms[1]);
            let check = if rng.r#gen() { pool.neg(terms[2]) } else { pool.not(terms[2]) };
            let all = if rng.r#gen() { pool.add(check, sum) } else { pool.sub(sum, check) };
            let end = pool.constant(8, rng.gen_range(0..256));
            literals.push(pool.eq(all, end));
            literals.push(pool.ne(terms[1], terms[3]));
        }
        5 => {
            // The same in more bits than the check has.
            domains[2] = ByteSet::ALL;
            let wide: Vec<Term> = terms.iter().map(|&byte| pool.zero_extend(32, byte)).collect();
            let sum = pool.add(wide[0], wide[1]);
            let sum = pool.sub(wide[2], sum);
            let low = pool.extract(7, 0, sum);
            literals.push(pool.eq(low, terms[3]));
        }
        6 => {
            // A sum beside a check that has zeros in front: it fits, or does not.
            domains[2] = ByteSet::ALL;
            domains[3] = ByteSet::filter(|value| rng.r#gen() || value == 0);
            let wide: Vec<Term> = terms.iter().map(|&byte| pool.zero_extend(32, byte)).collect();
            let sum = pool.add(wide[0], wide[1]);
            let check = pool.concat(terms[3], terms[2]);
            let check = if rng.r#gen() { check } else { terms[2] };
            let check = pool.zero_extend(32, check);
            literals.push(pool.eq(check, sum));
            if rng.r#gen() {
                domains[3] = ByteSet::ALL;
            }
        }
        7 => {
            domains[3] = ByteSet::ALL;
            let mixed = pool.xor(terms[0], terms[1]);
            let mixed = pool.xor(mixed, terms[3]);
            let mixed = pool.xor(mixed, terms[2]);
            let end = pool.constant(8, rng.gen_range(0..256));
            literals.push(pool.eq(end, mixed));
        }
        0 => {
            // Worked out from two bytes, and a copy of that with a change.
            domains[2] = ByteSet::ALL;
            literals.push(pool.eq(terms[2], low));
            let one = pool.constant(8, rng.gen_range(1..255));
            let turned = pool.xor(terms[2], one);
            domains[3] = ByteSet::filter(|_| rng.gen_bool(0.8));
            literals.push(pool.eq(terms[3], turned));
        }
        1 => {
            // Two bytes at once.
            domains[2] = ByteSet::ALL;
            domains[3] = ByteSet::ALL;
            let both = pool.concat(terms[3], terms[2]);
            let word = pool.extract(20, 5, hash);
            literals.push(pool.eq(both, word));
        }
        2 => {
            // Hexadecimal digits by a table.
            let table = pool.add_table(8, b"0123456789abcdef".map(u64::from).to_vec());
            let index = pool.extract(3, 0, hash);
            let digit = pool.table(table, index);
            domains[2] = ByteSet::filter(|value| value.is_ascii_hexdigit() || rng.gen_bool(0.1));
            literals.push(pool.eq(terms[2], digit));
            literals.push(pool.ne(terms[0], terms[3]));
        }
        _ => {
            // A copy into a byte that may have few values only.
            literals.push(pool.eq(terms[0], terms[3]));
            domains[3] = ByteSet::filter(|value| domains[0].contains(value) && rng.gen_bool(0.5));
            if domains[3].is_empty() {
                domains[3] = domains[0];
            }
            literals.push(pool.ne(terms[0], terms[1]));
            literals.push(pool.ult(terms[2], terms[1]));
        }
    }
    OwnedProblem { bytes, domains, literals }
}

#[test]
fn random_problems_agree_with_brute_force() {
    let mut rng = rng(7);
    let mut solved = 0;
    for round in 0..600 {
        let mut pool = Pool::new();
        let problem = problem(&mut pool, &mut rng);
        if problem.domains.iter().map(|d| u64::from(d.len())).product::<u64>() > 1 << 17 {
            continue;
        }
        let Some(space) = defined::solve(&problem.view(&pool), &Budget::quick()) else { continue };
        let solutions = brute_force(&pool, &problem);
        solved += 1;
        check(&*space, &solutions, &mut rng, round);
    }
    assert!(solved > 240, "{solved}");
}

fn check(space: &dyn Space, solutions: &[Vec<u8>], rng: &mut impl rand::RngCore, round: u32) {
    assert_eq!(*space.count(), BigUint::from(solutions.len()), "round {round}");
    for position in (0..4).filter(|&position| space.has_marginal(position)) {
        let mut expected = vec![BigUint::ZERO; 256];
        for solution in solutions {
            expected[usize::from(solution[position])] += 1u8;
        }
        assert!(space.marginal(position) == expected, "marginal {position}, round {round}");
    }
    let mut seen = vec![0u32; solutions.len()];
    let mut out = vec![0; 4];
    for _ in 0..30 * solutions.len().min(200) {
        space.sample(rng, &mut out);
        seen[solutions.binary_search(&out).expect("a sample is a solution")] += 1;
    }
    if (2..=200).contains(&solutions.len()) {
        let statistic: f64 = seen.iter().map(|&n| (f64::from(n) - 30.0).powi(2) / 30.0).sum();
        let freedom = (solutions.len() - 1) as f64;
        assert!(statistic < freedom + 6.0 * (2.0 * freedom).sqrt() + 12.0, "round {round}");
    }
}

#[test]
fn checks_over_long_records_are_solved_however_they_are_written() {
    type Equation = fn(&mut Pool, &[Term], Term) -> Term;
    let of_16_bits: [Equation; 3] = [
        |pool, data, check| {
            let (sum, check) = (added(pool, data, 32), pool.zero_extend(32, check));
            pool.eq(check, sum)
        },
        |pool, data, check| {
            let (sum, check) = (added(pool, data, 16), pool.neg(check));
            let (all, none) = (pool.sub(sum, check), pool.constant(16, 0));
            pool.eq(all, none)
        },
        |pool, data, check| {
            let sum = added(pool, data, 64);
            let turned = pool.not(sum);
            let low = pool.extract(15, 0, turned);
            let mixed = pool.xor(low, check);
            let end = pool.constant(16, 0x1234);
            pool.eq(end, mixed)
        },
    ];
    for equation in of_16_bits {
        let mut pool = Pool::new();
        let data = input(&mut pool, 0, 202);
        let check = pool.concat(data[201], data[200]);
        let literal = equation(&mut pool, &data[..200], check);
        let problem = OwnedProblem {
            bytes: places(202),
            domains: vec![ByteSet::ALL; 202],
            literals: vec![literal],
        };
        let space = defined::solve(&problem.view(&pool), &Budget::hasty());
        let space = space.expect("it defines the check");
        assert_eq!(*space.count(), BigUint::from(1u8) << 1600u32);
        let mut out = vec![0; 202];
        space.sample(&mut rng(3), &mut out);
        let mut own = stunt_terms::Assignment::new();
        problem.bytes.iter().zip(&out).for_each(|(&byte, &value)| own.set(byte, value));
        assert!(stunt_terms::Evaluator::new().holds(&pool, literal, &own));
    }
    // A sum of bytes that can be more than the check has no such check.
    let mut pool = Pool::new();
    let data = input(&mut pool, 0, 4);
    let (sum, check) = (added(&mut pool, &data[..3], 32), pool.zero_extend(32, data[3]));
    let literals = vec![pool.eq(check, sum)];
    let problem = OwnedProblem { bytes: places(4), domains: vec![ByteSet::ALL; 4], literals };
    assert!(defined::solve(&problem.view(&pool), &Budget::hasty()).is_none());
}

/// The sum of bytes, in so many bits.
fn added(pool: &mut Pool, data: &[Term], width: u8) -> Term {
    let none = pool.constant(width, 0);
    data.iter().fold(none, |sum, &byte| {
        let wide = pool.zero_extend(width, byte);
        pool.add(sum, wide)
    })
}
