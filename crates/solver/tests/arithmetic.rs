//! Numbers as parsers compute them: sizes, sums, decimals, check digits, products.
//!
//! Bounds and repaired values answer such questions; a search in clauses is slow at arithmetic, and
//! must not be what they fall back to. Debug builds evaluate every model.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_models::Condition;
use stunt_shapes as shapes;
use stunt_solver::{Answer, Budget, Layer, Solver};
use stunt_terms::{Pool, Term};

/// Asks whether all tests can hold together, so many times; how often they can.
fn ask(rounds: u64, mut build: impl FnMut(&mut Pool, &mut ChaCha8Rng) -> (Vec<Term>, bool)) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(rounds);
    let (mut pool, mut yes) = (Pool::new(), 0);
    let mut solver = Solver::new(Budget::default());
    assert!(solver.check_models, "models are evaluated");
    for _ in 0..rounds {
        let (tests, expected) = build(&mut pool, &mut rng);
        let found = match solver.satisfiable_all(&pool, &Condition::new(), None, &tests) {
            Answer::Sat(_) => true,
            Answer::Unsat => false,
            Answer::Unknown(why) => panic!("{why}"),
        };
        assert_eq!(found, expected);
        yes += u64::from(found);
    }
    assert_eq!(solver.statistics().answered_by(Layer::Sat), 0, "{solver:?}");
    yes
}

/// `off <= size`, `len <= size - off`, and `off + len` in a window.
#[test]
fn sizes() {
    let yes = ask(200, |pool, rng| {
        let fields = [0, 4].map(|at| shapes::field(pool, at, 4));
        let limit = rng.gen_range(1000..100_000);
        let size = pool.constant(32, limit);
        let rest = pool.sub(size, fields[0]);
        let end = pool.add(fields[0], fields[1]);
        let from = rng.gen_range(0..200_000);
        let tests = vec![
            pool.ule(fields[0], size),
            pool.ule(fields[1], rest),
            shapes::in_range(pool, end, from, from + 1000),
        ];
        (tests, from <= limit)
    });
    assert!((50..150).contains(&yes));
}

#[test]
fn sums() {
    let yes = ask(200, |pool, rng| {
        let bytes = shapes::input(pool, 0, 16);
        let total = shapes::sum(pool, &bytes, 16);
        let number = rng.gen_range(0..2600);
        let wanted = pool.constant(16, number);
        let mut tests = vec![pool.eq(total, wanted)];
        tests.extend(bytes.iter().map(|&byte| shapes::in_range(pool, byte, 0x20, 0x7f)));
        (tests, (16 * 0x20..=16 * 0x7e).contains(&number))
    });
    assert!((50..190).contains(&yes));
}

#[test]
fn decimals() {
    let yes = ask(200, |pool, rng| {
        let bytes = shapes::input(pool, 0, 5);
        let mut tests = shapes::digits(pool, &bytes);
        let (value, number) = (shapes::decimal(pool, &bytes), rng.gen_range(0..130_000));
        let wanted = pool.constant(32, number);
        let (test, possible) = match rng.gen_range(0..2) {
            0 => (pool.eq(value, wanted), number < 100_000),
            _ => (pool.ult(wanted, value), number < 99_999),
        };
        tests.push(test);
        (tests, possible)
    });
    assert!((100..190).contains(&yes));
}

#[test]
fn check_digits() {
    let yes = ask(100, |pool, rng| {
        let bytes = shapes::input(pool, 0, 16);
        let mut tests = shapes::digits(pool, &bytes);
        tests.push(shapes::luhn(pool, &bytes));
        let (issuer, from) = (shapes::decimal(pool, &bytes[..4]), rng.gen_range(0..11_000));
        tests.push(shapes::in_range(pool, issuer, from, from + 100));
        (tests, from <= 9999)
    });
    assert!((50..100).contains(&yes));
}

/// A size check that a product passes because it wraps.
#[test]
fn products_that_wrap() {
    let yes = ask(50, |pool, rng| {
        let [width, height] = [0, 4].map(|at| shapes::field(pool, at, 4));
        let [wide, high] = [width, height].map(|field| pool.zero_extend(64, field));
        let (full, cut) = (pool.mul(wide, high), pool.mul(width, height));
        let limit = rng.gen_range(1 << 33..1 << 39);
        let (limit, small) = (pool.constant(64, limit), pool.constant(32, 1 << 22));
        let tests = vec![
            shapes::in_range(pool, width, 1, 1 << 20),
            shapes::in_range(pool, height, 1, 1 << 20),
            pool.ult(limit, full),
            pool.ult(cut, small),
        ];
        (tests, true)
    });
    assert_eq!(yes, 50);
}
