//! Random questions at real widths, compared with Debian's z3.

mod common;

use std::time::Duration;

use common::{random, random_literal, satisfies};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_models::{Condition, Masks};
use stunt_solver::{Answer, Budget, CrossCheck, Layer, Solver};
use stunt_terms::{Assignment, Evaluator, Pool};

fn z3() -> CrossCheck {
    // A limit on work, not on time: the same verdicts on every machine.
    CrossCheck::start("z3", &["-in", "rlimit=1000000"]).expect("z3 is installed")
}

/// Random conditions over `bytes` bytes, extended question by question as a search would.
fn explore(seed: u64, bytes: u32, depth: u32, rounds: usize, shortcuts: bool) -> Solver {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut pool, mut masks) = (Pool::new(), Masks::new());
    let budget = Budget { conflicts: 20_000, time: Duration::from_secs(3600) };
    let mut solver = Solver::new(budget);
    solver.shortcuts = shortcuts;
    solver.cross_check_with(z3());
    for _ in 0..rounds {
        let mut condition = Condition::new();
        let mut hint = Assignment::from_bytes((0..bytes).map(|_| rng.r#gen()).collect::<Vec<u8>>());
        for _ in 0..10 {
            let question = random(bytes).truth(&mut pool, &mut rng, depth);
            let with_hint: bool = rng.gen_ratio(2, 3);
            match solver.satisfiable(&pool, &condition, with_hint.then_some(&hint), question) {
                Answer::Sat(model) => {
                    let full = model.overlay(&hint);
                    assert!(satisfies(&pool, &condition, &full));
                    assert!(Evaluator::new().holds(&pool, question, &full));
                    if rng.r#gen() {
                        condition.push(&pool, &mut masks, question);
                        hint = full;
                    }
                }
                Answer::Unsat | Answer::Unknown(_) => {}
            }
            let literal = random_literal(&mut pool, &mut rng, &hint, bytes);
            condition.push(&pool, &mut masks, literal);
        }
    }
    solver
}

#[test]
fn shallow_questions() {
    for shortcuts in [true, false] {
        let solver = explore(1, 6, 2, 30, shortcuts);
        let (compared, undecided) = solver.cross_check().expect("it was given").compared();
        assert!(compared > 270 && undecided < 30, "{compared} compared, {undecided} not");
        for layer in [Layer::Hint, Layer::Domains, Layer::Pairs, Layer::Sat] {
            assert!(solver.statistics().answered_by(layer) > 0, "{} was not met", layer.name());
        }
    }
}

#[test]
fn deep_questions() {
    for (shortcuts, layer) in [(true, Layer::Repair), (false, Layer::Sat)] {
        let solver = explore(2, 12, 3, 15, shortcuts);
        let (compared, undecided) = solver.cross_check().expect("it was given").compared();
        assert!(compared > 100 && undecided < 50, "{compared} compared, {undecided} not");
        assert!(solver.statistics().answered_by(layer) > 15);
    }
}

#[test]
fn two_byte_questions() {
    let solver = explore(3, 2, 2, 40, false);
    let (compared, undecided) = solver.cross_check().expect("it was given").compared();
    assert!(compared > 360 && undecided < 40, "{compared} compared, {undecided} not");
    assert!(solver.statistics().answered_by(Layer::Pairs) > 0);
}
