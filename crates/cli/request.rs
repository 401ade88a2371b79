//! `stunt request`: an incident of the last recorded run that did not crash, and went wrong.
//!
//! The user says in a condition what a failure is; the words beside it are for the user alone.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Result, bail};
use stunt_path::Failure;
use stunt_record::{Last, Maker, NotedEnding, NotedFailure, State, Store};
use stunt_subject::FailsIf;

use crate::outcome::{Outcome, print};

/// Flags of `stunt request`.
#[derive(clap::Args)]
pub struct Arguments {
    /// What went wrong, in your words; it stays on this machine
    #[arg(value_name = "WORDS")]
    words: OsString,
    /// What a failure is: exit=N, signal=N, stdout~REGEX or stderr~REGEX
    #[arg(long, value_name = "CONDITION")]
    fails_if: FailsIf,
    /// How old the run may be, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 60, env = "STUNT_LAST_MINUTES")]
    within: u64,
}

/// Makes the incident.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let age = Duration::from_secs(arguments.within.saturating_mul(60));
    let mut found = None;
    for place in Last::places() {
        if let Some(kept) = place.find(age, stunt_record::now())? {
            found = Some((place, kept));
            break;
        }
    }
    let Some((place, kept)) = found else {
        bail!(
            "there is no recorded run of the last {} minutes that did not fail; record one with \
             `stunt record --keep-last -- PROGRAM …`",
            arguments.within
        );
    };
    let condition = arguments.fails_if.text();
    let ended = kept.incident.ending;
    let differs = match condition.split_once('=') {
        Some(("exit", code)) => ended != NotedEnding::Exit(code.parse()?),
        Some(("signal", number)) => ended != NotedEnding::Signal(number.parse()?),
        // What the program printed is not kept; whether it holds is seen when it is run again.
        _ => false,
    };
    if differs {
        bail!("the last recorded run {ended}, so `{condition}` is not what went wrong");
    }
    let mut draft = kept.draft()?;
    draft.incident.maker = Maker::Request;
    draft.incident.state = State::Pending;
    draft.incident.request = Some(arguments.words.clone().into());
    draft.incident.fails_if = Some(condition.to_owned());
    draft.incident.failure = Some(NotedFailure::from(&Failure::stated(condition)));
    let made = Store::of_user()?.create(&draft)?;
    place.forget()?;
    print(format!("{}\n", made.incident.id).as_bytes())?;
    eprintln!(
        "stunt: the last run is kept as incident {0}; `stunt anonymize {0}` makes a double of it",
        made.incident.id
    );
    Ok(Outcome::Done)
}
