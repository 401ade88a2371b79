//! Golden files, and the tests that compare with them.
//!
//! A golden file is a `.txt`, `.json` or `.expected` file somewhere in a `tests` folder. Some
//! Rust file in that folder must name it and the variable that rewrites it, so that whoever sees
//! the test fail knows how to accept the new text. (Inputs of tests have other extensions.)

use std::path::{Path, PathBuf};

use super::Source;
use crate::files;

/// The variable that makes golden tests rewrite their files.
pub const BLESS: &str = "STUNT_BLESS";

const GOLDEN: [&str; 3] = ["txt", "json", "expected"];

/// The nearest folder above the file that is called `tests`.
fn tests_folder(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|folder| files::name(folder) == "tests")
}

/// Complains about golden files that no test names together with [`BLESS`].
pub fn check(paths: &[PathBuf], sources: &[Source], problems: &mut Vec<String>) {
    for path in paths {
        let golden = GOLDEN.iter().any(|extension| files::has_extension(path, extension));
        let Some(folder) = tests_folder(path).filter(|_| golden) else { continue };
        let name = files::name(path);
        let named = sources.iter().any(|source| {
            source.path.starts_with(folder)
                && files::has_extension(&source.path, "rs")
                && source.text.contains(&name)
                && source.text.contains(BLESS)
        });
        if !named {
            problems.push(format!(
                "{}: no test in {} names this golden file and {BLESS}",
                path.display(),
                folder.display()
            ));
        }
    }
}

/// The integration tests that name [`BLESS`], each as the folder of its package and its name: a file
/// in a `tests` folder, or a folder there with several.
pub fn tests_that_bless(sources: &[Source]) -> Vec<(PathBuf, String)> {
    let mut tests = Vec::new();
    for source in sources {
        if !files::has_extension(&source.path, "rs") || !source.text.contains(BLESS) {
            continue;
        }
        let Some(folder) = tests_folder(&source.path) else { continue };
        let Some(first) = source.path.strip_prefix(folder).ok().and_then(|it| it.iter().next())
        else {
            continue;
        };
        // A folder is a test if it has a beginning; others are shared by tests.
        let nested = source.path.parent() != Some(folder);
        let beginning = folder.join(first).join("main.rs");
        if nested && !sources.iter().any(|source| source.path == beginning) {
            continue;
        }
        let package = folder.parent().unwrap_or(Path::new("")).to_path_buf();
        let test = (package, files::name(&Path::new(first).with_extension("")));
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.to_string() }
    }

    #[test]
    fn golden_files_need_a_test_that_names_the_variable() {
        let count = |paths: &[&str], sources: &[Source]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            let mut problems = Vec::new();
            check(&paths, sources, &mut problems);
            problems.len()
        };
        let good = [source("a/tests/b.rs", "\"b.txt\" STUNT_BLESS")];
        assert_eq!(count(&["a/tests/golden/b.txt"], &good), 0);
        assert_eq!(count(&["a/tests/c.txt"], &good), 1);
        assert_eq!(count(&["other/tests/b.txt"], &good), 1);
        assert_eq!(count(&["a/tests/b.smt2", "a/b.txt"], &[]), 0);
        assert_eq!(count(&["a/tests/b.txt"], &[source("a/tests/b.rs", "\"b.txt\"")]), 1);
    }

    #[test]
    fn tests_that_bless_are_found_with_their_package() {
        let sources = [
            source("crates/a/tests/b.rs", BLESS),
            source("tests/cli.rs", BLESS),
            source("tests/common/mod.rs", BLESS),
            source("tests/other.rs", ""),
            source("tests/many/golden.rs", BLESS),
            source("tests/many/main.rs", ""),
        ];
        let expected = [("crates/a", "b"), ("", "cli"), ("", "many")]
            .map(|(package, test)| (package.into(), test.to_string()));
        assert_eq!(tests_that_bless(&sources), expected);
    }
}
