//! Programs that the tests need, installed where they are absent.
//!
//! The tests compare with independent programs: z3 on SMT-LIB text, a model counter from PyPI, and
//! the host itself on the programs of Debian that the tables of programs list. What is installed is said on standard error; what cannot be installed stops with a
//! sentence that says what to do. Nothing is ever upgraded or removed.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::step::Step;
use crate::{files, gui, packages};

/// What the tests need to know about the tools.
pub struct Tools {
    /// A Python interpreter that has pyganak and Trac.
    pub python: PathBuf,
    /// The script of axe-core, which finds faults of pages.
    pub axe: PathBuf,
    /// Whether cargo-deny is there. It takes minutes to build, so it is not installed for you.
    pub deny: bool,
}

/// Debian packages, each with a command that works if it is there.
const PACKAGES: [(&str, &[&str]); 5] = [
    ("z3", &["z3", "--version"]),
    ("g++", &["g++", "--version"]),
    ("npm", &["npm", "--version"]),
    ("openssl", &["openssl", "version"]),
    ("python3-venv", &["python3", "-c", "import venv, ensurepip"]),
];

/// Installs what is absent.
pub fn prepare() -> Result<Tools> {
    install_packages()?;
    if !works(&["cargo", "nextest", "--version"]) {
        eprintln!("cargo-nextest is absent: installing it");
        Step::cargo("nextest", &["install", "--locked", "cargo-nextest"]).run()?;
    }
    let python = prepare_python()?;
    let axe = prepare_axe()?;
    gui::prepare()?;
    Ok(Tools { python, axe, deny: works(&["cargo", "deny", "--version"]) })
}

/// The interpreter of the virtual environment, whether or not it exists yet.
pub fn python() -> PathBuf {
    files::target().join("tools/venv/bin/python")
}

/// One call installs what a probe misses and what the tables of programs name.
fn install_packages() -> Result<()> {
    let mut missing: Vec<String> = PACKAGES
        .iter()
        .filter(|(_, probe)| !works(probe))
        .map(|&(package, _)| package.to_string())
        .collect();
    missing.extend(packages::absent(&packages::of_tables()?));
    missing.sort();
    missing.dedup();
    packages::install(&missing)
}

fn prepare_python() -> Result<PathBuf> {
    let python = python();
    let interpreter = python.to_str().context("the target folder's path is not UTF-8")?;
    let probe = [interpreter, "-c", "import pyganak, trac.web.standalone"];
    if !works(&probe) {
        let folder = files::target().join("tools/venv");
        eprintln!("pyganak or Trac is absent: installing them into {}", folder.display());
        let folder = folder.to_str().context("the target folder's path is not UTF-8")?;
        Step::new("venv", "python3", &["-m", "venv", folder]).run()?;
        // Trac needs a part of setuptools that later versions no longer have.
        let packages = ["pyganak", "Trac==1.6", "setuptools<80"];
        let pip = ["-m", "pip", "install", "--quiet"];
        let pip: Vec<&str> = pip.into_iter().chain(packages).collect();
        Step::new("python", interpreter, &pip).run()?;
        if !works(&probe) {
            bail!("pyganak and Trac were installed but do not work: try `{}`", probe.join(" "));
        }
    }
    Ok(python)
}

/// axe-core from npm: one script that runs in a page, and nothing that runs here.
fn prepare_axe() -> Result<PathBuf> {
    let folder = files::target().join("tools/node");
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.exists() {
        eprintln!("axe-core is absent: installing it into {}", folder.display());
        let folder = folder.to_str().context("the target folder's path is not UTF-8")?;
        let flags = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder];
        let all: Vec<&str> = flags.into_iter().chain(["axe-core@4.14.0"]).collect();
        Step::new("axe-core", "npm", &all).run()?;
    }
    Ok(script)
}

/// Whether the command can be started and succeeds.
pub fn works(command: &[&str]) -> bool {
    Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_programs_and_failing_ones_do_not_work() {
        assert!(works(&["true"]));
        assert!(!works(&["false"]));
        assert!(!works(&["no-such-program-as-this"]));
    }
}
