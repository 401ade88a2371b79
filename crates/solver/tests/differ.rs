//! The model that differs most, compared with trying all inputs.

mod common;

use common::{at, random_case, satisfies, solutions};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_models::{Condition, Masks};
use stunt_solver::{Budget, Different, Differing, Solver, differ_most};
use stunt_terms::{Assignment, Pool, Term};

fn found(differing: Differing) -> Different {
    match differing {
        Differing::Model(different) => different,
        Differing::Unsat => panic!("there is a model"),
        Differing::Unknown(why) => panic!("{why}"),
    }
}

fn differences(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

#[test]
fn small_conditions_against_all_inputs() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut solver, mut pool, mut masks) =
        (Solver::new(Budget::default()), Pool::new(), Masks::new());
    let mut counts = [0; 5];
    for round in 0..80 {
        let case = random_case(&mut pool, &mut masks, &mut rng, 4, 3, 1 + round % 8);
        let literals: Vec<Term> = case.condition.literals().collect();
        let original = case.hint.source(0).to_vec();
        let best = solutions(&pool, &case.domains, &literals)
            .iter()
            .map(|input| differences(input, &original))
            .max()
            .expect("the hint is a solution");
        let bytes = [at(0), at(1), at(2), at(3)];
        let got =
            found(differ_most(&pool, &mut solver, &case.condition, &case.hint, &bytes, &mut rng));
        let full = got.model.overlay(&case.hint);
        assert!(satisfies(&pool, &case.condition, &full));
        assert_eq!(differences(full.source(0), &original), got.differ);
        assert!(got.optimal);
        assert_eq!(got.differ, best);
        counts[best] += 1;
    }
    assert!(counts[..4].iter().sum::<usize>() > 10, "{counts:?}");
}

#[test]
fn an_original_outside_of_the_condition_and_no_model() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut solver, mut pool, mut masks) =
        (Solver::new(Budget::default()), Pool::new(), Masks::new());
    let (a, b, c) = (pool.input(0, 0), pool.input(0, 1), pool.input(0, 2));
    let sum = pool.add(a, b);
    let total = pool.add(sum, c);
    let zero = pool.constant(8, 0);
    let none = pool.eq(total, zero);
    let mut condition = Condition::new();
    condition.push(&pool, &mut masks, none);
    let original = Assignment::from_bytes([1, 1, 1]);
    let got = found(differ_most(&pool, &mut solver, &condition, &original, &[], &mut rng));
    assert_eq!((got.differ, got.optimal), (3, true));
    let odd = pool.constant(8, 2);
    let doubled = pool.mul(total, odd);
    let one = pool.constant(8, 1);
    let never = pool.eq(doubled, one);
    condition.push(&pool, &mut masks, never);
    assert_eq!(
        differ_most(&pool, &mut solver, &condition, &original, &[], &mut rng),
        Differing::Unsat
    );
}

/// `n` bytes whose neighbours may differ by at most `step`.
fn chain(pool: &mut Pool, masks: &mut Masks, n: u32, step: u128) -> Condition {
    let mut condition = Condition::new();
    for offset in 1..n {
        let (a, b) = (pool.input(0, offset - 1), pool.input(0, offset));
        let (step, twice) = (pool.constant(8, step), pool.constant(8, 2 * step + 1));
        let difference = pool.sub(a, b);
        let shifted = pool.add(difference, step);
        let close = pool.ult(shifted, twice);
        condition.push(pool, masks, close);
    }
    condition
}

#[test]
fn large_components_are_done_as_well_as_possible() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut solver, mut pool, mut masks) =
        (Solver::new(Budget::default()), Pool::new(), Masks::new());
    let mut condition = chain(&mut pool, &mut masks, 80, 1);
    // The first byte keeps its value, the others can all change.
    let (first, value) = (pool.input(0, 0), pool.constant(8, 7));
    let fixed = pool.eq(first, value);
    condition.push(&pool, &mut masks, fixed);
    let original = Assignment::from_bytes([7; 80]);
    let got = found(differ_most(&pool, &mut solver, &condition, &original, &[at(90)], &mut rng));
    let full = got.model.overlay(&original);
    assert!(satisfies(&pool, &condition, &full));
    assert_eq!((got.differ, got.optimal), (80, true), "79 of the chain and the free byte");
    assert_eq!(got.model.len(), 81);
}

#[test]
fn equal_seeds_give_equal_models_and_others_vary() {
    let mut pool = Pool::new();
    let mut masks = Masks::new();
    let condition = chain(&mut pool, &mut masks, 6, 20);
    let original = Assignment::from_bytes([100; 6]);
    let model = |seed: u64| {
        let (mut solver, mut rng) =
            (Solver::new(Budget::default()), ChaCha8Rng::seed_from_u64(seed));
        found(differ_most(&pool, &mut solver, &condition, &original, &[], &mut rng)).model
    };
    assert!(model(1) == model(1));
    assert!((2..12).any(|seed| model(seed) != model(1)));
}
