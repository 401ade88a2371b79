//! `stunt incidents`: what is kept on this machine, and how to be rid of it.
//!
//! For the owner alone: names of files and arguments are shown here, bytes never.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Result;
use clap::Subcommand;
use stunt_record::{Copied, Incident, Kept, Retention, Source, Store, Summary, Way, Word};
use stunt_report::{command_line, visible};

use crate::outcome::{Outcome, print};
use crate::record::size;

/// Flags of `stunt incidents`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum What {
    /// All incidents, the newest first
    List,
    /// One incident: what was run, what it read, how it failed
    Show {
        /// Its id, the beginning of it, or `last`
        incident: String,
    },
    /// Remove incidents with everything that was kept for them
    Delete {
        /// Their ids
        #[arg(required = true)]
        incidents: Vec<String>,
    },
    /// Remove incidents that are too old, and the oldest of what is too much
    Prune {
        /// How many days incidents are kept
        #[arg(long, value_name = "DAYS", default_value_t = 30)]
        days: u64,
        /// How much room all together may take
        #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size)]
        size: u64,
    },
}

/// Does what is asked.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let store = Store::of_user()?;
    let json = arguments.json;
    let text = match &arguments.what {
        None | Some(What::List) => list(&store.list()?, json)?,
        Some(What::Show { incident }) => {
            let kept = store.find(incident)?;
            if json { pretty(&kept.incident)? } else { account(&kept) }
        }
        Some(What::Delete { incidents }) => {
            let found = incidents.iter().map(|it| store.find(it)).collect::<Result<Vec<_>, _>>()?;
            for kept in &found {
                Store::delete(kept)?;
            }
            gone(&found, json)?
        }
        Some(What::Prune { days, size }) => {
            let age = Duration::from_secs(days.saturating_mul(86_400));
            gone(&store.prune(Retention { age, bytes: *size }, stunt_record::now())?, json)?
        }
    };
    print(text.as_bytes())?;
    Ok(Outcome::Done)
}

fn pretty(value: &impl serde::Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

fn gone(kept: &[Kept], json: bool) -> Result<String> {
    let ids: Vec<&str> = kept.iter().map(|it| it.incident.id.as_str()).collect();
    if json {
        return pretty(&ids);
    }
    Ok(ids.iter().map(|id| format!("{id} is gone\n")).collect())
}

#[derive(serde::Serialize)]
struct Line<'a> {
    id: &'a str,
    made: u64,
    state: stunt_record::State,
    maker: stunt_record::Maker,
    program: String,
    failure: Option<&'a str>,
    signature: Option<&'a str>,
    bytes: u64,
    folder: String,
}

fn list(all: &[Summary], json: bool) -> Result<String> {
    if json {
        let lines = all.iter().map(|Summary { kept, bytes }| Line {
            id: &kept.incident.id,
            made: kept.incident.made,
            state: kept.incident.state,
            maker: kept.incident.maker,
            program: name(&kept.incident),
            failure: kept.incident.failure.as_ref().map(|it| it.words.as_str()),
            signature: kept.incident.failure.as_ref().map(|it| it.signature.as_str()),
            bytes: *bytes,
            folder: kept.folder.to_string_lossy().into_owned(),
        });
        return pretty(&lines.collect::<Vec<_>>());
    }
    if all.is_empty() {
        return Ok("There are no incidents.\n".to_owned());
    }
    let mut text = String::new();
    for Summary { kept, bytes } in all {
        let incident = &kept.incident;
        let failure = incident.failure.as_ref().map_or("–", |it| &it.words);
        let failure = visible(failure);
        let _ = writeln!(
            text,
            "{:<17} {:<10} {:>7}  {}  {failure}",
            visible(&incident.id),
            incident.state.to_string(),
            amount(*bytes),
            visible(&name(incident)),
        );
    }
    Ok(text)
}

/// The program's name without its folder.
fn name(incident: &Incident) -> String {
    let path = incident.program.path.path();
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn amount(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// An incident for people.
fn account(kept: &Kept) -> String {
    let incident = &kept.incident;
    let mut text = String::new();
    let now = stunt_record::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let minutes = now.saturating_sub(incident.made) / 60;
    let _ = writeln!(
        text,
        "incident   {} ({}, {minutes} minutes ago)",
        visible(&incident.id),
        incident.state
    );
    let words = std::iter::once(&incident.name).chain(&incident.arguments);
    let _ = writeln!(text, "command    {}", command_line(words.map(Word::reveal)));
    let _ = writeln!(text, "folder     {}", shown(incident.folder.path()));
    let _ = writeln!(text, "ended      {}", incident.ending);
    if let Some(failure) = &incident.failure {
        let words = visible(&failure.words);
        let _ = writeln!(text, "failure    {words} [{}]", visible(&failure.signature));
    }
    if let Some(words) = &incident.request {
        let _ = writeln!(text, "request    {}", visible(&words.reveal().to_string_lossy()));
    }
    for (name, _) in &incident.environment {
        let _ = writeln!(text, "variable   {}", visible(name));
    }
    let mut system = 0;
    for source in &incident.sources {
        let _ = match source {
            Source::Stdin(stdin) => {
                let bytes = stdin.stored.as_ref().map_or(0, |it| it.bytes);
                let part = if stdin.complete { "" } else { ", not all of it" };
                writeln!(text, "read       standard input: {bytes} bytes{part}")
            }
            Source::File(file) if matches!(file.copied, Copied::System | Copied::Code) => {
                system += 1;
                Ok(())
            }
            Source::File(file) => {
                let path = shown(file.path.path());
                let words = copied(file.copied);
                writeln!(text, "read       {path}: {} bytes, {words}", file.bytes)
            }
            Source::Socket(socket) => {
                let bytes = socket.stored.as_ref().map_or(0, |it| it.bytes);
                let way = match &socket.way {
                    Way::Accepted(port) => format!("accepted on port {port}"),
                    Way::Connected(address) => format!("made to {}", visible(address)),
                    Way::Bound(port) => format!("bound to port {port}"),
                };
                let part = if socket.complete { "" } else { ", not all of it" };
                let number = socket.ordinal;
                writeln!(text, "received   connection {number}, {way}: {bytes} bytes{part}")
            }
        };
    }
    if system > 0 {
        let _ = writeln!(text, "           and {system} files of the system and of the program");
    }
    for note in &incident.notes {
        let _ = writeln!(text, "note       {}", visible(note));
    }
    let _ = writeln!(text, "kept in    {}", shown(&kept.folder));
    text
}

/// A path as it may be shown.
fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

fn copied(copied: Copied) -> &'static str {
    match copied {
        Copied::AsOpened => "copied",
        Copied::System => "of the system, not copied",
        Copied::TooLarge => "too large to be copied",
        Copied::Changed => "changed meanwhile, not copied",
        Copied::Unreadable => "not readable",
        Copied::Made => "made by the program",
        Copied::Code => "code, not copied",
        Copied::Unread => "not copied",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_incidents_are_an_empty_list() {
        assert_eq!(list(&[], true).unwrap(), "[]\n");
        assert!(list(&[], false).unwrap().contains("no incidents"));
    }

    #[test]
    fn amounts_are_short() {
        assert_eq!(
            (amount(7), amount(2048), amount(3 << 20)),
            ("7 B".into(), "2 KiB".into(), "3 MiB".into())
        );
    }
}
