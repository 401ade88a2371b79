//! How long counting takes, shape by shape, and how long a search waits for a running total.
//!
//! Prints two Markdown tables. Every shape is counted from nothing: a new pool, a new memo.

use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_leakage::{Accounts, Ledger};
use stunt_shapes::{self as shapes, conditions, field};
use stunt_terms::{InputByte, Pool, Term};

type Build = fn(&mut Pool) -> Vec<Term>;

const SHAPES: &[(&str, Build)] = &[
    ("`GET ` and 21 bytes that end no word", conditions::request_line),
    ("32-bit field in [100, 4096)", conditions::field_in_range),
    ("five digits, value over 255", conditions::five_digits),
    ("sixteen digits that pass Luhn", |p| conditions::card_number(p, 16)),
    ("CRC-32 of 8 bytes, by table", |p| checksum(p, 8, shapes::crc32_table)),
    ("CRC-32 of 8 bytes, bit by bit", |p| checksum(p, 8, shapes::crc32_bitwise)),
    ("CRC-32 of 64 bytes, by table", |p| checksum(p, 64, shapes::crc32_table)),
    ("offset and length within 10000", conditions::offset_and_length),
    ("sum of 64 bytes modulo 256", |p| checksum(p, 64, |p, b| shapes::sum(p, b, 8))),
    ("sixteen pairs of equal bytes", conditions::equal_pairs),
    ("sum of 32 bytes as six octal digits", conditions::octal_sum),
    ("internet checksum of 20 bytes", |p| checksum(p, 20, shapes::internet_checksum)),
    ("Adler-32 of 6 bytes", |p| conditions::checksum_is(p, 6, shapes::adler32, 0x0812_024d)),
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
    let is_paired = |byte: u32| {
        let component = base.condition().component_of(InputByte::new(0, byte));
        component.is_some_and(|component| component.single().is_none())
    };
    let (paired, alone): (Vec<u32>, Vec<u32>) = (0..8191).partition(|&byte| is_paired(byte));
    let mut unary = |among: &[u32], count: usize| -> Vec<Term> {
        let mut literal = |_| {
            let at = among[rng.gen_range(0..among.len())] as usize;
            let bound = pool.constant(8, rng.gen_range(64..128));
            pool.ult(bytes[at], bound)
        };
        (0..count).map(&mut literal).collect()
    };
    let mut kinds = vec![
        ("a byte by itself", unary(&alone, 20_000)),
        ("a byte that is tied to another", unary(&paired, 500)),
    ];
    let pairs = alone.iter().take(500).map(|&at| {
        let (a, b) = (bytes[at as usize], bytes[at as usize + 1]);
        pool.eq(a, b)
    });
    kinds.push(("two bytes", pairs.collect()));
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

fn checksum(pool: &mut Pool, length: u32, of: fn(&mut Pool, &[Term]) -> Term) -> Vec<Term> {
    conditions::checksum_is(pool, length, of, 0x1234_5678)
}

fn product(pool: &mut Pool, width: u32, limit: u128) -> Vec<Term> {
    let factors =
        [field(pool, 0, width), field(pool, width, width)].map(|f| pool.zero_extend(64, f));
    let (size, limit) = (pool.mul(factors[0], factors[1]), pool.constant(64, limit));
    vec![pool.ugt(size, limit)]
}
