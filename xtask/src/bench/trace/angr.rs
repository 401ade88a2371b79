//! angr on the same programs and inputs, on request: it takes minutes and hundreds of megabytes.
//!
//! It is installed into a Python environment of its own under the target folder, by name from the
//! Python registry. What it took is measured like everything else, in CPU time of the process. A run
//! that takes too long is ended and said to be unfinished.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{METER, milliseconds, ratio};
use crate::step::Step;
use crate::{files, tools};

/// Seconds after which a run is given up.
const MOST_SECONDS: u32 = 900;
/// What `timeout` answers when it had to end a command.
const TIMED_OUT: i32 = 124;

/// angr, and what it needs in versions that it does not exclude, but cannot be imported with.
const PACKAGES: [&str; 3] = ["angr", "bitstring<5", "pycparser==3.0"];

/// A script that does what `stunt trace` does, in angr's terms.
const SCRIPT: &str = include_str!("follow.py");

/// What was measured of stunt, to be put beside.
pub struct Ours {
    /// The program.
    pub program: PathBuf,
    /// The input.
    pub input: PathBuf,
    /// CPU seconds to the path condition.
    pub cpu: f64,
}

/// How a run of angr ended.
enum Theirs {
    /// CPU seconds, and what it said.
    Done(f64, String),
    /// Still running after so many CPU seconds.
    Unfinished(f64),
}

/// Runs angr on everything; the result is a table in Markdown.
pub fn measure(folder: &Path, all: &[Ours]) -> Result<String> {
    let python = prepare()?;
    let script = folder.join("follow.py");
    fs::write(&script, SCRIPT)?;
    let mut text = String::from(
        "angr beside it, on this machine:\n\n\
         | input | stunt, CPU | angr, CPU | angr : stunt | angr says |\n\
         |---|---:|---:|---:|---|\n",
    );
    for ours in all {
        let name = ours.input.file_name().unwrap_or_default().to_string_lossy();
        eprintln!("measuring angr, {name} (at most {MOST_SECONDS} s)");
        let _ = writeln!(text, "{}", row(&name, ours.cpu, &once(&python, &script, folder, ours)?));
    }
    Ok(text)
}

fn row(name: &str, ours: f64, theirs: &Theirs) -> String {
    let ours_said = milliseconds(ours);
    match theirs {
        Theirs::Done(cpu, said) => {
            format!(
                "| {name} KiB | {ours_said} | {} | {} | {said} |",
                milliseconds(*cpu),
                ratio(cpu / ours)
            )
        }
        Theirs::Unfinished(cpu) => format!(
            "| {name} KiB | {ours_said} | > {} | > {} | not finished |",
            milliseconds(*cpu),
            ratio(cpu / ours)
        ),
    }
}

fn once(python: &Path, script: &Path, folder: &Path, ours: &Ours) -> Result<Theirs> {
    let said = folder.join("angr-said");
    let mut command = Command::new("python3");
    command.args(["-c", METER]).arg(&said).args(["timeout", &MOST_SECONDS.to_string()]);
    command.arg(python).arg(script).arg(&ours.program).arg(&ours.input);
    let output = command.current_dir(folder).stdin(Stdio::null()).output()?;
    let figures = String::from_utf8(output.stdout)?;
    let (cpu, code) = figures_of(&figures)?;
    let said = fs::read_to_string(&said)?.trim().to_string();
    match code {
        0 => Ok(Theirs::Done(cpu, said)),
        TIMED_OUT => Ok(Theirs::Unfinished(cpu)),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("angr failed on {}: {said}\n{errors}", ours.input.display())
        }
    }
}

/// CPU seconds and the exit code, as the meter prints them.
fn figures_of(text: &str) -> Result<(f64, i32)> {
    let mut words = text.split_whitespace();
    let mut next = || words.next().context("the meter printed too little");
    let cpu = next()?.parse()?;
    next()?;
    Ok((cpu, next()?.parse()?))
}

/// The interpreter of an environment that has angr.
fn prepare() -> Result<PathBuf> {
    let folder = files::target().join("tools/angr");
    let python = folder.join("bin/python");
    let interpreter = python.to_str().context("the target folder's path is not UTF-8")?;
    let probe = [interpreter, "-c", "import angr"];
    if !tools::works(&probe) {
        eprintln!("angr is absent: installing it into {}", folder.display());
        let folder = folder.to_str().context("the target folder's path is not UTF-8")?;
        Step::new("venv", "python3", &["-m", "venv", folder]).run()?;
        let install = ["-m", "pip", "install", "--quiet"];
        Step::new("angr", interpreter, &[&install[..], &PACKAGES].concat()).run()?;
        if !tools::works(&probe) {
            bail!("angr was installed but cannot be imported: try `{}`", probe.join(" "));
        }
    }
    Ok(python)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        assert_eq!(figures_of("1.5 2048 124\n").unwrap(), (1.5, TIMED_OUT));
        assert!(figures_of("1.5 2048").is_err() && figures_of("").is_err());
    }

    #[test]
    fn rows_say_what_was_not_finished() {
        let done = row("httpd-1", 0.02, &Theirs::Done(24.0, "7 conditions".into()));
        assert_eq!(done, "| httpd-1 KiB | 20.0 ms | 24000 ms | 1200 | 7 conditions |");
        let unfinished = row("jsonl-100", 2.0, &Theirs::Unfinished(10.0));
        assert_eq!(unfinished, "| jsonl-100 KiB | 2000 ms | > 10000 ms | > 5.00 | not finished |");
    }
}
