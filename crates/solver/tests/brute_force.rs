//! Thousands of random questions, compared with trying all inputs.

mod common;

use common::{random, random_case, satisfies, solutions};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_models::Masks;
use stunt_solver::{Answer, Budget, Layer, Solver, Truth};
use stunt_terms::{Assignment, Evaluator, Pool, Term};

/// Asks questions about random conditions; returns how many had models.
fn compare(
    solver: &mut Solver,
    pool: &mut Pool,
    seed: u64,
    bytes: u32,
    size: u8,
    rounds: usize,
) -> [usize; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut masks = Masks::new();
    let mut verdicts = [0, 0];
    for _ in 0..rounds {
        let literals = rng.gen_range(0..5);
        let case = random_case(pool, &mut masks, &mut rng, bytes, size, literals);
        let all: Vec<Term> = case.condition.literals().collect();
        let inputs = solutions(pool, &case.domains, &all);
        for _ in 0..12 {
            let question = random(bytes).truth(pool, &mut rng, 2);
            let mut evaluator = Evaluator::new();
            let expected = inputs.iter().any(|input| {
                evaluator.reset();
                evaluator.holds(pool, question, &Assignment::from_bytes(input.clone()))
            });
            verdicts[usize::from(expected)] += 1;
            let with_hint: bool = rng.r#gen();
            let hint = with_hint.then_some(&case.hint);
            match solver.satisfiable(pool, &case.condition, hint, question) {
                Answer::Sat(model) => {
                    assert!(expected);
                    let under = if with_hint {
                        case.hint.clone()
                    } else {
                        Assignment::from_bytes([0x5a; 8])
                    };
                    let full = model.overlay(&under);
                    assert!(satisfies(pool, &case.condition, &full));
                    assert!(Evaluator::new().holds(pool, question, &full));
                }
                Answer::Unsat => assert!(!expected),
                Answer::Unknown(why) => panic!("{why}"),
            }
            let must = inputs.iter().all(|input| {
                evaluator.reset();
                evaluator.holds(pool, question, &Assignment::from_bytes(input.clone()))
            });
            let answer = solver.must_be_true(pool, &case.condition, hint, question);
            assert_eq!(answer, if must { Truth::Yes } else { Truth::No });
        }
    }
    verdicts
}

#[test]
fn three_bytes() {
    let (mut solver, mut pool) = (Solver::new(Budget::default()), Pool::new());
    let verdicts = compare(&mut solver, &mut pool, 1, 3, 5, 160);
    assert!(verdicts.iter().all(|&count| count > 200), "both verdicts occur");
    for layer in
        Layer::ALL.into_iter().filter(|layer| !matches!(layer, Layer::Counted | Layer::Sat))
    {
        assert!(solver.statistics().answered_by(layer) > 0, "{} was not met", layer.name());
    }
}

#[test]
fn two_bytes() {
    let (mut solver, mut pool) = (Solver::new(Budget::default()), Pool::new());
    solver.shortcuts = false;
    let verdicts = compare(&mut solver, &mut pool, 2, 2, 20, 120);
    assert!(verdicts.iter().all(|&count| count > 150), "both verdicts occur");
    assert!(solver.statistics().answered_by(Layer::Pairs) > 200);
}

#[test]
fn more_cases_than_are_tried() {
    let (mut solver, mut pool) = (Solver::new(Budget::default()), Pool::new());
    solver.shortcuts = false;
    let verdicts = compare(&mut solver, &mut pool, 3, 5, 8, 14);
    assert!(verdicts.iter().all(|&count| count > 10), "both verdicts occur");
    assert!(solver.statistics().answered_by(Layer::Sat) > 15);
}

#[test]
fn only_value_is_about_all_inputs() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let (mut solver, mut pool, mut masks) =
        (Solver::new(Budget::default()), Pool::new(), Masks::new());
    let mut answers = [0, 0];
    for _ in 0..150 {
        let case = random_case(&mut pool, &mut masks, &mut rng, 3, 3, 4);
        let literals: Vec<Term> = case.condition.literals().collect();
        let term = random(3).bits(&mut pool, &mut rng, 8, 1);
        let mut evaluator = Evaluator::new();
        let own = evaluator.eval(&pool, term, &case.hint);
        let expected = solutions(&pool, &case.domains, &literals).into_iter().all(|input| {
            evaluator.reset();
            evaluator.eval(&pool, term, &Assignment::from_bytes(input)) == own
        });
        answers[usize::from(expected)] += 1;
        let answer = solver.only_value(&mut pool, &case.condition, &case.hint, term);
        assert_eq!(answer, if expected { Truth::Yes } else { Truth::No });
    }
    assert!(answers.iter().all(|&count| count > 10));
}
