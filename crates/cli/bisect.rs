//! The build step of a bisection: `git bisect run` checks a version out, and somebody has to build it.
//!
//! Always: a version that cannot be built is skipped. Without a build step, the program that lies there is run: one of
//! another version, unless a script has built it.

use std::io;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// Builds the version that is checked out, by a line of the shell; whether it could be built. What it says goes where
/// other words of this command go.
pub fn build(line: &str) -> Result<bool> {
    eprintln!("stunt: building: {line}");
    let status = Command::new("/bin/sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .status()
        .context("cannot start the build")?;
    if !status.success() {
        eprintln!("stunt: this version could not be built ({status}), so it is skipped");
    }
    Ok(status.success())
}
