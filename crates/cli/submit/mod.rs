//! `stunt submit`: shows what would leave this machine, asks, and sends it.
//!
//! Always: nothing is sent without a person's yes at a terminal, unless `--yes` comes with a
//! ceiling and the report keeps it. What is sent is the report written anew, so that a file cannot
//! carry anything that its schema does not have. What cannot be delivered waits sealed.

mod details;
pub mod known;
pub mod limit;
mod rehearsal;
pub mod screen;
pub mod terminal;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use stunt_client::config::{self, Ceiling, Destination, Settings};
use stunt_client::keep::{self, Sealed};
use stunt_client::queue::{self, Kind, Note, Queue};
use stunt_client::{Address, Failure, Server};
use stunt_parcel::messages::EventId;
use stunt_parcel::{Digest, InstallationKey, Recipient, seal};
use stunt_record::{Kept, State, Store};
use stunt_report::{Draw, Opened, Report, visible};

use crate::incident;
use crate::inspect;
use crate::outcome::Outcome;
use crate::owner::Owner;
use crate::queue::now;
use crate::subject::Limits;
use known::{Asking, Known};
use terminal::Answer;

/// What the reason for a draw that is not uniform says if the figure counts it.
const COUNTED: &str = "the figure counts that";

/// Flags of `stunt submit`.
#[derive(clap::Args)]
#[command(
    after_help = "Where reports go is in the configuration: see `stunt config show`. First, the \
server is asked whether it has a double for this failure already; if it has one that fails here in \
the same way, the failure is counted, and nothing of the report is sent. The program for that is \
looked for by its name in this folder and in PATH, and runs contained.

Without a terminal nothing is sent, unless there are both --yes and --max-leak, and the destination, \
with its key and its certificate, is from the user, the system or the command line.

Exit codes: 0 sent, counted or rehearsed; 2 it cannot be sent; 6 nothing was sent, as you wished; \
7 it could not be delivered and waits in the queue: see `stunt queue`."
)]
pub struct Arguments {
    /// The report, or the incident that it was made of
    pub report: PathBuf,
    #[command(flatten)]
    pub send: Sending,
    /// Send nothing; print every request that would be sent
    #[arg(long)]
    pub dry_run: bool,
    /// Write the sealed parcel here, to be sent later by --parcel
    #[arg(short, long, value_name = "FILE", requires = "dry_run")]
    pub output: Option<PathBuf>,
    /// Send this parcel, which was sealed from the report by --dry-run -o
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub parcel: Option<PathBuf>,
    #[command(flatten)]
    pub limits: Limits,
    /// The program and its arguments, with @@ for the path of a double, to see whether the server's
    /// double fails here; without it, what the report says
    #[arg(last = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Flags that say where a report goes, and who agrees.
#[derive(Clone, clap::Args)]
#[group(skip)]
pub struct Sending {
    /// Send it to this server
    #[arg(long, value_name = "URL")]
    pub server: Option<Address>,
    /// Seal it for this public key
    #[arg(long, value_name = "AGE-KEY")]
    pub recipient: Option<Recipient>,
    /// Send it without a question, if it tells no more than --max-leak
    #[arg(long, requires = "max_leak")]
    pub yes: bool,
    /// Never send a report that tells more, such as 0.5% of the original, or 20bits
    #[arg(long, value_name = "LIMIT", value_parser = config::ceiling)]
    pub max_leak: Option<Ceiling>,
    /// Do not ask the server first whether it has a double already
    #[arg(long)]
    pub no_ask: bool,
    /// Show all there is to know, with every byte of the double, before the question
    #[arg(long)]
    pub hex: bool,
}

/// Who agrees.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// A person at a terminal, to each thing.
    Person,
    /// The flags, to all that keeps the ceiling.
    Standing,
}

/// All that is needed to send a report.
struct Job<'a> {
    arguments: &'a Arguments,
    settings: Settings,
    opened: Opened,
    /// The report's file, written anew.
    file: Vec<u8>,
    /// What its owner alone is told, if it was made here.
    owner: Option<Owner>,
    /// Whoever was asked before has counted this.
    event: Option<EventId>,
    destination: Destination,
    recipient: Recipient,
    /// Where the key of the installation and notes about parcels are.
    state: PathBuf,
    rng: ChaCha20Rng,
}

/// A variable by which the environment chooses the certificates that are trusted.
fn trust_from_outside() -> Option<&'static str> {
    let given = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().find(given)
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let opened = inspect::read(&arguments.report)?;
    // What was counted for a report that is submitted again is the same event.
    deliver(arguments, opened, incident::of_report(&arguments.report), None)
}

/// Sends a report, with consent. `event`: what was counted for it already; then the server was asked.
pub fn deliver(
    arguments: &Arguments,
    opened: Opened,
    incident: Option<Kept>,
    event: Option<EventId>,
) -> Result<Outcome> {
    let mut job = Job::new(arguments, opened, event)?;
    let owner = job.owner.as_ref();
    if let Some(refusal) = limit::above(job.report(), owner, arguments.send.max_leak, &job.settings)
    {
        eprintln!("stunt: nothing was sent: {refusal}");
        return Ok(Outcome::NotSent);
    }
    if arguments.dry_run {
        return job.rehearse();
    }
    let Some(consent) = arguments.send.consent() else { return Ok(Outcome::NotSent) };
    if consent == Consent::Standing
        && let Some(refusal) = job.not_without_a_person()
    {
        eprintln!("stunt: nothing was sent: {refusal}");
        return Ok(Outcome::NotSent);
    }
    // A parcel is checked before anybody is asked about it.
    let sealed = job.sealed()?;
    let server = Server::new(&job.settings, &job.destination)?;
    if event.is_none() && !arguments.send.no_ask {
        match job.ask_first(&server, consent)? {
            Known::Counted => {
                was_sent(incident)?;
                return Ok(Outcome::Done);
            }
            Known::CountWaits => return Ok(Outcome::Queued),
            Known::GoOn => {}
        }
    }
    if consent == Consent::Person && !job.agreed(sealed.len())? {
        eprintln!("Nothing was sent.");
        return Ok(Outcome::NotSent);
    }
    let outcome = job.send(&server, &sealed)?;
    if outcome == Outcome::Done {
        was_sent(incident)?;
    }
    Ok(outcome)
}

/// Writes down that nothing is left to be sent of an incident.
pub fn was_sent(incident: Option<Kept>) -> Result<()> {
    match incident {
        Some(mut kept) => Ok(Store::set_state(&mut kept, State::Sent)?),
        None => Ok(()),
    }
}

impl Sending {
    /// Who agrees; nobody can be asked if there is none, and that is said.
    pub fn consent(&self) -> Option<Consent> {
        match (self.yes, terminal::is_there()) {
            (true, _) => Some(Consent::Standing),
            (false, true) => Some(Consent::Person),
            (false, false) => {
                eprintln!(
                    "stunt: nothing was sent: there is no terminal to ask on; to send without a \
                     question, give --yes and --max-leak"
                );
                None
            }
        }
    }

    /// Where reports go, if somebody has said that.
    pub fn destination(&self, settings: &Settings) -> Option<Destination> {
        let configured = settings.destination();
        match &self.server {
            Some(server) => Some(Destination::named(server.clone(), configured)),
            None => configured,
        }
    }
}

impl Sending {
    /// Why a person has to look at the destination before anything goes there, if so: somebody else has chosen it.
    pub fn suggested(&self, destination: &Destination) -> Option<String> {
        let file =
            || destination.file.as_deref().unwrap_or(Path::new("a project's file")).display();
        if destination.is_a_suggestion() {
            return Some(format!(
                "only {} says where it goes, and a project cannot decide that; give --server, or \
                 set destination.server in your own configuration",
                file()
            ));
        }
        if let Some(key) = destination.suggested(self.recipient.is_some()) {
            return Some(format!(
                "only {} says {key}, and a project cannot decide that; set it in your own \
                 configuration{}",
                file(),
                if key == "destination.recipient" { ", or give --recipient" } else { "" }
            ));
        }
        let name = trust_from_outside().filter(|_| destination.certificate.is_none())?;
        Some(format!(
            "{name} says who vouches for the server, and whoever started this decides that; \
             set destination.certificate in your own configuration, or unset {name}"
        ))
    }
}

/// Something that could not be sent, and waits.
struct Waiting<'a> {
    kind: Kind,
    payload: &'a [u8],
    /// What it is about, in words.
    what: &'a str,
}

impl Waiting<'_> {
    /// Puts it into the queue, and says so.
    fn put(
        &self,
        settings: &Settings,
        destination: &Destination,
        failure: &Failure,
        rng: &mut ChaCha20Rng,
    ) -> Result<()> {
        let why = failure.to_string();
        let server = destination.server.to_string();
        let note = Note { server: &server, what: self.what, why: &why, now: now() };
        let limits = queue::Limits::of(settings);
        let waiting = Queue::usual()?
            .put(self.kind, self.payload, note, limits, rng)
            .with_context(|| format!("it could not be sent: {why}"))?;
        let short = &waiting.id.to_string()[..12];
        eprintln!("stunt: it could not be sent: {why}");
        eprintln!("stunt: it waits in the queue as {short}; `stunt queue send` tries again");
        Ok(())
    }
}

impl<'a> Job<'a> {
    fn new(arguments: &'a Arguments, opened: Opened, event: Option<EventId>) -> Result<Self> {
        let settings = config::settings()?;
        let file = opened.report.to_bytes(&opened.doubles)?;
        let destination = arguments.send.destination(&settings).context(
            "nobody has said where reports go: name a server with --server, or \
             destination.server in a file that `stunt config show` lists; without a server, \
             `stunt report REPORT --to github`, `gitlab` or `mail` prepares what can be pasted or sent",
        )?;
        let recipient = arguments.send.recipient.clone().or_else(|| destination.recipient.clone());
        let recipient = recipient.ok_or_else(|| {
            anyhow!(
                "nobody has said who may open a report at {}: name the server's public key with \
                 --recipient, or destination.recipient beside the server",
                destination.server
            )
        })?;
        let state = stunt_client::state().ok_or(queue::Error::NoHome)?;
        let (owner, rng) = (Owner::recall(&file), ChaCha20Rng::from_entropy());
        Ok(Job {
            arguments,
            settings,
            opened,
            file,
            owner,
            event,
            destination,
            recipient,
            state,
            rng,
        })
    }

    fn report(&self) -> &Report {
        &self.opened.report
    }

    /// Asks the server whether it has a double already.
    fn ask_first(&mut self, server: &Server, consent: Consent) -> Result<Known> {
        let event = keep::event(&self.state, Digest::of(&self.file), &mut self.rng)?;
        let mut asking = Asking {
            settings: &self.settings,
            destination: &self.destination,
            report: &self.opened.report,
            event,
            limits: &self.arguments.limits,
            command: &self.arguments.command,
            rng: &mut self.rng,
        };
        asking.ask_first(server, consent)
    }

    /// Why a person has to look at it, if so.
    fn not_without_a_person(&self) -> Option<String> {
        let suggested = self.arguments.send.suggested(&self.destination);
        suggested.or_else(|| match &self.report().draw {
            Draw::NotUniform { why } if !why.ends_with(COUNTED) => Some(format!(
                "the double was not drawn uniformly ({}), so it may reveal more than its figure \
                 says; send it from a terminal",
                visible(why)
            )),
            _ => None,
        })
    }

    fn installation_key(&mut self) -> Result<Option<InstallationKey>> {
        if !self.settings.sign() {
            return Ok(None);
        }
        let key = keep::installation_key(&self.state, &mut self.rng);
        key.map(Some).with_context(|| {
            format!("the key of this installation in {} cannot be used", self.state.display())
        })
    }

    /// The parcel: a new one, or the one that was sealed ahead.
    fn sealed(&mut self) -> Result<Vec<u8>> {
        let Some(path) = &self.arguments.parcel else {
            let key = self.installation_key()?;
            // Whoever was asked before may have counted it.
            let kept = || keep::event(&self.state, Digest::of(&self.file), &mut self.rng).ok();
            let event = self.event.or_else(kept);
            return Ok(seal(&self.file, &self.recipient, key.as_ref(), event)?);
        };
        let sealed = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let Some(noted) = keep::recall(&self.state, Digest::of(&sealed)) else {
            bail!(
                "{} was not sealed on this machine, so nobody here knows what it holds",
                path.display()
            );
        };
        if noted.report != Digest::of(&self.file) {
            bail!("{} does not hold this report", path.display());
        }
        if noted.recipient != self.recipient {
            bail!("{} is sealed for another key: {}", path.display(), noted.recipient);
        }
        if noted.signed != self.settings.sign() {
            bail!("{} is {}signed, which is not what the configuration says", path.display(), {
                if noted.signed { "" } else { "not " }
            });
        }
        Ok(sealed)
    }

    /// Shows what would be sent, and asks; all that there is to know comes when it is asked for.
    fn agreed(&self, bytes: usize) -> Result<bool> {
        let destination = screen::Destination {
            destination: &self.destination,
            recipient: &self.recipient,
            signed: self.settings.sign(),
            bytes,
        };
        let shown = screen::Shown {
            opened: &self.opened,
            owner: self.owner.as_ref(),
            destination: Some(destination),
        };
        terminal::say(&screen::text(&shown))?;
        let details = || details::text(&shown, terminal::style());
        if self.arguments.send.hex {
            terminal::say(&details())?;
        }
        loop {
            match terminal::question("Send this report?", true)? {
                Answer::Yes => return Ok(true),
                Answer::No => return Ok(false),
                Answer::Details => terminal::page(&details())?,
            }
        }
    }

    /// Sends the parcel, or keeps it for later.
    fn send(&mut self, server: &Server, sealed: &[u8]) -> Result<Outcome> {
        let digest = Digest::of(sealed);
        match server.store(sealed.to_vec(), &mut self.rng) {
            Ok(stored) => {
                keep::forget(&self.state, digest);
                println!("sent: ticket {}, {}", visible(&stored.ticket), visible(&stored.url));
                Ok(Outcome::Done)
            }
            // What will not be better tomorrow does not wait.
            Err(failure) if !failure.is_temporary() => Err(failure.into()),
            Err(failure) => {
                let what = inspect::title(self.report());
                let waiting = Waiting { kind: Kind::Parcel, payload: sealed, what: &what };
                waiting.put(&self.settings, &self.destination, &failure, &mut self.rng)?;
                Ok(Outcome::Queued)
            }
        }
    }

    /// Shows every request, and sends none.
    fn rehearse(&mut self) -> Result<Outcome> {
        let sealed = self.sealed()?;
        if let Some(path) = &self.arguments.output {
            let noted = Sealed {
                report: Digest::of(&self.file),
                recipient: self.recipient.clone(),
                signed: self.settings.sign(),
            };
            keep::remember(&self.state, Digest::of(&sealed), &noted, &mut self.rng)
                .with_context(|| format!("cannot write to {}", self.state.display()))?;
            fs::write(path, &sealed).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let ask = self.settings.ask() != Some(false) && !self.arguments.send.no_ask;
        let rehearsal = rehearsal::Rehearsal {
            report: self.report(),
            file: &self.file,
            destination: &self.destination,
            recipient: &self.recipient,
            ask,
            sealed,
            output: self.arguments.output.as_deref(),
        };
        crate::outcome::print(rehearsal.text().as_bytes())?;
        Ok(Outcome::Done)
    }
}
