//! Random models: every one a model, and all equally likely.

mod common;

use std::collections::BTreeMap;

use common::{at, satisfies, solutions};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_models::{Condition, Counter, Masks};
use stunt_shapes::{conditions, fnv1a, in_range, input, places, utf8};
use stunt_solver::{Budget, Draw, Drawn, Look, Sampler, Solver, Uniformity};
use stunt_terms::{Assignment, Pool, Term};

struct Bench {
    pool: Pool,
    masks: Masks,
    condition: Condition,
}

impl Bench {
    fn new() -> Bench {
        Bench { pool: Pool::new(), masks: Masks::new(), condition: Condition::new() }
    }

    fn push(&mut self, literal: Term) {
        self.condition.push(&self.pool, &mut self.masks, literal);
    }

    fn with(build: impl FnOnce(&mut Pool) -> Vec<Term>) -> Bench {
        let mut bench = Bench::new();
        for literal in build(&mut bench.pool) {
            bench.push(literal);
        }
        bench
    }
}

fn drawn(drawn: Drawn) -> Draw {
    match drawn {
        Drawn::Model(draw) => draw,
        Drawn::Unsat => panic!("there is a model"),
        Drawn::Unknown(why) => panic!("{why}"),
    }
}

/// Draws many times and compares the frequencies with equal chances: the chi-square statistic
/// must be within five standard deviations of its mean.
fn assert_uniform(
    bench: &Bench,
    counter: &mut Counter,
    domains: &[Vec<u8>],
    draws: usize,
    seed: u64,
) {
    let literals: Vec<Term> = bench.condition.literals().collect();
    let all = solutions(&bench.pool, domains, &literals);
    let mut counts: BTreeMap<Vec<u8>, usize> = all.iter().map(|s| (s.clone(), 0)).collect();
    let (mut solver, mut sampler) = (Solver::new(Budget::default()), Sampler::new());
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let bytes = places(domains.len() as u32);
    for _ in 0..draws {
        let draw = drawn(sampler.draw(
            &bench.pool,
            &mut solver,
            counter,
            &bench.condition,
            &bytes,
            &mut rng,
        ));
        assert_eq!(draw.uniformity, Uniformity::Uniform);
        let input: Vec<u8> = bytes.iter().map(|&b| draw.model.get(b).expect("asked for")).collect();
        *counts.get_mut(&input).expect("a model") += 1;
    }
    let expected = draws as f64 / all.len() as f64;
    assert!(expected >= 5.0, "too few draws for a test");
    let chi_square: f64 =
        counts.values().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let freedom = all.len() as f64 - 1.0;
    assert!(
        (chi_square - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(),
        "chi-square {chi_square} with {freedom} degrees of freedom"
    );
}

fn luhn() -> (Bench, Vec<Vec<u8>>) {
    (Bench::with(|pool| conditions::card_number(pool, 4)), vec![(b'0'..=b'9').collect(); 4])
}

#[test]
fn luhn_digits_from_the_exact_set() {
    let (bench, domains) = luhn();
    let mut counter = Counter::new(stunt_models::Budget::default());
    assert_uniform(&bench, &mut counter, &domains, 20_000, 1);
}

#[test]
fn a_length_and_an_offset() {
    let mut bench = Bench::new();
    let pool = &mut bench.pool;
    let (length, offset) = (pool.input(0, 0), pool.input(0, 1));
    let short = in_range(pool, length, 0, 41);
    let (length, offset) = (pool.zero_extend(16, length), pool.zero_extend(16, offset));
    let (sum, bound) = (pool.add(length, offset), pool.constant(16, 64));
    let within = pool.ult(sum, bound);
    bench.push(short);
    bench.push(within);
    let domains = vec![(0..=40).collect(), (0..=255).collect()];
    assert_uniform(&bench, &mut Counter::new(stunt_models::Budget::default()), &domains, 40_000, 2);
}

#[test]
fn a_utf8_sequence() {
    // Three bytes, and so no overlong forms and no surrogates.
    let bench = Bench::with(|pool| {
        let bytes = input(pool, 0, 3);
        let (mut literals, _) = utf8(pool, &bytes);
        // The last byte depends on the others too, so that all three are one component.
        let mixed = pool.xor(bytes[1], bytes[2]);
        let (seven, zero) = (pool.constant(8, 7), pool.constant(8, 0));
        let low = pool.and(mixed, seven);
        literals.push(pool.eq(low, zero));
        literals
    });
    let domains = vec![(0xe0..=0xef).collect(), (0x80..=0xbf).collect(), (0x80..=0xbf).collect()];
    assert_uniform(&bench, &mut Counter::new(stunt_models::Budget::default()), &domains, 80_000, 3);
}

/// Bytes mixed by multiplication: no stage counts the mixture, but chance meets it.
fn hash(pool: &mut Pool, bytes: u32) -> Term {
    let bytes = input(pool, 0, bytes);
    fnv1a(pool, &bytes, 32)
}

/// Randomness, and how often somebody wanted some.
struct Counted(ChaCha8Rng, usize);

impl RngCore for Counted {
    fn next_u32(&mut self) -> u32 {
        self.1 += 1;
        self.0.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        self.1 += 1;
        self.0.next_u64()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.1 += 1;
        self.0.fill_bytes(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand::Error> {
        self.1 += 1;
        self.0.try_fill_bytes(bytes)
    }
}

#[test]
fn long_tries_are_few() {
    // A hash that chance does not meet, beside a sum whose every draw weighs thousands of values.
    let mut bench = Bench::new();
    let state = hash(&mut bench.pool, 12);
    let pool = &mut bench.pool;
    let rare = pool.constant(32, 0x1234_5678);
    let tested = pool.eq(state, rare);
    let mut sum = pool.constant(16, 0);
    for byte in input(pool, 0, 12) {
        let wide = pool.zero_extend(16, byte);
        sum = pool.add(sum, wide);
    }
    let goal = pool.constant(16, 1500);
    let summed = pool.eq(sum, goal);
    bench.push(tested);
    bench.push(summed);
    let mut counter = Counter::new(stunt_models::Budget::quick());
    let component = bench.condition.component_of(at(0)).expect("constrained").clone();
    let (mut solver, mut sampler) = (Solver::new(Budget::default()), Sampler::new());
    let mut rng = Counted(ChaCha8Rng::seed_from_u64(7), 0);
    let tries = (1, 100_000);
    let look = sampler.look(&bench.pool, &mut solver, &mut counter, &component, tries, &mut rng);
    assert_eq!(look, Look::Missed(vec![tested]));
    // A try asks at least once for every byte.
    assert!((12 * 64..12 * 10_000).contains(&rng.1), "{}", rng.1);
}

#[test]
fn what_cannot_be_counted_is_met_by_chance() {
    let mut bench = Bench::new();
    let state = hash(&mut bench.pool, 8);
    let pool = &mut bench.pool;
    let low = pool.extract(12, 10, state);
    let three = pool.constant(3, 3);
    let tested = pool.eq(low, three);
    bench.push(tested);
    let (a, b) = (bench.pool.input(0, 0), bench.pool.input(0, 1));
    let ordered = bench.pool.ult(a, b);
    bench.push(ordered);
    let mut counter = Counter::new(stunt_models::Budget::quick());
    let component = bench.condition.component_of(at(0)).expect("constrained").clone();
    assert!(counter.space(&bench.pool, &component).is_none(), "the test needs such a component");
    let (mut solver, mut sampler) = (Solver::new(Budget::default()), Sampler::new());
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut high_bits = [0; 2];
    for _ in 0..300 {
        let draw = drawn(sampler.draw(
            &bench.pool,
            &mut solver,
            &mut counter,
            &bench.condition,
            &[at(8)],
            &mut rng,
        ));
        assert_eq!(draw.uniformity, Uniformity::Uniform);
        let full = draw.model.overlay(&Assignment::new());
        assert!(satisfies(&bench.pool, &bench.condition, &full));
        high_bits[usize::from(full.get(at(5)) >> 7)] += 1;
    }
    assert!(high_bits.iter().all(|&count| count > 100), "{high_bits:?}");
}

#[test]
fn what_chance_does_not_meet_is_not_called_uniform() {
    let mut bench = Bench::new();
    let state = hash(&mut bench.pool, 12);
    let pool = &mut bench.pool;
    let low = pool.extract(19, 0, state);
    let goal = pool.constant(20, 0x12345);
    let tested = pool.eq(low, goal);
    bench.push(tested);
    let mut counter = Counter::new(stunt_models::Budget::quick());
    let (mut solver, mut sampler) = (Solver::new(Budget::default()), Sampler::new());
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let draw = drawn(sampler.draw(
        &bench.pool,
        &mut solver,
        &mut counter,
        &bench.condition,
        &[],
        &mut rng,
    ));
    assert!(matches!(draw.uniformity, Uniformity::NotUniform(_)));
    assert!(satisfies(&bench.pool, &bench.condition, &draw.model.overlay(&Assignment::new())));
}

#[test]
fn no_model_is_found_out() {
    let (mut bench, _) = luhn();
    let (a, b) = (bench.pool.input(0, 0), bench.pool.input(0, 1));
    let sum = bench.pool.add(a, b);
    let small = bench.pool.constant(8, 90);
    let never = bench.pool.ult(sum, small);
    bench.push(never);
    let mut counter = Counter::new(stunt_models::Budget::default());
    let (mut solver, mut sampler) = (Solver::new(Budget::default()), Sampler::new());
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let answer =
        sampler.draw(&bench.pool, &mut solver, &mut counter, &bench.condition, &[], &mut rng);
    assert_eq!(answer, Drawn::Unsat);
}
