//! Weakening on programs written as functions: what is dropped, what stays, and that the figure is
//! what can be counted by hand.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_belief::{List, Public};
use stunt_path::{Original, Test, TestKind};
use stunt_reduce::Rendering;
use stunt_search::weaken::{
    DrawnFrom, Lengths, Limits, Readable, Weakened, blackbox, blackbox_leaves,
    unpacked as unpacked_of, weaken_leaves,
};
use stunt_search::{PathCondition, weaken};
use stunt_terms::{InputByte, Pool, Term};

static NEVER: AtomicBool = AtomicBool::new(false);

fn limits() -> Limits<'static> {
    Limits {
        time: Duration::from_secs(600),
        runs: 100_000,
        cancel: &NEVER,
        worth: f64::INFINITY,
        lengths: Lengths::default(),
        without: &[],
        readable: Readable::Text,
        price: &priced,
    }
}

/// To somebody who has a program with one word.
fn priced(from: &DrawnFrom) -> Option<f64> {
    let words = List::new("the program", [b"configuration=".to_vec()]);
    let public = Public { lists: vec![words], ..Public::default() };
    stunt_belief::describe(&from.set, &public).map(|it| it.cost.bits())
}

fn original(bytes: &[u8]) -> Original {
    let mut original = Original::new();
    original.push(bytes.to_vec(), Vec::new());
    original
}

fn byte(pool: &mut Pool, offset: u32) -> Term {
    pool.byte(InputByte::new(0, offset))
}

fn is(pool: &mut Pool, offset: u32, value: u8) -> Term {
    let variable = byte(pool, offset);
    let value = pool.constant(8, u128::from(value));
    pool.eq(variable, value)
}

fn test((condition, address): (Term, u64)) -> Test {
    Test { condition, address, kind: TestKind::Branch }
}

fn weakened(
    pool: &mut Pool,
    conditions: &[(Term, u64)],
    bytes: &[u8],
    fails: impl FnMut(&[Vec<u8>]) -> bool,
) -> Weakened {
    let tests: Vec<Test> = conditions.iter().copied().map(test).collect();
    let mut fails = fails;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (original, mut silent) = (original(bytes), |_| {});
    let found = weaken(pool, &tests, &original, &mut fails, limits(), &mut rng, &mut silent)
        .expect("a function can always be called")
        .expect("the original fails");
    assert!(found.drawn.set.contains(&found.double.bytes), "it is drawn from what is said");
    found
}

#[test]
fn tests_that_the_failure_does_not_need_are_dropped() {
    // The program looked at all bytes on its way, but fails whenever the second is an X.
    let bytes = b"aXbcdefghijklmnopqrstuvwxyz01234";
    let mut pool = Pool::new();
    let conditions: Vec<(Term, u64)> =
        bytes.iter().zip(0..).map(|(&value, at)| (is(&mut pool, at, value), 100)).collect();
    let found = weakened(&mut pool, &conditions, bytes, |input| input[0][1] == b'X');
    assert_eq!(found.kept.0, 1);
    assert_eq!(found.condition.value(), 8.0);
    assert_eq!(found.share.hits, found.share.runs);
    // All runs failed; the bound allows for the runs that were not made.
    assert!(found.measured.total.upper() < 8.035, "{}", found.measured.total);
    assert_eq!(found.double.bytes[0][1], b'X');
}

#[test]
fn a_search_that_is_told_to_stop_has_a_double() {
    let bytes = b"aXbcdefghijklmnopqrstuvwxyz01234";
    let mut pool = Pool::new();
    let tests: Vec<Test> = bytes
        .iter()
        .zip(0..)
        .map(|(&value, at)| test((is(&mut pool, at, value), u64::from(at))))
        .collect();
    let mut all = Vec::new();
    // From the first run on, in the middle, and never.
    for after in [0, 40, usize::MAX] {
        let (enough, mut runs) = (AtomicBool::new(false), 0);
        let limits = Limits { cancel: &enough, ..limits() };
        let mut fails = |input: &[Vec<u8>]| {
            runs += 1;
            enough.store(runs > after, Ordering::Relaxed);
            input[0][1] == b'X'
        };
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let found =
            weaken(&mut pool, &tests, &original(bytes), &mut fails, limits, &mut rng, &mut |_| {});
        let found = found.expect("a function can always be called").expect("the original fails");
        assert_eq!(found.double.bytes[0][1], b'X', "after {after} runs");
        all.push((runs, found.measured.total.upper()));
    }
    let [first, middle, whole] = all[..] else { panic!("three searches") };
    assert!(first.0 <= middle.0 && middle.0 < whole.0, "runs: {all:?}");
    assert!(first.1 >= middle.1 && middle.1 >= whole.1, "bits: {all:?}");
}

#[test]
fn what_may_stand_anywhere_is_drawn_anywhere() {
    // Two bytes side by side, wherever; on the way the program looked at the first two.
    const LENGTH: usize = 24;
    let mut bytes = b",7".to_vec();
    bytes.resize(LENGTH, b'x');
    let mut pool = Pool::new();
    let conditions = [(is(&mut pool, 0, b','), 100), (is(&mut pool, 1, b'7'), 200)];
    let fails = |input: &[Vec<u8>]| input[0].windows(2).any(|pair| pair == b",7");
    let found = weakened(&mut pool, &conditions, &bytes, fails);
    assert!(found.gaps > 1 && found.double.bytes[0].len() == LENGTH);
    assert!(fails(&found.double.bytes));
    // Inputs without the pair: one of the length before and any byte, but for those that then end in it.
    let mut without = (1.0, 1.0);
    for _ in 1..LENGTH {
        without = (without.1, without.1 - without.0 / 65_536.0);
    }
    let least = -f64::log2(1.0 - without.1);
    let bits = found.measured.total;
    assert!(bits.value() > least - 0.01 && bits.upper() < least + 0.3, "{bits}, and {least}");
    // In words: a gap up to `,7`, and a gap; where the search saw that, it is the whole story.
    let told =
        stunt_belief::describe(&found.drawn.set, &Default::default()).expect("it has values");
    assert!(found.drawn.joined == 0.0 && told.cost.bits() < 60.0, "{}", told.cost.bits());
    // What is told of each byte has moved with it.
    let at = found.double.bytes[0].windows(2).position(|pair| pair == b",7").expect("it fails");
    let whole: Vec<usize> =
        (0..LENGTH).filter(|&at| found.measured.bytes[at].bits.value() > 7.9).collect();
    assert_eq!(whole, [at, at + 1]);
}

#[test]
fn what_begins_a_line_may_begin_a_later_one() {
    // A word at the start of a line, and its end: not wherever it is, but behind the end of any other line.
    const LENGTH: usize = 160;
    let mut bytes = b"go\n".to_vec();
    bytes.resize(LENGTH, b'x');
    let mut pool = Pool::new();
    let conditions: Vec<(Term, u64)> =
        (0..3).map(|at| (is(&mut pool, at, bytes[at as usize]), 100 + u64::from(at))).collect();
    let fails = |input: &[Vec<u8>]| {
        input[0].starts_with(b"go\n") || input[0].windows(4).any(|it| it == b"\ngo\n")
    };
    let found = weakened(&mut pool, &conditions, &bytes, fails);
    assert!(fails(&found.double.bytes));
    // At the start, or at one of the other places behind one more byte; hardly ever at two of them.
    let least = 24.0 - (1.0 + (LENGTH - 3) as f64 / 256.0).log2();
    let bits = found.measured.total;
    assert!(bits.value() > least - 0.01 && bits.value() < least + 0.1, "{bits}, and {least}");
}

#[test]
fn values_that_never_fail_are_left_out() {
    // Of ten digits that the path allows, four fail: the figure is the same, but every run is of use.
    let bytes = b"7,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    let mut pool = Pool::new();
    let (digit, low, high) = (byte(&mut pool, 0), pool.constant(8, 48), pool.constant(8, 57));
    let (above, below) = (pool.ule(low, digit), pool.ule(digit, high));
    let conditions = [(above, 100), (below, 101), (is(&mut pool, 1, b','), 200)];
    let fails = |input: &[Vec<u8>]| (b'6'..=b'9').contains(&input[0][0]) && input[0][1] == b',';
    let found = weakened(&mut pool, &conditions, bytes, fails);
    assert_eq!(found.share.hits, found.share.runs, "{:?}", found.share);
    assert!((found.measured.total.value() - 14.0).abs() < 1e-6, "{}", found.measured.total);
}

#[test]
fn what_chance_could_not_meet_is_kept() {
    // A checksum of sixteen bits over all others: random bytes never satisfy it.
    let mut bytes = b"some private text..".to_vec();
    let sum: u16 = bytes.iter().map(|&byte| u16::from(byte)).sum();
    bytes.extend(sum.to_be_bytes());
    let mut pool = Pool::new();
    let mut total = pool.constant(16, 0);
    for at in 0..19 {
        let one = byte(&mut pool, at);
        let wide = pool.zero_extend(16, one);
        total = pool.add(total, wide);
    }
    let (high, low) = (byte(&mut pool, 19), byte(&mut pool, 20));
    let stored = pool.concat(high, low);
    let mut conditions = vec![(pool.eq(total, stored), 1)];
    for at in 0..19 {
        conditions.push((is(&mut pool, at, bytes[at as usize]), 2));
    }
    let found = weakened(&mut pool, &conditions, &bytes, |input| {
        let (text, stored) = input[0].split_at(19);
        let sum: u16 = text.iter().map(|&byte| u16::from(byte)).sum();
        sum.to_be_bytes() == stored
    });
    assert_eq!(found.kept.0, 1, "the checksum alone");
    assert!((found.condition.value() - 16.0).abs() < 1e-6, "{}", found.condition);
}

#[test]
fn bytes_are_free_while_their_sum_stays_right() {
    // A sum over all others, and three questions about each byte, of which any two fix it: none of them is
    // worth dropping alone, and all that is asked of a byte includes the sum.
    const TEXT: usize = 12;
    let mut bytes = b"private text".to_vec();
    let sum: u16 = bytes.iter().map(|&byte| u16::from(byte)).sum();
    bytes.extend(sum.to_be_bytes());
    let mut pool = Pool::new();
    let mut total = pool.constant(16, 0);
    let mut conditions = Vec::new();
    for (at, &value) in (0..).zip(&bytes[..TEXT]) {
        let one = byte(&mut pool, at);
        let wide = pool.zero_extend(16, one);
        total = pool.add(total, wide);
        let constant = pool.constant(8, u128::from(value));
        conditions.push((pool.ule(one, constant), 100 + u64::from(at)));
        conditions.push((pool.ule(constant, one), 200 + u64::from(at)));
        conditions.push((pool.eq(constant, one), 300 + u64::from(at)));
    }
    let (high, low) = (byte(&mut pool, TEXT as u32), byte(&mut pool, TEXT as u32 + 1));
    let stored = pool.concat(high, low);
    conditions.push((pool.eq(total, stored), 1));
    let found = weakened(&mut pool, &conditions, &bytes, |input| {
        let (text, stored) = input[0].split_at(TEXT);
        let sum: u16 = text.iter().map(|&byte| u16::from(byte)).sum();
        sum.to_be_bytes() == stored && text.starts_with(b"pri")
    });
    assert!((found.condition.value() - 40.0).abs() < 1e-6, "{}", found.condition);
}

#[test]
fn what_is_asked_of_two_bytes_at_once_is_untied() {
    // The program multiplies them and compares; the failure needs only the first.
    let bytes = b"\x07\x0bxxxxxx";
    let mut pool = Pool::new();
    let (first, second) = (byte(&mut pool, 0), byte(&mut pool, 1));
    let word = pool.concat(first, second);
    let (three, product) = (pool.constant(16, 3), pool.constant(16, 3 * 0x070b));
    let tripled = pool.mul(word, three);
    let conditions = [(pool.eq(tripled, product), 1)];
    let found = weakened(&mut pool, &conditions, bytes, |input| input[0][0] == 7);
    assert!((found.condition.value() - 8.0).abs() < 1e-6, "{}", found.condition);
}

#[test]
fn what_gains_much_may_cost_some_of_the_runs() {
    // Ten bytes that may be anything, if another is not small: three in four runs are lost, eighty bits won.
    let bytes = b"\xfeabcdefghij";
    let mut pool = Pool::new();
    let mut conditions = Vec::new();
    for (at, &value) in (0..).zip(bytes) {
        conditions.push((is(&mut pool, at, value), 1));
    }
    let fails = |input: &[Vec<u8>]| input[0][0] >= 0xc0;
    let found = weakened(&mut pool, &conditions, bytes, fails);
    let bits = found.measured.total.value();
    assert!((1.5..3.0).contains(&bits), "{}", found.measured.total);
}

#[test]
fn a_drop_that_costs_more_than_it_gains_is_not_made() {
    // Three bytes that must be below 128: each test reveals one bit, and dropping it loses half of
    // the runs.
    let bytes = b"abcdef";
    let mut pool = Pool::new();
    let mut conditions = Vec::new();
    for at in 0..3 {
        let (variable, limit) = (byte(&mut pool, at), pool.constant(8, 128));
        conditions.push((pool.ult(variable, limit), u64::from(at)));
    }
    let found =
        weakened(&mut pool, &conditions, bytes, |input| input[0][..3].iter().all(u8::is_ascii));
    let bits = found.measured.total.value();
    assert!((2.8..3.3).contains(&bits), "{}", found.measured.total);
}

#[test]
fn fixed_bytes_get_the_values_that_fail() {
    let bytes = b"v7";
    let mut pool = Pool::new();
    let conditions = [(is(&mut pool, 0, b'v'), 1), (is(&mut pool, 1, b'7'), 2)];
    let found = weakened(&mut pool, &conditions, bytes, |input| {
        input[0][0] == b'v' && matches!(input[0][1], b'3' | b'7' | 0x80..=0x8f)
    });
    // The second byte has 18 values.
    let bits = 8.0 + 8.0 - 18f64.log2();
    assert!((found.measured.total.value() - bits).abs() < 0.3, "{}", found.measured.total);
}

#[test]
fn the_result_is_not_worse_than_the_path_and_the_same_for_a_seed() {
    let bytes = b"GET /index.html HTTP/1.1";
    let fails = |input: &[Vec<u8>]| {
        let method: &[u8] = &input[0][..3];
        (method == b"GET" || method == b"PUT") && !input[0][4..].contains(&b'\n')
    };
    let once = || {
        let mut pool = Pool::new();
        let mut conditions = Vec::new();
        for at in 0..3 {
            conditions.push((is(&mut pool, at, bytes[at as usize]), u64::from(at)));
        }
        for at in 4..bytes.len() as u32 {
            let newline = is(&mut pool, at, b'\n');
            conditions.push((pool.not(newline), 50));
            conditions.push((is(&mut pool, at, bytes[at as usize]), 60));
        }
        let found = weakened(&mut pool, &conditions, bytes, fails);
        let tests: Vec<Test> = conditions.iter().copied().map(test).collect();
        let path = PathCondition::new(&mut pool, &tests, &original(bytes)).total();
        (found.measured.total, found.double.bytes, path)
    };
    let (bits, double, path) = once();
    assert!(bits.upper() < path.upper() / 4.0, "{bits} against {path}");
    assert!(fails(&double));
    assert_eq!(once().1, double);
}

#[test]
fn without_a_path_runs_alone_find_what_is_needed() {
    let bytes = b"Subject: quarterly figures\nX-Size: 88\n";
    let at = 35;
    let mut fails =
        |input: &[Vec<u8>]| input[0][27..35].eq(b"X-Size: ") && input[0][at].is_ascii_digit();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let found = blackbox(&original(bytes), &mut fails, limits(), &mut rng, &mut |_| {})
        .expect("a function can always be called")
        .expect("the original fails");
    let bits = 64.0 + 8.0 - 10f64.log2();
    assert!((found.measured.total.value() - bits).abs() < 0.5, "{}", found.measured.total);
    assert!(fails(&found.double.bytes));
}

/// The checksum of gzip.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |state, &byte| {
        (0..8).fold(state ^ u32::from(byte), |state, _| {
            if state & 1 == 1 { 0xedb8_8320 ^ state >> 1 } else { state >> 1 }
        })
    })
}

/// A file of gzip that holds some bytes as they are, and the bytes that a reader gets who checks everything but the
/// time, which is a leaf as well.
fn gzip(text: &[u8]) -> Vec<u8> {
    let length = text.len() as u16;
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    file.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
    file.extend(text);
    file.extend([crc32(text).to_le_bytes(), u32::from(length).to_le_bytes()].concat());
    file
}

const TIME: std::ops::Range<usize> = 4..8;

fn unpacked(file: &[u8]) -> Option<&[u8]> {
    let text = file.get(15..file.len().checked_sub(8)?)?;
    let mut right = gzip(text);
    right[TIME].copy_from_slice(&file[TIME]);
    (file == right).then_some(text)
}

#[test]
fn leaves_are_weakened_and_what_is_around_them_is_charged() {
    let text = b"a text with an X in it, and more";
    let file = gzip(text);
    let rendering = Rendering::of(std::slice::from_ref(&file), &[true]).expect("it is a document");
    let original = original(&file);
    let around = 8.0 * (file.len() - text.len() - TIME.len()) as f64;
    let mut fails = |input: &[Vec<u8>]| unpacked(&input[0]).is_some_and(|text| text[15] == b'X');
    assert!(fails(std::slice::from_ref(&file)));
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    // Without a path; a checksum never fits by chance, so no byte could be another one in the file itself.
    let found = blackbox_leaves(&original, &rendering, &mut fails, limits(), &mut rng, &mut |_| {});
    let alone = found.expect("a function can always be called").expect("the original fails");
    // With one that asks for each byte of the text, for the header, and for the checksum of both.
    let mut pool = Pool::new();
    let mut conditions: Vec<(Term, u64)> = (0..file.len() as u32)
        .map(|at| (is(&mut pool, at, file[at as usize]), u64::from(at)))
        .collect();
    let (first, sum) = (byte(&mut pool, 15), byte(&mut pool, 50));
    let (both, known) = (pool.xor(first, sum), pool.constant(8, u128::from(file[15] ^ file[50])));
    conditions.push((pool.eq(both, known), 900));
    let tests: Vec<Test> = conditions.into_iter().map(test).collect();
    let found = weaken_leaves(
        &mut pool,
        &tests,
        &original,
        &rendering,
        &mut fails,
        limits(),
        &mut rng,
        &mut |_| {},
    );
    let followed = found.expect("a function can always be called").expect("the original fails");
    assert_eq!(followed.kept, (1, text.len() + TIME.len()));
    for found in [alone, followed] {
        // One byte of the text, and all that is not text.
        assert_eq!(found.condition.value(), around + 8.0);
        let bits = found.measured.total;
        assert!(bits.upper() < around + 8.035, "{bits}");
        let double = &found.double.bytes[0];
        assert_eq!(unpacked(double).map(|text| text[15]), Some(b'X'));
        assert_ne!(double, &file);
        let told = |at: usize| found.measured.bytes[at].bits.value();
        assert_eq!(found.measured.bytes.len(), file.len());
        let is_told = |at: usize| (at <= 14 && !TIME.contains(&at)) || at == 30 || at >= 47;
        assert!((0..file.len()).all(|at| (told(at) > 7.9) == is_told(at)));
        // In words: the header, the time, free text, an X, free text; of the checksum nothing, since it follows.
        let doubles = &found.double.bytes;
        let rendering = Rendering::of(doubles, &[true]).expect("it is a document");
        let apart = found.drawn.apart.expect("it is described as a document");
        let read = unpacked_of(&rendering, &apart);
        assert!(found.drawn.set.contains(&read));
        assert!(!found.drawn.set.contains(&[vec![0; read[0].len()]]));
        let described = stunt_belief::describe(&found.drawn.set, &Default::default());
        let bits = described.expect("every byte has values").cost.bits();
        assert!(bits < around + 32.0, "{bits} and {around}");
    }
}

#[test]
fn what_a_person_can_read_is_drawn_where_it_fails_as_often() {
    // A number behind a word, in text or anywhere.
    let bytes = b"....configuration=5;..............";
    let fails =
        |input: &[Vec<u8>]| input[0][4..].starts_with(b"configuration=") && input[0][19] == b';';
    let mut pool = Pool::new();
    let needed = (4..18).chain([19]);
    let conditions: Vec<(Term, u64)> =
        needed.map(|at| (is(&mut pool, at, bytes[at as usize]), 100 + u64::from(at))).collect();
    let tests: Vec<Test> = conditions.iter().copied().map(test).collect();
    for (readable, is_read) in [(Readable::Text, true), (Readable::Never, false)] {
        let limits = Limits { readable, ..limits() };
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut fails = fails;
        let found =
            weaken(&mut pool, &tests, &original(bytes), &mut fails, limits, &mut rng, &mut |_| {});
        let found = found.expect("a function can always be called").expect("the original fails");
        let double = &found.double.bytes[0];
        let readable = |byte: &u8| byte.is_ascii_alphanumeric() || b"=;".contains(byte);
        assert_eq!(double.iter().all(readable), is_read, "{}", double.escape_ascii());
        assert!(found.drawn.set.contains(&found.double.bytes));
        assert_eq!(found.drawn.failing.is_some(), is_read);
        // What the condition says is the same.
        assert_eq!(found.condition.value(), 120.0);
    }
    // Where a byte that is needed is none of a text, nothing is.
    let mut bytes = bytes.to_vec();
    bytes[4] = 0x89;
    let mut pool = Pool::new();
    let conditions = [(is(&mut pool, 4, 0x89), 100)];
    let found = weakened(&mut pool, &conditions, &bytes, |input| input[0][4] == 0x89);
    assert!(found.double.bytes[0].iter().any(|byte| !byte.is_ascii()));
}
