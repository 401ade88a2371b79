//! The two steps that other commands do: a run that is recorded, and a double that is made of it.
//!
//! Each is a child with this process's terminal: what it asks and says is what that command asks and says. The program
//! is run by a process that has nothing else to do, so that its signals and limits are as they were.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, bail};
use stunt_path::signal_name;
use stunt_record::{Kept, Source, StdinKind, Store};
use stunt_report::{command_line, grouped, visible};
use stunt_subject::PLACE;

use super::{Arguments, own_program};
use crate::outcome::Outcome;
use crate::{hints, incident, interrupt};

/// The largest file that is kept: as much as an input may have.
const LARGEST: &str = "64M";
/// All that is kept.
const ROOM: &str = "192M";

/// Runs the program, and gives what is kept of it, or how all ends if it cannot be run or does not fail, which is said.
pub(super) fn recorded(arguments: &Arguments) -> anyhow::Result<Result<Kept, Outcome>> {
    let (command, stdin) = understood(arguments)?;
    eprintln!("stunt: running {} to see it fail", command_line(&command));
    let note = Note::new()?;
    let mut record = Command::new(own_program()?);
    record.args(["record", "--forget", "--largest-file", LARGEST, "--room", ROOM, "--tell"]);
    record.arg(&note.file);
    if let Some(condition) = &arguments.fails_if {
        record.args(["--fails-if", condition.text()]);
    }
    record.arg("--").args(&command);
    if let Some(file) = stdin {
        let open = || format!("the input {} cannot be read", file.display());
        record.stdin(File::open(&file).with_context(open)?);
    }
    let status = finished(&mut record)?;
    let ids = fs::read_to_string(&note.file).unwrap_or_default();
    let Some(id) = ids.lines().last() else {
        // What is wrong with the command line, or with the program, was said by the child.
        if !note.file.exists() {
            return Ok(Err(Outcome::Wrong));
        }
        no_failure(&command, status);
        return Ok(Err(Outcome::NoFailure));
    };
    let kept = Store::of_user()?.find(id)?;
    tell(&kept);
    Ok(Ok(kept))
}

/// The command as it is run, and what its standard input is, if not this process's: an input that was named stands at
/// `@@`, or is read from there.
fn understood(arguments: &Arguments) -> anyhow::Result<(Vec<OsString>, Option<PathBuf>)> {
    let mut words = arguments.command.clone();
    let has_place = words[1..].iter().any(|word| word.to_string_lossy().contains(PLACE));
    match &arguments.input {
        Some(file) if has_place => {
            for word in &mut words[1..] {
                *word = replaced(word, file.as_os_str());
            }
            Ok((words, None))
        }
        Some(file) if hints::files(&words).iter().any(|(_, it)| Path::new(it) == file) => {
            Ok((words, None))
        }
        Some(file) => Ok((words, Some(file.clone()))),
        None if has_place => bail!(
            "there is {PLACE} in the arguments, which stands for the input: write the file itself there, or name it \
             with -i FILE"
        ),
        None => Ok((words, None)),
    }
}

/// A word with the input wherever its place is.
fn replaced(word: &OsStr, by: &OsStr) -> OsString {
    let (bytes, mut out) = (word.as_bytes(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(PLACE.as_bytes()) {
            out.extend_from_slice(by.as_bytes());
            at += PLACE.len();
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    OsString::from_vec(out)
}

/// What came of a run that is no failure, and what to type if it is one.
fn no_failure(command: &[OsString], status: ExitStatus) {
    let line = command_line(command);
    match (status.code(), status.signal()) {
        (Some(0), _) => eprintln!(
            "stunt: the program did not fail: it exited with status 0. If it went wrong all the same, say how: \
             `stunt report --fails-if 'stdout~WORDS' -- {line}`; if it may have done harm to its memory: \
             `stunt anonymize --check-memory -- {line}`"
        ),
        (Some(code), _) if code > 128 && code < 160 => {
            let name = signal_name((code - 128) as u8).unwrap_or("a signal");
            eprintln!(
                "stunt: the program was ended by {name}, which is no failure of its own; it is one with `stunt \
                 report --fails-if signal={} -- {line}`",
                code - 128
            );
        }
        (Some(code), _) => eprintln!(
            "stunt: the program did not crash: it exited with status {code}. If that is the failure: `stunt report \
             --fails-if exit={code} -- {line}`"
        ),
        (None, _) => eprintln!("stunt: the program did not fail as far as could be seen"),
    }
}

/// Says what was seen, and what is taken for the input.
fn tell(kept: &Kept) {
    let incident = &kept.incident;
    let words = incident.failure.as_ref().map_or("a failure", |it| &it.words);
    eprintln!("stunt: it fails: {}", visible(words));
    for input in inputs(kept) {
        eprintln!("stunt: the input is {input}");
    }
    let id = visible(&incident.id);
    eprintln!("stunt: what it read is kept, for you alone, as incident {id}");
}

/// The inputs of an incident, each in words.
fn inputs(kept: &Kept) -> Vec<String> {
    let mut inputs = Vec::new();
    for source in &kept.incident.sources {
        let Some(stored) = source.stored() else { continue };
        let bytes = grouped(stored.bytes);
        match source {
            Source::Stdin(stdin) => {
                let from = match stdin.kind {
                    StdinKind::File => "a file",
                    StdinKind::Pipe => "a pipe",
                    StdinKind::Terminal => "what was typed",
                    _ => "elsewhere",
                };
                inputs.push(format!("standard input, from {from}: {bytes} bytes"));
            }
            Source::File(file) => {
                if let Some(number) = incident::argument_of(kept, file.path.path()) {
                    let path = visible(&file.path.path().display().to_string());
                    inputs.push(format!("{path}, argument {number}: {bytes} bytes"));
                }
            }
            Source::Socket(socket) => {
                inputs.push(format!(
                    "what came through connection {}: {bytes} bytes",
                    socket.ordinal
                ));
            }
        }
    }
    inputs
}

/// Makes the double of an incident; its report is in the incident's folder then.
pub(super) fn double(arguments: &Arguments, kept: &Kept) -> anyhow::Result<Outcome> {
    let mut anonymize = Command::new(own_program()?);
    anonymize.arg("anonymize");
    if let Some(seconds) = arguments.time {
        anonymize.args(["--time", &seconds.to_string()]);
    }
    if let Some(seed) = arguments.seed {
        anonymize.args(["--seed", &seed.to_string()]);
    }
    for part in &arguments.public {
        anonymize.args(["--public", part]);
    }
    for number in &arguments.public_arg {
        anonymize.args(["--public-arg", &number.to_string()]);
    }
    if arguments.keep_arguments {
        anonymize.arg("--keep-arguments");
    }
    anonymize.args(arguments.limits.words());
    anonymize.arg(&kept.incident.id).stdout(Stdio::null());
    let status = finished(&mut anonymize)?;
    Ok(match (status.code(), status.signal()) {
        (Some(0), _) => Outcome::Done,
        (Some(code), _) => Outcome::Program(code as u8),
        (None, signal) => Outcome::Program(128 + signal.unwrap_or_default() as u8),
    })
}

/// Runs a child to its end. Signals are its own as long as it is there.
fn finished(command: &mut Command) -> anyhow::Result<ExitStatus> {
    let mut child = command.spawn().context("cannot start stunt itself")?;
    interrupt::pass_on_to(child.id() as libc::pid_t);
    let status = child.wait();
    interrupt::pass_on_to(0);
    status.context("cannot wait for stunt itself")
}

/// A place for a child's note: in a folder for the user alone, gone with this.
struct Note {
    folder: PathBuf,
    file: PathBuf,
}

impl Note {
    fn new() -> anyhow::Result<Self> {
        let state = stunt_client::state().context("there is no home to keep anything in")?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&state)?;
        let folder = state.join(format!(".report-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::DirBuilder::new().mode(0o700).create(&folder).context("cannot keep a note")?;
        let file = folder.join("incident");
        Ok(Self { folder, file })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // It holds names of incidents alone.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_the_input() {
        let of = |word: &str| replaced(OsStr::new(word), OsStr::new("a b.csv"));
        assert_eq!(of("@@"), "a b.csv");
        assert_eq!(of("--in=@@:@@"), "--in=a b.csv:a b.csv");
        assert_eq!(of("@x"), "@x");
    }
}
