//! Runs with terms: every term has the value that it stands for, and nothing else changes.
//!
//! `checked::NAME` follows the files that a run of the tables of programs reads, and compares term
//! by term with the values of the run. The outcome must be that of a run that is not followed.
//! `own::NAME` does the same for programs that were written to reach every kind of operation,
//! `random::N` for programs made of random instructions, and `attack_signals_anywhere` for such that are
//! interrupted. `replay::NAME` runs other inputs that satisfy
//! the tests of a run: they must end as it did. `ways::NAME` sends input on ways through the
//! kernel and back: the tests must know it again. `linear` counts what a run keeps. `guarded::NAME` has
//! invalid accesses under checked memory: the tests allow what would be as invalid, and nothing else.
//! `golden::NAME` compares the conditions of small programs with text that a person has read.
//!
//! ```console
//! $ cargo nextest run -p stunt-machine --test symbolic checked::sort
//! $ cargo test -p stunt-machine --test symbolic -- --agreement [WORDS OF NAMES]
//! ```
//!
//! The second prints a line for every run of the tables: tests, time, and the first difference. With
//! `--random FIRST LAST` instead, all programs of random instructions with these seeds are followed,
//! interrupted and not; `cargo xtask soak --following` does so for a long time.

mod build;
mod checked;
mod follow;
mod golden;
mod guarded;
mod late;
mod linear;
#[path = "../programs/outcome.rs"]
#[expect(dead_code, reason = "the tests of programs use more of it")]
mod outcome;
#[path = "../programs/own.rs"]
mod own;
#[path = "../programs/place.rs"]
mod place;
mod random;
mod replay;
mod small;
#[path = "../programs/table.rs"]
#[expect(dead_code, reason = "the tests of programs use more of it")]
mod table;
mod ways;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let runs = match table::runs() {
        Ok(runs) => runs,
        Err(mistake) => {
            eprintln!("{mistake}");
            return ExitCode::FAILURE;
        }
    };
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, names)) = words.split_first().filter(|(first, _)| *first == "--agreement") {
        return checked::agreement(&runs, names);
    }
    if let [_, first, last] = &words[..]
        && words[0] == "--random"
    {
        return soak(first, last);
    }
    let mut trials = Vec::new();
    for run in runs.into_iter().filter(checked::reads_files) {
        let name = format!("checked::{}", run.name);
        trials.push(test(&name, move || checked::check(&run).map(drop)));
    }
    for (name, case) in small::cases() {
        trials.push(test(&format!("own::{name}"), move || small::check(&case)));
    }
    for seed in 0..random::PROGRAMS {
        trials.push(test(&format!("random::{seed}"), move || random::check(seed, false)));
    }
    trials.push(test("attack_signals_anywhere", attack_signals_anywhere));
    for (name, case) in replay::cases() {
        trials.push(test(&format!("replay::{name}"), move || replay::check(&case)));
    }
    trials.push(test("late", late::check));
    trials.push(test("linear", linear::check));
    for (name, case) in ways::cases() {
        trials.push(test(&format!("ways::{name}"), move || ways::check(&case)));
    }
    for (name, case) in guarded::cases() {
        trials.push(test(&format!("guarded::{name}"), move || guarded::check(&case)));
    }
    for (name, case) in golden::cases() {
        trials.push(test(&format!("golden::{name}"), move || golden::check(&case)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// No signal makes a mistake of following, wherever it comes.
fn attack_signals_anywhere() -> Result<(), String> {
    (0..random::INTERRUPTED).chain(random::FOUND).try_for_each(|seed| {
        random::check(seed, true).map_err(|text| format!("program {seed}: {text}"))
    })
}

/// Follows more random programs than there are tests, and names those that make a mistake.
fn soak(first: &str, last: &str) -> ExitCode {
    let (Ok(first), Ok(last)) = (first.parse(), last.parse()) else {
        eprintln!("--random takes two numbers");
        return ExitCode::FAILURE;
    };
    let mut wrong = 0;
    for seed in first..=last {
        for interrupted in [false, true] {
            let outcome = std::panic::catch_unwind(|| random::check(seed, interrupted));
            if let Err(text) = outcome.unwrap_or_else(|_| Err("a panic".to_owned())) {
                eprintln!("program {seed}, interrupted {interrupted}: {text}");
                wrong += 1;
            }
        }
    }
    println!("{wrong} mistakes in programs {first} to {last}");
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn test(name: &str, work: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(name, move || work().map_err(Failed::from))
}
