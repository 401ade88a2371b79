//! The table of the subjects that nobody tuned to, as data: `subjects/fresh/fresh.table`.
//!
//! Two chores read it: the evaluation runs what it lists, and tidy compares it with the folders. It knows
//! how a row is written, not what it is good for.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Where it is, relative to the root.
pub const TABLE: &str = "subjects/fresh/fresh.table";

/// A run: a block of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// What the block is called: the subject, what its input is (private or healthy), and for C the level
    /// of optimisation.
    pub name: String,
    /// The folder of the subject, below `subjects`.
    pub folder: String,
    /// The program that was built for it; a program of Debian has none.
    pub program: Option<String>,
    /// The package of a program of Debian, and its version.
    pub debian: Option<(String, String)>,
    /// What kind of document it is; private ones have it.
    pub format: Option<String>,
    /// The command; `@` is the program that was built.
    pub run: String,
    /// What standard error has in it.
    pub says: Option<String>,
    /// How it ends, if not with 0: `exit N` or `signal N`.
    pub ends: Option<String>,
}

/// Reads the table.
pub fn read(root: &Path) -> Result<Vec<Row>> {
    let text = fs::read_to_string(root.join(TABLE)).with_context(|| format!("reading {TABLE}"))?;
    parse(&text)
}

/// The rows of a table.
fn parse(text: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for block in text.split("\n[").skip(1) {
        let (name, rest) = block.split_once(']').context("a block without a name")?;
        let value = |key: &str| {
            let line = rest.lines().find_map(|line| line.strip_prefix(key));
            line.map(|value| value.trim().to_owned())
        };
        let subject = value("subject:").with_context(|| format!("{name} has no subject"))?;
        let (folder, program) = match subject.split_once(' ') {
            Some((folder, program)) => (folder.to_owned(), Some(program.to_owned())),
            None => (subject, None),
        };
        let debian = value("debian:");
        let debian = debian.as_deref().and_then(|it| it.split_once(' '));
        rows.push(Row {
            name: name.to_owned(),
            folder,
            program,
            debian: debian.map(|(package, version)| (package.to_owned(), version.to_owned())),
            format: value("format:"),
            run: value("run:").with_context(|| format!("{name} has no command"))?,
            says: value("says:"),
            ends: value("ends:"),
        });
    }
    Ok(rows)
}

impl Row {
    /// The name of the subject, which is that of its folder.
    pub fn subject(&self) -> &str {
        self.folder.rsplit('/').next().unwrap_or_default()
    }

    /// Whether its input is the one that fails.
    pub fn is_private(&self) -> bool {
        self.input().is_some_and(|input| input.starts_with("private."))
    }

    /// The name of its input.
    pub fn input(&self) -> Option<&str> {
        let kinds = ["private.", "healthy."];
        self.run.split_whitespace().find(|word| kinds.iter().any(|kind| word.starts_with(kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_a_row() {
        let text = "# about\n\n[a-private-O1]\nsubject: fresh/c/a a-O1\nformat: XML\n\
                    run: @ private.xml\nends: signal 11\n\n[b-healthy]\ndebian: b-utils 1.0-2\n\
                    subject: fresh/c/b\nrun: b -x healthy.b\n";
        let rows = parse(text).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].subject(), rows[0].program.as_deref()), ("a", Some("a-O1")));
        assert!(rows[0].is_private() && !rows[1].is_private());
        assert_eq!(rows[0].ends.as_deref(), Some("signal 11"));
        assert_eq!(rows[1].debian, Some(("b-utils".to_owned(), "1.0-2".to_owned())));
        assert_eq!((rows[1].input(), &rows[1].ends), (Some("healthy.b"), &None));
        assert!(parse("\n[c]\nrun: c").is_err());
    }
}
