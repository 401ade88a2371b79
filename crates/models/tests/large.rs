//! What brute force cannot check: many cases, long chains, automata; against independent counts.

mod common;

use common::{narrow, only_problem, problems, random, rng};
use num_bigint::BigUint;
use rand::Rng;
use stunt_models::{Budget, Space, diagram, enumerate, frontier, mask_of, solve};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool};

#[test]
fn masks_agree_with_the_evaluator() {
    let mut rng = rng(21);
    let mut compared = 0;
    for _ in 0..3000 {
        let mut pool = Pool::new();
        let width = [1, 7, 8, 31, 32, 63, 64, 65, 120][rng.gen_range(0..9)];
        let a = random(1).bits(&mut pool, &mut rng, width, 3);
        let b = random(1).bits(&mut pool, &mut rng, width, 2);
        let term = if rng.gen_bool(0.5) { pool.slt(a, b) } else { pool.ule(a, b) };
        let Some(mask) = mask_of(&pool, term) else { continue };
        let mut evaluator = Evaluator::new();
        for value in 0..=255 {
            evaluator.reset();
            let holds = evaluator.holds(&pool, term, &Assignment::from_bytes([value]));
            assert_eq!(mask.contains(value), holds);
        }
        compared += 1;
    }
    assert!(compared > 1000, "{compared}");
}

/// The marginal of samples is close to the exact one.
fn check_samples(space: &dyn Space, bytes: usize, position: usize, seed: u64) {
    let mut rng = rng(seed);
    let (mut seen, mut out) = ([0u32; 256], vec![0; bytes]);
    let samples = 4000;
    for _ in 0..samples {
        space.sample(&mut rng, &mut out);
        seen[usize::from(out[position])] += 1;
    }
    let (mut statistic, mut freedom) = (0.0f64, -1.0f64);
    for (seen, exact) in seen.into_iter().zip(space.marginal(position)) {
        let share = exact * 1_000_000_000_000u64 / space.count();
        let share = u64::try_from(share).expect("a share of the whole") as f64 / 1e12;
        let expected = share * f64::from(samples);
        if expected == 0.0 {
            assert_eq!(seen, 0);
        } else {
            statistic += (f64::from(seen) - expected).powi(2) / expected;
            freedom += 1.0;
        }
    }
    assert!(statistic < freedom + 6.0 * (2.0 * freedom).sqrt() + 6.0, "{statistic} over {freedom}");
}

#[test]
fn large_enumerations_agree_with_diagrams() {
    let mut rng = rng(22);
    let mut compared = 0;
    for round in 0..60 {
        let mut pool = Pool::new();
        let mut literals = vec![narrow(&mut pool, &mut rng, 0, 200)];
        let [a, b] = [(), ()].map(|()| random(3).truth(&mut pool, &mut rng, 2));
        literals.push(pool.or(a, b));
        for problem in problems(&pool, &literals).unwrap_or_default() {
            let view = problem.view(&pool);
            let budget = Budget { node_work: 1_000_000, ..Budget::default() };
            let (Some(a), Some(b)) =
                (enumerate::solve(&view, &budget), diagram::solve(&view, &budget))
            else {
                continue;
            };
            assert_eq!(a.count(), b.count(), "round {round}");
            if *a.count() <= BigUint::from(1u32 << 16) {
                continue;
            }
            compared += 1;
            for position in 0..problem.bytes.len() {
                assert!(a.marginal(position) == b.marginal(position), "round {round}");
            }
            check_samples(&*a, problem.bytes.len(), compared % problem.bytes.len(), 5);
        }
    }
    assert!(compared > 3, "{compared}");
}

/// Quoted text: an even number of quotes, and no line break inside quotes.
#[test]
fn an_automaton_over_many_bytes() {
    let length = 200;
    let mut pool = Pool::new();
    // States: 0 outside, 1 inside, 2 failed. Rows of 256 entries.
    let step = |state: usize, byte: u8| match (state, byte) {
        (0, b'"') => 1,
        (1, b'"') => 0,
        (1, b'\n') | (2, _) => 2,
        (state, _) => state,
    };
    let entries: Vec<u64> =
        (0..3).flat_map(|state| (0..=255).map(move |byte| step(state, byte) as u64)).collect();
    let table = pool.add_table(8, entries);
    let mut state = pool.constant(8, 0);
    for offset in 0..length {
        let byte = pool.input(0, offset);
        let index = pool.concat(state, byte);
        state = pool.table(table, index);
    }
    let outside = pool.constant(8, 0);
    let literal = pool.eq(state, outside);
    let problem = only_problem(&pool, &[literal]);
    let space = frontier::solve(&problem.view(&pool), &Budget::quick()).expect("few states");
    let mut ways = [BigUint::from(1u8), BigUint::ZERO, BigUint::ZERO];
    for _ in 0..length {
        let mut next = [BigUint::ZERO, BigUint::ZERO, BigUint::ZERO];
        for (state, ways) in ways.iter().enumerate() {
            for byte in 0..=255 {
                next[step(state, byte)] += ways;
            }
        }
        ways = next;
    }
    assert_eq!(*space.count(), ways[0]);
    check_samples(&*space, length as usize, 77, 6);
}

/// A count of matching bytes, and a chain of alternatives: nothing recurses over depth.
#[test]
fn long_chains() {
    let mut pool = Pool::new();
    let (mut count, mut any) = (pool.constant(8, 0), pool.boolean(false));
    for offset in 0..400 {
        let (byte, x, y) = (pool.input(0, offset), pool.constant(8, 120), pool.constant(8, 121));
        let (is_x, above) = (pool.eq(byte, x), pool.ugt(byte, y));
        let one = pool.truth_as_bits(8, is_x);
        count = pool.add(count, one);
        any = pool.or(any, above);
    }
    let three = pool.constant(8, 3);
    let exactly = pool.eq(count, three);
    let problem = only_problem(&pool, &[exactly, any]);
    let space = solve(&problem.view(&pool), &Budget::default()).expect("few states");
    // Of 400 bytes three (or 259) are x; the others are any, but not all of them at most y.
    let choose = |k: u32| (0..k).fold(BigUint::from(1u8), |c, i| c * (400 - i) / (i + 1));
    let number = |k: u32| {
        choose(k) * (BigUint::from(255u32).pow(400 - k) - BigUint::from(121u32).pow(400 - k))
    };
    assert_eq!(*space.count(), number(3) + number(259));
    let mut out = vec![0; 400];
    space.sample(&mut rng(8), &mut out);
    let mut assignment = Assignment::new();
    for (offset, &value) in out.iter().enumerate() {
        assignment.set(InputByte::new(0, offset as u32), value);
    }
    let mut evaluator = Evaluator::new();
    assert!(
        evaluator.holds(&pool, exactly, &assignment) && evaluator.holds(&pool, any, &assignment)
    );
}

#[test]
fn very_deep_terms_do_not_overflow_the_stack() {
    let mut pool = Pool::new();
    let (mut sum, mut any) = (pool.constant(32, 7), pool.boolean(false));
    for i in 0..60_000u32 {
        let byte = pool.input(0, i % 6);
        let wide = pool.zero_extend(32, byte);
        let factor = pool.constant(32, u128::from(i | 1));
        sum = pool.mul(sum, factor);
        sum = pool.xor(sum, wide);
        if i % 100 == 0 {
            let limit = pool.constant(32, u128::from(i));
            let small = pool.ult(sum, limit);
            any = pool.or(any, small);
        }
    }
    let problem = only_problem(&pool, &[any]);
    // Nobody can count this; it must be declined, not crash.
    let budget = Budget { node_work: 50_000, transitions: 100_000, ..Budget::quick() };
    assert!(solve(&problem.view(&pool), &budget).is_none());
}
