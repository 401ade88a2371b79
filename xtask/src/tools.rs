//! Programs that the tests need, installed where they are absent.
//!
//! The tests compare with independent programs: z3 on SMT-LIB text, and a model counter from
//! PyPI. What is installed is said on standard error; what cannot be installed stops with a
//! sentence that says what to do. Nothing is ever upgraded or removed.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::files;
use crate::step::Step;

/// What the tests need to know about the tools.
pub struct Tools {
    /// A Python interpreter that has pyganak.
    pub python: PathBuf,
    /// Whether cargo-deny is there. It takes minutes to build, so it is not installed for you.
    pub deny: bool,
}

/// Debian packages, each with a command that works if it is there.
const PACKAGES: [(&str, &[&str]); 3] = [
    ("z3", &["z3", "--version"]),
    ("g++", &["g++", "--version"]),
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
    Ok(Tools { python, deny: works(&["cargo", "deny", "--version"]) })
}

/// The interpreter of the virtual environment, whether or not it exists yet.
pub fn python() -> PathBuf {
    files::target().join("tools/venv/bin/python")
}

fn install_packages() -> Result<()> {
    let missing: Vec<&str> =
        PACKAGES.iter().filter(|(_, probe)| !works(probe)).map(|&(package, _)| package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
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
    let install: Vec<&str> =
        ["install", "--yes", "--no-install-recommends"].into_iter().chain(missing).collect();
    apt("apt install", &install)
}

fn prepare_python() -> Result<PathBuf> {
    let python = python();
    let interpreter = python.to_str().context("the target folder's path is not UTF-8")?;
    let probe = [interpreter, "-c", "import pyganak"];
    if !works(&probe) {
        let folder = files::target().join("tools/venv");
        eprintln!("pyganak is absent: installing it into {}", folder.display());
        let folder = folder.to_str().context("the target folder's path is not UTF-8")?;
        Step::new("venv", "python3", &["-m", "venv", folder]).run()?;
        Step::new("pyganak", interpreter, &["-m", "pip", "install", "--quiet", "pyganak"]).run()?;
        if !works(&probe) {
            bail!("pyganak was installed but cannot be imported: try `{}`", probe.join(" "));
        }
    }
    Ok(python)
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
