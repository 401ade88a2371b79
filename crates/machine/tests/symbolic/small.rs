//! Programs of our own that reach every kind of operation and every kind of input.
//!
//! Each is built with several flags and run on several inputs, with all relaxations and with none.
//! What it computes it writes, so that a wrong value shows even where no term is wrong.

use stunt_machine::symbolic::Relaxations;
use stunt_path::Source;

use crate::build;
use crate::follow::{Subject, difference};

/// A program and how it is run.
#[derive(Clone, Copy)]
pub struct Case {
    source: &'static str,
    flags: &'static [&'static str],
    level: &'static str,
    input: Via,
}

impl Case {
    fn name(&self) -> String {
        let stem = self.source.trim_end_matches(".c");
        format!("{stem}-{}-{:?}", self.level, self.input).to_lowercase()
    }
}

/// How the input reaches the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Via {
    StandardInput,
    Argument,
    Variable,
    File,
}

/// Sources, and how they are given input.
const PROGRAMS: &[(&str, &[Via])] = &[
    ("integers.c", &[Via::StandardInput]),
    ("flags.c", &[Via::StandardInput]),
    ("strings.c", &[Via::StandardInput, Via::Argument, Via::Variable]),
    ("repeats.c", &[Via::StandardInput]),
    ("tables.c", &[Via::StandardInput, Via::File]),
    ("files.c", &[Via::File]),
    ("vectors.c", &[Via::StandardInput]),
];

const FLAGS: &[(&str, &[&str])] =
    &[("O0", &["-O0"]), ("O1", &["-O1"]), ("O2", &["-O2", "-static"])];

/// All cases, with names.
pub fn cases() -> Vec<(String, Case)> {
    let mut all = Vec::new();
    for &(source, ways) in PROGRAMS {
        for &(level, flags) in FLAGS {
            for &input in ways {
                let case = Case { source, flags, level, input };
                all.push((case.name(), case));
            }
        }
    }
    all
}

/// Inputs of 64 bytes: text, numbers, all ones, and bytes without a pattern.
fn inputs() -> Vec<Vec<u8>> {
    let text = b"The ferry leaves at 17:45, pier 3; tickets cost 12.50 for Ada-L.";
    let numbers = b"0123456789-4096+65535*2147483648/18446744073709551615%7777777777";
    let mut mixed = Vec::new();
    let mut state = 0x9e37_79b9_u32;
    for _ in 0..64 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // No zero: arguments and variables end there.
        mixed.push(((state >> 24) as u8).max(1));
    }
    vec![text.to_vec(), numbers.to_vec(), vec![0xff; 64], mixed]
}

/// Follows a case on each input; it must be as without.
pub fn check(case: &Case) -> Result<(), String> {
    let program = build::build(case.source, case.flags)?;
    let folder = build::scratch().join("runs").join(case.name());
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for (input, number) in inputs().into_iter().zip(0..) {
        let mut subject = Subject {
            program: program.clone(),
            words: vec![b"program".to_vec()],
            environment: vec![b"LC_ALL=C.UTF-8".to_vec()],
            folder: folder.clone(),
            stdin: None,
            most: u64::MAX,
        };
        let place = match case.input {
            Via::StandardInput => {
                subject.stdin = Some(input);
                Source::StandardInput
            }
            Via::Argument => {
                subject.words.extend([b"-".to_vec(), input]);
                Source::Argument(2)
            }
            Via::Variable => {
                subject.environment.push([b"INPUT=", &input[..]].concat());
                Source::Variable(b"INPUT".to_vec())
            }
            Via::File => {
                std::fs::write(folder.join("input"), &input).map_err(|error| error.to_string())?;
                subject.words.push(b"input".to_vec());
                Source::File(b"input".to_vec())
            }
        };
        let plain = subject.run()?;
        if plain.seen.stdout.is_empty() {
            return Err(format!("input {number}: the program wrote nothing"));
        }
        for relax in [Relaxations::NONE, Relaxations::ALL] {
            let followed = subject.follow(std::slice::from_ref(&place), relax)?;
            if let Some(text) = difference(&plain.seen, &followed.seen) {
                return Err(format!("input {number}: {text}"));
            }
            let tests = followed.symbolic.as_ref().map_or(0, |symbolic| symbolic.tests().len());
            if tests == 0 {
                return Err(format!("input {number}: nothing was followed"));
            }
        }
    }
    Ok(())
}
