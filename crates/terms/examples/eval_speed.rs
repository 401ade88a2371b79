//! How fast terms are evaluated: compiled over blocks, compiled one at a time, and interpreted.
//!
//! Prints a table of evaluations per second on one core for terms of five operators, at widths of
//! 8, 32 and 64 bits. Run it with `--release`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Program, Term};

const ROWS: usize = 1 << 16;
const LEAST: Duration = Duration::from_millis(300);

/// How often a second `work`, which does `count` evaluations, gets one done.
fn rate(count: usize, mut work: impl FnMut()) -> f64 {
    work();
    let start = Instant::now();
    let mut rounds = 0usize;
    while start.elapsed() < LEAST {
        work();
        rounds += 1;
    }
    (rounds * count) as f64 / start.elapsed().as_secs_f64()
}

/// Makes an operand of `width` bits from input bytes at an offset.
type Operand = fn(&mut Pool, u32, u8) -> Term;

/// Five operators: `((x + y) ^ x) & (y - x) < x`.
fn mixed(pool: &mut Pool, width: u8, operand: Operand) -> Term {
    let (x, y) = (operand(pool, 0, width), operand(pool, 8, width));
    let sum = pool.add(x, y);
    let flipped = pool.xor(sum, x);
    let difference = pool.sub(y, x);
    let both = pool.and(flipped, difference);
    pool.ult(both, x)
}

/// Five operators with a multiplication and a choice: `ite (x < y) (x * y) (x - y) = y`.
fn product(pool: &mut Pool, width: u8, operand: Operand) -> Term {
    let (x, y) = (operand(pool, 0, width), operand(pool, 8, width));
    let less = pool.slt(x, y);
    let (times, minus) = (pool.mul(x, y), pool.sub(x, y));
    let chosen = pool.ite(less, times, minus);
    pool.eq(chosen, y)
}

/// A byte, sign-extended: the five operators are most of the work.
fn byte(pool: &mut Pool, offset: u32, width: u8) -> Term {
    let byte = pool.input(0, offset);
    pool.sign_extend(width, byte)
}

/// A word of little-endian bytes: loading it is much of the work.
fn word(pool: &mut Pool, offset: u32, width: u8) -> Term {
    let mut word = pool.input(0, offset);
    for i in 1..u32::from(width / 8) {
        let byte = pool.input(0, offset + i);
        word = pool.concat(byte, word);
    }
    word
}

fn main() {
    println!("| term | bits | instructions | blocks | one at a time | interpreted |");
    println!("|---|---:|---:|---:|---:|---:|");
    type Make = fn(&mut Pool, u8, Operand) -> Term;
    let terms: [(&str, Make, Operand); 4] = [
        ("mixed, of bytes", mixed, byte),
        ("product, of bytes", product, byte),
        ("mixed, of words", mixed, word),
        ("product, of words", product, word),
    ];
    for (name, make, operand) in terms {
        for width in [8, 32, 64] {
            let mut pool = Pool::new();
            let term = make(&mut pool, width, operand);
            let inputs: Vec<InputByte> = pool.support(term).iter().collect();
            let mut program = Program::compile(&pool, &[term], &inputs);
            let mut seed = 1u32;
            let columns: Vec<Vec<u8>> = inputs
                .iter()
                .map(|_| {
                    let next = || {
                        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (seed >> 24) as u8
                    };
                    std::iter::repeat_with(next).take(ROWS).collect()
                })
                .collect();
            let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
            let blocks = rate(ROWS, || {
                black_box(program.count(black_box(&columns)));
            });
            let mut row = vec![0; inputs.len()];
            let single = rate(ROWS, || {
                for i in 0..ROWS {
                    for (byte, column) in row.iter_mut().zip(&columns) {
                        *byte = column[i];
                    }
                    black_box(program.run_one(&row)[0]);
                }
            });
            let mut evaluator = Evaluator::new();
            let mut assignment = Assignment::new();
            let interpreted = rate(ROWS, || {
                for i in 0..ROWS {
                    for (&byte, column) in inputs.iter().zip(&columns) {
                        assignment.set(byte, column[i]);
                    }
                    evaluator.reset();
                    black_box(evaluator.eval(&pool, term, &assignment));
                }
            });
            println!(
                "| {name} | {width} | {} | {:.0} M/s | {:.1} M/s | {:.1} M/s |",
                program.instructions(),
                blocks / 1e6,
                single / 1e6,
                interpreted / 1e6
            );
        }
    }
}
