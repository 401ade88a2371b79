//! `cargo xtask bless`: accept what the golden tests print now.
//!
//! It finds the integration tests that name the bless variable, and runs each with it set. Look
//! at the difference before you commit it: a blessed file says "this is right".

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::step::Step;
use crate::tidy::{self, BLESS};
use crate::{borders, files, tools};

/// Runs every golden test with the bless variable set.
pub fn run() -> Result<()> {
    for (package, test) in golden_tests()? {
        eprintln!("blessing the golden files of {package} --test {test}");
        Step::cargo("bless", &["test", "--package", &package, "--test", &test])
            .with(BLESS, "1")
            .with("STUNT_PYTHON", tools::python().to_string_lossy())
            .run()?;
    }
    eprintln!("now look at `git diff`");
    Ok(())
}

/// The integration tests that name the bless variable: package and test.
fn golden_tests() -> Result<Vec<(String, String)>> {
    let root = files::root();
    let mut sources = Vec::new();
    for path in files::all(&root)? {
        if files::has_extension(&path, "rs") && !path.starts_with("xtask") {
            let text = fs::read_to_string(root.join(&path))
                .with_context(|| format!("reading {}", path.display()))?;
            sources.push(tidy::Source { path, text });
        }
    }
    let packages = borders::packages()?;
    let with_package = |(folder, test): (PathBuf, String)| {
        let package = packages
            .iter()
            .find(|package| package.folder == folder)
            .with_context(|| format!("{} is not the folder of a package", folder.display()))?;
        Ok((package.name.clone(), test))
    };
    tidy::tests_that_bless(&sources).into_iter().map(with_package).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn golden_tests_are_found_in_the_root_and_below() {
        let tests = super::golden_tests().unwrap();
        for (package, test) in [("stunt", "cli"), ("stunt-terms", "golden")] {
            let test = (package.to_string(), test.to_string());
            assert!(tests.contains(&test), "{test:?} is not in {tests:?}");
        }
    }
}
