//! `cargo xtask eval --gui`: the crashes of `subjects/gui`, recorded, as doubles; and what GAUDI's way needs for the steps.
//!
//! The work is done by an example of the crate, which needs no other part of the tool; its table is printed as it
//! grows.

use std::process::Command;

use anyhow::{Result, bail};

use super::Arguments;
use crate::{bench, files, gui, packages};

/// Runs it, and on request writes the table.
pub fn run(arguments: &Arguments) -> Result<()> {
    packages::install(&packages::absent(&["chromium-headless-shell".to_string()]))?;
    gui::prepare()?;
    let build =
        ["run", "--quiet", "--release", "--package", "stunt-gui", "--example", "subjects", "--"];
    let mut command = Command::new("cargo");
    command.args(build).arg(gui::folder()).arg(files::root().join("subjects/gui"));
    let output = command.args(&arguments.subject).current_dir(files::root());
    let output = output.stderr(std::process::Stdio::inherit()).output()?;
    let table = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    println!("{table}");
    if !output.status.success() {
        bail!("the example `subjects` of stunt-gui failed");
    }
    if arguments.write { bench::write("gui-subjects", &table) } else { Ok(()) }
}
