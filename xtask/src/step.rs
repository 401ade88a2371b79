//! One step of a chore: a command that either works, in one line, or stops everything.
//!
//! What a step prints goes to a log file under the target folder; it is shown only if the step
//! fails, together with the command that repeats it.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::files;

/// A command with a name.
pub struct Step {
    name: &'static str,
    program: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Step {
    /// A step that runs `program` in the root of the workspace.
    pub fn new(name: &'static str, program: &str, arguments: &[&str]) -> Step {
        Step {
            name,
            program: program.to_string(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            environment: Vec::new(),
        }
    }

    /// A step that runs cargo.
    pub fn cargo(name: &'static str, arguments: &[&str]) -> Step {
        Step::new(name, "cargo", arguments)
    }

    /// Sets an environment variable for the step.
    #[must_use]
    pub fn with(mut self, variable: &str, value: impl Into<String>) -> Step {
        self.environment.push((variable.to_string(), value.into()));
        self
    }

    /// The command as one would type it in the root folder.
    pub fn typed(&self) -> String {
        let mut words: Vec<String> = self
            .environment
            .iter()
            .map(|(name, value)| format!("{name}={}", quoted(value)))
            .collect();
        words.push(self.program.clone());
        words.extend(self.arguments.iter().map(|word| quoted(word)));
        words.join(" ")
    }

    /// Runs the step; says how it went in one line on standard error.
    pub fn run(&self) -> Result<()> {
        let log = self.log()?;
        let output = File::create(&log).with_context(|| format!("creating {}", log.display()))?;
        let errors = output.try_clone()?;
        report(self.name, || {
            let mut command = Command::new(&self.program);
            // What cargo said about this crate is not meant for others: some build scripts are run
            // again when it changes, and all that depends on them is built again.
            for (name, _) in std::env::vars_os() {
                let text = name.to_string_lossy();
                if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                    command.env_remove(&name);
                }
            }
            let status = command
                .args(&self.arguments)
                .envs(self.environment.iter().map(|(name, value)| (name, value)))
                .current_dir(files::root())
                .stdin(Stdio::null())
                .stdout(output)
                .stderr(errors)
                .status()
                .with_context(|| format!("cannot start `{}`", self.program))?;
            if status.success() {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
            bail!("{text}\n`{}` failed ({status}). To repeat it:\n    {}", self.name, self.typed())
        })
    }

    /// Repeats the line of the step's output that contains `words`: what a test runner counted.
    pub fn quote(&self, words: &str) -> Result<()> {
        let text = String::from_utf8_lossy(&fs::read(self.log()?)?).into_owned();
        if let Some(line) = text.lines().rev().find(|line| line.contains(words)) {
            eprintln!("{line}");
        }
        Ok(())
    }

    fn log(&self) -> Result<PathBuf> {
        let folder = files::target().join("xtask");
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        Ok(folder.join(format!("{}.log", self.name.replace(' ', "-"))))
    }
}

/// Does some work; says its name, how it went and how long it took in one line.
pub fn report(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    let result = work();
    let verdict = if result.is_ok() { "ok" } else { "FAILED" };
    // One write: steps may run side by side.
    eprintln!("{name:<12} {verdict:<6} {:>7.1} s", start.elapsed().as_secs_f64());
    result
}

/// Does two chores side by side, and waits for both; the first mistake of either is the mistake.
pub fn side_by_side(
    one: impl FnOnce() -> Result<()> + Send,
    other: impl FnOnce() -> Result<()> + Send,
) -> Result<()> {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        one.and(other)
    })
}

/// The word as a shell needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.,:+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_can_be_typed() {
        let step =
            Step::cargo("x", &["test", "-E", "test(a) & b's"]).with("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(step.typed(), r"RUSTDOCFLAGS='-D warnings' cargo test -E 'test(a) & b'\''s'");
    }

    #[test]
    fn both_chores_are_done_and_either_may_fail() {
        let failing = || bail!("no");
        assert!(side_by_side(|| Ok(()), || Ok(())).is_ok());
        assert!(side_by_side(failing, || Ok(())).is_err());
        assert!(side_by_side(|| Ok(()), failing).is_err());
    }

    #[test]
    fn a_failing_step_shows_its_output_and_how_to_repeat_it() {
        let step = Step::new("step-test", "sh", &["-c", "echo seen; echo also >&2; exit 3"]);
        let message = step.run().unwrap_err().to_string();
        for part in ["seen", "also", "step-test", "sh -c 'echo seen;"] {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
        assert!(Step::new("step-test", "true", &[]).run().is_ok());
    }
}
