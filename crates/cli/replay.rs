//! `stunt replay`: runs a program on the double of a report, and says whether it fails as reported.
//!
//! A report may come from a stranger, and natively it is the user's own program that runs on the
//! stranger's bytes. Always: natively it runs contained, unless the user says otherwise and is told
//! what that means; a program and arguments that the report names run only if somebody agrees; of
//! variables only those are set that the user names; and what is run on what is shown before. In the
//! machine, nothing that the program does reaches the host. Files and tickets are treated alike.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;
use stunt_client::TicketAddress;
use stunt_native::{Copied, Texts, containment};
use stunt_path::{Ending, Failure, Run};
use stunt_report::{Opened, Report, SourceName, visible};
use stunt_subject::{FailsIf, Subject, failure_of, run_double};

use crate::consent::{Runs, agree, announce};
use crate::outcome::{self, Outcome, Step};
use crate::subject::Limits;
use crate::walk::{Pace, walk};
use crate::{bisect, gui, inspect, ticket, variables};

/// Flags of `stunt replay`.
#[derive(clap::Args)]
#[command(
    after_help = "The double is a stranger's bytes if the report is a stranger's. Natively, a \
program of yours runs on them, contained: it writes only below a folder that is thrown away, reaches \
no network, and leaves other processes alone; it can read what you can. Without PROGRAM, the report \
also names the program and its arguments: they are shown, and run if you agree; where nobody can be \
asked, nothing runs without PROGRAM, --yes or --machine. With --machine nothing that the program does \
reaches the host, and there is no network.

The double of a ticket is fetched with a maintainer's token: the variable STUNT_TOKEN, if it is for \
this server (STUNT_SERVER, or the server of your own configuration), or destination.token in the \
configuration if that names this server.

Exit codes: 0 it fails as the report says, 1 it does not, 2 and 4 it could not be tried.
With --bisect: 1 it fails as the report says (bad), 0 it does not (good), 125 it could not be tried. \
Nothing is built by that: say how with --bisect-build, or the program that lies there is tried again and again."
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
    /// Build the version that is checked out by this line of the shell, before it is tried; a version that
    /// cannot be built is skipped. Means --bisect
    #[arg(long, value_name = "COMMAND")]
    bisect_build: Option<String>,
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
    /// Give the program this variable, which the report brings; may be given several times. Never
    /// one that makes programs load or run something
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Run it natively with all your rights: it may change and send whatever you may. Asks first
    #[arg(long, conflicts_with_all = ["machine", "step", "delay", "until"])]
    uncontained: bool,
    /// Do not ask before the program that the report names is run, or one is run uncontained
    #[arg(long)]
    yes: bool,
    /// A report about a user interface: where the page is, an address or a file
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["machine", "uncontained", "until", "env"])]
    page: Option<String>,
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

    /// What is wished of a user interface.
    fn wished(&self) -> gui::Wished<'_> {
        gui::Wished {
            page: self.page.as_deref(),
            delay: self.delay.unwrap_or_default(),
            step: self.step,
            yes: self.yes,
            json: self.json,
        }
    }

    /// Where the program runs. Whoever cannot be contained is closed into the machine.
    fn runs(&self, report: &Report) -> Runs {
        // An invalid access may do no harm by itself: only the machine, which checks memory, sees it.
        if self.machine || self.pace().is_some() || report.replay.check_memory {
            return Runs::InMachine;
        }
        if self.uncontained {
            return Runs::Uncontained;
        }
        let missing: Vec<String> = containment()
            .into_iter()
            .filter(|(_, there)| !there)
            .map(|(guard, _)| guard.to_string())
            .collect();
        if missing.is_empty() {
            return Runs::Contained;
        }
        eprintln!(
            "stunt: this host cannot contain a native run, so it runs in the machine. It lacks: {}",
            missing.join("; ")
        );
        Runs::InMachine
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    if let Some(line) = &arguments.bisect_build
        && !bisect::build(line)?
    {
        return Ok(Outcome::Step(Step::Skip));
    }
    let verdict = replay(arguments);
    if !arguments.bisect && arguments.bisect_build.is_none() {
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

/// The report, from its file or from the server whose ticket it is.
pub fn open(report: &Path) -> Result<Opened> {
    if let Some(address) = report.to_str().filter(|text| TicketAddress::is_meant(text)) {
        return ticket::fetch(&address.parse()?);
    }
    inspect::read(report)
}

fn replay(arguments: &Arguments) -> Result<Verdict> {
    let opened = open(&arguments.report)?;
    if let Some(result) = gui::replay_if_interface(&opened, &arguments.wished()) {
        return result.map(|outcome| match outcome {
            Outcome::Done => Verdict::Same,
            Outcome::NotAsReported => Verdict::Other,
            other => Verdict::Untried(other),
        });
    }
    if arguments.page.is_some() {
        bail!("this is a report about a program, and has no page; the program comes after --");
    }
    let report = &opened.report;
    let expected = Expected::of(report)?;
    let runs = arguments.runs(report);
    let in_machine = runs == Runs::InMachine;
    let (program, words) = command(&arguments.command, report)?;
    if !in_machine {
        variables::check(report, &arguments.env)?;
        announce(&opened, &words, runs);
        agree(!arguments.command.is_empty(), arguments.yes, runs)?;
    }
    let mut subject = Subject::of_report(&opened, program, words, arguments.limits.of_runs())?;
    if let Some(fails_if) = expected.fails_if() {
        subject.limit_by(fails_if);
    }
    if arguments.keep {
        let folder = subject.keep(&opened.doubles)?;
        eprintln!("stunt: the double is in {}", folder.display());
    }
    let run = if in_machine {
        let checked = opened.report.replay.check_memory;
        let run = match arguments.pace() {
            Some(pace) => walk(&subject, &opened.doubles, &pace, checked)?,
            None => run_double(&subject, &opened.doubles, checked).map(Some),
        };
        match run {
            Ok(Some(run)) => run,
            Ok(None) => return Ok(Verdict::Untried(Outcome::Done)),
            Err(error) => return outcome::stopped(error).map(Verdict::Untried),
        }
    } else {
        let mut command = if runs == Runs::Contained {
            subject.on_candidate(&opened.doubles)
        } else {
            subject.on_double(&opened.doubles)?
        };
        command.copied = Copied::Never;
        let native = subject.native();
        let run = native.run(&command)?;
        subject.texts.learn(native.executed());
        run
    };
    if run.ending == Ending::TimedOut && !expected.is_limit() {
        eprintln!("stunt: the program does not end in time; give it more with --timeout.");
        return Ok(Verdict::Untried(Outcome::Limit));
    }
    let agreement = expected.compare(&run, &subject.texts);
    let text = if arguments.json {
        format!("{:#}\n", to_json(report, &run, agreement, runs))
    } else {
        to_text(report, &run, agreement)
    };
    outcome::print(text.as_bytes())?;
    let same = matches!(agreement, Agreement::Same | Agreement::SameInAnotherBuild);
    if runs == Runs::Contained && !same {
        eprintln!(
            "stunt: the program ran contained: it could write nowhere but below a folder that is \
             thrown away, and reach no network. If it needs more to fail, see --uncontained."
        );
    }
    Ok(match agreement {
        Agreement::Same | Agreement::SameInAnotherBuild => Verdict::Same,
        Agreement::Different | Agreement::NoFailure => Verdict::Other,
    })
}

/// The program and its words: those of the user, or those of the report.
pub fn command(command: &[OsString], report: &Report) -> Result<(PathBuf, Vec<OsString>)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    if let Some(name) = command.first() {
        return Ok((stunt_native::find(name, &path)?, command.to_vec()));
    }
    let name = &report.program.name;
    // A report has the name of a file; a path would let it choose the folder.
    if name.is_empty() || name.contains(['/', '\0']) || name == "." || name == ".." {
        bail!("the report names no program that could be looked for; give one after --");
    }
    if let Some(hidden) = report.hidden_words() {
        bail!(
            "{hidden} in the report: {}. Give the whole command after --, with what belongs there",
            report.command_line()
        );
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
    Ok((program, words))
}

fn is_executable(path: &Path) -> bool {
    let executable =
        |data: std::fs::Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
    path.metadata().is_ok_and(executable)
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

    /// What counts as the failure, if the user said so.
    pub fn fails_if(&self) -> Option<&FailsIf> {
        self.fails_if.as_ref()
    }

    /// Whether the failure is that a run reaches a limit.
    pub fn is_limit(&self) -> bool {
        self.fails_if.as_ref().is_some_and(FailsIf::is_limit)
    }

    /// How a run compares with it.
    pub fn compare(&self, run: &Run, texts: &Texts) -> Agreement {
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
        match &failure_of(run, None, texts) {
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

/// What came of it, in a sentence.
pub fn to_text(report: &Report, run: &Run, agreement: Agreement) -> String {
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

fn to_json(report: &Report, run: &Run, agreement: Agreement, runs: Runs) -> serde_json::Value {
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
        "native": runs != Runs::InMachine,
        "contained": runs != Runs::Uncontained,
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
