//! Real programs must do the same in the machine as on the host.
//!
//! The tables beside this file list the runs; each is a test of its own. `native::NAME` runs the
//! program twice on the host: a run that is not the same both times could prove nothing.
//! `machine::NAME` compares the host with the machine: output, ending, files. `crash::NAME` compares
//! where a run dies that a signal ends.
//!
//! ```console
//! $ cargo nextest run -p stunt-machine --test programs native::sort
//! $ cargo test -p stunt-machine --test programs -- --agreement [WORDS OF NAMES]
//! ```
//!
//! The second prints a line for every run: whether it agrees, and the first difference if not.

mod crash;
mod machine;
mod native;
mod outcome;
mod own;
mod place;
#[path = "../../../unwind/tests/stack/native.rs"]
#[expect(dead_code, reason = "the tests of call stacks use more of it")]
mod stopped;
mod table;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use table::Run;

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
        return agreement(&runs, names);
    }
    let mut trials = vec![
        test("table::parser", table::check),
        test("table::size", {
            let runs = runs.clone();
            move || large_enough(&runs)
        }),
        test("outcome::differences", {
            let run = runs[0].clone();
            move || outcome::check(&run)
        }),
    ];
    for run in runs {
        let again = run.clone();
        trials.push(test(&format!("machine::{}", run.name), move || compare(&again)));
        if crash::is_one(&run) {
            let again = run.clone();
            trials.push(test(&format!("crash::{}", run.name), move || crash::compare(&again)));
        }
        trials.push(test(&format!("native::{}", run.name), move || twice_the_same(&run)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn test(name: &str, work: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(name, move || work().map_err(Failed::from))
}

/// The host agrees with the table and with itself.
fn twice_the_same(run: &Run) -> Result<(), String> {
    let place = place::prepare(run, "native")?;
    let first = native::run_natively(&place)?;
    if first.ending != run.ends {
        let stderr = String::from_utf8_lossy(&first.stderr);
        return Err(format!("{:?}, not {:?}\n{stderr}", first.ending, run.ends));
    }
    let stderr = String::from_utf8_lossy(&first.stderr);
    if let Some(words) = run.says.as_ref().filter(|words| !stderr.contains(words.as_str())) {
        return Err(format!("`{words}` is not on standard error:\n{stderr}"));
    }
    place::refresh(run, &place).map_err(|error| error.to_string())?;
    let second = native::run_natively(&place)?;
    outcome::differences(run, ("first", &first), ("second", &second)).map_or(Ok(()), Err)
}

/// The machine agrees with the host, and leaves the host's files alone.
fn compare(run: &Run) -> Result<(), String> {
    let place = place::prepare(run, "machine")?;
    let before = outcome::files_below(&place.folder).map_err(|error| error.to_string())?;
    let machine = machine::run_in_machine(&place)?;
    let after = outcome::files_below(&place.folder).map_err(|error| error.to_string())?;
    if before != after {
        return Err("the machine's run changed files of the host".to_string());
    }
    let native = native::run_natively(&place)?;
    outcome::differences(run, ("native", &native), ("machine", &machine)).map_or(Ok(()), Err)
}

/// Prints which runs agree; all of them, or those whose name has one of the words in it.
fn agreement(runs: &[Run], names: &[String]) -> ExitCode {
    let chosen = |run: &&Run| names.is_empty() || names.iter().any(|name| run.name.contains(name));
    let (mut agreeing, mut all) = (0, 0);
    for run in runs.iter().filter(chosen) {
        all += 1;
        // A mistake in the machine may be a panic; the list goes on.
        let result = std::panic::catch_unwind(|| compare(run));
        match result.unwrap_or_else(|_| Err("the machine panicked".to_string())) {
            Ok(()) => {
                agreeing += 1;
                println!("agrees   {}", run.name);
            }
            Err(text) => println!("differs  {:<24} {}", run.name, text.replace('\n', "\n    ")),
        }
    }
    println!("{agreeing} of {all} agree");
    if agreeing == all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The tables stay a fair sample: at least 100 runs of at least 70 programs of Debian.
fn large_enough(runs: &[Run]) -> Result<(), String> {
    let programs: std::collections::BTreeSet<&str> = runs
        .iter()
        .filter(|run| run.own.is_none())
        .filter_map(|run| match &run.command {
            table::Command::Words(words) => words.first().map(String::as_str),
            table::Command::Script(_) => None,
        })
        .collect();
    if runs.len() < 100 || programs.len() < 70 {
        return Err(format!("{} runs of {} programs", runs.len(), programs.len()));
    }
    Ok(())
}
