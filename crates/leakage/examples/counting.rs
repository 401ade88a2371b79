//! How long counting takes, shape by shape, and how long a search waits for a running total.
//!
//! Prints two Markdown tables. Every shape is counted from nothing: a new pool, a new memo.

use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_leakage::{Accounts, Ledger};
use stunt_shapes as shapes;
use stunt_terms::{Pool, Term};

type Build = fn(&mut Pool) -> Vec<Term>;

const SHAPES: &[(&str, Build)] = &[
    ("`GET ` and 21 bytes that end no word", request_line),
    ("32-bit field in [100, 4096)", |p| {
        let field = field(p, 0, 4);
        vec![shapes::in_range(p, field, 100, 4096)]
    }),
    ("five digits, value over 255", |p| {
        let bytes = shapes::input(p, 0, 5);
        let mut tests = shapes::digits(p, &bytes);
        let (value, bound) = (shapes::decimal(p, &bytes), p.constant(32, 255));
        tests.push(p.ugt(value, bound));
        tests
    }),
    ("sixteen digits that pass Luhn", |p| {
        let bytes = shapes::input(p, 0, 16);
        let mut tests = shapes::digits(p, &bytes);
        tests.push(shapes::luhn(p, &bytes));
        tests
    }),
    ("CRC-32 of 8 bytes, by table", |p| checksum(p, 8, shapes::crc32_table)),
    ("CRC-32 of 8 bytes, bit by bit", |p| checksum(p, 8, shapes::crc32_bitwise)),
    ("CRC-32 of 64 bytes, by table", |p| checksum(p, 64, shapes::crc32_table)),
    ("offset and length within 10000", |p| {
        let (off, len) = (field(p, 0, 4), field(p, 4, 4));
        let size = p.constant(32, 10_000);
        let rest = p.sub(size, off);
        vec![p.ule(off, size), p.ule(len, rest)]
    }),
    ("sum of 64 bytes modulo 256", |p| checksum(p, 64, |p, b| shapes::sum(p, b, 8))),
    ("sixteen pairs of equal bytes", |p| {
        let bytes = shapes::input(p, 0, 32);
        bytes.chunks(2).map(|pair| p.eq(pair[0], pair[1])).collect()
    }),
    ("sum of 32 bytes as six octal digits", octal_sum),
    ("internet checksum of 20 bytes", |p| checksum(p, 20, shapes::internet_checksum)),
    ("Adler-32 of 6 bytes", |p| {
        let bytes = shapes::input(p, 0, 6);
        let (sum, wanted) = (shapes::adler32(p, &bytes), p.constant(32, 0x0812_024d));
        vec![p.eq(sum, wanted)]
    }),
    ("four base64 characters, value below 1000000", |p| {
        let bytes = shapes::input(p, 0, 4);
        let (mut tests, value) = shapes::base64_value(p, &bytes);
        let bound = p.constant(32, 1_000_000);
        tests.push(p.ult(value, bound));
        tests
    }),
    ("a UTF-8 sequence of 4 bytes", |p| {
        let bytes = shapes::input(p, 0, 4);
        shapes::utf8(p, &bytes).0
    }),
    ("16-bit fields, product over 0xfffff", |p| product(p, 2, 0xf_ffff)),
    ("32-bit fields, product over 0xffffffff", |p| product(p, 4, 0xffff_ffff)),
];

fn main() {
    println!("| condition | bytes | bits | | time | by |");
    println!("|---|---:|---:|---|---:|---|");
    for (name, build) in SHAPES {
        let mut pool = Pool::new();
        let literals = build(&mut pool);
        let start = Instant::now();
        let mut accounts = Accounts::default();
        let mut ledger = Ledger::new();
        for &literal in &literals {
            ledger.push(&pool, &mut accounts, literal);
        }
        let bits = ledger.total(&pool, &mut accounts);
        let time = start.elapsed();
        let mut stages: Vec<&str> = Vec::new();
        let mut bytes = 0;
        let components: Vec<_> = ledger.condition().components().cloned().collect();
        for component in components {
            bytes += component.len();
            stages.push(accounts.space(&pool, &component).map_or("summary", |space| space.stage()));
        }
        stages.sort_unstable();
        stages.dedup();
        println!(
            "| {name} | {bytes} | {:.2} | {} | {} | {} |",
            bits.upper(),
            bits.kind(),
            milliseconds(time),
            stages.join(", ")
        );
    }
    println!();
    running_totals();
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

/// Literals added to a condition of 10,000 literals over 8,192 bytes, the total asked each time.
fn running_totals() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut pool = Pool::new();
    let bytes = shapes::input(&mut pool, 0, 8192);
    let mut accounts = Accounts::default();
    let mut base = Ledger::new();
    while base.condition().len() < 10_000 {
        let at = rng.gen_range(0..bytes.len() - 1);
        // The run's input is all zeros here; each test holds for it.
        let bound = pool.constant(8, rng.gen_range(128..256));
        let literal = match rng.gen_range(0..20) {
            0 => pool.ule(bytes[at], bytes[at + 1]),
            _ => pool.ult(bytes[at], bound),
        };
        base.push(&pool, &mut accounts, literal);
    }
    base.total(&pool, &mut accounts);
    let mut kinds: Vec<(&str, Vec<Term>)> =
        vec![("one byte", Vec::new()), ("two bytes", Vec::new())];
    for _ in 0..20_000 {
        let at = rng.gen_range(0..bytes.len() - 1);
        let bound = pool.constant(8, rng.gen_range(64..128));
        kinds[0].1.push(pool.ult(bytes[at], bound));
    }
    for _ in 0..500 {
        let at = rng.gen_range(0..bytes.len() - 1);
        kinds[1].1.push(pool.eq(bytes[at], bytes[at + 1]));
    }
    println!("| literal over | added to 10,000 literals, total each time: microseconds |");
    println!("|---|---:|");
    for (name, literals) in &kinds {
        let start = Instant::now();
        for &literal in literals {
            let mut node = base.clone();
            std::hint::black_box(node.add(&pool, &mut accounts, literal));
        }
        let each = start.elapsed().as_secs_f64() * 1e6 / literals.len() as f64;
        println!("| {name} | {each:.2} |");
    }
}

fn field(pool: &mut Pool, from: u32, length: u32) -> Term {
    let bytes = shapes::input(pool, from, from + length);
    shapes::little_endian(pool, &bytes)
}

fn request_line(pool: &mut Pool) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, 25);
    let mut tests = shapes::equals(pool, &bytes[..4], b"GET ");
    for &byte in &bytes[4..] {
        for end in *b" \n" {
            let end = pool.constant(8, u128::from(end));
            tests.push(pool.ne(byte, end));
        }
    }
    tests
}

fn checksum(pool: &mut Pool, length: u32, of: fn(&mut Pool, &[Term]) -> Term) -> Vec<Term> {
    let bytes = shapes::input(pool, 0, length);
    let sum = of(pool, &bytes);
    let wanted = pool.constant(pool.width(sum), 0x1234_5678);
    vec![pool.eq(sum, wanted)]
}

fn octal_sum(pool: &mut Pool) -> Vec<Term> {
    let (bytes, digits) = (shapes::input(pool, 0, 32), shapes::input(pool, 32, 38));
    let mut tests: Vec<Term> =
        digits.iter().map(|&d| shapes::in_range(pool, d, 0x30, 0x38)).collect();
    let total = shapes::sum(pool, &bytes, 32);
    let mut value = pool.constant(32, 0);
    for &digit in &digits {
        let (three, low) = (pool.constant(32, 3), pool.extract(2, 0, digit));
        let (low, shifted) = (pool.zero_extend(32, low), pool.shl(value, three));
        value = pool.or(shifted, low);
    }
    tests.push(pool.eq(total, value));
    tests
}

fn product(pool: &mut Pool, width: u32, limit: u128) -> Vec<Term> {
    let factors =
        [field(pool, 0, width), field(pool, width, width)].map(|f| pool.zero_extend(64, f));
    let (size, limit) = (pool.mul(factors[0], factors[1]), pool.constant(64, limit));
    vec![pool.ugt(size, limit)]
}
