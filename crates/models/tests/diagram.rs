//! The diagram stage against brute force and against known counts.

mod common;

use std::sync::Arc;

use common::case::{Case, bits, random_domain};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_models::diagram::solve;
use stunt_models::{Budget, ByteSet, Space};
use stunt_shapes::{Random, base64_value, conditions, field, in_range, input};
use stunt_terms::Term;

fn answer(case: &Case) -> Option<Arc<dyn Space>> {
    solve(&case.problem(), &Budget::default())
}

fn quick_answer(case: &Case) -> Option<Arc<dyn Space>> {
    solve(&case.problem(), &Budget::quick())
}

#[test]
fn random_problems_agree_with_brute_force() {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let (mut solved, mut satisfiable) = (0, 0);
    for _ in 0..600 {
        let count = rng.gen_range(1..4);
        let most = [256, 32, 10][count - 1];
        let mut case = Case::new((0..count).map(|_| random_domain(rng, most)).collect());
        let random = Random::new(count as u32, &[1, 4, 8, 8, 16], 16);
        for _ in 0..rng.gen_range(1..4) {
            let literal = random.truth(&mut case.pool, rng, 3);
            case.literals.push(literal);
        }
        if let Some(space) = answer(&case) {
            solved += 1;
            satisfiable += u32::from(case.agrees(&*space, rng) > 0);
        }
    }
    assert!(solved == 600, "small problems have small diagrams: {solved}");
    assert!(satisfiable > 200, "{satisfiable}");
}

#[test]
fn offset_and_length_fields() {
    let case = Case::of(conditions::offset_and_length);
    let space = quick_answer(&case).expect("small when interleaved");
    // For every offset from 0 to 10000 the lengths from 0 to the rest.
    assert_eq!(*space.count(), BigUint::from(10_001u64 * 10_002 / 2));
    assert!((bits(&*space, 8) - 38.42).abs() < 0.005);
    case.draws_solutions(&*space, &mut ChaCha8Rng::seed_from_u64(2), 100);
    case.marginals_add_up(&*space);
    // The low byte of the offset, by hand.
    let marginal = space.marginal(0);
    for low in 0..256u64 {
        let lengths: u64 =
            (0..=10_000).filter(|off| off % 256 == low).map(|off| 10_001 - off).sum();
        assert_eq!(marginal[low as usize], BigUint::from(lengths));
    }
}

#[test]
fn a_field_in_a_range() {
    let case = Case::of(conditions::field_in_range);
    let space = quick_answer(&case).expect("small");
    assert_eq!(*space.count(), BigUint::from(3996u32));
    assert!((bits(&*space, 4) - 20.04).abs() < 0.005);
    case.is_uniform(&*space, &mut ChaCha8Rng::seed_from_u64(3), 30);
    case.marginals_add_up(&*space);
    assert_eq!(space.marginal(0)[50], BigUint::from(15u8));
    assert_eq!(space.marginal(0)[100], BigUint::from(16u8));
}

#[test]
fn sixteen_equal_pairs_in_one_component() {
    // Far apart, and tied together by one more literal: the first pairs are not all zero.
    let mut case = Case::free(32);
    let mut zeros = case.pool.boolean(true);
    for i in 0..16 {
        let (a, b) = (case.byte(i), case.byte(16 + i));
        let same = case.pool.eq(a, b);
        case.literals.push(same);
        let nul = case.pool.constant(8, 0);
        let zero = case.pool.eq(a, nul);
        zeros = case.pool.and(zeros, zero);
    }
    let some = case.pool.not(zeros);
    case.literals.push(some);
    let space = quick_answer(&case).expect("small when paired");
    assert_eq!(*space.count(), (BigUint::from(1u8) << 128u8) - 1u8);
    case.draws_solutions(&*space, &mut ChaCha8Rng::seed_from_u64(4), 20);
    assert_eq!(space.marginal(20)[0], (BigUint::from(1u8) << 120u8) - 1u8);
    assert_eq!(space.marginal(20)[9], BigUint::from(1u8) << 120u8);
}

#[test]
fn five_digits_above_255() {
    let case = Case::of(conditions::five_digits);
    let space = answer(&case).expect("within the budget");
    assert_eq!(*space.count(), BigUint::from(99_744u32));
    assert!((bits(&*space, 5) - 23.39).abs() < 0.005);
    case.draws_solutions(&*space, &mut ChaCha8Rng::seed_from_u64(5), 100);
    case.marginals_add_up(&*space);
    assert_eq!(space.marginal(0)[usize::from(b'0')], BigUint::from(9_744u32));
}

/// The check digit of card numbers: every second digit doubled, with the digits of that added.
#[test]
fn luhn_over_sixteen_digits() {
    let case = Case::of(|pool| conditions::card_number(pool, 16));
    let space = answer(&case).expect("within the budget");
    assert_eq!(*space.count(), BigUint::from(10u64.pow(15)));
    case.draws_solutions(&*space, &mut ChaCha8Rng::seed_from_u64(6), 100);
    for digit in b'0'..=b'9' {
        assert_eq!(space.marginal(3)[usize::from(digit)], BigUint::from(10u64.pow(14)));
    }
}

/// Four base64 characters, decoded by a table, give a 24-bit number below a limit.
#[test]
fn base64_by_table() {
    let case = Case::of(|pool| {
        let bytes = input(pool, 0, 4);
        let (mut literals, number) = base64_value(pool, &bytes);
        let limit = pool.constant(32, 1_000_000);
        literals.push(pool.ult(number, limit));
        literals
    });
    let space = quick_answer(&case).expect("small");
    assert_eq!(*space.count(), BigUint::from(1_000_000u32));
    case.draws_solutions(&*space, &mut ChaCha8Rng::seed_from_u64(7), 100);
    case.marginals_add_up(&*space);
}

/// Three bytes of well-formed UTF-8 in all its shapes, as a decoder checks them: lengths by the
/// lead byte, continuation bytes, no overlong forms, no surrogates.
#[test]
fn utf8_sequences() {
    let mut case = Case::free(3);
    let bytes = case.terms();
    let pool = &mut case.pool;
    let mut forms = Vec::new();
    let shapes: [[(u8, u8); 3]; 7] = [
        [(0x00, 0x7f), (0x00, 0x7f), (0x00, 0x7f)],
        [(0x00, 0x7f), (0xc2, 0xdf), (0x80, 0xbf)],
        [(0xc2, 0xdf), (0x80, 0xbf), (0x00, 0x7f)],
        [(0xe0, 0xe0), (0xa0, 0xbf), (0x80, 0xbf)],
        [(0xe1, 0xec), (0x80, 0xbf), (0x80, 0xbf)],
        [(0xed, 0xed), (0x80, 0x9f), (0x80, 0xbf)],
        [(0xee, 0xef), (0x80, 0xbf), (0x80, 0xbf)],
    ];
    for shape in shapes {
        let parts: Vec<Term> = bytes
            .iter()
            .zip(shape)
            .map(|(&byte, (low, high))| in_range(pool, byte, low.into(), u128::from(high) + 1))
            .collect();
        forms.push(pool.and_all(parts));
    }
    let literal = pool.or_all(forms);
    case.literals.push(literal);
    let space = quick_answer(&case).expect("small");
    // The library's own decoder is the judge.
    let mut valid = 0u32;
    let mut leads = vec![0u32; 256];
    for text in 0..1u32 << 24 {
        let bytes = text.to_be_bytes();
        if std::str::from_utf8(&bytes[1..]).is_ok() {
            valid += 1;
            leads[usize::from(bytes[1])] += 1;
        }
    }
    assert_eq!(*space.count(), BigUint::from(valid));
    let leads: Vec<BigUint> = leads.into_iter().map(BigUint::from).collect();
    assert!(space.marginal(0) == leads);
    let rng = &mut ChaCha8Rng::seed_from_u64(8);
    let mut out = [0; 3];
    for _ in 0..200 {
        space.sample(rng, &mut out);
        assert!(std::str::from_utf8(&out).is_ok());
    }
}

#[test]
fn an_xor_checksum_agrees_with_the_affine_stage() {
    let mut case = Case::free(12);
    let mut sum = case.byte(0);
    for i in 1..11 {
        let byte = case.byte(i);
        sum = case.pool.xor(sum, byte);
    }
    let last = case.byte(11);
    let literal = case.pool.eq(sum, last);
    case.literals.push(literal);
    let space = quick_answer(&case).expect("small");
    let affine = stunt_models::affine::solve(&case.problem(), &Budget::quick()).expect("affine");
    assert_eq!(space.count(), affine.count());
    for position in 0..12 {
        assert!(space.marginal(position) == affine.marginal(position));
    }
}

#[test]
fn samples_are_uniform_over_uneven_branches() {
    let rng = &mut ChaCha8Rng::seed_from_u64(9);
    let mut case =
        Case::new(vec![ByteSet::filter(|v| v < 40), ByteSet::filter(|v| v.is_ascii_digit())]);
    let (a, b) = (case.byte(0), case.byte(1));
    let zero = case.pool.constant(8, u128::from(b'0'));
    let digit = case.pool.sub(b, zero);
    let product = case.pool.mul(a, digit);
    let limit = case.pool.constant(8, 37);
    let literal = case.pool.ult(product, limit);
    case.literals.push(literal);
    let space = answer(&case).expect("small");
    assert!(case.agrees(&*space, rng) > 100);
    case.is_uniform(&*space, rng, 200);
}

#[test]
fn a_contradiction_has_no_solutions() {
    let mut case = Case::free(2);
    let (a, b) = (case.byte(0), case.byte(1));
    let literals = [case.pool.ult(a, b), case.pool.ult(b, a)];
    case.literals.extend(literals);
    let space = answer(&case).expect("small");
    assert_eq!(*space.count(), BigUint::ZERO);
    assert!(space.marginal(1).iter().all(|count| *count == BigUint::ZERO));
}

#[test]
fn bytes_with_one_value_need_no_variables() {
    let mut case = Case::new(vec![ByteSet::filter(|v| v == 7), ByteSet::ALL]);
    let (a, b) = (case.byte(0), case.byte(1));
    let literal = case.pool.ult(a, b);
    case.literals.push(literal);
    let space = answer(&case).expect("small");
    case.agrees(&*space, &mut ChaCha8Rng::seed_from_u64(10));
    assert_eq!(*space.count(), BigUint::from(248u8));
}

#[test]
fn what_is_too_large_is_declined() {
    // The middle bits of a product of two 32-bit fields.
    let mut case = Case::free(8);
    let pool = &mut case.pool;
    let (a, b) = (field(pool, 0, 4), field(pool, 4, 4));
    let (a, b) = (pool.zero_extend(64, a), pool.zero_extend(64, b));
    let product = pool.mul(a, b);
    let middle = pool.extract(47, 16, product);
    let wanted = pool.constant(32, 0x1234_5678);
    let literal = pool.eq(middle, wanted);
    case.literals.push(literal);
    assert!(quick_answer(&case).is_none());
}
