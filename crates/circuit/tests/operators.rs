//! Every operator as a circuit, against the evaluator: exhaustively when narrow, at random when
//! wide.

mod common;

use common::{compare, random};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_shapes::field;
use stunt_shapes::random::{BINARY, Binary, COMPARISONS};
use stunt_terms::{Pool, Term};

/// All operators on two bit vectors, with numbers for messages.
fn binary() -> impl Iterator<Item = (usize, Binary)> {
    BINARY.into_iter().chain(COMPARISONS).enumerate()
}

fn low_bits(pool: &mut Pool, offset: u32, width: u8) -> Term {
    let byte = pool.input(0, offset);
    pool.extract(width - 1, 0, byte)
}

fn all_pairs(width: u8) -> Vec<Vec<u8>> {
    let values = 0..1u8 << width;
    values.clone().flat_map(|a| values.clone().map(move |b| vec![a, b])).collect()
}

#[test]
fn binary_operators_on_two_variables() {
    for width in 1..=5 {
        for (number, operator) in binary() {
            let mut pool = Pool::new();
            let (a, b) = (low_bits(&mut pool, 0, width), low_bits(&mut pool, 1, width));
            let term = operator(&mut pool, a, b);
            compare(&pool, term, &all_pairs(width), &format!("operator {number}, width {width}"));
        }
    }
}

#[test]
fn binary_operators_with_constants() {
    for width in 1..=5 {
        let inputs: Vec<Vec<u8>> = (0..1 << width).map(|a| vec![a]).collect();
        for (number, operator) in binary() {
            for value in 0..1u128 << width {
                let mut pool = Pool::new();
                let (a, c) = (low_bits(&mut pool, 0, width), pool.constant(width, value));
                let (left, right) = (operator(&mut pool, c, a), operator(&mut pool, a, c));
                let what = format!("operator {number}, width {width}, constant {value}");
                compare(&pool, left, &inputs, &what);
                compare(&pool, right, &inputs, &what);
            }
        }
    }
}

#[test]
fn binary_operators_on_narrow_operands() {
    // Zeros in front: narrow divisors, short factors, small amounts.
    for width in 2..=6 {
        for narrow in 1..width.min(4) {
            for (number, operator) in binary() {
                let mut pool = Pool::new();
                let (a, b) = (low_bits(&mut pool, 0, width), low_bits(&mut pool, 1, narrow));
                let b = pool.zero_extend(width, b);
                let (ab, ba) = (operator(&mut pool, a, b), operator(&mut pool, b, a));
                let what = format!("operator {number}, widths {width} and {narrow}");
                compare(&pool, ab, &all_pairs(width), &what);
                compare(&pool, ba, &all_pairs(width), &what);
            }
        }
    }
}

#[test]
fn other_operators() {
    for width in 1..=5 {
        let mut pool = Pool::new();
        let (a, b) = (low_bits(&mut pool, 0, width), low_bits(&mut pool, 1, width));
        let (not, neg, concat) = (pool.not(a), pool.neg(a), pool.concat(a, b));
        let (less, product) = (pool.ult(a, b), pool.mul(a, b));
        let ite = pool.ite(less, a, product);
        let (zeros, signs) =
            (pool.zero_extend(width + 3, product), pool.sign_extend(width + 3, product));
        let mut terms = vec![not, neg, concat, ite, zeros, signs];
        for lo in 0..width {
            terms.extend((lo..width).map(|hi| pool.extract(hi, lo, product)));
        }
        let (same, not_less) = (pool.eq(a, b), pool.not(less));
        terms.extend([pool.and(less, same), pool.or(not_less, same), pool.eq(less, same)]);
        for term in terms {
            compare(&pool, term, &all_pairs(width), &format!("{:?}, width {width}", pool.op(term)));
        }
    }
}

#[test]
fn tables_of_any_length() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let inputs: Vec<Vec<u8>> = (0..=255u8).map(|a| vec![a, a.wrapping_mul(7)]).collect();
    for length in [1, 2, 3, 5, 7, 8, 9, 31, 100, 200, 255, 256, 257, 1000] {
        for width in [1, 3, 8, 33, 64] {
            let mut pool = Pool::new();
            let repeat = rng.gen_range(1..4);
            let entries: Vec<u64> = (0..length)
                .map(|i| (i as u64 / repeat * 0x9e37_79b9) & stunt_terms::mask(width) as u64)
                .collect();
            let table = pool.add_table(width, entries);
            let (byte, other) = (pool.input(0, 0), pool.input(0, 1));
            let (wide, narrow) = (pool.concat(other, byte), pool.extract(4, 1, byte));
            let partly = pool.constant(8, 0x55);
            let partly = pool.or(byte, partly);
            let very_wide = pool.sign_extend(100, wide);
            for index in [byte, wide, narrow, partly, very_wide] {
                let read = pool.table(table, index);
                compare(&pool, read, &inputs, &format!("{length} entries of {width} bits"));
            }
        }
    }
}

#[test]
fn random_terms_at_real_widths() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for round in 0..600 {
        let mut pool = Pool::new();
        let width = [8, 16, 32, 64, 128][round % 5];
        let depth = if width > 32 { 2 } else { 3 };
        let term = random(6).bits(&mut pool, &mut rng, width, depth);
        let truth = random(6).truth(&mut pool, &mut rng, 3);
        let inputs: Vec<Vec<u8>> = (0..128)
            .map(|i| match i {
                0 => vec![0; 6],
                1 => vec![255; 6],
                _ => (0..6).map(|_| rng.r#gen()).collect(),
            })
            .collect();
        compare(&pool, term, &inputs, &format!("round {round}"));
        compare(&pool, truth, &inputs, &format!("round {round}"));
    }
}

/// The operators with the largest circuits.
const DIVISIONS: [Binary; 5] = [Pool::mul, Pool::udiv, Pool::urem, Pool::sdiv, Pool::srem];

#[test]
fn division_at_real_widths() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for width in [8, 16, 32, 64, 128] {
        let count = width / 8;
        for (number, operator) in DIVISIONS.into_iter().enumerate() {
            let mut pool = Pool::new();
            let mut word = |from: u8| field(&mut pool, from.into(), count.into());
            let (a, b) = (word(0), word(count));
            let divisor = rng.r#gen::<u128>() & stunt_terms::mask(width);
            let (by, ten) = (pool.constant(width, divisor), pool.constant(width, 10));
            let inputs: Vec<Vec<u8>> = (0..64)
                .map(|i| {
                    // Divisors of every size, zero among them.
                    let kept = i % (count + 1);
                    (0..2 * count)
                        .map(|at| if at >= count + kept { 0 } else { rng.r#gen() })
                        .collect()
                })
                .collect();
            for b in [b, by, ten] {
                let term = operator(&mut pool, a, b);
                compare(&pool, term, &inputs, &format!("operator {number}, width {width}"));
            }
        }
    }
}

#[test]
fn deep_terms_do_not_overflow_the_stack() {
    let mut pool = Pool::new();
    let (mut sum, other) = (pool.input(0, 0), pool.input(0, 1));
    for i in 0..100_000 {
        sum = if i % 2 == 0 { pool.add(sum, other) } else { pool.xor(sum, other) };
    }
    compare(&pool, sum, &[vec![3, 200], vec![255, 255], vec![0, 1]], "a deep chain");
}
