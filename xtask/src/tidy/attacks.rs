//! Attacks and promises: every test that is an attack has a row in the document, and every row a test.
//!
//! Looks at the text of sources alone; whether an attack fails is for the tests to say.

use std::collections::BTreeSet;
use std::path::Path;

use super::Source;
use crate::attack::{DOCUMENT, PREFIX, rows};
use crate::files;

/// Compares tests and rows, in both directions.
pub fn check(sources: &[Source], problems: &mut Vec<String>) {
    let Some(document) = sources.iter().find(|source| source.path == Path::new(DOCUMENT)) else {
        problems.push(format!("{DOCUMENT} is absent"));
        return;
    };
    let listed = match rows(&document.text) {
        Ok(rows) => rows,
        Err(error) => return problems.push(error.to_string()),
    };
    let mut rows = BTreeSet::new();
    for row in listed {
        if !rows.insert(row.test.clone()) {
            problems.push(format!("{DOCUMENT}: two rows for {}", row.test));
        }
    }
    let tests: BTreeSet<String> = sources
        .iter()
        .filter(|source| files::has_extension(&source.path, "rs"))
        .flat_map(|source| functions(&source.text))
        .collect();
    for test in tests.difference(&rows) {
        problems.push(format!("{DOCUMENT}: no row for the test {test}"));
    }
    for test in rows.difference(&tests) {
        problems.push(format!("{DOCUMENT}: no test is called {test}"));
    }
}

/// The names of the tests of a file that are attacks: functions, or names that a test runner is given.
fn functions(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| {
        let function = line.trim_start().trim_start_matches("pub ").trim_start_matches("async ");
        let function = function.strip_prefix("fn ");
        let given = line.trim_start().strip_prefix("trials.push(test(\"");
        let name = function.or(given)?.split(['(', '<', '"']).next()?;
        name.starts_with(PREFIX).then(|| name.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_tests_need_each_other() {
        let complaints = |row: &str, code: &str| {
            let table = format!("<!-- attacks:a -->\n{row}\n<!-- /attacks -->\n");
            let sources = [
                Source { path: DOCUMENT.into(), text: table },
                Source { path: "a.rs".into(), text: code.to_string() },
            ];
            let mut problems = Vec::new();
            check(&sources, &mut problems);
            problems.len()
        };
        let row = "| a | b | `attack_x` | – |";
        assert_eq!(complaints(row, "fn attack_x() {"), 0);
        assert_eq!(complaints(row, "    async fn attack_x() {"), 0);
        assert_eq!(complaints(row, "fn x() {"), 1);
        assert_eq!(complaints("", "fn attack_x() {"), 1);
        assert_eq!(complaints(&format!("{row}\n{row}"), "fn attack_x() {"), 1);
    }
}
