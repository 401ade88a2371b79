//! `cargo xtask attack`: every attack that SECURITY.md lists, tried again, with its outcome.
//!
//! An attack is a test whose name begins with `attack_`; it passes if the attack fails. The tables in
//! SECURITY.md are the list: this command runs just these tests and prints each row with how it went.
//! A row whose test was not run is a failure, and so is a test without a row (rule 8 of `tidy`).
//! It knows nothing of what the attacks do.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{files, tools};

/// The document with the tables.
pub const DOCUMENT: &str = "SECURITY.md";
/// How the names of tests that are attacks begin.
pub const PREFIX: &str = "attack_";
const OPEN: &str = "<!-- attacks:";
const CLOSE: &str = "<!-- /attacks -->";

/// What to do with the tables.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only attacks whose names contain one of these
    names: Vec<String>,
    /// Put the outcomes into SECURITY.md
    #[arg(long)]
    write: bool,
}

/// A row of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack {
    /// What stunt promises.
    pub promise: String,
    /// What was tried.
    pub tried: String,
    /// The name of the test, as its function is called.
    pub test: String,
}

/// All rows of all tables of the document, in order.
pub fn rows(document: &str) -> Result<Vec<Attack>> {
    let mut inside = false;
    let mut rows = Vec::new();
    for line in document.lines() {
        if line.starts_with(OPEN) || line == CLOSE {
            inside = line != CLOSE;
        } else if inside && line.starts_with('|') {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [promise, tried, test, _] = cells[..] else {
                bail!("a row of {DOCUMENT} has {} cells instead of 4: {line}", cells.len());
            };
            let test = test.trim_matches('`');
            if test.starts_with(PREFIX) {
                rows.push(Attack {
                    promise: promise.into(),
                    tried: tried.into(),
                    test: test.into(),
                });
            } else if test != "test" && test != "---" {
                bail!("{DOCUMENT} names a test that does not begin with {PREFIX}: {test}");
            }
        }
    }
    Ok(rows)
}

/// Tries the attacks; fails if one of them succeeds or was not tried.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.write && !arguments.names.is_empty() {
        bail!("only all outcomes are written: leave out the names, or --write");
    }
    let tools = tools::prepare()?;
    let path = files::root().join(DOCUMENT);
    let document = fs::read_to_string(&path).with_context(|| format!("reading {DOCUMENT}"))?;
    let wanted = |attack: &Attack| {
        let names = &arguments.names;
        names.is_empty() || names.iter().any(|name| attack.test.contains(name.as_str()))
    };
    let attacks: Vec<Attack> = rows(&document)?.into_iter().filter(wanted).collect();
    if attacks.is_empty() {
        bail!("no attack in {DOCUMENT} is called like that");
    }
    let filter: Vec<String> =
        attacks.iter().map(|attack| format!("test(/(^|::){}$/)", attack.test)).collect();
    eprintln!("trying {} attacks: this takes some minutes", attacks.len());
    let output = Command::new("cargo")
        .args(["nextest", "run", "--workspace", "--no-fail-fast", "--color=never"])
        .args(["--status-level=all", "--final-status-level=none", "-E", &filter.join(" + ")])
        .env("STUNT_PYTHON", &tools.python)
        .env("STUNT_AXE", &tools.axe)
        .current_dir(files::root())
        .stdin(Stdio::null())
        .output()
        .context("cannot start cargo")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let outcomes: Vec<&str> = attacks.iter().map(|attack| outcome(&said, &attack.test)).collect();
    println!("| promise | attack tried | test | outcome |\n| --- | --- | --- | --- |");
    for (attack, outcome) in attacks.iter().zip(&outcomes) {
        println!("{}", row(attack, outcome));
    }
    if arguments.write {
        fs::write(&path, written(&document, &attacks, &outcomes))?;
    }
    let failed = outcomes.iter().filter(|outcome| **outcome != FAILS).count();
    println!("\nattacks: {} passed, {failed} failed", attacks.len() - failed);
    if failed > 0 || !output.status.success() {
        bail!("{said}\n{failed} of {} promises do not hold", attacks.len());
    }
    Ok(())
}

const FAILS: &str = "the attack fails";

/// How a test ended, from the lines of the test runner.
fn outcome(said: &str, test: &str) -> &'static str {
    let lines = || {
        said.lines().filter(|line| {
            let name = line.rsplit(' ').next().unwrap_or_default();
            name.rsplit("::").next() == Some(test)
        })
    };
    let any = |word: &str| lines().any(|line| line.trim_start().starts_with(word));
    if any("PASS") && !any("FAIL") && !any("SIG") && !any("TIMEOUT") {
        FAILS
    } else if lines().next().is_none() {
        "not tried"
    } else {
        "**the attack succeeds**"
    }
}

fn row(attack: &Attack, outcome: &str) -> String {
    format!("| {} | {} | `{}` | {outcome} |", attack.promise, attack.tried, attack.test)
}

/// The document with these outcomes.
fn written(document: &str, attacks: &[Attack], outcomes: &[&str]) -> String {
    let mut text = String::new();
    for line in document.lines() {
        let known = attacks.iter().zip(outcomes).find(|(attack, _)| {
            line.starts_with('|') && line.contains(&format!("| `{}` |", attack.test))
        });
        match known {
            Some((attack, outcome)) => text.push_str(&row(attack, outcome)),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "x\n<!-- attacks:a -->\n| promise | attack tried | test | outcome |\n\
        | --- | --- | --- | --- |\n| kept | a lie | `attack_b` | – |\n<!-- /attacks -->\n| a | b |\n";

    #[test]
    fn rows_are_read_and_outcomes_written() {
        let attacks = rows(TEXT).unwrap();
        assert_eq!(attacks.len(), 1);
        assert_eq!(attacks[0].test, "attack_b");
        let text = written(TEXT, &attacks, &[FAILS]);
        assert!(text.contains("| kept | a lie | `attack_b` | the attack fails |\n"));
        assert!(rows(&TEXT.replace("attack_b", "b")).is_err());
    }

    #[test]
    fn a_test_that_did_not_run_or_failed_is_no_attack_that_fails() {
        let said = "    PASS [   0.010s] ( 1/2) stunt::replay attack_b\n    FAIL [   0.010s] (2/2) \
                    stunt-server tests::attack_c\n";
        assert_eq!(outcome(said, "attack_b"), FAILS);
        assert!(outcome(said, "attack_c").contains("succeeds"));
        assert_eq!(outcome(said, "attack_d"), "not tried");
    }
}
