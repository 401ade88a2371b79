//! The searches for other paths on long ones: programs and inputs of `trace.rs`, whose runs make some
//! 100,000 tests.
//!
//! Each has a minute. What a double reveals is put beside what `castro` gives, which takes the path of
//! the original; `original_path_leak` is that figure. Nothing passes or fails by it.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

use super::trace;
use crate::files;
use crate::step::Step;

/// How large the inputs are, in KiB.
const SIZE: usize = 100;
/// How many seconds a search has.
const TIME: &str = "60";
/// The searches; each starts where it does on long paths, and from the original itself.
const SEARCHES: [&str; 5] = ["mpp", "reap-brw", "reap-bag", "reap-rm", "respa"];

/// Measures everything; the result is a table in Markdown.
pub fn measure() -> Result<String> {
    Step::cargo("build", &["build", "--release", "--package", "stunt"]).run()?;
    let folder = files::target().join("bench-trace");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut text = head();
    for name in trace::PROGRAMS {
        trace::build(&folder, name)?;
        let input = trace::input(&folder, name, SIZE)?;
        let with_starts = |search: &str| [search.to_owned(), format!("{search} --as-is")];
        for search in SEARCHES.into_iter().flat_map(with_starts) {
            eprintln!("measuring {search} on {name}, {TIME} s");
            let mut arguments = vec!["anonymize", "--json", "--seed", "1", "--time", TIME];
            arguments.extend(["--output", "double.zip", "--algorithm"]);
            arguments.extend(search.split_whitespace());
            let done = trace::once(&folder, name, &input, &arguments);
            let _ = match done {
                Ok(done) => {
                    let told = serde_json::from_str(&done.stdout)?;
                    writeln!(text, "{}", row(name, &search, &told, done.memory / 1024))
                }
                Err(error) => writeln!(text, "| {name} | {search} | {error:#} | | | | | | |"),
            };
        }
    }
    Ok(text.trim_end().to_string())
}

fn head() -> String {
    "| program | search | tests | path of the original, bits | double, bits | of it | nodes | s | MB |\n\
     |---|---|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned()
}

/// A row, from what the command told.
fn row(name: &str, search: &str, told: &Value, memory: u64) -> String {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let (own, double) =
        (number(&told["original_path_leak"]["bits"]), number(&told["leak"]["bits"]));
    let nodes = told["search"]["nodes"].as_u64();
    let nodes = nodes.map_or_else(|| "–".to_owned(), |nodes| nodes.to_string());
    format!(
        "| {name} | {search} | {} | {own:.1} | {double:.1} | {:.2} % | {nodes} | {:.1} | {memory} |",
        told["tests"],
        100.0 * double / own,
        number(&told["seconds"]["total"]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_columns_of_the_head() {
        let told = serde_json::json!({
            "tests": 133_905,
            "original_path_leak": { "bits": 2_000.0 },
            "leak": { "bits": 500.0 },
            "search": { "nodes": 7 },
            "seconds": { "total": 61.25 },
        });
        let row = row("httpd", "respa", &told, 90);
        assert_eq!(row, "| httpd | respa | 133905 | 2000.0 | 500.0 | 25.00 % | 7 | 61.2 | 90 |");
        let head = head();
        assert!(head.lines().all(|line| line.matches('|').count() == row.matches('|').count()));
    }
}
