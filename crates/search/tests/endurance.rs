//! Conditions that are as deep as an input is long, through every stage from the tests of a path to a
//! double and its figure, on a call stack that is small.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_models::{Condition, Masks};
use stunt_path::{Original, Test, TestKind};
use stunt_search::weaken::{Lengths, Limits, Readable, blackbox};
use stunt_search::{PathCondition, camouflage, castro, weaken};
use stunt_solver::{Budget, Solver};
use stunt_terms::{Assignment, Evaluator, Pool, Term};

/// How long the input is, and how deep terms are. With 1,500 all but "what was chosen" come to an end, in
/// minutes; there the solver's time is over before it has drawn, which is no matter of the stack.
const LONG: u32 = 300;
/// Bytes of call stack.
const STACK: usize = 256 << 10;

static NEVER: AtomicBool = AtomicBool::new(false);

type Build = fn(&mut Pool, Term, Term) -> Term;

/// What a program may work out from all bytes, one after the other.
const BUILDS: [(&str, Build); 9] = [
    ("a sum", |pool, all, byte| pool.add(all, byte)),
    ("a difference", |pool, all, byte| pool.sub(byte, all)),
    ("a checksum", |pool, all, byte| {
        let factor = pool.constant(32, 31);
        let product = pool.mul(all, factor);
        pool.xor(product, byte)
    }),
    ("a turned sum", |pool, all, byte| {
        let turned = pool.rotate_left(3, all);
        pool.xor(turned, byte)
    }),
    ("a product", |pool, all, byte| {
        let one = pool.constant(32, 1);
        let odd = pool.or(byte, one);
        pool.mul(all, odd)
    }),
    ("the least", |pool, all, byte| {
        let less = pool.ult(byte, all);
        pool.ite(less, byte, all)
    }),
    ("what was chosen", |pool, all, byte| {
        let (limit, one) = (pool.constant(32, 100), pool.constant(32, 1));
        let (is, next) = (pool.ult(byte, limit), pool.add(all, one));
        pool.ite(is, next, all)
    }),
    ("all bits", |pool, all, byte| pool.or(all, byte)),
    ("a quotient", |pool, all, byte| {
        let (sum, five) = (pool.add(all, byte), pool.constant(32, 5));
        let quotient = pool.udiv(sum, five);
        pool.add(quotient, byte)
    }),
];

/// The input, and what a path that works something out from all of it finds out: the result, and a
/// comparison of what there was half way.
fn path(pool: &mut Pool, build: Build) -> (Original, Vec<Test>) {
    let bytes: Vec<u8> = (0..LONG).map(|at| (at * 37 % 200 + 17) as u8).collect();
    let input = Assignment::from_bytes(bytes.clone());
    let mut original = Original::new();
    original.push(bytes, Vec::new());
    let (mut evaluator, mut conditions) = (Evaluator::new(), Vec::new());
    let first = pool.input(0, 0);
    let mut all = pool.zero_extend(32, first);
    for at in 1..LONG {
        let byte = pool.input(0, at);
        let byte = pool.zero_extend(32, byte);
        all = build(pool, all, byte);
        if at == LONG / 2 || at + 1 == LONG {
            let value = evaluator.eval(pool, all, &input);
            let constant = pool.constant(32, value);
            conditions.push(pool.eq(all, constant));
            let more = pool.constant(32, value.wrapping_add(1000));
            let less = pool.ult(all, more);
            let holds = evaluator.holds(pool, less, &input);
            conditions.push(if holds { less } else { pool.not(less) });
        }
    }
    let test = |condition| Test { condition, address: 0x1000, kind: TestKind::Branch };
    (original, conditions.into_iter().map(test).collect())
}

fn every_stage(build: Build) {
    let mut pool = Pool::new();
    let (original, tests) = path(&mut pool, build);
    let input = original.assignment();
    let mut rng = ChaCha8Rng::seed_from_u64(3);

    // Solving, without anything that makes it easier before.
    let (mut condition, mut masks) = (Condition::new(), Masks::new());
    for test in &tests {
        condition.push(&pool, &mut masks, test.condition);
    }
    let mut solver = Solver::new(Budget { conflicts: 200, ..Budget::default() });
    if let Some(model) = solver.model(&pool, &condition).model() {
        let found = model.overlay(&input);
        let mut evaluator = Evaluator::new();
        assert!(tests.iter().all(|test| evaluator.holds(&pool, test.condition, &found)));
    }

    // Simplifying, easing, counting and drawing.
    let mut path = PathCondition::new(&mut pool, &tests, &original);
    let bits = path.total().upper();
    assert!((0.0..=f64::from(8 * LONG)).contains(&bits), "{bits} bits of {}", 8 * LONG);
    path.ease(&original);
    assert_eq!(path.measure().bytes.len(), LONG as usize);
    let double = castro(&mut path, &original, &mut rng).expect("the original is a solution");
    let other = camouflage(&mut path, &original, &mut rng).expect("the original is a solution");
    let holds = |pool: &Pool, bytes: &[Vec<u8>]| {
        let (input, mut evaluator) = (original.with_bytes(bytes.to_vec()), Evaluator::new());
        let input = input.assignment();
        tests.iter().all(|test| evaluator.holds(pool, test.condition, &input))
    };
    assert!(holds(&pool, &double.bytes) && holds(&pool, &other.0.bytes));

    // Weakening, with and without a path.
    let limits = || Limits {
        time: Duration::from_secs(600),
        runs: 60,
        cancel: &NEVER,
        worth: f64::INFINITY,
        lengths: Lengths::default(),
        without: &[],
        readable: Readable::Text,
        price: &|_| None,
    };
    let mut fails = |bytes: &[Vec<u8>]| bytes[0].len() > 9 && bytes[0][9] >= 17;
    let mut silent = |_| {};
    weaken(&mut pool, &tests, &original, &mut fails, limits(), &mut rng, &mut silent)
        .expect("a function can always be called");
    blackbox(&original, &mut fails, limits(), &mut rng, &mut silent)
        .expect("a function can always be called");
}

#[test]
fn attack_conditions_as_deep_as_an_input_is_long() {
    for (name, build) in BUILDS {
        let small = thread::Builder::new().stack_size(STACK).name(name.to_owned());
        small.spawn(move || every_stage(build)).unwrap().join().expect("it fits");
    }
}
