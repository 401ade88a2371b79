//! The running total against a count from scratch, and what it costs.

mod common;

use std::time::Instant;

use common::random_terms;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_leakage::summary::{Limits, bound};
use stunt_leakage::{Accounts, Bits, Fraction, LeakGraph, Ledger};
use stunt_models::Budget;
use stunt_shapes::random::narrow;
use stunt_shapes::{Random, conditions, fnv1a, input, places};
use stunt_terms::{Pool, Term};

/// Literals over a few of many bytes, so that components form, grow and join.
fn random_literals(rng: &mut ChaCha8Rng, pool: &mut Pool, count: usize) -> Vec<Term> {
    let all = places(8);
    let mut literals = Vec::new();
    for _ in 0..count {
        let bytes = all.choose_multiple(rng, 2).copied().collect();
        let terms = Random { bytes, ..random_terms(0) };
        if rng.gen_bool(0.6) {
            let size = rng.gen_range(100..=255);
            literals.push(narrow(pool, rng, terms.bytes[0], size));
        } else {
            literals.push(terms.truth(pool, rng, 2));
        }
    }
    literals
}

/// The sum over components, from scratch.
fn from_scratch(pool: &Pool, accounts: &mut Accounts, literals: &[Term]) -> Bits {
    let mut ledger = Ledger::new();
    for &literal in literals {
        ledger.push(pool, accounts, literal);
    }
    if ledger.condition().is_contradiction() {
        return Bits::Exact(f64::INFINITY);
    }
    let components: Vec<_> = ledger.condition().components().cloned().collect();
    components.iter().map(|component| accounts.figure(pool, component).bits).sum()
}

fn assert_same(a: Bits, b: Bits, what: &str) {
    assert_eq!(a.kind(), b.kind(), "{what}");
    assert!(a.value() == b.value() || (a.value() - b.value()).abs() < 1e-9, "{what}: {a}, {b}");
}

#[test]
fn the_running_total_is_the_total() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut finite, mut joined) = (0, 0);
    for round in 0..60 {
        let mut pool = Pool::new();
        let mut accounts = Accounts::new(Budget::quick());
        let mut fresh = Accounts::new(Budget::quick());
        let literals = random_literals(&mut rng, &mut pool, 12);
        let mut ledger = Ledger::new();
        let mut kept: Vec<Term> = Vec::new();
        for (step, &literal) in literals.iter().enumerate() {
            // A search tries a literal on a copy, and goes back if it leaves nothing.
            let mut tried = ledger.clone();
            if step % 3 == 0 {
                tried.push(&pool, &mut accounts, literal);
            } else {
                let total = tried.add(&pool, &mut accounts, literal);
                if total == Bits::Exact(f64::INFINITY) {
                    continue;
                }
            }
            ledger = tried;
            kept.push(literal);
            let total = ledger.clone().total(&pool, &mut accounts);
            let expected = from_scratch(&pool, &mut fresh, &kept);
            assert_same(total, expected, &format!("round {round}, step {step}"));
            finite += u32::from(total.value().is_finite());
            joined += u32::from(ledger.condition().components().any(|c| c.len() > 2));
        }
        let total = ledger.total(&pool, &mut accounts);
        let fraction = ledger.fraction(&pool, &mut accounts);
        assert_same(total, fraction.bits(), &format!("round {round}: fraction"));
    }
    assert!(finite > 200 && joined > 50, "{finite} totals, {joined} with large components");
}

/// What no stage can count gets a bound, for the total and for each byte.
#[test]
fn what_cannot_be_counted_is_bounded() {
    let none =
        Budget { nodes: 0, node_work: 0, states: 0, transitions: 0, cases: 0, ..Budget::quick() };
    let mut pool = Pool::new();
    // FNV-1a over 24 bytes with a given value: nothing counts that.
    let literal = conditions::checksum_is(&mut pool, 24, |p, b| fnv1a(p, b, 64), 1)[0];
    let (letter, a) = (pool.input(0, 30), pool.constant(8, 0x61));
    let is_a = pool.eq(letter, a);

    let mut accounts = Accounts::new(none);
    let mut ledger = Ledger::new();
    let total = ledger.add(&pool, &mut accounts, literal);
    let Bits::AtMost(hashed) = total else { panic!("{total}") };
    assert!((64.0 - 1e-9..=192.0).contains(&hashed), "{total}");
    let total = ledger.add(&pool, &mut accounts, is_a);
    assert!(matches!(total, Bits::AtMost(bits) if (bits - hashed - 8.0).abs() < 1e-9), "{total}");
    assert!(matches!(ledger.fraction(&pool, &mut accounts), Fraction::AtLeast { .. }));
    let graph = LeakGraph::of(&ledger, &pool, &mut accounts, places(32));
    assert_eq!(graph.to_text(32), format!(" 0  {}......#.\n", "h".repeat(24)));
}

/// An equation over many bytes and a range over a few of them: holding the few leaves the equation
/// as it is. The rule of the paper alone would give up all bytes.
#[test]
fn holding_bytes_helps() {
    let mut pool = Pool::new();
    let mut sum = pool.constant(32, 0);
    for (offset, byte) in (0..).zip(input(&mut pool, 0, 32)) {
        let wide = pool.zero_extend(32, byte);
        let shift = pool.constant(32, offset % 4 * 8);
        let placed = pool.shl(wide, shift);
        sum = pool.add(sum, placed);
    }
    let want = pool.constant(32, 0xdead_beef);
    let equation = pool.eq(sum, want);
    let (x, y) = (pool.input(0, 0), pool.input(0, 1));
    let order = pool.ult(x, y);
    let literals = [equation, order];
    let bytes = places(32);
    let domains = vec![stunt_models::ByteSet::ALL; 32];
    let problem = stunt_models::Problem {
        pool: &pool,
        bytes: &bytes,
        domains: &domains,
        literals: &literals,
    };
    let plain = bound(&problem, &Limits { summaries: 0, rounds: 0 });
    let better = bound(&problem, &Limits::default());
    assert!(plain > 200.0, "{plain}");
    assert!((33.0..60.0).contains(&better), "{better}");
}

/// One more test on one byte of a long condition must not cost more because the condition is long.
/// The times are for the reader; only the totals are checked.
#[test]
fn a_long_condition_is_cheap_to_extend() {
    let mut pool = Pool::new();
    let mut accounts = Accounts::default();
    let mut ledger = Ledger::new();
    let mut literals = Vec::new();
    for offset in 0..10_000 {
        let (byte, limit) = (pool.input(0, offset), pool.constant(8, 128));
        literals.push(pool.ult(byte, limit));
    }
    for &literal in &literals {
        ledger.push(&pool, &mut accounts, literal);
    }
    assert_eq!(ledger.total(&pool, &mut accounts), Bits::Exact(10_000.0));
    let more: Vec<Term> = (0..10_000)
        .map(|offset| {
            let (byte, limit) = (pool.input(0, offset), pool.constant(8, 64));
            pool.ult(byte, limit)
        })
        .collect();
    for &literal in &more {
        accounts.masks.mask_of(&pool, literal);
    }
    let start = Instant::now();
    let mut last = Bits::ZERO;
    for &literal in &more {
        last = ledger.clone().add(&pool, &mut accounts, literal);
    }
    let each = start.elapsed() / 10_000;
    assert_eq!(last, Bits::Exact(10_001.0));
    println!("clone and add on a condition of 10,000 literals: {each:?}");
}
