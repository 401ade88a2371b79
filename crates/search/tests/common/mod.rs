//! Random path conditions of the shapes that programs leave, small enough to try every input.
#![allow(dead_code)]

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use stunt_path::{Original, Test, TestKind};
use stunt_shapes::random::narrow;
use stunt_shapes::{Random, places};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

/// A condition with the input that it comes from.
pub struct Case {
    pub pool: Pool,
    pub literals: Vec<Term>,
    pub original: Original,
    /// For each byte the values that are tried. Others do not satisfy the condition.
    pub values: Vec<Vec<u8>>,
    pub bytes: Vec<InputByte>,
}

impl Case {
    /// Its literals as tests of a run.
    pub fn tests(&self) -> Vec<Test> {
        let test = |&condition| Test { condition, address: 0, kind: TestKind::Branch };
        self.literals.iter().map(test).collect()
    }

    /// All inputs that satisfy some literals.
    pub fn solutions(&self, literals: &[Term]) -> Vec<Vec<u8>> {
        stunt_shapes::inputs::solutions(&self.pool, literals, &self.bytes, &self.values)
    }
}

/// A random condition over three bytes that the original satisfies.
pub fn case(rng: &mut ChaCha8Rng) -> Case {
    let mut pool = Pool::new();
    let bytes = places(3);
    let own: Vec<u8> = (0..3)
        .map(|_| if rng.gen_bool(0.5) { rng.gen_range(b'0'..=b'9') } else { rng.r#gen() })
        .collect();
    let input = Assignment::from_bytes(own.clone());
    let mut literals = Vec::new();
    let mut values = Vec::new();
    for (&byte, &value) in bytes.iter().zip(&own) {
        // Narrow enough to be tried, and with the original's value.
        let (term, list) = if value.is_ascii_digit() {
            let variable = pool.byte(byte);
            let (shift, ten) = (pool.constant(8, 0xd0), pool.constant(8, 10));
            let digit = pool.add(variable, shift);
            (pool.ult(digit, ten), (b'0'..=b'9').collect::<Vec<u8>>())
        } else {
            let own = pool.constant(8, u128::from(value));
            let variable = pool.byte(byte);
            let is_own = pool.eq(variable, own);
            let other = narrow(&mut pool, rng, byte, 12);
            let term = pool.or(is_own, other);
            let mut list = Vec::new();
            for value in 0..=255u8 {
                let mut one = Assignment::new();
                one.set(byte, value);
                if Evaluator::new().holds(&pool, term, &one) {
                    list.push(value);
                }
            }
            (term, list)
        };
        literals.push(term);
        values.push(list);
    }
    let random = Random::new(3, &[8, 8, 16, 32, 64], 64);
    for _ in 0..rng.gen_range(1..7) {
        let literal = match rng.gen_range(0..6) {
            0 => number(&mut pool, rng, &bytes),
            1 => slice(&mut pool, rng, &bytes),
            2 => any_of(&mut pool, rng, &bytes),
            3 => zero_test(&mut pool, rng, &bytes),
            _ => {
                let depth = rng.gen_range(1..4);
                random.truth(&mut pool, rng, depth)
            }
        };
        let holds = Evaluator::new().holds(&pool, literal, &input);
        literals.push(if holds { literal } else { pool.not(literal) });
    }
    if rng.gen_bool(0.5) {
        let at = rng.gen_range(0..literals.len());
        let last = literals.len() - 1;
        literals.swap(at, last);
    }
    let mut original = Original::new();
    original.push(own, Vec::new());
    Case { pool, literals, original, values, bytes }
}

/// A decimal number and a bound, with the arithmetic of a parser.
fn number(pool: &mut Pool, rng: &mut ChaCha8Rng, bytes: &[InputByte]) -> Term {
    let width = [16, 32, 64][rng.gen_range(0..3)];
    let base = [10, 10, 16, 3][rng.gen_range(0..4)];
    let mut number = pool.constant(width, 0);
    let factor = pool.constant(width, base);
    for &byte in bytes {
        let variable = pool.byte(byte);
        let shift = pool.constant(8, 0xd0);
        let digit = pool.add(variable, shift);
        let wide = pool.zero_extend(width, digit);
        let product = pool.mul(number, factor);
        number = pool.add(product, wide);
    }
    let value = pool.constant(width, rng.gen_range(0..1200));
    match rng.gen_range(0..4) {
        0 => pool.eq(number, value),
        1 => {
            let size = pool.constant(width, rng.gen_range(1..500));
            let shifted = pool.sub(number, value);
            pool.ult(shifted, size)
        }
        2 => {
            let product = pool.mul(number, factor);
            pool.ult(product, value)
        }
        _ => pool.ult(number, value),
    }
}

/// Some bits of a word equal to a constant.
fn slice(pool: &mut Pool, rng: &mut ChaCha8Rng, bytes: &[InputByte]) -> Term {
    let terms: Vec<Term> = bytes.iter().map(|&byte| pool.byte(byte)).collect();
    let wide: Vec<Term> = terms.iter().map(|&term| pool.zero_extend(16, term)).collect();
    let product = pool.mul(wide[0], wide[1]);
    let sum = pool.add(product, wide[2]);
    let low = rng.gen_range(0..4);
    let high = low + rng.gen_range(0..4);
    let part = pool.extract(high, low, sum);
    let value = pool.constant(high - low + 1, u128::from(rng.r#gen::<u8>()) & 1);
    pool.eq(part, value)
}

/// That one of the bytes is a certain character.
fn any_of(pool: &mut Pool, rng: &mut ChaCha8Rng, bytes: &[InputByte]) -> Term {
    let mut any = pool.boolean(false);
    for &byte in bytes {
        let variable = pool.byte(byte);
        let value = pool.constant(8, u128::from(rng.gen_range(b'0'..b':')));
        let is = pool.eq(variable, value);
        any = pool.or(any, is);
    }
    any
}

/// A test of several bytes for a character, as compilers write it.
fn zero_test(pool: &mut Pool, rng: &mut ChaCha8Rng, bytes: &[InputByte]) -> Term {
    let wanted = pool.constant(8, u128::from(rng.gen_range(b'0'..b':')));
    let other = pool.constant(8, 0x41);
    let mut word = other;
    for &byte in bytes {
        let variable = pool.byte(byte);
        let turned = pool.xor(variable, wanted);
        word = pool.concat(word, turned);
    }
    let ones = pool.constant(32, 0x0101_0100);
    let high = pool.constant(32, 0x8080_8080);
    let difference = pool.sub(ones, word);
    let either = pool.or(difference, word);
    let masked = pool.and(either, high);
    pool.eq(masked, high)
}
