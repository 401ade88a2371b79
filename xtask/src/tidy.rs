//! `cargo xtask tidy`: the rules of the house that no compiler knows.
//!
//! What is checked:
//! 1. every Rust file opens with a module doc (`//!`);
//! 2. no file has more than 1,000 lines, unless it holds the line `// tidy: table`;
//! 3. a reminder for later (the three usual words in capitals) gives its reason in parentheses;
//! 4. no white space at the end of a line, and no tab in a Rust file;
//! 5. every golden file has a test that names it together with the variable that rewrites it;
//! 6. the doc of every crate says what the crate must not know;
//! 7. links in Markdown files to files of the project lead somewhere;
//! 8. every test whose name says that it is an attack has a row in SECURITY.md, and every row a test;
//! 9. the subjects that nobody tuned to have a table, folders and exact versions that belong together.
//!
//! The checks look at text only; they never build anything. They run as a test, too.

mod attacks;
mod fresh;
mod golden;
mod links;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::files;

pub use golden::{BLESS, tests_that_bless};

/// The longest file that is not a table.
const MOST_LINES: usize = 1000;
const TABLE: &str = "// tidy: table";
/// Split, so that this file does not break its own rule.
const REMINDERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
/// Kinds of files whose lines are looked at.
const TEXT: [&str; 6] = ["rs", "md", "toml", "py", "sh", "yml"];

/// A text file of the project.
pub struct Source {
    /// Where it is, relative to the root.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// Checks, and says so.
pub fn run() -> Result<()> {
    check()?;
    eprintln!("tidy: all rules hold");
    Ok(())
}

/// Checks all rules; the error lists everything that is wrong.
pub fn check() -> Result<()> {
    let problems = problems(&files::root())?;
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{}\n{} problems; to repeat: cargo xtask tidy", problems.join("\n"), problems.len())
}

fn problems(root: &Path) -> Result<Vec<String>> {
    let paths = files::all(root)?;
    let mut problems = Vec::new();
    let mut sources = Vec::new();
    for path in &paths {
        let text = TEXT.iter().any(|extension| files::has_extension(path, extension));
        if text || path.starts_with(".ci") {
            let full = root.join(path);
            let text =
                fs::read_to_string(&full).with_context(|| format!("reading {}", full.display()))?;
            sources.push(Source { path: path.clone(), text });
        }
    }
    for source in &sources {
        check_lines(source, &mut problems);
        if files::has_extension(&source.path, "rs") {
            check_rust(source, &mut problems);
        }
        if files::has_extension(&source.path, "md") {
            links::check(root, source, &mut problems);
        }
    }
    golden::check(&paths, &sources, &mut problems);
    attacks::check(&sources, &mut problems);
    fresh::check(root, &paths, &mut problems)?;
    Ok(problems)
}

fn check_lines(source: &Source, problems: &mut Vec<String>) {
    let path = source.path.display();
    let count = source.text.lines().count();
    if count > MOST_LINES && !source.text.lines().any(|line| line.trim() == TABLE) {
        problems.push(format!(
            "{path}: {count} lines; split it, or mark a table with a line `{TABLE}`"
        ));
    }
    for (number, line) in (1..).zip(source.text.lines()) {
        if line.ends_with([' ', '\t']) {
            problems.push(format!("{path}:{number}: white space at the end of the line"));
        }
        if files::has_extension(&source.path, "rs") && line.contains('\t') {
            problems.push(format!("{path}:{number}: a tab; use spaces, or \\t in a string"));
        }
        for word in REMINDERS {
            if has_reminder_without_reason(line, word) {
                problems.push(format!("{path}:{number}: {word} without a reason: {word}(reason)"));
            }
        }
    }
}

/// Whether `word` stands alone in the line and no reason in parentheses follows it.
fn has_reminder_without_reason(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let alone = !before.ends_with(part_of_word) && !after.starts_with(part_of_word);
        let reason = after.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        alone && reason.is_none_or(|(reason, _)| reason.trim().is_empty())
    })
}

fn check_rust(source: &Source, problems: &mut Vec<String>) {
    let path = source.path.display();
    if !source.text.starts_with("//!") {
        problems.push(format!("{path}: does not open with a module doc (`//!`)"));
    }
    let is_crate = source.path.starts_with("crates") && source.path.ends_with("src/lib.rs");
    let doc: Vec<&str> = source
        .text
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .map(|line| line.trim_start_matches("//!").trim())
        .collect();
    if is_crate && !doc.join(" ").contains("must not know") {
        problems.push(format!("{path}: the crate's doc does not say what it \"must not know\""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_tidy() {
        let problems = problems(&files::root()).unwrap();
        assert!(problems.is_empty(), "cargo xtask tidy:\n{}", problems.join("\n"));
    }

    fn complaints(path: &str, text: &str) -> usize {
        let source = Source { path: path.into(), text: text.to_string() };
        let mut problems = Vec::new();
        check_lines(&source, &mut problems);
        if path.ends_with(".rs") {
            check_rust(&source, &mut problems);
        }
        problems.len()
    }

    #[test]
    fn untidy_files_are_found() {
        assert_eq!(complaints("a.rs", "//! Doc.\n"), 0);
        assert_eq!(complaints("a.rs", "use x;\n//! Doc.\n"), 1);
        assert_eq!(complaints("a.rs", "//! Doc. \n"), 1);
        assert_eq!(complaints("a.rs", "//! Doc.\n\tx\n"), 1);
        assert_eq!(complaints("a.md", "\tx\n"), 0);
        assert_eq!(complaints("crates/a/src/lib.rs", "//! Doc.\n"), 1);
        assert_eq!(complaints("crates/a/src/lib.rs", "//! It must not\n//! know b.\n"), 0);
        let long = "//! Doc.\n".repeat(MOST_LINES + 1);
        assert_eq!(complaints("a.rs", &long), 1);
        assert_eq!(complaints("a.rs", &format!("{long}{TABLE}\n")), 0);
    }

    #[test]
    fn reminders_need_a_reason() {
        let word = REMINDERS[0];
        assert!(has_reminder_without_reason(&format!("// {word}: later"), word));
        assert!(has_reminder_without_reason(&format!("{word}( ) later"), word));
        assert!(has_reminder_without_reason(&format!("{word}(why) and {word}"), word));
        assert!(!has_reminder_without_reason(&format!("// {word}(waits for x): later"), word));
        assert!(!has_reminder_without_reason(&format!("A{word}"), word));
        assert!(!has_reminder_without_reason(&format!("{word}X"), word));
    }
}
