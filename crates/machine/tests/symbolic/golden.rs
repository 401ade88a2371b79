//! Conditions of small programs, as text that a person has read: one program for each relaxation,
//! at three levels of optimisation, with the relaxation and without.
//!
//! A test that depends on one byte is shown as the values that the byte may have, which no compiler
//! changes; others as terms. Addresses are not shown. `STUNT_BLESS=1` rewrites the files in
//! `golden/`; whoever does that reads the difference.

use std::fmt::Write as _;
use std::fs;

use stunt_machine::linux::Ending;
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_path::{Source, Test, TestKind};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, smtlib};

use crate::build;
use crate::follow::Subject;

/// A program, its input, and all relaxations but the one that it is about.
#[derive(Clone, Copy)]
pub struct Case {
    /// The golden file, which has the name of the program.
    file: &'static str,
    input: &'static [u8; 12],
    without: Relaxations,
}

const CASES: [Case; 5] = [
    Case {
        file: "comparisons.txt",
        input: b"opalGATEkex.",
        without: Relaxations { comparisons: false, ..Relaxations::ALL },
    },
    Case {
        file: "clauses.txt",
        input: b"\t.abx.......",
        without: Relaxations { clauses: false, ..Relaxations::ALL },
    },
    Case {
        file: "switches.txt",
        input: b"25?.........",
        without: Relaxations { switches: false, ..Relaxations::ALL },
    },
    Case {
        file: "reads.txt",
        input: b"363.........",
        without: Relaxations { reads: false, ..Relaxations::ALL },
    },
    Case {
        file: "stores.txt",
        input: b"3b6!........",
        without: Relaxations { reads: false, ..Relaxations::ALL },
    },
];

impl Case {
    /// The name of the program.
    fn name(&self) -> &'static str {
        self.file.trim_end_matches(".txt")
    }
}

/// All cases, with names.
pub fn cases() -> Vec<(String, Case)> {
    CASES.iter().map(|&case| (case.name().to_owned(), case)).collect()
}

/// Compares with the golden file.
pub fn check(case: &Case) -> Result<(), String> {
    let mut text = String::new();
    for level in ["-O0", "-O1", "-O2"] {
        for (words, relax) in [("relaxed", Relaxations::ALL), ("without", case.without)] {
            let _ = writeln!(text, "## {level}, {words}");
            text += &conditions(case, level, relax)?;
            text.push('\n');
        }
    }
    let path = build::home().join("golden").join(case.file);
    if std::env::var_os("STUNT_BLESS").is_some() {
        return fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    if known == text {
        return Ok(());
    }
    let (path, same) = (path.display(), known.lines().zip(text.lines()));
    let at = same.take_while(|(a, b)| a == b).count();
    let (old, new) = (known.lines().nth(at), text.lines().nth(at));
    Err(format!(
        "{path}, line {}:\n  was {old:?}\n  is  {new:?}\nIf this is right, run with STUNT_BLESS=1.",
        at + 1
    ))
}

/// The tests of a run, a line each, and how it ended.
fn conditions(case: &Case, level: &str, relax: Relaxations) -> Result<String, String> {
    let flags = [level, "-fcf-protection=none", "-fno-stack-protector"];
    let program = build::build(&format!("{}.c", case.name()), &flags)?;
    let (Some(folder), Some(name)) = (program.parent(), program.file_name()) else {
        return Err(format!("{} is no program", program.display()));
    };
    let subject = Subject {
        // By its name alone: a path lies on the program's stack, and so moves its arrays, which the
        // C library compares in other steps where they lie otherwise.
        program: name.into(),
        words: vec![b"program".to_vec()],
        environment: Vec::new(),
        folder: folder.to_owned(),
        stdin: Some(case.input.to_vec()),
        most: u64::MAX,
    };
    let done = subject.follow(&[Source::StandardInput], relax)?;
    let Ending::Exited(code) = done.seen.ending else {
        return Err(format!("it ends as {:?}", done.seen.ending));
    };
    let Some(symbolic) = done.symbolic else { return Err("it was not followed".to_owned()) };
    let mut text = String::new();
    for test in symbolic.tests() {
        let _ = writeln!(text, "{}", line(&symbolic, test));
    }
    let _ = writeln!(text, "exit {code}");
    Ok(text)
}

fn line(symbolic: &Symbolic, test: &Test) -> String {
    let kind = match test.kind {
        TestKind::Pin(why) => format!("pin ({why})"),
        kind => format!("{kind:?}").to_lowercase(),
    };
    let pool = &symbolic.pool;
    match pool.support(test.condition).single() {
        Some(byte) => format!("{kind}: byte {} is {}", byte.offset, allowed(pool, test, byte)),
        None => format!("{kind}: {}", smtlib::print_term(pool, test.condition)),
    }
}

/// The values of a byte that satisfy a test, as runs.
fn allowed(pool: &Pool, test: &Test, byte: InputByte) -> String {
    let mut evaluator = Evaluator::new();
    let mut assignment = Assignment::new();
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for value in 0..=255u8 {
        assignment.set(byte, value);
        evaluator.reset();
        if !evaluator.holds(pool, test.condition, &assignment) {
            continue;
        }
        match runs.last_mut() {
            Some((_, last)) if u16::from(*last) + 1 == u16::from(value) => *last = value,
            _ => runs.push((value, value)),
        }
    }
    let one = |value: u8| match value {
        b'!'..=b'~' => format!("'{}'", char::from(value)),
        _ => format!("{value:02x}"),
    };
    let runs: Vec<String> = runs
        .into_iter()
        .map(|(first, last)| match first == last {
            true => one(first),
            false => format!("{}-{}", one(first), one(last)),
        })
        .collect();
    runs.join(" ")
}
