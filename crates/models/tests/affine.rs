//! The affine stage against brute force and against known counts.

mod common;

use std::sync::Arc;

use common::case::{Case, random_domain};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_models::affine::solve;
use stunt_models::{Budget, ByteSet, Space};
use stunt_shapes::{
    Random, conditions, crc32_bitwise, crc32_branching, crc32_table, field, little_endian,
};
use stunt_terms::{Pool, Term};

fn answer(case: &Case) -> Option<Arc<dyn Space>> {
    solve(&case.problem(), &Budget::default())
}

/// CRC-32 of plain bytes, for comparison: the remainder of a division, bit by bit.
fn crc_of(bytes: &[u8]) -> u32 {
    let mut rest = u32::MAX;
    for &byte in bytes {
        for bit in 0..8 {
            let odd = (rest ^ u32::from(byte) >> bit) & 1 == 1;
            rest = rest >> 1 ^ if odd { 0xedb8_8320 } else { 0 };
        }
    }
    !rest
}

fn power(exponent: u32) -> BigUint {
    BigUint::from(1u8) << exponent
}

/// A random term of 8 bits whose bits are affine, in many disguises.
fn random_affine(pool: &mut Pool, rng: &mut ChaCha8Rng, bytes: &[Term], depth: u32) -> Term {
    if depth == 0 {
        return bytes[rng.gen_range(0..bytes.len())];
    }
    let a = random_affine(pool, rng, bytes, depth - 1);
    match rng.gen_range(0..8) {
        0 | 1 => {
            let b = random_affine(pool, rng, bytes, depth - 1);
            pool.xor(a, b)
        }
        2 => pool.not(a),
        3 => {
            let mask = pool.constant(8, rng.r#gen());
            if rng.r#gen() { pool.and(a, mask) } else { pool.or(a, mask) }
        }
        4 => pool.rotate_left(rng.gen_range(1..8), a),
        5 => {
            let (first, changes): (u8, [u8; 8]) = (rng.r#gen(), rng.r#gen());
            let entry = |i: usize| {
                let set = (0..8).filter(|bit| i >> bit & 1 == 1);
                u64::from(set.fold(first, |entry, bit| entry ^ changes[bit]))
            };
            let table = pool.add_table(8, (0..256).map(entry).collect::<Vec<_>>());
            pool.table(table, a)
        }
        6 => {
            let bit = pool.extract(3, 3, a);
            let zero = pool.constant(1, 0);
            let condition = pool.eq(bit, zero);
            let b = random_affine(pool, rng, bytes, depth - 1);
            let change = pool.constant(8, rng.r#gen());
            let changed = pool.xor(b, change);
            pool.ite(condition, changed, b)
        }
        _ => {
            // The Gray code.
            let high = pool.extract(7, 1, a);
            let shifted = pool.zero_extend(8, high);
            pool.xor(a, shifted)
        }
    }
}

#[test]
fn random_affine_problems_agree_with_brute_force() {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let (mut unsatisfiable, mut several) = (0, 0);
    for round in 0..200 {
        let domains = (0..2)
            .map(|_| {
                let (mask, value): (u8, u8) = (rng.r#gen::<u8>() | 3, rng.r#gen());
                ByteSet::filter(|v| v & mask == value & mask)
            })
            .collect();
        let mut case = Case::new(domains);
        let bytes = [case.byte(0), case.byte(1)];
        for _ in 0..rng.gen_range(1..3) {
            let a = random_affine(&mut case.pool, rng, &bytes, 3);
            let b = random_affine(&mut case.pool, rng, &bytes, 2);
            let lo = rng.gen_range(0..8);
            let hi = rng.gen_range(lo..8).min(lo + 2);
            let (a, b) = (case.pool.extract(hi, lo, a), case.pool.extract(hi, lo, b));
            let mut literal = case.pool.eq(a, b);
            if hi == lo && rng.r#gen() {
                literal = case.pool.not(literal);
            }
            case.literals.push(literal);
        }
        let space = answer(&case).unwrap_or_else(|| panic!("round {round} is affine"));
        match case.agrees(&*space, rng) {
            0 => unsatisfiable += 1,
            1 => {}
            _ => several += 1,
        }
    }
    assert!(unsatisfiable > 10 && several > 50, "{unsatisfiable} {several}");
}

#[test]
fn whatever_is_accepted_agrees_with_brute_force() {
    let rng = &mut ChaCha8Rng::seed_from_u64(2);
    let mut accepted = 0;
    for _ in 0..4000 {
        let domains = vec![random_domain(rng, 16), random_domain(rng, 8), random_domain(rng, 8)];
        let mut case = Case::new(domains);
        let random = Random::new(3, &[1, 4, 8, 8, 16], 16);
        let literal = random.truth(&mut case.pool, rng, 3);
        case.literals.push(literal);
        if let Some(space) = answer(&case) {
            case.agrees(&*space, rng);
            accepted += 1;
        }
    }
    assert!(accepted > 100, "only {accepted} were accepted");
}

#[test]
fn crc_32_over_eight_bytes_leaves_two_to_the_32() {
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    let message: [u8; 8] = rng.r#gen();
    for crc in [crc32_table, crc32_bitwise, crc32_branching] {
        let value = u128::from(crc_of(&message));
        let case = Case::of(|pool| conditions::checksum_is(pool, 8, crc, value));
        assert!(case.solved_by(&message), "the term is the checksum");
        let space = answer(&case).expect("affine");
        assert_eq!(*space.count(), power(32));
        case.draws_solutions(&*space, rng, 20);
        // Four of the bytes determine the other four, so every byte is free.
        for position in 0..8 {
            assert!(space.marginal(position).iter().all(|count| *count == power(24)));
        }
    }
}

/// A gzip-like file: the checksum is stored behind the message.
#[test]
fn crc_32_over_four_thousand_bytes_equals_a_field() {
    let rng = &mut ChaCha8Rng::seed_from_u64(4);
    let mut case = Case::free(4004);
    let bytes = case.terms();
    let crc = crc32_table(&mut case.pool, &bytes[..4000]);
    let stored = little_endian(&mut case.pool, &bytes[4000..]);
    let literal = case.pool.eq(crc, stored);
    case.literals.push(literal);
    let space = answer(&case).expect("affine");
    assert_eq!(*space.count(), power(8 * 4000));
    let mut out = vec![0; 4004];
    for _ in 0..10 {
        space.sample(rng, &mut out);
        assert_eq!(crc_of(&out[..4000]).to_le_bytes(), out[4000..]);
    }
    assert_eq!(space.marginal(4001)[7], power(8 * 4000 - 8));
}

#[test]
fn checksums_parities_and_gray_codes() {
    // The exclusive or of 20 ASCII bytes is one of them.
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    let mut case = Case::new(vec![ByteSet::filter(|v| v < 128); 21]);
    let mut sum = case.byte(0);
    for i in 1..20 {
        let byte = case.byte(i);
        sum = case.pool.xor(sum, byte);
    }
    let last = case.byte(20);
    let literal = case.pool.eq(sum, last);
    case.literals.push(literal);
    let space = answer(&case).expect("affine");
    assert_eq!(*space.count(), power(140));
    case.draws_solutions(&*space, rng, 20);
    case.marginals_add_up(&*space);

    // Even parity of four bytes: the low bit of the sum of all bits.
    let mut case = Case::free(4);
    let one = case.pool.constant(1, 1);
    let mut parity = case.pool.constant(8, 0);
    for i in 0..4 {
        let byte = case.byte(i);
        for bit in 0..8 {
            let bit = case.pool.extract(bit, bit, byte);
            let wide = case.pool.zero_extend(8, bit);
            parity = case.pool.add(parity, wide);
        }
    }
    let low = case.pool.extract(0, 0, parity);
    let literal = case.pool.ne(low, one);
    case.literals.push(literal);
    assert_eq!(*answer(&case).expect("affine").count(), power(31));

    // The Gray code of a 16-bit field is another field.
    let mut case = Case::free(4);
    let pool = &mut case.pool;
    let (a, b) = (field(pool, 0, 2), field(pool, 2, 2));
    let high = pool.extract(15, 1, a);
    let half = pool.zero_extend(16, high);
    let gray = pool.xor(a, half);
    let literal = pool.eq(gray, b);
    case.literals.push(literal);
    let space = answer(&case).expect("affine");
    assert_eq!(*space.count(), power(16));
    case.draws_solutions(&*space, rng, 20);
}

/// Tests that rewriting may leave as reads of a truth table, and intervals of aligned blocks.
#[test]
fn sets_that_are_subspaces() {
    let rng = &mut ChaCha8Rng::seed_from_u64(9);
    let mut case = Case::new(vec![ByteSet::filter(|v| v & 3 == 1), ByteSet::filter(|v| v < 64)]);
    let (a, b) = (case.byte(0), case.byte(1));
    let pool = &mut case.pool;
    // Squares that end in 9: four places, which are a plane.
    let squares = pool.add_table(8, (0..256u64).map(|i| (i * i) & 255).collect::<Vec<_>>());
    let mixed = pool.xor(a, b);
    let square = pool.table(squares, mixed);
    let nine = pool.constant(8, 9);
    let ends_in_nine = pool.eq(square, nine);
    // The mixed byte from 0x40 on up to 0x7f, or outside of the upper half.
    let (low, high) = (pool.constant(8, 0x40), pool.constant(8, 0x80));
    let block = [pool.uge(mixed, low), pool.ult(mixed, high)];
    let block = pool.and_all(block);
    let not_upper = pool.ult(mixed, high);
    for literals in
        [vec![ends_in_nine], vec![block], vec![not_upper], vec![not_upper, ends_in_nine]]
    {
        case.literals = literals;
        let space = answer(&case).expect("affine");
        assert!(case.agrees(&*space, rng) > 0);
    }
}

#[test]
fn contradictions_have_no_solutions() {
    let mut case = Case::free(2);
    let (a, b) = (case.byte(0), case.byte(1));
    let one = case.pool.constant(8, 1);
    let other = case.pool.xor(b, one);
    let literals = [case.pool.eq(a, b), case.pool.eq(a, other)];
    case.literals.extend(literals);
    let space = answer(&case).expect("affine");
    assert_eq!(*space.count(), BigUint::ZERO);
    assert!(space.marginal(0).iter().all(|count| *count == BigUint::ZERO));
}

#[test]
fn a_wrong_checksum_is_all_but_the_right_ones() {
    let rng = &mut ChaCha8Rng::seed_from_u64(7);
    let mut case = Case::free(9);
    let bytes = case.terms();
    let crc = crc32_table(&mut case.pool, &bytes[..8]);
    let wanted = case.pool.constant(32, 0x1234_5678);
    // The checksum is wrong, the last byte is not the first one, and two bytes agree.
    let literals = [
        case.pool.ne(crc, wanted),
        case.pool.ne(bytes[8], bytes[0]),
        case.pool.eq(bytes[1], bytes[2]),
    ];
    case.literals.extend(literals);
    let space = answer(&case).expect("affine");
    // Of 2^64 messages with equal bytes 2^32 have the checksum; for all of them 255 last bytes.
    assert_eq!(*space.count(), (power(56) - power(24)) * 255u8);
    case.draws_solutions(&*space, rng, 20);
    case.marginals_add_up(&*space);
}

/// Memory that differs somewhere, over few values: against brute force, and uniform.
#[test]
fn differing_fields_agree_with_brute_force() {
    let rng = &mut ChaCha8Rng::seed_from_u64(8);
    let mut case = Case::new(vec![ByteSet::filter(|v| v & 0xfc == b'@'); 4]);
    let bytes = case.terms();
    let pool = &mut case.pool;
    let same = [pool.eq(bytes[0], bytes[2]), pool.eq(bytes[1], bytes[3])];
    let same = pool.and_all(same);
    let turned = pool.xor(bytes[0], bytes[1]);
    let literals = [pool.not(same), pool.ne(turned, bytes[3])];
    case.literals.extend(literals);
    let space = answer(&case).expect("affine");
    // 16 of 256 have the fields equal; @ is no exclusive or of two values from @ to C.
    assert_eq!(case.agrees(&*space, rng), 240);
    case.is_uniform(&*space, rng, 200);
}

#[test]
fn samples_are_uniform() {
    let rng = &mut ChaCha8Rng::seed_from_u64(6);
    let mut case =
        Case::new(vec![ByteSet::filter(|v| v & 0xf0 == 0x40), ByteSet::filter(|v| v < 32)]);
    let (a, b) = (case.byte(0), case.byte(1));
    let pool = &mut case.pool;
    let turned = pool.rotate_left(2, b);
    let mixed = pool.xor(a, turned);
    let bit = pool.extract(3, 3, mixed);
    let zero = pool.constant(1, 0);
    let literal = pool.ne(bit, zero);
    case.literals.push(literal);
    let space = answer(&case).expect("affine");
    case.agrees(&*space, rng);
    assert_eq!(*space.count(), BigUint::from(256u32));
    case.is_uniform(&*space, rng, 100);
}

#[test]
fn what_is_not_affine_is_declined() {
    // A sum, a comparison, a table that is not affine; then a domain that is no subspace.
    let mut case = Case::free(2);
    let (a, b) = (case.byte(0), case.byte(1));
    let seven = case.pool.constant(8, 7);
    let nine = case.pool.constant(8, 9);
    let sum = case.pool.add(a, b);
    let less = case.pool.ult(a, b);
    let digits = case.pool.add_table(8, (0..256u64).map(|i| i % 10).collect::<Vec<_>>());
    let mixed = case.pool.xor(a, b);
    let digit = case.pool.table(digits, mixed);
    let literals = [case.pool.eq(sum, seven), less, case.pool.eq(digit, nine)];
    for literal in literals {
        case.literals = vec![literal];
        assert!(answer(&case).is_none());
    }
    let same = case.pool.eq(a, b);
    case.literals = vec![same];
    assert!(answer(&case).is_some());
    case.domains[1] = ByteSet::filter(|v| v.is_ascii_digit());
    assert!(answer(&case).is_none());
}
