//! Soundness: inputs that satisfy all tests of a run end as that run did.
//!
//! From the original on, bytes are changed at random; a change that keeps all tests is kept. Such an
//! input is run as it is: it must end in the same way, and without relaxations after the same number
//! of instructions. No solver is needed for that.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Source;
use stunt_terms::{Assignment, Evaluator};

use crate::build;
use crate::follow::Subject;

/// A program and its input.
#[derive(Clone, Copy)]
pub struct Case {
    source: &'static str,
    level: &'static str,
    input: &'static [u8; 12],
}

/// Sources and inputs.
const PROGRAMS: [(&str, &[u8; 12]); 9] = [
    ("comparisons.c", b"opalGATEkex."),
    ("clauses.c", b"\t.abx......."),
    ("clauses.c", b";;ab7-......"),
    ("switches.c", b"25?........."),
    ("reads.c", b"363........."),
    ("searches.c", b"a key; kexyz"),
    ("searches.c", b"opal, and ke"),
    ("stores.c", b"3b6!........"),
    ("lines.c", b"a b\n\tz\n7 ,~\n"),
];
/// Inputs that are run, of each.
const RUNS: usize = 60;
/// Changes that are tried before each.
const CHANGES: usize = 40;

/// All cases, with names.
pub fn cases() -> Vec<(String, Case)> {
    let mut all = Vec::new();
    for ((source, input), number) in PROGRAMS.into_iter().zip(0..) {
        for level in ["-O0", "-O1", "-O2"] {
            let name = format!("{number}-{}{level}", source.trim_end_matches(".c"));
            all.push((name, Case { source, level, input }));
        }
    }
    all
}

/// Follows a case, and runs other inputs that satisfy its tests.
pub fn check(case: &Case) -> Result<(), String> {
    let mut subject = Subject {
        program: build::build(case.source, &[case.level])?,
        words: vec![b"program".to_vec()],
        environment: Vec::new(),
        folder: build::scratch(),
        stdin: Some(case.input.to_vec()),
        most: u64::MAX,
    };
    std::fs::create_dir_all(&subject.folder).map_err(|error| error.to_string())?;
    let original = subject.run()?;
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for (name, relax) in [("path", Relaxations::NONE), ("relaxed", Relaxations::ALL)] {
        subject.stdin = Some(case.input.to_vec());
        let followed = subject.follow(&[Source::StandardInput], relax)?;
        let Some(symbolic) = followed.symbolic else { return Err("it was not followed".into()) };
        let mut evaluator = Evaluator::new();
        let mut satisfies = |input: &[u8]| {
            let assignment = Assignment::from_bytes(input.to_vec());
            evaluator.reset();
            let mut tests = symbolic.tests().iter();
            tests.all(|test| evaluator.holds(&symbolic.pool, test.condition, &assignment))
        };
        let mut input = case.input.to_vec();
        if !satisfies(&input) {
            return Err(format!("{name}: the original does not satisfy its own tests"));
        }
        for number in 0..RUNS {
            for _ in 0..CHANGES {
                let (at, value) = (rng.gen_range(0..input.len()), rng.r#gen::<u8>());
                // Small values and those of the original are as likely as all others together.
                let value = match rng.gen_range(0..3) {
                    0 => value & 0x1f,
                    1 => case.input[value as usize % case.input.len()],
                    _ => value,
                };
                let before = std::mem::replace(&mut input[at], value);
                if !satisfies(&input) {
                    input[at] = before;
                }
            }
            subject.stdin = Some(input.clone());
            let done = subject.run()?;
            if done.seen.ending != original.seen.ending {
                return Err(format!(
                    "{name}, input {number}: {:?}, the original {:?}",
                    done.seen.ending, original.seen.ending
                ));
            }
            if relax == Relaxations::NONE && done.executed != original.executed {
                return Err(format!(
                    "{name}, input {number}: {} instructions, the original {}",
                    done.executed, original.executed
                ));
            }
        }
    }
    Ok(())
}
