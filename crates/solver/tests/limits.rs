//! What search is bad at, budgets, very deep terms, and what is printed.

mod common;

use std::time::Duration;

use common::satisfies;
use stunt_models::{Condition, Masks};
use stunt_shapes::{conditions, crc32_table, field, input};
use stunt_solver::{Answer, Budget, Layer, Solver, Truth, Why};
use stunt_terms::{Assignment, Pool, Term};

#[test]
fn a_checksum_is_solved_as_equations() {
    // So few conflicts that search has no chance.
    let budget = Budget { conflicts: 10, ..Budget::default() };
    let (mut pool, mut solver) = (Pool::new(), Solver::new(budget));
    let question = conditions::checksum_is(&mut pool, 6, crc32_table, 0xdead_beef)[0];
    let hint = Assignment::from_bytes([0; 6]);
    match solver.satisfiable(&pool, &Condition::new(), Some(&hint), question) {
        Answer::Sat(model) => {
            let mut evaluator = stunt_terms::Evaluator::new();
            assert!(evaluator.holds(&pool, question, &model.overlay(&hint)));
        }
        Answer::Unsat => panic!("there is such an input"),
        Answer::Unknown(why) => panic!("{why}"),
    }
    assert_eq!(solver.statistics().answered_by(Layer::Counted), 1);
}

/// `a * b` is the product of two large primes, and neither is one.
fn factoring(pool: &mut Pool) -> Term {
    let (a, b) = (field(pool, 0, 4), field(pool, 4, 4));
    let (a, b) = (pool.zero_extend(64, a), pool.zero_extend(64, b));
    let (product, goal) = (pool.mul(a, b), pool.constant(64, 3_037_000_493 * 2_654_435_761));
    let (equal, one) = (pool.eq(product, goal), pool.constant(64, 1));
    let (a_large, b_large) = (pool.ult(one, a), pool.ult(one, b));
    pool.and_all([equal, a_large, b_large])
}

#[test]
fn conflicts_and_time_end_a_search() {
    let mut pool = Pool::new();
    let question = factoring(&mut pool);
    let few = Budget { conflicts: 50, time: Duration::from_secs(600) };
    let answer = Solver::new(few).satisfiable(&pool, &Condition::new(), None, question);
    assert_eq!(answer, Answer::Unknown(Why::Conflicts));
    let short = Budget { conflicts: u32::MAX, time: Duration::from_millis(20) };
    let answer = Solver::new(short).satisfiable(&pool, &Condition::new(), None, question);
    assert_eq!(answer, Answer::Unknown(Why::Time));
}

#[test]
fn sums_that_are_missed_in_every_way_end() {
    // A hash of 40 rounds: each sum has two operands that depend on all before, and neither can be
    // brought to where it should be.
    let mut pool = Pool::new();
    let mut state = pool.constant(32, 0x6a09_e667);
    let (five, rest) = (pool.constant(32, 5), pool.constant(32, 27));
    for byte in input(&mut pool, 0, 40) {
        let wide = pool.zero_extend(32, byte);
        let mixed = pool.xor(state, wide);
        let (high, low) = (pool.shl(state, five), pool.lshr(state, rest));
        let turned = pool.or(high, low);
        let product = pool.mul(mixed, turned);
        state = pool.add(product, turned);
    }
    let wanted = pool.constant(32, 0x1234_5678);
    let question = pool.eq(state, wanted);
    let budget = Budget { conflicts: 10, time: Duration::from_secs(1) };
    let answer = Solver::new(budget).satisfiable(&pool, &Condition::new(), None, question);
    if let Answer::Sat(model) = answer {
        let mut evaluator = stunt_terms::Evaluator::new();
        assert!(evaluator.holds(&pool, question, &model.overlay(&Assignment::new())));
    }
}

#[test]
fn very_deep_terms() {
    let (mut pool, mut solver, mut masks) =
        (Pool::new(), Solver::new(Budget::default()), Masks::new());
    let bytes = input(&mut pool, 0, 4);
    let mut state = bytes[0];
    for i in 0..30_000 {
        let byte = bytes[i % 4];
        state = if i % 2 == 0 { pool.xor(state, byte) } else { pool.and(state, byte) };
    }
    let (goal, zero) = (pool.constant(8, 0x41), pool.constant(8, 0));
    let (question, other) = (pool.eq(state, goal), pool.ne(bytes[3], zero));
    let mut condition = Condition::new();
    condition.push(&pool, &mut masks, other);
    // The last operations are `& b1`, `^ b2`, `& b3`: there is such an input.
    match solver.satisfiable(&pool, &condition, None, question) {
        Answer::Sat(model) => {
            condition.push(&pool, &mut masks, question);
            assert!(satisfies(&pool, &condition, &model.overlay(&Assignment::new())));
        }
        Answer::Unsat => panic!("there is such an input"),
        Answer::Unknown(why) => panic!("{why}"),
    }
}

/// Each byte is at most the next one.
fn ordered(pool: &mut Pool, masks: &mut Masks, count: u32) -> Condition {
    let mut condition = Condition::new();
    for offset in 0..count {
        let (a, b) = (pool.input(0, offset), pool.input(0, offset + 1));
        let literal = pool.ule(a, b);
        condition.push(pool, masks, literal);
    }
    condition
}

#[test]
fn long_conditions() {
    let (mut pool, mut solver, mut masks) =
        (Pool::new(), Solver::new(Budget::default()), Masks::new());
    let hint = Assignment::from_bytes(vec![b'a'; 2_001]);
    let condition = ordered(&mut pool, &mut masks, 2_000);
    let (first, last) = (pool.input(0, 0), pool.input(0, 2_000));
    let rises = pool.ult(first, last);
    let Answer::Sat(model) = solver.satisfiable(&pool, &condition, Some(&hint), rises) else {
        panic!("there is such an input");
    };
    assert!(satisfies(&pool, &condition, &model.overlay(&hint)));
    let condition = ordered(&mut pool, &mut masks, 40);
    let last = pool.input(0, 40);
    let falls = pool.ult(last, first);
    assert_eq!(solver.may_be_true(&pool, &condition, Some(&hint), falls), Truth::No);
    assert_eq!(solver.statistics().answered_by(Layer::Pairs), 1);
}

#[test]
fn nothing_prints_a_model() {
    let (mut pool, mut solver) = (Pool::new(), Solver::new(Budget::default()));
    let (byte, value) = (pool.input(0, 0), pool.constant(8, 0x5a));
    let question = pool.eq(byte, value);
    let answer = solver.satisfiable(&pool, &Condition::new(), None, question);
    assert_eq!(format!("{answer:?}"), "Sat(Model(1 bytes))");
    assert_eq!(format!("{solver:?}"), "Solver(domains 1)");
}
