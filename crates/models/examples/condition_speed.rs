//! How long a clone and a push take on conditions of growing length: a table on standard output.

use std::hint::black_box;
use std::time::Instant;

use stunt_models::{Condition, Masks};
use stunt_terms::{Pool, Term};

const ROUNDS: u32 = 200_000;

fn main() {
    println!(
        "{:>9} {:>10} {:>22} {:>22}",
        "literals", "clone ns", "clone+push unary ns", "clone+push pair ns"
    );
    for literals in [10u32, 100, 1000, 10_000, 100_000] {
        let mut pool = Pool::new();
        let mut masks = Masks::new();
        let mut condition = Condition::new();
        // Half the literals are about one byte, half connect neighbours in pairs.
        for i in 0..literals {
            let byte = pool.input(0, i);
            let literal = if i % 2 == 0 {
                let stop = pool.constant(8, 10);
                pool.ne(byte, stop)
            } else {
                let before = pool.input(0, i - 1);
                pool.ult(before, byte)
            };
            condition.push(&pool, &mut masks, literal);
        }
        let unary: Vec<Term> = (0..1000)
            .map(|i| {
                let byte = pool.input(0, i * 7919 % literals);
                let value = pool.constant(8, u128::from(100 + i % 100));
                pool.ne(byte, value)
            })
            .collect();
        let pairs: Vec<Term> = (0..1000)
            .map(|i| {
                let (a, b) =
                    (pool.input(0, i * 7919 % literals), pool.input(0, i * 104_729 % literals));
                let (a, b) = (pool.zero_extend(16, a), pool.zero_extend(16, b));
                let (sum, value) = (pool.add(a, b), pool.constant(16, 300));
                pool.ne(sum, value)
            })
            .collect();
        for &term in &unary {
            masks.mask_of(&pool, term);
        }
        let clone = time(|_| {
            black_box(condition.clone());
        });
        let one = time(|i| {
            let mut next = condition.clone();
            black_box(next.push(&pool, &mut masks, unary[i % unary.len()]));
        });
        let two = time(|i| {
            let mut next = condition.clone();
            black_box(next.push(&pool, &mut masks, pairs[i % pairs.len()]));
        });
        println!("{literals:>9} {clone:>10.0} {one:>22.0} {two:>22.0}");
    }
}

/// Nanoseconds of one call.
fn time(mut run: impl FnMut(usize)) -> f64 {
    let start = Instant::now();
    for i in 0..ROUNDS {
        run(i as usize);
    }
    start.elapsed().as_nanos() as f64 / f64::from(ROUNDS)
}
