//! The compiled form gives the same values as the interpreting evaluator, on random terms of all
//! operators and widths.

mod common;

use common::generate::{Dice, INPUTS, expression};
use common::reference::{BINARY, COMPARE, Kind, build, construct, make};
use proptest::prelude::*;
use stunt_terms::{Assignment, BLOCK, Evaluator, InputByte, Pool, Program, Sort, Term};

/// More rows than a block, and not a multiple of it.
const ROWS: usize = BLOCK + 37;

fn inputs() -> Vec<InputByte> {
    (0..INPUTS).map(|offset| InputByte::new(0, offset)).collect()
}

/// Columns of random bytes, with extremes among them.
fn columns(mut seed: u64) -> Vec<Vec<u8>> {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match seed >> 60 {
            0 => 0,
            1 => 0xff,
            2 => 0x80,
            _ => (seed >> 40) as u8,
        }
    };
    (0..INPUTS).map(|_| (0..ROWS).map(|_| next()).collect()).collect()
}

/// Compares all roots on all rows; says where they differ.
fn compare(pool: &Pool, roots: &[Term], columns: &[Vec<u8>]) -> Result<(), String> {
    let mut program = Program::compile(pool, roots, &inputs());
    let mut evaluator = Evaluator::new();
    let expected: Vec<Vec<u128>> = (0..ROWS)
        .map(|row| {
            let assignment =
                Assignment::from_bytes(columns.iter().map(|c| c[row]).collect::<Vec<u8>>());
            evaluator.reset();
            roots.iter().map(|&root| evaluator.eval(pool, root, &assignment)).collect()
        })
        .collect();
    let slices: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
    let mut seen = 0;
    let mut wrong = None;
    program.run(&slices, |root, start, values| {
        for lane in 0..values.len() {
            seen += 1;
            if values.get(lane) != expected[start + lane][root] {
                wrong = Some(format!("root {root} in row {}", start + lane));
            }
        }
    });
    assert_eq!(seen, ROWS * roots.len());
    for (row, expected) in expected.iter().enumerate().step_by(7) {
        let bytes: Vec<u8> = columns.iter().map(|c| c[row]).collect();
        if program.run_one(&bytes) != expected {
            wrong = Some(format!("one at a time, row {row}"));
        }
    }
    if roots.iter().all(|&root| pool.is_bool(root)) {
        let all = expected.iter().filter(|values| values.iter().all(|&v| v == 1)).count();
        assert_eq!(program.count(&slices), all);
    }
    wrong.map_or(Ok(()), Err)
}

#[test]
fn every_operator_at_every_width() {
    let columns = columns(1);
    for width in 1..=128u8 {
        let mut pool = Pool::new();
        let wide: Vec<Term> = (0..16).map(|i| pool.input(0, i % INPUTS)).collect();
        let word =
            wide.iter().copied().reduce(|high, low| pool.concat(high, low)).expect("16 bytes");
        let (x, y) = (pool.extract(width - 1, 0, word), {
            let swapped = pool.rotate_left(61, word);
            pool.extract(width - 1, 0, swapped)
        });
        // Small amounts for shifts, and divisors.
        let byte = pool.input(0, 3);
        let bits = width.min(8);
        let small = pool.extract(bits - 1, 0, byte);
        let small = pool.zero_extend(width, small);
        let mut roots = Vec::new();
        for kind in BINARY.into_iter().chain(COMPARE) {
            for (a, b) in [(x, y), (y, x), (x, small), (small, y)] {
                roots.push(construct(&mut pool, kind, &[a, b]));
            }
        }
        let less = pool.ult(x, small);
        roots.push(pool.ite(less, x, y));
        roots.push(pool.neg(x));
        roots.push(pool.not(y));
        if width < 128 {
            roots.push(pool.sign_extend(128, x));
            roots.push(pool.zero_extend(width + 1, y));
        }
        for number in 0..common::reference::TABLES {
            roots.push(construct(&mut pool, Kind::Table(number), &[x]));
        }
        // Some alone, so that every number type is used, and all together.
        let alone = width <= 10 || [16, 17, 31, 32, 33, 64, 65, 127, 128].contains(&width);
        for &root in roots.iter().filter(|_| alone) {
            assert_eq!(
                compare(&pool, &[root], &columns),
                Ok(()),
                "{:?} at width {width}",
                pool.op(root)
            );
        }
        assert_eq!(compare(&pool, &roots, &columns), Ok(()), "all at width {width}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_evaluator(choices in proptest::collection::vec(any::<u8>(), 0..200), seed in any::<u64>()) {
        let mut dice = Dice::new(&choices);
        let mut pool = Pool::new();
        let mut roots = Vec::new();
        for _ in 0..=dice.below(3) {
            let sort = [Sort::Bool, Sort::Bits(8), Sort::Bits(32), Sort::Bits(64), Sort::Bits(128), Sort::Bits(13)]
                [dice.below(6)];
            let e = expression(&mut dice, sort, 6);
            roots.push(build(&e, &mut pool));
        }
        prop_assert_eq!(compare(&pool, &roots, &columns(seed)), Ok(()));
    }
}

#[test]
fn deep_chains_compile_and_run() {
    let mut pool = Pool::new();
    let (x, y) = (pool.input(0, 0), pool.input(0, 1));
    let mut term = x;
    for i in 0..100_000 {
        term = if i % 2 == 0 { pool.mul(term, y) } else { pool.xor(term, x) };
    }
    let mut program =
        Program::compile(&pool, &[term], &[InputByte::new(0, 0), InputByte::new(0, 1)]);
    let expected =
        (0..100_000).fold(0x35u8, |v, i| if i % 2 == 0 { v.wrapping_mul(0x47) } else { v ^ 0x35 });
    assert_eq!(program.run_one(&[0x35, 0x47]), [u128::from(expected)]);
}

#[test]
fn tells_sizes_only() {
    let mut pool = Pool::new();
    let e = make(Kind::Add, &[&make(Kind::Byte(0), &[]), &make(Kind::Byte(1), &[])]);
    let term = build(&e, &mut pool);
    let mut program = Program::compile(&pool, &[term], &inputs());
    program.run_one(&[77; INPUTS as usize]);
    let text = format!("{program:?}");
    assert!(text.starts_with("Program(8 inputs,") && !text.contains("77"), "{text}");
}
