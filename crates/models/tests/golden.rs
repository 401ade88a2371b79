//! Conditions from real formats, whose counts are known in closed form.

mod common;

use std::time::Instant;

use common::rng;
use num_bigint::BigUint;
use stunt_models::{Budget, Condition, Counter, Masks};
use stunt_terms::{Assignment, Evaluator, Pool, Term};

/// Byte `offset`, zero-extended.
fn wide(pool: &mut Pool, width: u8, offset: u32) -> Term {
    let byte = pool.input(0, offset);
    pool.zero_extend(width, byte)
}

/// `low <= term <= high`, unsigned.
fn between(pool: &mut Pool, term: Term, low: u128, high: u128) -> Term {
    let width = pool.width(term);
    let (low, high) = (pool.constant(width, low), pool.constant(width, high));
    let (above, below) = (pool.uge(term, low), pool.ule(term, high));
    pool.and(above, below)
}

fn equals(pool: &mut Pool, term: Term, value: u128) -> Term {
    let value = pool.constant(pool.width(term), value);
    pool.eq(term, value)
}

fn little_endian(pool: &mut Pool, first: u32) -> Term {
    let bytes: Vec<Term> = (0..4).map(|i| pool.input(0, first + i)).collect();
    let high = pool.concat(bytes[3], bytes[2]);
    let low = pool.concat(bytes[1], bytes[0]);
    pool.concat(high, low)
}

/// `value * factor + digit`, as `atoi` does.
fn append_digit(pool: &mut Pool, value: Term, factor: u128, offset: u32) -> Term {
    let digit = wide(pool, 32, offset);
    let (factor, zero) = (pool.constant(32, factor), pool.constant(32, 48));
    let shifted = pool.mul(value, factor);
    let digit = pool.sub(digit, zero);
    pool.add(shifted, digit)
}

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

#[test]
fn request_line() {
    let mut pool = Pool::new();
    let mut literals = Vec::new();
    for (offset, value) in b"GET ".iter().enumerate() {
        let byte = pool.input(0, offset as u32);
        literals.push(equals(&mut pool, byte, u128::from(*value)));
    }
    for offset in 4..25 {
        for stop in [0x20, 0x0a] {
            let byte = pool.input(0, offset);
            let same = equals(&mut pool, byte, stop);
            literals.push(pool.not(same));
        }
    }
    let stages = check("request line", &pool, &literals, 25, &big(254).pow(21));
    assert_eq!(stages, ["product"]);
}

#[test]
fn length_in_a_range() {
    let mut pool = Pool::new();
    let length = little_endian(&mut pool, 0);
    let literal = between(&mut pool, length, 100, 4095);
    check("u32 in a range", &pool, &[literal], 4, &big(3996));
}

#[test]
fn five_digits() {
    let mut pool = Pool::new();
    let mut value = pool.constant(32, 0);
    let mut literals = Vec::new();
    for offset in 0..5 {
        let byte = pool.input(0, offset);
        literals.push(between(&mut pool, byte, 48, 57));
        value = append_digit(&mut pool, value, 10, offset);
    }
    let limit = pool.constant(32, 255);
    literals.push(pool.ugt(value, limit));
    check("five digits", &pool, &literals, 5, &big(100_000 - 256));
}

#[test]
fn luhn() {
    let mut pool = Pool::new();
    let mut literals = Vec::new();
    let mut sum = pool.constant(32, 0);
    for offset in 0..16 {
        let byte = pool.input(0, offset);
        literals.push(between(&mut pool, byte, 48, 57));
        let (byte, zero) = (wide(&mut pool, 32, offset), pool.constant(32, 48));
        let mut digit = pool.sub(byte, zero);
        if offset % 2 == 0 {
            let twice = pool.add(digit, digit);
            let (nine, ten) = (pool.constant(32, 9), pool.constant(32, 10));
            let less = pool.sub(twice, nine);
            let small = pool.ult(twice, ten);
            digit = pool.ite(small, twice, less);
        }
        sum = pool.add(sum, digit);
    }
    let ten = pool.constant(32, 10);
    let rest = pool.urem(sum, ten);
    literals.push(equals(&mut pool, rest, 0));
    check("Luhn", &pool, &literals, 16, &big(10).pow(15));
}

#[test]
fn sum_of_bytes() {
    let mut pool = Pool::new();
    let mut sum = pool.constant(8, 0);
    for offset in 0..64 {
        let byte = pool.input(0, offset);
        sum = pool.add(sum, byte);
    }
    let literal = equals(&mut pool, sum, 0x5a);
    check("sum of 64 bytes", &pool, &[literal], 64, &big(256).pow(63));
}

#[test]
fn equal_pairs() {
    let mut pool = Pool::new();
    let pairs: Vec<Term> = (0..16)
        .map(|i| {
            let (a, b) = (pool.input(0, i), pool.input(0, 16 + i));
            pool.eq(a, b)
        })
        .collect();
    check("equal pairs", &pool, &pairs, 32, &big(256).pow(16));
    // As one literal that stays whole: not all pairs are equal.
    let all = pool.and_all(pairs);
    let some_differ = pool.not(all);
    let expected = big(256).pow(32) - big(256).pow(16);
    check("unequal pairs", &pool, &[some_differ], 32, &expected);
}

#[test]
fn offset_and_length() {
    let mut pool = Pool::new();
    let (offset, length) = (little_endian(&mut pool, 0), little_endian(&mut pool, 4));
    let size = pool.constant(32, 10_000);
    let fits = pool.ule(offset, size);
    let rest = pool.sub(size, offset);
    let within = pool.ule(length, rest);
    check("offset and length", &pool, &[fits, within], 8, &big(10_001 * 10_002 / 2));
}

#[test]
fn crc32() {
    let mut pool = Pool::new();
    let entries: Vec<u64> = (0..256u32)
        .map(|i| {
            (0..8).fold(i, |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 }).into()
        })
        .collect();
    let table = pool.add_table(32, entries);
    let mut crc = pool.constant(32, 0xffff_ffff);
    for offset in 0..8 {
        let (byte, low) = (pool.input(0, offset), pool.extract(7, 0, crc));
        let index = pool.xor(low, byte);
        let entry = pool.table(table, index);
        let high = pool.extract(31, 8, crc);
        let high = pool.zero_extend(32, high);
        crc = pool.xor(entry, high);
    }
    let literal = equals(&mut pool, crc, 0x1234_5678);
    let stages = check("CRC-32", &pool, &[literal], 8, &big(1 << 32));
    assert_eq!(stages, ["affine"]);
}

#[test]
fn tar_checksum() {
    let mut pool = Pool::new();
    let mut literals = Vec::new();
    let mut sum = pool.constant(32, 0);
    for offset in 0..32 {
        let byte = wide(&mut pool, 32, offset);
        sum = pool.add(sum, byte);
    }
    let mut value = pool.constant(32, 0);
    for offset in 32..38 {
        let byte = pool.input(0, offset);
        literals.push(between(&mut pool, byte, 48, 55));
        value = append_digit(&mut pool, value, 8, offset);
    }
    literals.push(pool.eq(sum, value));
    // Every sum is spelled by exactly one string of digits.
    check("sum in octal digits", &pool, &literals, 38, &big(256).pow(32));
}

#[test]
fn ip_checksum() {
    let mut pool = Pool::new();
    let mut sum = pool.constant(32, 0);
    for word in 0..10 {
        let (high, low) = (pool.input(0, 2 * word), pool.input(0, 2 * word + 1));
        let word = pool.concat(high, low);
        let word = pool.zero_extend(32, word);
        sum = pool.add(sum, word);
    }
    for _ in 0..2 {
        let (low, high) = (pool.extract(15, 0, sum), pool.extract(31, 16, sum));
        let (low, high) = (pool.zero_extend(32, low), pool.zero_extend(32, high));
        sum = pool.add(low, high);
    }
    let folded = pool.extract(15, 0, sum);
    let literal = equals(&mut pool, folded, 0xffff);
    // The folded sum is 0xffff when the sum is a positive multiple of 65535. Words are uniform
    // modulo 65535 but for one more zero, so the characters' sums are all one.
    let expected = (big(65536).pow(10) + 65534u32) / 65535u32 - 1u32;
    check("IP checksum", &pool, &[literal], 20, &expected);
}

#[test]
fn base64() {
    let mut pool = Pool::new();
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let decode = |c: u8| alphabet.iter().position(|&a| a == c).map_or(255, |at| at as u64);
    let entries: Vec<u64> = (0..=255).map(decode).collect();
    let table = pool.add_table(8, entries);
    let mut literals = Vec::new();
    let mut value = pool.constant(32, 0);
    for offset in 0..4 {
        let byte = pool.input(0, offset);
        let six = pool.table(table, byte);
        let invalid = pool.constant(8, 255);
        literals.push(pool.ne(six, invalid));
        let (six, by) = (pool.zero_extend(32, six), pool.constant(32, 64));
        let shifted = pool.mul(value, by);
        value = pool.or(shifted, six);
    }
    literals.push(between(&mut pool, value, 1000, 9_999_999));
    check("base64", &pool, &literals, 4, &big(9_999_000));
}

#[test]
fn utf8() {
    let mut pool = Pool::new();
    let mut literals = Vec::new();
    let (lead, second, third) = (pool.input(0, 0), pool.input(0, 1), pool.input(0, 2));
    literals.push(between(&mut pool, lead, 0xe0, 0xef));
    for byte in [second, third] {
        let top = pool.extract(7, 6, byte);
        literals.push(equals(&mut pool, top, 2));
    }
    let high = pool.extract(3, 0, lead);
    let (middle, low) = (pool.extract(5, 0, second), pool.extract(5, 0, third));
    let code = pool.concat(middle, low);
    let code = pool.concat(high, code);
    let least = pool.constant(16, 0x800);
    literals.push(pool.uge(code, least));
    let surrogate = between(&mut pool, code, 0xd800, 0xdfff);
    literals.push(pool.not(surrogate));
    check("UTF-8", &pool, &literals, 3, &big(0x1_0000 - 0x800 - 0x800));
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
