//! Whether the server knows the failure, before any search is paid for: of what was recorded, nothing is told but the
//! failure's signature, the program's name and its build-id.

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use stunt_client::{Server, config, keep, queue};
use stunt_parcel::Digest;
use stunt_parcel::messages::EventId;
use stunt_path::Failure;
use stunt_record::Kept;
use stunt_report::{
    Algorithm, Draw, Kind, Leak, Program, Replay, Report, Schema, Verified, visible,
};
use stunt_subject::Subject;

use super::Arguments;
use crate::outcome::Outcome;
use crate::submit::known::{Asking, Known};
use crate::submit::{Consent, was_sent};
use crate::{incident, subject};

/// What came of it.
pub(super) enum Asked {
    /// All is done, or nothing can be done.
    Done(Outcome),
    /// The report is needed; this was counted for it.
    GoOn(Option<EventId>),
}

/// Asks, where there is a server, and somebody who agrees.
pub(super) fn ask(arguments: &Arguments, kept: &Kept) -> Result<Asked> {
    let settings = config::settings()?;
    let go_on = Ok(Asked::GoOn(None));
    let destination = arguments.send.destination(&settings);
    let (Some(destination), false) = (destination, arguments.send.no_ask) else { return go_on };
    // Whoever made the incident may not know the failure in full; then the report is asked about.
    let public = stunt_subject::Public::parse(&[])?;
    let subject = subject::of_incident(kept, public, true, arguments.limits.of_runs())?;
    let Some(failure) = subject.recorded.clone() else { return go_on };
    let Some(consent) = arguments.send.consent() else { return Ok(Asked::Done(Outcome::NotSent)) };
    if consent == Consent::Standing
        && let Some(refusal) = arguments.send.suggested(&destination)
    {
        eprintln!("stunt: nothing was sent: {refusal}");
        return Ok(Asked::Done(Outcome::NotSent));
    }
    let state = stunt_client::state().ok_or(queue::Error::NoHome)?;
    let mut rng = ChaCha20Rng::from_entropy();
    // The same incident is the same event, however often it is reported.
    let event = keep::event(&state, Digest::of(kept.incident.id.as_bytes()), &mut rng)
        .with_context(|| format!("cannot write to {}", state.display()))?;
    let report = stand_in(&subject, &failure);
    let (program, mut command) = incident::command(kept);
    command[0] = program.into();
    let server = Server::new(&settings, &destination)?;
    let mut asking = Asking {
        settings: &settings,
        destination: &destination,
        report: &report,
        event,
        limits: &arguments.limits,
        command: &command,
        rng: &mut rng,
    };
    Ok(match asking.ask_first(&server, consent)? {
        Known::GoOn => Asked::GoOn(Some(event)),
        Known::CountWaits => Asked::Done(Outcome::Queued),
        Known::Counted => {
            was_sent(Some(Kept::load(&kept.folder)?))?;
            let id = visible(&kept.incident.id);
            eprintln!(
                "The project knows this failure, and nothing of your input was needed. `stunt incidents delete {id}` \
                 forgets what is kept of it here."
            );
            Asked::Done(Outcome::Done)
        }
    })
}

/// A report of what is known before there is a double. It is never sent.
fn stand_in(subject: &Subject, failure: &Failure) -> Report {
    let name = subject.name();
    let own = failure.frames.iter().find(|it| it.module == name && it.build_id.is_some());
    Report {
        schema: Schema,
        stunt: env!("CARGO_PKG_VERSION").to_owned(),
        program: Program {
            build_id: own.and_then(|it| it.build_id.clone()),
            name,
            modules: Vec::new(),
        },
        arguments: Vec::new(),
        sources: subject.sources.clone(),
        failure: stunt_report::Failure {
            kind: failure.kind.word().to_owned(),
            signature: failure.signature(),
            words: failure.to_string(),
            frames: Vec::new(),
        },
        replay: Replay {
            native: true,
            check_memory: false,
            fails_if: subject.fails_if.as_ref().map(|it| it.text().to_owned()),
        },
        tells: None,
        leak: Leak::new(0.0, 0, Kind::Exact, ""),
        per_byte: Vec::new(),
        algorithm: Algorithm::default(),
        draw: Draw::Uniform,
        verified: Verified::default(),
        notes: Vec::new(),
        comment: None,
    }
}
