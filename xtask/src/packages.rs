//! Debian packages: which the tests need, which of them are absent, and how they get here.
//!
//! The tables of programs name the packages of every run, so the tables are the list: a new run
//! needs no second entry. Everything that is absent is installed by one call of `apt-get`, which is
//! announced on standard error. Nothing is ever upgraded or removed.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::files;
use crate::step::Step;
use crate::tools::works;

/// What builds our own test programs and the subjects; the tables do not name it.
const BUILDING: [&str; 5] = ["gcc", "g++", "libc6-dev", "make", "zlib1g-dev"];

/// The debugger that talks to ours.
const DEBUGGING: [&str; 1] = ["gdb"];

/// The real tracker and the real browser that the ticket browser is tested with.
const SERVING: [&str; 5] =
    ["chromium-headless-shell", "fonts-dejavu-core", "puma", "redmine", "redmine-sqlite"];

/// The database that the server is tested with, beside its own.
const STORING: [&str; 1] = ["postgresql"];

/// The packages that the tables of programs name, and what builds and serves, in order.
pub fn of_tables() -> Result<Vec<String>> {
    let root = files::root();
    let fixed = BUILDING.iter().chain(&DEBUGGING).chain(&SERVING).chain(&STORING);
    let mut packages: BTreeSet<String> = fixed.map(ToString::to_string).collect();
    for path in files::all(&root)? {
        if files::has_extension(&path, "table") {
            let text = fs::read_to_string(root.join(&path))
                .with_context(|| format!("reading {}", path.display()))?;
            let values = text.lines().filter_map(|line| line.strip_prefix("package:"));
            packages.extend(values.flat_map(str::split_whitespace).map(str::to_string));
        }
    }
    Ok(packages.into_iter().collect())
}

/// Those of the packages that are not installed; all of them where there is no dpkg to ask.
pub fn absent(packages: &[String]) -> Vec<String> {
    let query = ["--show", "--showformat", "${Package} ${db:Status-Status}\n"];
    let output = Command::new("dpkg-query").args(query).args(packages).output();
    let text = output.map_or_else(|_| Vec::new(), |output| output.stdout);
    let text = String::from_utf8_lossy(&text);
    let installed: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_suffix(" installed")).collect();
    packages.iter().filter(|package| !installed.contains(package.as_str())).cloned().collect()
}

/// Installs the packages, or says how a person can.
pub fn install(packages: &[String]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let names = packages.join(" ");
    if !works(&["apt-get", "--version"]) {
        bail!(
            "the tests need {names}, and there is no apt-get to install them: please install them"
        );
    }
    let root = works(&["sh", "-c", "test $(id -u) = 0"]);
    if !root && !works(&["sudo", "-n", "true"]) {
        bail!("the tests need {names}: please run `sudo apt-get install {names}`");
    }
    eprintln!("absent, installing with apt-get: {names}");
    let apt = |name, arguments: &[&str]| {
        let all: Vec<&str> = ["apt-get"].iter().chain(arguments).copied().collect();
        let step =
            if root { Step::new(name, all[0], &all[1..]) } else { Step::new(name, "sudo", &all) };
        step.with("DEBIAN_FRONTEND", "noninteractive").run()
    };
    apt("apt update", &["update"])?;
    let install: Vec<&str> = ["install", "--yes", "--no-install-recommends"]
        .into_iter()
        .chain(packages.iter().map(String::as_str))
        .collect();
    apt("apt install", &install)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_name_packages() {
        let packages = of_tables().unwrap();
        for package in ["coreutils", "hunspell-en-us", "jq", "recutils", "zlib1g-dev"] {
            assert!(packages.iter().any(|found| found == package), "{package}: {packages:?}");
        }
        assert!(packages.is_sorted());
    }

    #[test]
    fn a_package_that_does_not_exist_is_absent() {
        let names = ["dpkg", "no-such-package-as-this"].map(str::to_string);
        let expected: &[String] =
            if works(&["dpkg-query", "--version"]) { &names[1..] } else { &names };
        assert_eq!(absent(&names), expected);
    }
}
