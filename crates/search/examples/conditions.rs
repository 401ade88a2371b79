//! Draws from path conditions that `stunt trace --smtlib` printed, and measures them.
//!
//! Arguments: pairs of a condition's file and the file of the input that it came from. Prints sizes
//! and times only, never a value of an input.

use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_path::{Original, Test, TestKind};
use stunt_search::{PathCondition, castro};
use stunt_terms::{Pool, smtlib};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for pair in arguments.chunks(2) {
        let [condition, input] = pair else { return Err("a condition and its input".into()) };
        let mut pool = Pool::new();
        let script = smtlib::parse_script(&mut pool, &std::fs::read_to_string(condition)?)?;
        let test = |condition| Test { condition, address: 0, kind: TestKind::Branch };
        let tests: Vec<Test> = script.assertions().into_iter().map(test).collect();
        let mut original = Original::new();
        original.push(std::fs::read(input)?, Vec::new());
        one(condition, &mut pool, &tests, &original);
    }
    Ok(())
}

fn one(name: &str, pool: &mut Pool, tests: &[Test], original: &Original) {
    let begun = Instant::now();
    let mut condition = PathCondition::new(pool, tests, original);
    let prepared = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let drawn = castro(&mut condition, original, &mut rng);
    let drawing = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let measured = condition.measure();
    let measuring = begun.elapsed().as_secs_f64();
    let size = condition.size() as f64;
    let state = match drawn {
        Ok(double) if double.not_uniform.is_some() => "not uniform".to_owned(),
        Ok(_) => "uniform".to_owned(),
        Err(error) => error.to_string(),
    };
    let components = condition.condition().components();
    let largest = components.map(|component| component.len()).max().unwrap_or(0);
    println!(
        "{name:40} tests {:6} literals {:6} largest {largest:5} prepare {prepared:.2} draw {drawing:.2} \
         measure {measuring:.2} leak {:.2} % {} {state} fixed {}",
        tests.len(),
        condition.condition().len(),
        100.0 * measured.total.value() / size,
        measured.total.kind(),
        condition.fixed().len(),
    );
}
