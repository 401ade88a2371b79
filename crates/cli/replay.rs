//! `stunt replay`: runs a program on the double of a report, and says whether it fails as reported.
//!
//! A report may come from a stranger, and natively it is the user's own program that runs on the
//! stranger's bytes, with the user's rights. Which program that is and how it is called is shown
//! before it runs; in the machine, nothing that it does reaches the host. Of a ticket, whose double
//! comes from a server, nothing runs natively unless somebody agreed to it.

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;
use stunt_client::TicketAddress;
use stunt_native::{Ending, Native, Run};
use stunt_path::Failure;
use stunt_report::{Opened, Report, SourceName, visible};

use crate::fails_if::{FailsIf, failure_of};
use crate::follow::{Stopped, run_double};
use crate::outcome::{self, Outcome, Step};
use crate::subject::{Limits, Subject};
use crate::walk::{Pace, walk};
use crate::{inspect, ticket};

/// Flags of `stunt replay`.
#[derive(clap::Args)]
#[command(
    after_help = "The double is a stranger's bytes if the report is a stranger's. Natively, a \
program of yours runs on them with your rights; without PROGRAM, the report also names the program \
and its arguments, which are shown before it runs. With --machine nothing that the program does \
reaches the host, and there is no network.

The double of a ticket is fetched with a maintainer's token: the variable STUNT_TOKEN, if it is for \
this server (STUNT_SERVER, or the server of your own configuration), or destination.token in the \
configuration if that names this server. Where nobody can be asked, and \
there is neither PROGRAM nor --yes, it runs in the machine.

Exit codes: 0 it fails as the report says, 1 it does not, 2 and 4 it could not be tried.
With --bisect: 1 it fails as the report says (bad), 0 it does not (good), 125 it could not be tried."
)]
pub struct Arguments {
    /// The report, an incident that has one, or the address of a ticket:
    /// `https://crashes.example.org/tickets/T-12`
    report: PathBuf,
    /// Run the program in the machine: closed, and slower
    #[arg(long)]
    machine: bool,
    /// Exit as `git bisect run` expects
    #[arg(long)]
    bisect: bool,
    /// Show each test of the input before it is made, and wait for Enter; in the machine
    #[arg(long, conflicts_with = "delay")]
    step: bool,
    /// Show each test of the input before it is made, and wait so many milliseconds; in the machine
    #[arg(long, value_name = "MS")]
    delay: Option<u64>,
    /// Show tests from the first on that is made in this function, or in what it calls; in the machine
    #[arg(long, value_name = "FUNCTION")]
    until: Option<String>,
    /// Leave the double in a folder, for a debugger
    #[arg(long)]
    keep: bool,
    /// Do not ask before the program that the report names is run
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: Limits,
    /// The program and its arguments, with @@ for the path of the double; without it, what the
    /// report says, with a program of that name in this folder or in PATH
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

impl Arguments {
    /// How to walk through the run, if it is to be seen.
    fn pace(&self) -> Option<Pace> {
        let walks = self.step || self.delay.is_some() || self.until.is_some();
        let delay = self.delay.map(Duration::from_millis);
        walks.then(|| Pace { step: self.step, delay, until: self.until.clone() })
    }

    /// Whether a server chose what to run, and nobody agrees to it or can be asked.
    fn is_unwatched(&self, from: Origin) -> bool {
        let named = !self.command.is_empty() || self.yes;
        from == Origin::Server && !named && !std::io::stdin().is_terminal()
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let verdict = replay(arguments);
    if !arguments.bisect {
        return verdict.map(|verdict| match verdict {
            Verdict::Same => Outcome::Done,
            Verdict::Other => Outcome::NotAsReported,
            Verdict::Untried(outcome) => outcome,
        });
    }
    Ok(Outcome::Step(match verdict {
        Ok(Verdict::Same) => Step::Bad,
        Ok(Verdict::Other) => Step::Good,
        Ok(Verdict::Untried(_)) => Step::Skip,
        Err(error) => {
            eprintln!("stunt: {}", outcome::sentence(&error));
            Step::Skip
        }
    }))
}

/// What came of a replay.
enum Verdict {
    /// It fails as the report says.
    Same,
    /// It does not, or in another way.
    Other,
    /// Nobody knows; the user has been told why.
    Untried(Outcome),
}

/// Where a report comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    File,
    Server,
}

/// The report, from its file or from the server whose ticket it is.
fn open(report: &Path) -> Result<(Opened, Origin)> {
    if let Some(address) = report.to_str().filter(|text| TicketAddress::is_meant(text)) {
        return Ok((ticket::fetch(&address.parse()?)?, Origin::Server));
    }
    Ok((inspect::read(report)?, Origin::File))
}

fn replay(arguments: &Arguments) -> Result<Verdict> {
    let (opened, from) = open(&arguments.report)?;
    let report = &opened.report;
    let expected = Expected::of(report)?;
    // An invalid access may do no harm by itself: only the machine, which checks memory, sees it.
    let in_machine = arguments.machine
        || arguments.pace().is_some()
        || report.replay.check_memory
        || arguments.is_unwatched(from);
    let (program, words) = command(arguments, &opened, in_machine)?;
    let mut subject = Subject::of_report(&opened, program, words, &arguments.limits)?;
    if arguments.keep {
        let folder = subject.keep(&opened.doubles)?;
        eprintln!("stunt: the double is in {}", folder.display());
    }
    let run = if in_machine {
        let checked = opened.report.replay.check_memory;
        let run = match arguments.pace() {
            Some(pace) => walk(&subject, &opened.doubles, &pace, checked)?,
            None => run_double(&subject, &opened.doubles, checked)?.map(Some),
        };
        match run {
            Ok(Some(run)) => run,
            Ok(None) => return Ok(Verdict::Untried(Outcome::Done)),
            Err(Stopped::Unsupported(what)) => {
                eprintln!("stunt: {what}. This is a limit of stunt, not a bug of the program.");
                return Ok(Verdict::Untried(Outcome::Unsupported));
            }
            Err(Stopped::Limit(what)) => {
                eprintln!("stunt: {what}.");
                return Ok(Verdict::Untried(Outcome::Limit));
            }
        }
    } else {
        Native::new().run(&subject.on_double(&opened.doubles)?)?
    };
    if run.ending == Ending::TimedOut {
        eprintln!("stunt: the program does not end in time; give it more with --timeout.");
        return Ok(Verdict::Untried(Outcome::Limit));
    }
    let agreement = expected.compare(&run);
    let text = if arguments.json {
        format!("{:#}\n", to_json(report, &run, agreement, in_machine))
    } else {
        to_text(report, &run, agreement)
    };
    outcome::print(text.as_bytes())?;
    Ok(match agreement {
        Agreement::Same | Agreement::SameInAnotherBuild => Verdict::Same,
        Agreement::Different | Agreement::NoFailure => Verdict::Other,
    })
}

/// The program and its words: those of the user, or those of the report.
fn command(
    arguments: &Arguments,
    opened: &Opened,
    in_machine: bool,
) -> Result<(PathBuf, Vec<OsString>)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    if let Some(name) = arguments.command.first() {
        return Ok((stunt_native::find(name, &path)?, arguments.command.clone()));
    }
    let report = &opened.report;
    let name = &report.program.name;
    // A report has the name of a file; a path would let it choose the folder.
    if name.is_empty() || name.contains(['/', '\0']) || name == "." || name == ".." {
        bail!("the report names no program that could be looked for; give one after --");
    }
    let here = Path::new(".").join(name);
    let program = if is_executable(&here) {
        here
    } else {
        stunt_native::find(name.as_ref(), &path).with_context(|| {
            format!("{} is not in this folder either; give it after --", visible(name))
        })?
    };
    let mut words = vec![OsString::from(&program)];
    words.extend(report.arguments.iter().map(OsString::from));
    if !in_machine {
        announce(&program, report);
        if !arguments.yes && std::io::stdin().is_terminal() && !agreed()? {
            bail!("nothing was run; name the program yourself after --, or use --machine");
        }
    }
    Ok((program, words))
}

fn is_executable(path: &Path) -> bool {
    let executable =
        |data: std::fs::Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
    path.metadata().is_ok_and(executable)
}

/// Says what the report wants to be run.
fn announce(program: &Path, report: &Report) {
    let mut line = visible(&program.display().to_string());
    for word in &report.arguments {
        line.push(' ');
        let plain = |c: u8| c.is_ascii_alphanumeric() || b"@%+=:,./-_<>".contains(&c);
        if !word.is_empty() && word.as_bytes().iter().all(|&byte| plain(byte)) {
            line += word;
        } else {
            line += &format!("'{}'", visible(word));
        }
    }
    eprintln!("stunt: the report says to run: {line}");
}

fn agreed() -> Result<bool> {
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "Run it natively, with your rights? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// How a replayed run compares with the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agreement {
    /// The same failure, by its signature or by what the user stated.
    Same,
    /// Another build of the program fails in the same way in the same function.
    SameInAnotherBuild,
    /// It fails in another way.
    Different,
    /// It does not fail.
    NoFailure,
}

/// What the report says about the failure.
pub struct Expected<'a> {
    report: &'a Report,
    fails_if: Option<FailsIf>,
}

impl<'a> Expected<'a> {
    /// What this report says.
    pub fn of(report: &'a Report) -> Result<Self> {
        let parse = |text: &String| {
            text.parse::<FailsIf>().map_err(|error| {
                anyhow!("the report says when it fails, but not in a way that can be used: {error}")
            })
        };
        Ok(Self { report, fails_if: report.replay.fails_if.as_ref().map(parse).transpose()? })
    }

    /// How a run compares with it.
    pub fn compare(&self, run: &Run) -> Agreement {
        if let Some(condition) = &self.fails_if {
            // Whoever writes a report writes its condition, too: that it holds says something only of
            // the failure that goes by it.
            let met = condition.holds(run) && self.is_met_by(&Failure::stated(condition.text()));
            return match (met, &run.failure) {
                (true, _) => Agreement::Same,
                (false, Some(_)) => Agreement::Different,
                (false, None) if condition.holds(run) => Agreement::Different,
                (false, None) => Agreement::NoFailure,
            };
        }
        match &failure_of(run, None) {
            None => Agreement::NoFailure,
            Some(failure) if self.is_met_by(failure) => Agreement::Same,
            Some(failure) if self.is_another_build(failure) && self.in_same_function(failure) => {
                Agreement::SameInAnotherBuild
            }
            Some(_) => Agreement::Different,
        }
    }

    /// Whether this is the failure that the report is about, in the same build.
    pub fn is_met_by(&self, failure: &Failure) -> bool {
        failure.signature() == self.report.failure.signature
    }

    /// Whether the code that failed is not, or may not be, the code that the report is about.
    fn is_another_build(&self, failure: &Failure) -> bool {
        let identity = failure.shown().and_then(|frame| frame.build_id.as_ref());
        let known = &self.report.failure.frames;
        identity.is_none() || !known.iter().any(|frame| frame.build_id.as_ref() == identity)
    }

    /// Addresses and lines move from build to build; functions keep their names.
    fn in_same_function(&self, failure: &Failure) -> bool {
        let words = failure.to_string();
        let named = failure.shown().is_some_and(|frame| frame.symbol.is_some());
        let same = without_line(&words) == without_line(&self.report.failure.words);
        named && same && failure.kind.word() == self.report.failure.kind
    }
}

/// `SIGSEGV in field (parser.c:12)` without the place in the source.
fn without_line(words: &str) -> &str {
    words.rsplit_once(" (").map_or(words, |(words, _)| words)
}

fn to_text(report: &Report, run: &Run, agreement: Agreement) -> String {
    let expected = visible(&report.failure.words);
    match (agreement, &run.failure) {
        (Agreement::Same, _) => format!("The double fails as the report says: {expected}.\n"),
        (Agreement::SameInAnotherBuild, Some(failure)) => format!(
            "The double fails as the report says, in another build of the program: {failure}.\n"
        ),
        (_, Some(failure)) => {
            format!("The double fails differently: {failure}, where the report says {expected}.\n")
        }
        (_, None) => format!(
            "The double does not fail: the program {}, where the report says {expected}.\n",
            run.ending
        ),
    }
}

fn to_json(report: &Report, run: &Run, agreement: Agreement, machine: bool) -> serde_json::Value {
    let failure = run.failure.as_ref().map(|failure| {
        json!({
            "kind": failure.kind.word(),
            "signature": failure.signature(),
            "words": failure.to_string(),
        })
    });
    let sources: Vec<&SourceName> = report.sources.iter().map(|source| &source.name).collect();
    json!({
        "same": matches!(agreement, Agreement::Same | Agreement::SameInAnotherBuild),
        "another_build": agreement == Agreement::SameInAnotherBuild,
        "native": !machine,
        "ending": run.ending.to_string(),
        "failure": failure,
        "expected": {
            "kind": report.failure.kind,
            "signature": report.failure.signature,
            "words": report.failure.words,
            "fails_if": report.replay.fails_if,
        },
        "sources": sources,
    })
}
