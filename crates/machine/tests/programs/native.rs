//! A run on the host itself: what the machine must agree with.
//!
//! The program starts under a shell that sets the file mode mask and forbids core files, because
//! both are inherited and differ from host to host; then it replaces the shell.

use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use crate::outcome::{Outcome, files_below};
use crate::place::Place;
use crate::table::Ending;

/// Sets what is inherited, and becomes the program.
const START: &str = r#"umask 022; ulimit -c 0; exec "$@""#;

/// Runs the program on the host, in the folder as it is.
pub fn run_natively(place: &Place) -> Result<Outcome, String> {
    let say = |error: io::Error| format!("running {}: {error}", place.program.display());
    let stdin = match &place.stdin {
        Some(path) => Stdio::from(File::open(path).map_err(say)?),
        None => Stdio::null(),
    };
    let output = Command::new("/bin/sh")
        .args(["-c", START, "sh"])
        .args(&place.words)
        .env_clear()
        .envs(place.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&place.folder)
        .stdin(stdin)
        .output()
        .map_err(say)?;
    Ok(Outcome {
        ending: ending(output.status),
        stdout: output.stdout,
        stderr: output.stderr,
        files: files_below(&place.folder).map_err(say)?,
    })
}

/// How a process ended, in the words of the table.
pub fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (_, Some(signal)) => Ending::Signal(signal as u8),
        (code, None) => Ending::Exit(code.unwrap_or_default() as u8),
    }
}
