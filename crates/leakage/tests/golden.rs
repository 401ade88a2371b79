//! Conditions whose leak is known in closed form, or from the papers: all exact, to the digit.

mod common;

use common::{respa_figure, two_to};
use num_bigint::BigUint;
use stunt_leakage::{Accounts, Bits, Fraction, LeakGraph, Ledger};
use stunt_shapes::conditions::*;
use stunt_shapes::{big_endian, crc32_table, input, places, sum};
use stunt_terms::{Pool, Term};

/// A condition to be counted.
struct Case {
    pool: Pool,
    accounts: Accounts,
    ledger: Ledger,
}

impl Case {
    fn new(build: impl FnOnce(&mut Pool) -> Vec<Term>) -> Case {
        let mut pool = Pool::new();
        let literals = build(&mut pool);
        let mut accounts = Accounts::default();
        let mut ledger = Ledger::new();
        for literal in literals {
            ledger.push(&pool, &mut accounts, literal);
        }
        Case { pool, accounts, ledger }
    }

    fn total(&mut self) -> Bits {
        self.ledger.total(&self.pool, &mut self.accounts)
    }

    /// The total is exact, prints so, and is `log2(256^bytes / count)`.
    fn expect(mut self, printed: &str, bytes: u32, count: &BigUint) -> Case {
        let total = self.total();
        assert!(total.is_exact(), "{total}");
        assert_eq!(total.to_string(), format!("exactly {printed} bits"));
        let fraction = Fraction::exact(count.clone(), 8 * u64::from(bytes));
        assert!((total.value() - fraction.bits().value()).abs() < 1e-9);
        // The rational number itself, brought to the same denominator.
        match self.ledger.fraction(&self.pool, &mut self.accounts) {
            Fraction::Exact { count: found, size } => {
                assert_eq!(found << (8 * u64::from(bytes) - size), *count);
            }
            other => panic!("not exact: {other:?}"),
        }
        self
    }

    fn graph(&mut self, bytes: u32) -> LeakGraph {
        LeakGraph::of(&self.ledger, &self.pool, &mut self.accounts, places(bytes))
    }
}

/// `byte == value` for a text at the start.
fn text(pool: &mut Pool, text: &[u8]) -> Vec<Term> {
    let bytes = input(pool, 0, text.len() as u32);
    stunt_shapes::equals(pool, &bytes, text)
}

fn pow(base: u32, exponent: u32) -> BigUint {
    BigUint::from(base).pow(exponent)
}

#[test]
fn request_line_of_castros_web_server() {
    let mut case = Case::new(request_line).expect("32.24", 25, &pow(254, 21));
    assert_eq!(case.graph(30).to_text(32), format!(" 0  ####{}.....\n", "-".repeat(21)));
}

#[test]
fn little_endian_field_in_a_range() {
    Case::new(field_in_range).expect("20.04", 4, &BigUint::from(3996u32));
}

#[test]
fn sixteen_digits_that_pass_luhn() {
    let mut case = Case::new(|pool| card_number(pool, 16)).expect("78.17", 16, &pow(10, 15));
    // A check digit says nothing of a single digit beyond that it is one: log2(256 / 10).
    for leak in case.graph(16).bytes() {
        assert!(leak.bits.is_exact() && (leak.bits.value() - 25.6f64.log2()).abs() < 1e-9);
    }
}

/// CRC-32 of eight bytes, by table, as zlib does it.
#[test]
fn checksum_equal_to_a_constant() {
    let condition = |pool: &mut Pool| checksum_is(pool, 8, crc32_table, 0x1234_5678);
    Case::new(condition).expect("32.00", 8, &two_to(32));
}

#[test]
fn offset_and_length_within_a_file() {
    // off <= S and len <= S - off: (S + 1)(S + 2) / 2 pairs.
    Case::new(offset_and_length).expect("38.42", 8, &BigUint::from(10_001u32 * 10_002 / 2));
}

#[test]
fn sum_of_sixty_four_bytes() {
    let condition = |pool: &mut Pool| checksum_is(pool, 64, |p, b| sum(p, b, 8), 0x5a);
    let mut case = Case::new(condition).expect("8.00", 64, &two_to(63 * 8));
    // Any 63 of the bytes are free.
    assert!(case.graph(64).bytes().iter().all(|leak| leak.bits == Bits::Exact(0.0)));
}

#[test]
fn sixteen_pairs_of_equal_bytes() {
    let mut case = Case::new(equal_pairs).expect("128.00", 32, &two_to(128));
    assert_eq!(case.graph(32).to_text(32), format!(" 0  {}\n", ".".repeat(32)));
}

/// The same as one comparison of two 128-bit numbers, and so as one component if it is kept whole.
#[test]
fn two_equal_strings() {
    let condition = |pool: &mut Pool| {
        let sides = [input(pool, 0, 16), input(pool, 16, 32)].map(|side| big_endian(pool, &side));
        vec![pool.eq(sides[0], sides[1])]
    };
    Case::new(condition).expect("128.00", 32, &two_to(128));
}

#[test]
fn five_digits_above_255() {
    Case::new(five_digits).expect("23.39", 5, &BigUint::from(100_000u32 - 256));
}

/// RESPA's figure 2: `find("matos", "joe emmet")`, its exclusions and the one match.
#[test]
fn respa_figure_2() {
    let mut case =
        Case::new(respa_figure).expect("8.08", 5, &BigUint::from(252u32 * 253 * 252 * 253));
    assert_eq!(case.graph(5).to_text(64), "0  #----\n");
}

#[test]
fn nothing_is_revealed_by_no_condition() {
    let mut case = Case::new(|_| Vec::new()).expect("0.00", 0, &BigUint::from(1u32));
    assert_eq!(case.graph(3).to_text(64), "0  ...\n");
}

#[test]
fn a_contradiction_leaves_no_input() {
    let mut case = Case::new(|pool| [text(pool, b"a"), text(pool, b"b")].concat());
    assert_eq!(case.total(), Bits::Exact(f64::INFINITY));
    let fraction = case.ledger.fraction(&case.pool, &mut case.accounts);
    assert_eq!(fraction.bits(), Bits::Exact(f64::INFINITY));
    // Also one that only counting finds: two bytes that are equal and not.
    let mut case = Case::new(|pool| {
        let (a, b) = (pool.input(0, 0), pool.input(0, 1));
        let sum = pool.add(a, b);
        let difference = pool.sub(a, b);
        let (zero, one) = (pool.constant(8, 0), pool.constant(8, 1));
        vec![pool.eq(sum, zero), pool.eq(difference, one)]
    });
    assert_eq!(case.total(), Bits::Exact(f64::INFINITY));
}

/// Paths are disjoint: their fractions add up.
#[test]
fn union_of_two_paths() {
    let fraction = |first: u8| {
        let case = Case::new(|pool| text(pool, &[first]));
        let Case { pool, mut accounts, ledger } = case;
        ledger.fraction(&pool, &mut accounts)
    };
    let union = Fraction::disjoint_union(&[fraction(b'a'), fraction(b'b')]);
    assert_eq!(union.bits(), Bits::Exact(7.0));
}
