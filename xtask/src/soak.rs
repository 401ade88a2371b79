//! `cargo xtask soak`: the comparison of the machine with the real processor, for hours if wanted.
//!
//! The ordinary tests compare each form of an instruction in some thousand states; this builds
//! them in release and compares in as many as asked for, one family of forms after the other. What a
//! family came to is written down, and a family that is done is not done again, so that a soak that
//! was stopped goes on. Forms go by their own seeds, so that a difference found here is found again by
//! the command that it prints.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::files;
use crate::step::Step;

/// The tests, the short ones first: families of forms, random bytes, and pieces of code.
const TESTS: [&str; 12] = [
    "strings",
    "control",
    "x87",
    "mmx",
    "vector",
    "float",
    "integer",
    "sequences_of_instructions_agree",
    "random_bytes_agree",
    "random_bytes_never_panic",
    "what_was_wrong_once_is_right",
    "invalid_bytes_are_invalid",
];

/// The seed of the first program that is followed.
const FIRST: u64 = 1000;

/// How much to compare.
#[derive(clap::Args)]
pub struct Arguments {
    /// States for each form of an instruction
    #[arg(long, default_value_t = 200_000)]
    states: u32,
    /// Only the forms whose codes contain this
    #[arg(long, default_value = "")]
    form: String,
    /// Instead, follow this many programs of random instructions with symbolic registers and signals
    #[arg(long, value_name = "PROGRAMS")]
    following: Option<u64>,
    /// Do again what was done before
    #[arg(long)]
    again: bool,
}

/// Compares, and stops at the first family with a difference.
pub fn run(arguments: &Arguments) -> Result<()> {
    if let Some(programs) = arguments.following {
        return following(programs);
    }
    let record = record(arguments)?;
    if arguments.again && record.exists() {
        fs::remove_file(&record).with_context(|| format!("removing {}", record.display()))?;
    }
    for test in TESTS {
        let done = fs::read_to_string(&record).unwrap_or_default();
        if let Some(line) = done.lines().find(|line| line.split(' ').next() == Some(test)) {
            eprintln!("{line} (done before; --again repeats it)");
            continue;
        }
        let begun = Instant::now();
        let filter = format!("test(={test})");
        let step = Step::cargo(
            test,
            &[
                "nextest",
                "run",
                "--release",
                "--no-capture",
                "--package=stunt-machine",
                "--test=processor",
                "-E",
                &filter,
            ],
        )
        .with("STUNT_STATES", arguments.states.to_string())
        .with("STUNT_FORM", arguments.form.as_str());
        step.run()?;
        step.quote("forms agree")?;
        let seconds = begun.elapsed().as_secs();
        let states = arguments.states;
        let line = format!("{test} {states} states each, without a difference, in {seconds} s\n");
        fs::write(&record, done + &line)
            .with_context(|| format!("writing {}", record.display()))?;
    }
    Ok(())
}

/// Follows random programs, with seeds behind those of the ordinary tests. The development profile is the
/// one that looks at overflows and widths.
fn following(programs: u64) -> Result<()> {
    let last = (FIRST + programs).to_string();
    let first = FIRST.to_string();
    let step = Step::cargo(
        "following",
        &["test", "-p", "stunt-machine", "--test=symbolic", "--", "--random", &first, &last],
    );
    step.run()?;
    step.quote("mistakes in programs")?;
    let words =
        ["nextest", "run", "-p", "stunt-machine", "--test=execution", "-E", "test(/^turns::/)"];
    let turns = Step::cargo("turns", &words).with("STUNT_TURNS", "48");
    turns.run()?;
    turns.quote("tests run:")
}

/// Where it is written down what has been compared.
fn record(arguments: &Arguments) -> Result<PathBuf> {
    let folder = files::target().join("xtask");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    Ok(folder.join(format!("soak-{}{}.txt", arguments.states, arguments.form)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_one_of_the_comparison() {
        let path = files::root().join("crates/machine/tests/processor.rs");
        let text = fs::read_to_string(path).unwrap();
        for test in TESTS {
            assert!(text.contains(&format!("fn {test}() {{")), "there is no test {test}");
        }
    }
}
