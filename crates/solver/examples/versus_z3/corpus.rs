//! The classes of questions: what parsers test, as path conditions with one test turned round.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_shapes as shapes;
use stunt_terms::smtlib::print_script;
use stunt_terms::{Assignment, Evaluator, Pool, Term};

/// Questions of one kind.
pub struct Class {
    /// One script, every question in a scope of its own.
    pub script: String,
    /// The questions as scripts of their own, where they are no sequence.
    pub separate: Vec<String>,
}

/// Builds a class.
pub type Build = fn() -> Class;

/// All classes, each with what builds it. The same questions every time.
pub const CLASSES: &[(&str, Build)] = &[
    ("single-byte comparisons", || class(2000, single_bytes)),
    ("character classes by table", || class(1000, letter_classes)),
    ("16- and 32-bit fields, little-endian", || {
        class(2000, |p, r| fields(p, r, shapes::little_endian))
    }),
    ("16- and 32-bit fields, big-endian", || class(2000, |p, r| fields(p, r, shapes::big_endian))),
    ("offset and length fields", || class(500, offsets)),
    ("decimal numbers in ASCII", || class(200, decimals)),
    ("UTF-8 sequences", || class(2000, utf8)),
    ("base64 by table", || class(200, base64)),
    ("Luhn check, 16 digits", || class(30, luhn)),
    ("sum of 16 bytes", || class(100, sums)),
    ("CRC-32, 4 to 64 bytes", || class(10, crc32)),
    ("Adler-32, 4 to 64 bytes", || class(10, adler32)),
    ("500-test prefix, one test turned round", prefix),
    ("products of 32-bit fields (multiplication)", || class(20, products)),
];

/// Questions of one conjunction each.
fn class(count: u64, mut build: impl FnMut(&mut Pool, &mut ChaCha8Rng) -> Vec<Term>) -> Class {
    let mut pool = Pool::new();
    let mut question = |number| build(&mut pool, &mut ChaCha8Rng::seed_from_u64(number));
    let questions: Vec<Vec<Term>> = (0..count).map(&mut question).collect();
    let all: Vec<Term> = questions.iter().flatten().copied().collect();
    let text = print_script(&pool, &all, false);
    let is_assertion = |line: &&str| line.starts_with("(assert ");
    let mut script: String =
        text.lines().filter(|line| !is_assertion(line)).map(|line| format!("{line}\n")).collect();
    let mut assertions = text.lines().filter(is_assertion);
    for question in &questions {
        script.push_str("(push 1)\n");
        for assertion in assertions.by_ref().take(question.len()) {
            script.push_str(assertion);
            script.push('\n');
        }
        script.push_str("(check-sat)\n(pop 1)\n");
    }
    let separate = questions.iter().map(|question| print_script(&pool, question, true)).collect();
    Class { script, separate }
}

/// The tests as a run took them, but for one, which is turned round.
fn turned(pool: &mut Pool, rng: &mut ChaCha8Rng, tests: Vec<Term>) -> Vec<Term> {
    let run = Assignment::from_bytes((0..64).map(|_| rng.r#gen()).collect::<Vec<u8>>());
    let mut evaluator = Evaluator::new();
    let other = rng.gen_range(0..tests.len());
    let oriented = tests.into_iter().enumerate().map(|(place, test)| {
        let taken = evaluator.holds(pool, test, &run);
        if taken == (place != other) { test } else { pool.not(test) }
    });
    oriented.collect()
}

/// A random interval test of a term, or its negation.
fn some_test(pool: &mut Pool, rng: &mut ChaCha8Rng, term: Term) -> Term {
    let width = pool.width(term);
    let limit = (1u128 << width) - 1;
    let (a, b) = (rng.gen_range(0..=limit), rng.gen_range(0..=limit));
    let constant = pool.constant(width, a);
    match rng.gen_range(0..4) {
        0 => pool.eq(term, constant),
        1 => pool.ne(term, constant),
        2 => pool.ult(term, constant),
        _ => shapes::in_range(pool, term, a.min(b), a.max(b)),
    }
}

/// Eight bytes, three tests each.
fn single_bytes(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 8);
    let tests = bytes.iter().flat_map(|&byte| [0; 3].map(|_| some_test(pool, rng, byte))).collect();
    turned(pool, rng, tests)
}

fn letter_classes(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 8);
    let mut tests = Vec::new();
    for byte in bytes {
        for _ in 0..2 {
            let flags = rng.gen_range(1..32);
            tests.push(shapes::letter_class(pool, byte, flags));
        }
        tests.push(some_test(pool, rng, byte));
    }
    turned(pool, rng, tests)
}

/// Two fields of 16 and 32 bits: a range each, a test of a single byte of each, and one between.
fn fields(
    pool: &mut Pool,
    rng: &mut ChaCha8Rng,
    load: fn(&mut Pool, &[Term]) -> Term,
) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 6);
    let (short, long) = (load(pool, &bytes[..2]), load(pool, &bytes[2..]));
    let mut tests = vec![some_test(pool, rng, short), some_test(pool, rng, long)];
    tests.extend([bytes[0], bytes[3]].map(|byte| some_test(pool, rng, byte)));
    let wide = pool.zero_extend(32, short);
    tests.push(pool.ult(wide, long));
    turned(pool, rng, tests)
}

/// `off <= size`, `len <= size - off`, and a flipped or tightened bound.
fn offsets(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 8);
    let (off, len) =
        (shapes::little_endian(pool, &bytes[..4]), shapes::little_endian(pool, &bytes[4..]));
    let size = pool.constant(32, rng.gen_range(1000..100_000));
    let rest = pool.sub(size, off);
    let mut tests = vec![pool.ule(off, size), pool.ule(len, rest)];
    let end = pool.add(off, len);
    let bound = rng.gen_range(0..200_000);
    tests.push(shapes::in_range(pool, end, bound, bound + 1000));
    if rng.gen_bool(0.3) {
        tests.push(pool.ult(size, end));
    }
    tests
}

fn decimals(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 5);
    let mut tests = shapes::digits(pool, &bytes);
    let value = shapes::decimal(pool, &bytes);
    let bound = rng.gen_range(0..120_000);
    let constant = pool.constant(32, bound);
    tests.push(match rng.gen_range(0..3) {
        0 => pool.eq(value, constant),
        1 => pool.ult(constant, value),
        _ => shapes::in_range(pool, value, bound, bound + 50),
    });
    tests
}

fn utf8(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let length = rng.gen_range(2..=4);
    let bytes = shapes::input(pool, 0, length);
    let (mut tests, point) = shapes::utf8(pool, &bytes);
    let limit = [0x900, 0x1_1000, 0x12_0000][length as usize - 2];
    let from = rng.gen_range(0x80..limit);
    tests.push(shapes::in_range(pool, point, from, from + 256));
    tests
}

fn base64(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 8);
    let mut tests = Vec::new();
    for four in bytes.chunks(4) {
        let (valid, value) = shapes::base64_value(pool, four);
        tests.extend(valid);
        let low = pool.extract(23, 0, value);
        let wanted = pool.constant(24, rng.gen_range(0..1 << 24));
        tests.push(if rng.gen_bool(0.5) { pool.eq(low, wanted) } else { pool.ult(wanted, low) });
    }
    tests
}

fn luhn(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 16);
    let mut tests = shapes::digits(pool, &bytes);
    tests.push(shapes::luhn(pool, &bytes));
    let issuer = shapes::decimal(pool, &bytes[..4]);
    let from = rng.gen_range(0..11_000);
    tests.push(shapes::in_range(pool, issuer, from, from + 100));
    tests
}

fn sums(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 16);
    let total = shapes::sum(pool, &bytes, 16);
    let wanted = pool.constant(16, rng.gen_range(0..2600));
    let mut tests = vec![pool.eq(total, wanted)];
    tests.extend(bytes.iter().map(|&byte| shapes::in_range(pool, byte, 0x20, 0x7f)));
    tests
}

fn message_length(rng: &mut ChaCha8Rng) -> u32 {
    *[4, 8, 16, 32, 64].choose(rng).expect("not empty")
}

fn crc32(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let length = message_length(rng);
    let bytes = shapes::input(pool, 0, length);
    let crc = shapes::crc32_table(pool, &bytes);
    let wanted = pool.constant(32, u128::from(rng.r#gen::<u32>()));
    vec![pool.eq(crc, wanted)]
}

fn adler32(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let length = message_length(rng);
    let bytes = shapes::input(pool, 0, length);
    let sum = shapes::adler32(pool, &bytes);
    // The checksum of some message, so that there is a solution; or an impossible one.
    let message: Vec<u8> = (0..length).map(|_| rng.r#gen()).collect();
    let (mut low, mut high) = (1u32, 0u32);
    for byte in message {
        low = (low + u32::from(byte)) % 65521;
        high = (high + low) % 65521;
    }
    let value = if rng.gen_bool(0.8) { high << 16 | low } else { rng.r#gen() };
    let wanted = pool.constant(32, u128::from(value));
    vec![pool.eq(sum, wanted)]
}

fn products(pool: &mut Pool, rng: &mut ChaCha8Rng) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 8);
    let [width, height] = [&bytes[..4], &bytes[4..]].map(|field| shapes::big_endian(pool, field));
    let mut tests =
        vec![shapes::in_range(pool, width, 1, 1 << 20), shapes::in_range(pool, height, 1, 1 << 20)];
    let [wide, high] = [width, height].map(|field| pool.zero_extend(64, field));
    let pixels = pool.mul(wide, high);
    let limit = pool.constant(64, rng.gen_range(1 << 20..1u128 << 41));
    tests.push(pool.ult(limit, pixels));
    let size = pool.mul(width, height);
    let small = pool.constant(32, rng.gen_range(1 << 8..1 << 24));
    tests.push(pool.ult(size, small));
    tests
}

/// A run's path condition of 500 tests over 256 bytes, and each of its tests turned round in turn
/// with the tests before it kept.
fn prefix() -> Class {
    let mut rng = ChaCha8Rng::seed_from_u64(500);
    let mut pool = Pool::new();
    let bytes = shapes::input(&mut pool, 0, 256);
    let run: Vec<u8> = (0..256).map(|_| rng.r#gen()).collect();
    let run = Assignment::from_bytes(run);
    let mut evaluator = Evaluator::new();
    let mut tests = Vec::new();
    while tests.len() < 500 {
        let at = rng.gen_range(0..252usize);
        let test = match rng.gen_range(0..10) {
            0..=5 => some_test(&mut pool, &mut rng, bytes[at]),
            6 => shapes::letter_class(&mut pool, bytes[at], rng.gen_range(1..32)),
            7 => {
                let field = shapes::big_endian(&mut pool, &bytes[at..at + 2]);
                some_test(&mut pool, &mut rng, field)
            }
            8 => {
                let field = shapes::little_endian(&mut pool, &bytes[at..at + 4]);
                some_test(&mut pool, &mut rng, field)
            }
            _ => pool.eq(bytes[at], bytes[at + 1]),
        };
        if pool.as_const(test).is_none() {
            let holds = evaluator.holds(&pool, test, &run);
            tests.push(if holds { test } else { pool.not(test) });
        }
    }
    let both: Vec<Term> = tests.iter().flat_map(|&test| [pool.not(test), test]).collect();
    let text = print_script(&pool, &both, false);
    let mut script = String::new();
    let mut asserted = 0;
    for line in text.lines() {
        let is_turned = line.starts_with("(assert ") && asserted % 2 == 0;
        asserted += usize::from(line.starts_with("(assert "));
        script.push_str(&if is_turned {
            format!("(push 1)\n{line}\n(check-sat)\n(pop 1)\n")
        } else {
            format!("{line}\n")
        });
    }
    Class { script, separate: Vec::new() }
}
