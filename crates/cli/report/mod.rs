//! `stunt report`: from a run that fails to a report that is sent, or ready to be handed over: all of it in one command.
//!
//! ```text
//! run it (record) ─► known already? (ask) ─► a double (anonymize) ─► consent ─► server, issue, mail, file
//! ```
//!
//! Always: each step is one of the other commands, and says the same; what was understood is said; nothing leaves
//! without a yes; every end says what comes next.

mod known;
mod making;
mod over;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};
use stunt_client::config;
use stunt_handover::Way;
use stunt_parcel::messages::EventId;
use stunt_record::{Kept, State};
use stunt_report::{LONGEST_COMMENT, Opened, visible};
use stunt_subject::FailsIf;

use crate::hints::{self, Hint};
use crate::outcome::{self, Outcome, free_name};
use crate::subject::Limits;
use crate::submit::{self, Sending};
use crate::{incident, inspect, secrecy};
use known::Asked;

/// Flags of `stunt report`.
#[derive(clap::Args)]
#[command(
    after_help = "The program is run as it is, to see it fail and what it reads; that is the input, and you are \
told what was taken for it. Then a double is made, as by `stunt anonymize`, you are shown what would leave, and asked.

Without --to, the report goes to the server of the configuration; where there is none, into a file. \
--to github, gitlab, mail or a file need no server, and send nothing: they prepare what you paste, open or attach.

  stunt report -- ./parser private.csv          to the server, or into stunt-report.zip
  stunt report --to github:OWNER/NAME -- ./parser private.csv
  stunt report last                             the last run that `stunt record` has kept"
)]
pub struct Arguments {
    /// Where it goes: github or github:OWNER/NAME, gitlab or gitlab:GROUP/NAME, mail or mail:ADDRESS, or a file
    #[arg(long, value_name = "WHERE")]
    to: Option<Way>,
    /// The input, at @@ or on standard input; without it, what the program is seen to read
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// What you want to say about it, in your words; it is told as it is
    #[arg(short = 'm', long, value_name = "WORDS", value_parser = comment)]
    comment: Option<String>,
    /// What counts as the failure: exit=N, signal=N, stdout~REGEX or stderr~REGEX
    #[arg(long, value_name = "CONDITION")]
    fails_if: Option<FailsIf>,
    /// A part of the input that need not be hidden, such as file:0-15 or stdin
    #[arg(long, value_name = "SOURCE[:FROM-TO]")]
    public: Vec<String>,
    /// Tell an argument in the report as it is, by its number from 1
    #[arg(long, value_name = "N")]
    public_arg: Vec<usize>,
    /// Tell all arguments in the report, but for those that look like a secret or name you
    #[arg(long)]
    keep_arguments: bool,
    /// How many seconds making the double may take
    #[arg(long, value_name = "SECONDS", env = "STUNT_TIME")]
    time: Option<u64>,
    /// Make another double of an incident that has one
    #[arg(long)]
    again: bool,
    /// Repeat a run; without it the randomness is fresh, as it should be for a real double
    #[arg(long, value_name = "N", hide = true)]
    seed: Option<u64>,
    #[command(flatten)]
    send: Sending,
    #[command(flatten)]
    limits: Limits,
    /// An incident (`last`, its name), or a report that was made before, in place of a program
    #[arg(value_name = "INCIDENT|REPORT", conflicts_with_all = ["input", "fails_if", "command"])]
    what: Option<PathBuf>,
    /// The program and its arguments, as you run it when it fails
    #[arg(required_unless_present = "what", last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// Words of the user: not too many.
fn comment(text: &str) -> Result<String, String> {
    match text.chars().count() {
        0..=LONGEST_COMMENT => Ok(text.trim().to_owned()),
        _ => Err(format!("that is more than {LONGEST_COMMENT} characters")),
    }
}

/// What is handed on in the end.
struct Ready {
    opened: Opened,
    /// What it was made of, if that is kept here.
    incident: Option<Kept>,
    /// What the server has counted already.
    event: Option<EventId>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let Some(what) = &arguments.what else {
        let made = making::recorded(arguments)?;
        secrecy::close_memory();
        return match made {
            Ok(kept) => of_incident(arguments, &kept),
            Err(outcome) => Ok(outcome),
        };
    };
    secrecy::close_memory();
    match incident::find(what.as_os_str()) {
        Ok(kept) => of_incident(arguments, &kept),
        Err(error) if incident::is_meant(what) => Err(error),
        Err(_) => {
            let opened = inspect::read(what).map_err(|error| {
                match hints::forgotten_dashes(&hints::words()) {
                    Some(hint) => Hint(hint).into(),
                    None => error
                        .context("neither an incident nor a report; a program stands after `--`"),
                }
            })?;
            let incident = incident::of_report(what);
            hand_over(arguments, Ready { opened, incident, event: None })
        }
    }
}

/// From an incident to its end.
fn of_incident(arguments: &Arguments, kept: &Kept) -> Result<Outcome> {
    let id = visible(&kept.incident.id);
    if kept.incident.state == State::Sent && !arguments.again {
        eprintln!("stunt: incident {id} was sent before");
    }
    let mut event = None;
    let there = kept.incident.state >= State::Anonymised && kept.report_path().is_file();
    if there && !arguments.again {
        eprintln!("stunt: incident {id} has a double already; --again makes another one");
    } else {
        if arguments.to.is_none() {
            match known::ask(arguments, kept)? {
                Asked::Done(outcome) => return Ok(outcome),
                Asked::GoOn(counted) => event = counted,
            }
        }
        let outcome = making::double(arguments, kept)?;
        if outcome != Outcome::Done {
            let again = match outcome {
                // The same command line would be as wrong.
                Outcome::Program(outcome::USAGE) => String::new(),
                _ => format!("`stunt report {id}` tries again (--time gives it longer), "),
            };
            eprintln!(
                "stunt: what the program read is kept as incident {id}: {again}`stunt incidents delete {id}` \
                 forgets it"
            );
            return Ok(outcome);
        }
    }
    let opened = inspect::read(&kept.report_path())?;
    // Its state has changed on the disk.
    let incident = Kept::load(&kept.folder)?;
    hand_over(arguments, Ready { opened, incident: Some(incident), event })
}

/// To where it goes.
fn hand_over(arguments: &Arguments, mut ready: Ready) -> Result<Outcome> {
    if let Some(comment) = &arguments.comment {
        over::comment(&mut ready.opened, comment)?;
    }
    let settings = config::settings()?;
    let to = match &arguments.to {
        Some(way) => Some(way.clone()),
        None if arguments.send.destination(&settings).is_some() => None,
        None => Some(Way::File(free_name("stunt-report", "zip"))),
    };
    match to {
        Some(way) => over::prepare(arguments, &settings, &way, &ready),
        None => send(arguments, ready),
    }
}

/// To a server, with consent.
fn send(arguments: &Arguments, ready: Ready) -> Result<Outcome> {
    let id = ready.incident.as_ref().map(|kept| visible(&kept.incident.id));
    let submit = submit::Arguments {
        report: PathBuf::new(),
        send: arguments.send.clone(),
        dry_run: false,
        output: None,
        parcel: None,
        limits: arguments.limits.clone(),
        command: Vec::new(),
    };
    let outcome = submit::deliver(&submit, ready.opened, ready.incident, ready.event)?;
    let next = match (outcome, id) {
        (Outcome::Done, Some(id)) => format!(
            "Nothing more is needed. `stunt incidents delete {id}` forgets what is kept of it here."
        ),
        (Outcome::NotSent, Some(id)) => format!(
            "The report is kept: `stunt report {id}` asks again, `stunt report {id} --to FILE` writes it to a file, \
             `stunt incidents delete {id}` forgets all of it."
        ),
        (Outcome::Queued, _) => "`stunt queue list` shows what waits.".to_owned(),
        _ => return Ok(outcome),
    };
    eprintln!("{next}");
    Ok(outcome)
}

/// This program, to be started as another command.
fn own_program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find stunt itself")
}
