//! `cargo xtask eval --ablate`: what each family of passes and each move is worth.
//!
//! Every one is left out in turn, over all subjects and for the default algorithm: by how much the mean leak rises,
//! and how the time changes. What is worth nothing anywhere should go. The tool itself says which there are, so none
//! can be forgotten here.

use std::fmt::Write;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Case, Cell, percent, seconds, stunt};

/// What a run over all subjects came to.
struct Whole {
    /// The leaks in percent; none where there is no double.
    leaks: Vec<Option<f64>>,
    seconds: f64,
}

/// Leaves out one after the other. Gives the table.
pub fn table(cases: &[Case]) -> Result<String> {
    let names = names()?;
    let all = over(cases, &[]);
    let mut text = String::from(
        "| without | which is for | mean leak, % | more than with it, % | worst subject, % more | seconds in all |\n\
         |---|---|---:|---:|---|---:|\n",
    );
    let _ = writeln!(text, "| nothing | | {:.2} | | | {:.0} |", mean(&all.leaks), all.seconds);
    for (name, what) in names {
        eprintln!("without {name}");
        let without = over(cases, &["--without", &name]);
        let more = mean(&without.leaks) - mean(&all.leaks);
        let worst = cases
            .iter()
            .zip(without.leaks.iter().zip(&all.leaks))
            .filter_map(|(case, (without, with))| Some((case, without.unwrap_or(100.0) - (*with)?)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let worst = worst.filter(|(_, more)| *more >= 0.05);
        let worst =
            worst.map_or_else(String::new, |(case, more)| format!("{}, {more:.1}", case.name));
        let _ = writeln!(
            text,
            "| {name} | {what} | {:.2} | {more:.2} | {worst} | {:.0} |",
            mean(&without.leaks),
            without.seconds
        );
    }
    Ok(text.trim_end().to_owned())
}

/// The families and moves, as the tool tells them.
fn names() -> Result<Vec<(String, String)>> {
    let output =
        Command::new(stunt()?).args(["anonymize", "--without", "list", "--", "true"]).output()?;
    ensure!(output.status.success(), "stunt does not say what can be left out");
    let text = String::from_utf8(output.stdout).context("stunt said no text")?;
    let pair =
        |line: &str| line.split_once('\t').map(|(name, what)| (name.to_owned(), what.to_owned()));
    text.lines().map(|line| pair(line).context("a line without a tab")).collect()
}

fn over(cases: &[Case], flags: &[&str]) -> Whole {
    let (mut leaks, mut all) = (Vec::new(), 0.0);
    for case in cases {
        match case.evaluate_with(None, flags) {
            Cell::Done(it, _) => {
                leaks.push(Some(percent(&it)));
                all += seconds(&it);
            }
            Cell::Failed(why) => {
                eprintln!("{}: {why}", case.name);
                leaks.push(None);
            }
        }
    }
    Whole { leaks, seconds: all }
}

/// What has no double counts as if it told all.
fn mean(leaks: &[Option<f64>]) -> f64 {
    leaks.iter().map(|leak| leak.unwrap_or(100.0)).sum::<f64>() / leaks.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::mean;

    #[test]
    fn no_double_counts_as_all() {
        assert_eq!(mean(&[Some(2.0), Some(4.0)]), 3.0);
        assert_eq!(mean(&[Some(0.0), None]), 50.0);
    }
}
