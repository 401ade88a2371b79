//! `cargo xtask eval --fresh`: doubles of crashes that nobody tuned the search to.
//!
//! The subjects in `subjects/fresh` are run by this and by nothing else. Their table stands beside that of
//! the other subjects in the document of benchmarks, and ends with the factor between the two means: a
//! method that was fitted to what it was developed on has a large one. The default algorithm makes the
//! doubles, whichever that is. Before, every run of the table must end as the table says, because no test
//! runs these programs.

use std::fmt::Write;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{
    Arguments, Cell, cases, leak, number, percent, residue, seconds, size, tells, verified, words,
};
use crate::fresh::{self, Row};
use crate::step::Step;
use crate::subjects::{self, Set};
use crate::{bench, files, packages};

/// What came of a subject.
struct Outcome {
    /// Name, format, bytes, and how it ends.
    head: String,
    cell: Cell,
}

/// Builds, runs everything, prints the table, and on request writes it.
pub fn run(arguments: &Arguments) -> Result<()> {
    let rows = fresh::read(&files::root())?;
    install(&rows)?;
    subjects::fresh()?;
    Step::cargo("build", &["build", "--release", "--package", "stunt"]).run()?;
    for row in &rows {
        check(row).with_context(|| format!("{} is not as {} says", row.name, fresh::TABLE))?;
    }
    let text = fs::read_to_string(files::root().join(fresh::TABLE))?;
    let mut outcomes = Vec::new();
    for case in cases(Set::Fresh, &text).into_iter().filter(|case| arguments.wants(case)) {
        eprintln!("evaluating {}", case.name);
        let row = rows.iter().find(|row| row.name == case.name).context("a case without a row")?;
        let format = row.format.as_deref().unwrap_or_default();
        let ends = row.ends.as_deref().unwrap_or_default();
        let bytes = size(&case).context("an input is absent")?;
        let head = format!("{} | {format} | {bytes} | {ends}", row.subject());
        let outcome = Outcome { head, cell: case.evaluate(None) };
        eprintln!("{}", outcome.line());
        outcomes.push(outcome);
    }
    let table = table(&outcomes, known(&bench::written("subjects")?));
    println!("{table}");
    if arguments.write {
        bench::write("fresh", &table)?;
    }
    Ok(())
}

/// Installs the packages that the table names, and makes sure that they are of the versions it names.
fn install(rows: &[Row]) -> Result<()> {
    let pins: Vec<&(String, String)> = rows.iter().filter_map(|row| row.debian.as_ref()).collect();
    let mut names: Vec<String> = pins.iter().map(|(package, _)| package.clone()).collect();
    names.sort();
    names.dedup();
    packages::install(&packages::absent(&names))?;
    for (package, version) in pins {
        let query = ["--show", "--showformat", "${Version}", package];
        let output = Command::new("dpkg-query").args(query).output().context("asking dpkg")?;
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(found == *version, "{package} is {found}; the subject is version {version}");
    }
    Ok(())
}

/// Runs the program as it is, and compares how it ends.
fn check(row: &Row) -> Result<()> {
    let mut words = words(&row.run).into_iter();
    let first = words.next().context("an empty command")?;
    let program = match &row.program {
        Some(program) if first == "@" => Set::Fresh.target().join("bin").join(program),
        _ => first.into(),
    };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    command.current_dir(files::root().join("subjects").join(&row.folder).join("inputs"));
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let ends = match (output.status.code(), output.status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit {code}")),
        (None, signal) => Some(format!("signal {}", signal.unwrap_or_default())),
    };
    ensure!(ends == row.ends, "it ended so: {}", output.status);
    if let Some(says) = &row.says {
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(said.contains(says), "it did not say {says}");
    }
    Ok(())
}

impl Outcome {
    /// Its row of the table.
    fn line(&self) -> String {
        match &self.cell {
            Cell::Done(it, _) => format!(
                "| {} | {} | {:.1} | {:.1} | {:.1} | {:.2} | {} | {} |",
                self.head,
                leak(&it["leak"]),
                percent(it),
                tells(it),
                residue(it),
                seconds(it),
                it["double"]["bytes"],
                verified(&it["verified"])
            ),
            Cell::Failed(why) => format!("| {} | {why} | – | – | – | – | – | no |", self.head),
        }
    }

    fn done(&self) -> Option<&Value> {
        match &self.cell {
            Cell::Done(it, _) => Some(it),
            Cell::Failed(_) => None,
        }
    }
}

/// The table, with means, medians, and the factor to the mean of the other subjects.
fn table(outcomes: &[Outcome], known: Option<f64>) -> String {
    let done: Vec<&Value> = outcomes.iter().filter_map(Outcome::done).collect();
    let algorithm = done.first().and_then(|it| it["algorithm"].as_str()).unwrap_or("default");
    let mut text = format!(
        "| subject | format | bytes | ends | {algorithm}, bits | % | tells, % | same, % | s | double, bytes | verified |\n\
         |---|---|---:|---|---:|---:|---:|---:|---:|---:|---|\n"
    );
    for outcome in outcomes {
        text += &outcome.line();
        text.push('\n');
    }
    let columns: [fn(&Value) -> f64; 6] = [
        |it| number(&it["leak"]["bits"]),
        percent,
        tells,
        residue,
        seconds,
        |it| number(&it["double"]["bytes"]),
    ];
    let columns = columns.map(|column| done.iter().map(|it| column(it)).collect::<Vec<f64>>());
    for (name, of) in [("mean", mean as fn(&[f64]) -> f64), ("median", median)] {
        let [bits, leak, told, same, time, bytes] = columns.each_ref().map(|column| of(column));
        let _ = writeln!(
            text,
            "| {name} | | | | {bits:.1} | {leak:.1} | {told:.1} | {same:.1} | {time:.2} | {bytes:.0} | |"
        );
    }
    let leaks = &columns[1];
    let _ = write!(text, "\nMean leak {:.2} %, median {:.2} %", mean(leaks), median(leaks));
    let absent = outcomes.len() - done.len();
    if absent > 0 {
        let all: Vec<f64> = leaks.iter().copied().chain(vec![100.0; absent]).collect();
        let _ = write!(text, "; {absent} of {} have no double", outcomes.len());
        let _ = write!(text, ", and with 100 % for each the mean is {:.2} %", mean(&all));
    }
    if let Some(known) = known {
        let factor = mean(leaks) / known;
        let _ = write!(text, ". The other subjects, each program once: {known:.2} %. ");
        let _ = write!(text, "Factor between the means: {factor:.2}");
    }
    text + "."
}

/// The mean leak of the default algorithm in the table of the other subjects, in percent: the last
/// algorithm there. Each program counts once, without the failure that only checked memory shows.
fn known(table: &str) -> Option<f64> {
    let leaks: Vec<f64> = table
        .lines()
        .filter(|line| line.contains("-private") && !line.contains("-O2 |"))
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            // … bits | % | tells | same | s | verified | and what is behind the last mark
            cells.len().checked_sub(6).and_then(|at| cells[at].parse().ok())
        })
        .collect();
    (!leaks.is_empty()).then(|| mean(&leaks))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle one, or the mean of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => f64::NAN,
        (count, middle) if count % 2 == 1 => values[middle],
        (_, middle) => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(name: &str, percent: f64) -> Outcome {
        let it = serde_json::json!({
            "algorithm": "weaken",
            "double": { "bytes": 120 },
            "residue_percent": 1.5,
            "leak": { "bits": percent * 10.0, "percent": percent, "kind": "at-most" },
            "tells": { "bits": percent * 5.0, "kind": "at-most" },
            "verified": { "native": true, "runs": 3 },
            "seconds": { "total": 2.5 },
        });
        Outcome { head: format!("{name} | XML | 125 | signal 6"), cell: Cell::Done(it, 70) }
    }

    #[test]
    fn the_table_has_means_medians_and_the_factor() {
        let failed = Cell::Failed("exit 5: no double".to_owned());
        let failed = Outcome { head: "c | DER | 700 | exit 101".to_owned(), cell: failed };
        let text =
            table(&[outcome("a", 2.0), outcome("b", 5.0), outcome("d", 8.0), failed], Some(2.5));
        let lines: Vec<&str> = text.lines().collect();
        let columns = |line: &str| line.matches('|').count();
        assert!(lines[..8].iter().all(|line| columns(line) == columns(lines[0])), "{text}");
        assert!(lines[0].contains("| weaken, bits |"), "{text}");
        assert!(
            lines[2].contains("| ≤ 20.0 | 2.0 | 1.0 | 1.5 | 2.50 | 120 | 3 native runs |"),
            "{text}"
        );
        assert!(lines[5].contains("| exit 5: no double | – |"), "{text}");
        assert!(lines[6].starts_with("| mean | | | | 50.0 | 5.0 |"), "{text}");
        assert!(lines[7].starts_with("| median | | | | 50.0 | 5.0 |"), "{text}");
        assert!(
            text.contains("1 of 4 have no double, and with 100 % for each the mean is 28.75 %")
        );
        assert!(text.ends_with("2.50 %. Factor between the means: 2.00."), "{text}");
    }

    #[test]
    fn the_mean_of_the_others_counts_each_program_once() {
        let table = "| subject | bytes | castro, bits | % | tells, % | same, % | s | weaken, bits | % | tells, % | same, % | s | verified |\n\
                     | a-private | 9 | 1 | 30.0 | 9 | 2 | 1 | ≈ 3 | 2.0 | 1.0 | 0.9 | 13.86 | 3 native runs |\n\
                     | b-private-O1 | 9 | 1 | 30.0 | 9 | 2 | 1 | ≈ 3 | 4.0 | 1.0 | 0.9 | 13.86 | 3 native runs |\n\
                     | b-private-O2 | 9 | 1 | 30.0 | 9 | 2 | 1 | ≈ 3 | 9.0 | 1.0 | 0.9 | 13.86 | 3 native runs |\n\
                     | c-silent-O1 | 9 | 1 | 30.0 | 9 | 2 | 1 | ≈ 3 | 9.0 | 1.0 | 0.9 | 13.86 | 3 native runs |\n";
        assert_eq!(known(table), Some(3.0));
        assert_eq!(known(""), None);
    }

    #[test]
    fn every_fresh_subject_is_evaluated_once() {
        let text = fs::read_to_string(files::root().join(fresh::TABLE)).unwrap();
        let rows = fresh::read(&files::root()).unwrap();
        let cases = cases(Set::Fresh, &text);
        let mut names: Vec<&str> = rows.iter().map(Row::subject).collect();
        names.dedup();
        assert_eq!(cases.len(), names.len());
        for case in &cases {
            assert!(rows.iter().any(|row| row.name == case.name && row.is_private()), "{case:?}");
            assert_eq!(case.command.iter().filter(|word| *word == "@@").count(), 1, "{case:?}");
        }
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert!(median(&[]).is_nan());
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0])), (2.0, 2.5));
    }
}
