//! Ask first: whether the server has a double already, and whether that fails here in the same way.
//!
//! Always: asking and counting tell the signature of the failure, the program's name and its
//! build-id, nothing of the input. The server's double is a stranger's bytes: the program that runs
//! on it is this report's, with this report's arguments, contained or in the machine, and reads nothing
//! but itself and the system. What the server's report says about programs and arguments is not looked
//! at. What the run came to is not told: whatever it was, the failure is counted, as the next request,
//! when a fixed time is over.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use rand_chacha::ChaCha20Rng;
use stunt_client::config::{Destination, Settings};
use stunt_client::queue::Kind;
use stunt_client::{Failure, Server};
use stunt_native::{Copied, containment};
use stunt_parcel::messages::{EventId, KnownDouble, is_signature};
use stunt_path::Ending;
use stunt_report::{Opened, Report, SourceName, visible};
use stunt_subject::{Confined, Error, Stopped, Subject, run_double};

use super::details::paragraph;
use super::rehearsal::{ask_of, count_of};
use super::terminal::{self, Answer};
use super::{Consent, Waiting};
use crate::replay::{Agreement, Expected};
use crate::subject::Limits;
use crate::{inspect, variables};

/// The longest that a program is run on the server's double, whatever a run may take otherwise.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much later the server hears of it: to start a program and to read its stack takes time, too.
const MARGIN: Duration = Duration::from_secs(1);
const SLOW: &str = "the program does not end in time on its double";

/// What came of asking.
pub enum Known {
    /// The server's double fails here, too, and the failure was counted: all is done.
    Counted,
    /// The same, but the count waits in the queue.
    CountWaits,
    /// The report itself is needed, or nobody was asked.
    GoOn,
}

/// How the server's double does here.
enum Here {
    /// It fails in the same way.
    Same,
    /// It does not, or nobody knows; this is why.
    No(String),
}

/// What is asked, and who runs the program on what the server answers. The report may be one that is not made yet:
/// of it, nothing is told but the signature, the program's name and its build-id.
pub struct Asking<'a> {
    pub settings: &'a Settings,
    pub destination: &'a Destination,
    pub report: &'a Report,
    /// The event that is counted.
    pub event: EventId,
    pub limits: &'a Limits,
    /// The program and its words, as the user has given them; else as the report says.
    pub command: &'a [OsString],
    pub rng: &'a mut ChaCha20Rng,
}

impl Asking<'_> {
    /// Asks the server, if that is agreed.
    pub fn ask_first(&mut self, server: &Server, consent: Consent) -> Result<Known> {
        if self.settings.ask() == Some(false) || !is_signature(&self.report.failure.signature) {
            return Ok(Known::GoOn);
        }
        // Whoever has set it has agreed to it.
        let undecided = self.settings.ask().is_none();
        if consent == Consent::Person && undecided && !self.may_ask()? {
            return Ok(Known::GoOn);
        }
        let ask = ask_of(self.report);
        let answer = match server.ask(&ask, self.rng) {
            Ok(answer) => answer,
            Err(failure) => return go_on("the server could not be asked", failure),
        };
        let ticket = visible(&answer.ticket.unwrap_or_default());
        let Some(promised) = answer.double else {
            if answer.known {
                eprintln!(
                    "The server knows this failure as {ticket}, and hands out no double of it."
                );
            } else {
                eprintln!("The server does not know this failure yet.");
            }
            return Ok(Known::GoOn);
        };
        let theirs = match self.fetched(server, &ask.signature, &promised) {
            Ok(theirs) => theirs,
            Err(failure) => return go_on("the server's double could not be fetched", failure),
        };
        let over = Instant::now() + self.patience() + MARGIN;
        let here = self.try_here(theirs, over);
        // Not before, and by nothing that the run did later.
        thread::sleep(over.saturating_duration_since(Instant::now()));
        match &here {
            Here::Same => {
                eprintln!(
                    "The server's double fails here in the same way, so yours is not needed."
                );
            }
            Here::No(why) => eprintln!("The server knows this failure as {ticket}, but {why}."),
        }
        let counted = self.count(server, &ticket, &here)?;
        Ok(match here {
            Here::Same => counted,
            Here::No(_) => Known::GoOn,
        })
    }

    /// How long the program may run on the server's double.
    fn patience(&self) -> Duration {
        self.limits.of_runs().timeout.min(PATIENCE)
    }

    /// Says what asking tells, and asks whether it may.
    fn may_ask(&self) -> Result<bool> {
        let ask = ask_of(self.report);
        let mut text = String::from("\n");
        paragraph(
            &mut text,
            &format!(
                "Before the report: {} can be asked whether it has a double for this failure \
                 already. If it has one that fails here in the same way, nothing of your input \
                 has to leave; the failure is only counted once more. Asking and counting tell \
                 the server",
                self.destination.server
            ),
        );
        text += &format!("    signature  {}\n", visible(&ask.signature));
        text += &format!("    program    {}\n", visible(&ask.program));
        if let Some(build_id) = &ask.build_id {
            text += &format!("    build-id   {}\n", visible(build_id));
        }
        paragraph(
            &mut text,
            "and nothing else but a random number. (`ask = true` or `ask = false` in the \
             configuration answers this for good.)",
        );
        if self.destination.is_a_suggestion() {
            paragraph(
                &mut text,
                "Only a file of this project says that this is the server. Do you know it?",
            );
        }
        terminal::say(&text)?;
        Ok(terminal::question("Ask the server?", false)? == Answer::Yes)
    }

    fn fetched(
        &mut self,
        server: &Server,
        signature: &str,
        promised: &KnownDouble,
    ) -> Result<Result<Opened, String>, Failure> {
        let file = server.double(signature, promised, self.rng)?;
        Ok(Report::from_bytes(&file, stunt_report::Limits::default())
            .map_err(|error| error.to_string()))
    }

    /// Runs this report's program on the server's double, until this moment at most.
    fn try_here(&self, theirs: Result<Opened, String>, until: Instant) -> Here {
        let theirs = match theirs {
            Ok(theirs) => theirs,
            Err(error) => return Here::No(format!("its double cannot be used: {error}")),
        };
        let own = self.report;
        let names = |report: &Report| -> Vec<SourceName> {
            report.sources.iter().map(|source| source.name.clone()).collect()
        };
        if theirs.report.failure.signature != own.failure.signature {
            return Here::No("its double is one of another failure".to_owned());
        }
        if names(&theirs.report) != names(own) {
            return Here::No("its double came into the program in another way".to_owned());
        }
        let (program, words) = match self.command() {
            Ok(command) => command,
            Err(why) => return Here::No(format!("its double could not be tried here: {why}")),
        };
        eprintln!(
            "The server has a double. It is tried here, contained: {}",
            visible(&program.display().to_string())
        );
        let sources = theirs.report.sources;
        let opened = Opened { report: Report { sources, ..own.clone() }, doubles: theirs.doubles };
        let (limits, patience) = (self.limits.clone(), self.patience());
        // In a thread of its own, so that not even reading a stack can take longer than it may.
        let (tell, told) = mpsc::channel();
        thread::spawn(move || tell.send(run(&opened, program, words, &limits, patience)));
        match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Ok(here)) => here,
            Ok(Err(error)) => Here::No(format!("its double could not be tried here: {error:#}")),
            Err(_) => Here::No(SLOW.to_owned()),
        }
    }

    /// The program and its words: those after `--`, or those of this report.
    fn command(&self) -> Result<(PathBuf, Vec<OsString>), String> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        if let Some(name) = self.command.first() {
            let program = stunt_native::find(name, &path).map_err(|error| error.to_string())?;
            return Ok((program, self.command.to_vec()));
        }
        let report = self.report;
        let name = &report.program.name;
        if name.is_empty() || name.contains(['/', '\0']) || name == "." || name == ".." {
            return Err("the report names no program; give it after --".to_owned());
        }
        if let Some(hidden) = report.hidden_words() {
            return Err(format!("{hidden} in the report; give the whole command after --"));
        }
        let here = Path::new(".").join(name);
        let program = if is_executable(&here) {
            here
        } else {
            stunt_native::find(name.as_ref(), &path).map_err(|_| {
                format!("{} is not in this folder and not in PATH; give it after --", visible(name))
            })?
        };
        let mut words = vec![OsString::from(&program)];
        words.extend(report.arguments.iter().map(OsString::from));
        Ok((program, words))
    }

    /// Counts the failure once more.
    fn count(&mut self, server: &Server, ticket: &str, here: &Here) -> Result<Known> {
        let count = count_of(self.report, self.event);
        match server.count(&count, self.rng) {
            Ok(counted) => {
                let ticket = visible(&counted.ticket);
                let line = format!("counted: ticket {ticket}, {} times", counted.count);
                match here {
                    Here::Same => println!("{line}"),
                    Here::No(_) => eprintln!("{line}"),
                }
                Ok(Known::Counted)
            }
            Err(failure) if !failure.is_temporary() => Err(failure.into()),
            Err(failure) => {
                tracing::info!(ticket, "the count waits");
                let message = serde_json::to_vec(&count)?;
                let what = inspect::title(self.report);
                let waiting = Waiting { kind: Kind::Count, payload: &message, what: &what };
                waiting.put(self.settings, self.destination, &failure, self.rng)?;
                Ok(Known::CountWaits)
            }
        }
    }
}

/// What may be over soon is no reason to stop; everything else is.
fn go_on(what: &str, failure: Failure) -> Result<Known> {
    if !failure.is_temporary() {
        return Err(failure.into());
    }
    eprintln!("stunt: {what}: {failure}");
    Ok(Known::GoOn)
}

fn is_executable(path: &Path) -> bool {
    let executable =
        |data: std::fs::Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
    path.metadata().is_ok_and(executable)
}

fn run(
    opened: &Opened,
    program: PathBuf,
    words: Vec<OsString>,
    limits: &Limits,
    patience: Duration,
) -> Result<Here> {
    let report = &opened.report;
    let expected = Expected::of(report)?;
    let confined = Confined::new(&program);
    let mut subject = Subject::of_report(opened, program, words, limits.of_runs())?;
    subject.confine(confined, patience);
    if let Some(fails_if) = expected.fails_if() {
        if fails_if.time().is_some_and(|time| time > patience) {
            return Ok(Here::No(SLOW.to_owned()));
        }
        subject.limit_by(fails_if);
    }
    let contained = containment().iter().all(|(_, there)| *there);
    let loads = report.sources.iter().any(
        |source| matches!(&source.name, SourceName::Environment(name) if variables::loads(name)),
    );
    let in_machine = report.replay.check_memory || !report.replay.native || !contained || loads;
    let run = if in_machine {
        match run_double(&subject, &opened.doubles, report.replay.check_memory) {
            Err(Error::Stopped(Stopped::Unsupported(what) | Stopped::Limit(what))) => {
                return Ok(Here::No(format!("its double could not be tried here: {what}")));
            }
            run => run?,
        }
    } else {
        let mut command = subject.on_candidate(&opened.doubles);
        command.copied = Copied::Never;
        let native = subject.native();
        let run = native.run(&command)?;
        subject.texts.learn(native.executed());
        run
    };
    if run.ending == Ending::TimedOut && !expected.is_limit() {
        return Ok(Here::No(SLOW.to_owned()));
    }
    Ok(match expected.compare(&run, &subject.texts) {
        Agreement::Same => Here::Same,
        Agreement::SameInAnotherBuild => {
            Here::No("the program here is another build, so its double proves nothing".to_owned())
        }
        Agreement::Different => Here::No("its double fails in another way here".to_owned()),
        Agreement::NoFailure => Here::No("its double does not fail here".to_owned()),
    })
}
