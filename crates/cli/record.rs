//! `stunt record`: runs a program as it is, and keeps what it read if it fails.
//!
//! Always: output, exit status and signals are the program's own. What stunt has to say comes after
//! a failure, on standard error. Nothing is sent.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use stunt_native::{NO_LEAKS, is_sanitized};
use stunt_path::Ending;
use stunt_record::{Draft, LARGEST_FILE, Last, ROOM, Recorded, Recording, Store};
use stunt_subject::{FailsIf, failure_of};

use crate::outcome::Outcome;
use crate::run::bytes;

/// Interpreters that tell on standard error how a script failed.
const INTERPRETERS: [&str; 4] = ["python", "perl", "node", "java"];

/// Flags of `stunt record`.
#[derive(clap::Args)]
pub struct Arguments {
    /// What counts as a failure, besides crashes: exit=N, signal=N, stdout~REGEX or stderr~REGEX
    #[arg(long, value_name = "CONDITION")]
    fails_if: Option<FailsIf>,
    /// Keep this variable of the environment with an incident; may be given several times
    #[arg(long, value_name = "NAME")]
    keep_env: Vec<String>,
    /// The largest file of which an incident has a copy
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = size)]
    largest_file: u64,
    /// How much of what arrives on standard input and connections is kept in memory
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    room: u64,
    /// Keep a run that did not fail, for `stunt request`, also where that means to write it to disk
    #[arg(long, env = "STUNT_KEEP_LAST", conflicts_with = "forget")]
    keep_last: bool,
    /// Do not keep a run that did not fail at all, not even in memory
    #[arg(long, env = "STUNT_FORGET")]
    forget: bool,
    /// Write the names of incidents to this file, in place of words on standard error
    #[arg(long, value_name = "FILE", hide = true)]
    tell: Option<PathBuf>,
    /// Say on standard error what following cost
    #[arg(long)]
    stats: bool,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// A number of bytes, with K, M or G.
pub fn size(text: &str) -> Result<u64, String> {
    bytes(text)?.ok_or_else(|| "that is too much".to_owned())
}

/// Runs the program.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let program = stunt_native::find(&arguments.command[0], &path)?;
    let asks = |what: &str| {
        arguments.fails_if.as_ref().is_some_and(|condition| condition.text().starts_with(what))
    };
    if arguments.fails_if.as_ref().is_some_and(FailsIf::is_limit) {
        bail!(
            "a recorded run has no limits, so it reaches none: record it with another condition, or make \
             the double without a recording, by `stunt anonymize --fails-if {}`",
            arguments.fails_if.as_ref().map_or("", FailsIf::text)
        );
    }
    let sanitized = is_sanitized(&program);
    let recording = Recording {
        keep_environment: arguments.keep_env.clone(),
        largest_file: arguments.largest_file,
        room: arguments.room,
        stdout: asks("stdout~"),
        stderr: asks("stderr~") || is_script(&program) || sanitized,
        set_environment: no_leaks(sanitized),
        fails_if: arguments.fails_if.as_ref().map(|condition| condition.text().to_owned()),
        ..Recording::new(program, arguments.command.clone())
    };
    let mut in_others = |draft: Draft| {
        // Who said what a failure is means the program itself.
        if arguments.fails_if.is_none() {
            keep(arguments, &draft);
        }
    };
    let recorded = stunt_record::record(&recording, &mut in_others)?;
    if let Some(file) = &arguments.tell {
        // There was a run, whatever came of it.
        note(file, "").with_context(|| format!("cannot write {}", file.display()))?;
    }
    let failure = failure_of(&recorded.run, arguments.fails_if.as_ref(), &recorded.texts);
    match &failure {
        Some(failure) => keep(arguments, &recorded.draft(Some(failure))),
        None => keep_last(arguments, &recorded),
    }
    if arguments.stats {
        let cost = recorded.cost;
        eprintln!(
            "stunt: {:.3} s, {} stops, {} of them at calls that take something in, {:.1} µs each",
            recorded.run.seconds(),
            cost.stops,
            cost.calls,
            cost.looking.as_secs_f64() * 1e6 / (cost.stops.max(1) as f64),
        );
    }
    Ok(Outcome::Program(match recorded.run.ending {
        Ending::Exit(status) => status,
        Ending::Signal(number) => number.saturating_add(128),
        // No limits are set.
        _ => 1,
    }))
}

/// What a program with a sanitizer is told, since it cannot look for leaks while it is followed: it would
/// say so and exit with a status of its own.
fn no_leaks(sanitized: bool) -> Vec<(OsString, OsString)> {
    let (name, option) = NO_LEAKS;
    let mut options = std::env::var_os(name).unwrap_or_default();
    if !options.is_empty() {
        options.push(":");
    }
    options.push(option);
    if sanitized { vec![(name.into(), options)] } else { Vec::new() }
}

/// Whether the program is one whose failures its interpreter tells.
fn is_script(program: &Path) -> bool {
    let mut head = [0; 2];
    let opened = File::open(program).and_then(|mut file| file.read_exact(&mut head));
    let target = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let name = target.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    (opened.is_ok() && head == *b"#!") || INTERPRETERS.iter().any(|it| name.starts_with(it))
}

/// Keeps an incident and says so. The program has ended in its own way, whatever the disk says.
fn keep(arguments: &Arguments, draft: &Draft) {
    let kept = Store::of_user().and_then(|store| {
        let kept = store.create(draft)?;
        store.prune(crate::defaults::retention(), stunt_record::now())?;
        Ok(kept)
    });
    match kept {
        Ok(kept) => {
            let words = kept.incident.failure.as_ref().map_or("a failure", |it| &it.words);
            let id = &kept.incident.id;
            if let Some(file) = &arguments.tell {
                if let Err(error) = note(file, &format!("{id}\n")) {
                    eprintln!("stunt: the incident {id} could not be told: {error}");
                }
                return;
            }
            eprintln!(
                "stunt: {words}; what the program read is kept, for you alone, as incident {id}\n\
                 stunt: `stunt report {id}` makes a double of it that can be handed on; `stunt incidents delete {id}` \
                 forgets it"
            );
        }
        Err(error) => eprintln!("stunt: the incident could not be kept: {error}"),
    }
}

/// Adds to a file for the user alone.
fn note(file: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(file)?;
    file.write_all(text.as_bytes())
}

/// Keeps a run that did not fail in place of the one before, unless that is not wanted.
fn keep_last(arguments: &Arguments, recorded: &Recorded) {
    for place in Last::places() {
        if let Err(error) = place.forget() {
            eprintln!("stunt: the run before could not be forgotten: {error}");
        }
    }
    if arguments.forget {
        return;
    }
    let place = match Last::in_memory() {
        Some(place) => Some(place),
        None if arguments.keep_last => Last::on_disk().ok(),
        None => None,
    };
    if let Some(place) = place
        && let Err(error) = place.keep(&recorded.draft(None)).context("the run could not be kept")
    {
        tracing::info!("{error:#}");
    }
}

const _: () = assert!(LARGEST_FILE == 4 << 20 && ROOM == 64 << 20, "the defaults in the help");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!((size("4M"), size("0"), size("12K")), (Ok(4 << 20), Ok(0), Ok(12 << 10)));
        assert!(size("").is_err() && size("x").is_err() && size("99999999999G").is_err());
    }

    #[test]
    fn interpreters_are_known_by_name_and_scripts_by_their_first_line() {
        assert!(!is_script(Path::new("/bin/true")));
        assert!(is_script(Path::new("/nowhere/python3.11")));
    }
}
