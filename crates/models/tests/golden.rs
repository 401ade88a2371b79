//! Conditions from real formats, whose counts are known in closed form.

mod common;

use std::time::Instant;

use common::rng;
use num_bigint::BigUint;
use stunt_models::{Budget, Condition, Counter, Masks};
use stunt_shapes::{self as shapes, conditions};
use stunt_terms::{Assignment, Evaluator, Pool, Term};

/// Counts the condition over `bytes` bytes, and checks samples and one marginal.
fn check(
    name: &str,
    pool: &Pool,
    literals: &[Term],
    bytes: u32,
    expected: &BigUint,
) -> Vec<&'static str> {
    let (mut condition, mut masks) = (Condition::new(), Masks::new());
    for &literal in literals {
        condition.push(pool, &mut masks, literal);
    }
    assert!(!condition.is_contradiction(), "{name}");
    let mut counter = Counter::new(Budget::default());
    let (mut count, mut used) = (BigUint::from(1u8), 0);
    let (mut stages, mut sample) = (Vec::new(), Assignment::new());
    let mut rng = rng(7);
    for component in condition.components() {
        let start = Instant::now();
        let space = counter.space(pool, component);
        let space = space.unwrap_or_else(|| panic!("{name}: no stage"));
        let solved = start.elapsed();
        let mut out = vec![0; component.len()];
        space.sample(&mut rng, &mut out);
        let sampled = start.elapsed() - solved;
        for (byte, &value) in component.bytes().zip(&out) {
            sample.set(byte, value);
        }
        let marginal = space.marginal(component.len() - 1);
        let all = start.elapsed() - solved - sampled;
        assert_eq!(marginal.iter().sum::<BigUint>(), *space.count(), "{name}: marginal");
        count *= space.count();
        used += component.len() as u32;
        if !stages.contains(&space.stage()) {
            stages.push(space.stage());
            println!(
                "{name}: {} in {solved:?}, sample {sampled:?}, marginals {all:?}",
                space.stage()
            );
        }
    }
    count <<= 8 * (bytes - used);
    assert_eq!(count, *expected, "{name}");
    let mut evaluator = Evaluator::new();
    for &literal in literals {
        assert!(evaluator.holds(pool, literal, &sample), "{name}: a sample is no solution");
    }
    stages
}

fn big(value: u128) -> BigUint {
    BigUint::from(value)
}

/// Builds the condition and checks it.
fn check_shape(
    name: &str,
    build: impl FnOnce(&mut Pool) -> Vec<Term>,
    bytes: u32,
    expected: &BigUint,
) -> Vec<&'static str> {
    let mut pool = Pool::new();
    let literals = build(&mut pool);
    check(name, &pool, &literals, bytes, expected)
}

#[test]
fn request_line() {
    let expected = big(254).pow(21);
    let stages = check_shape("request line", conditions::request_line, 25, &expected);
    assert_eq!(stages, ["product"]);
}

#[test]
fn length_in_a_range() {
    check_shape("u32 in a range", conditions::field_in_range, 4, &big(3996));
}

#[test]
fn five_digits() {
    check_shape("five digits", conditions::five_digits, 5, &big(100_000 - 256));
}

#[test]
fn luhn() {
    check_shape("Luhn", |pool| conditions::card_number(pool, 16), 16, &big(10).pow(15));
}

#[test]
fn sum_of_bytes() {
    let condition = |pool: &mut Pool| {
        conditions::checksum_is(pool, 64, |pool, bytes| shapes::sum(pool, bytes, 8), 0x5a)
    };
    check_shape("sum of 64 bytes", condition, 64, &big(256).pow(63));
}

#[test]
fn equal_pairs() {
    let mut pool = Pool::new();
    let pairs = conditions::equal_pairs(&mut pool);
    check("equal pairs", &pool, &pairs, 32, &big(256).pow(16));
    // As one literal that stays whole: not all pairs are equal.
    let all = pool.and_all(pairs);
    let some_differ = pool.not(all);
    let expected = big(256).pow(32) - big(256).pow(16);
    check("unequal pairs", &pool, &[some_differ], 32, &expected);
}

#[test]
fn offset_and_length() {
    let expected = big(10_001 * 10_002 / 2);
    check_shape("offset and length", conditions::offset_and_length, 8, &expected);
}

#[test]
fn crc32() {
    let condition =
        |pool: &mut Pool| conditions::checksum_is(pool, 8, shapes::crc32_table, 0x1234_5678);
    let stages = check_shape("CRC-32", condition, 8, &big(1 << 32));
    assert_eq!(stages, ["affine"]);
}

#[test]
fn tar_checksum() {
    // Every sum is spelled by exactly one string of digits.
    check_shape("sum in octal digits", conditions::octal_sum, 38, &big(256).pow(32));
}

#[test]
fn ip_checksum() {
    let condition =
        |pool: &mut Pool| conditions::checksum_is(pool, 20, shapes::internet_checksum, 0);
    // The folded sum is 0xffff when the sum is a positive multiple of 65535. Words are uniform
    // modulo 65535 but for one more zero, so the characters' sums are all one.
    let expected = (big(65536).pow(10) + 65534u32) / 65535u32 - 1u32;
    check_shape("IP checksum", condition, 20, &expected);
}

#[test]
fn base64() {
    let condition = |pool: &mut Pool| {
        let bytes = shapes::input(pool, 0, 4);
        let (mut literals, value) = shapes::base64_value(pool, &bytes);
        literals.push(shapes::in_range(pool, value, 1000, 10_000_000));
        literals
    };
    check_shape("base64", condition, 4, &big(9_999_000));
}

#[test]
fn utf8() {
    let condition = |pool: &mut Pool| {
        let bytes = shapes::input(pool, 0, 3);
        shapes::utf8(pool, &bytes).0
    };
    check_shape("UTF-8", condition, 3, &big(0x1_0000 - 0x800 - 0x800));
}

#[test]
fn parts_multiply() {
    let mut pool = Pool::new();
    let (a, b) = (pool.input(0, 0), pool.input(0, 9));
    let c = pool.input(0, 3);
    let differ = pool.ne(a, b);
    let small = pool.constant(8, 7);
    let small = pool.ult(c, small);
    let all = pool.and(differ, small);
    check("parts", &pool, &[all], 12, &(big(256 * 255 * 7) << 72));
}
