//! `stunt anonymize`: from a crash on a private input to a double that may be sent.
//!
//! Flags, calls and print: the job itself is done by `stunt-anonymize`, in a worker that is guarded.

mod guarded;
mod words;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use stunt_anonymize::{
    Method, Options, PathSearch, Readable, Refusal, Relaxation, Resize, USUAL_REMAINS, USUAL_SHARE,
    USUAL_SHARE_CUT, parts,
};
use stunt_record::{Kept, State, Store};
use stunt_report::{store_archive, visible};
use stunt_subject::{FailsIf, Stopped, Subject, whole};

use crate::explain;
use crate::gui;
use crate::hints::{self, Hint};
use crate::incident;
use crate::outcome::{self, Outcome};
use crate::owner::Owner;
use crate::subject;
use crate::submit::terminal;

use guarded::{Answer, answer};
pub use words::to_json;

/// Values of a flag: what each means, its name, and what `--help` says of it.
type Values<T> = &'static [(T, &'static str, &'static str)];

const METHODS: Values<Method> = &[
    (
        Method::Weaken,
        "weaken",
        "What is left of the relaxed path condition when everything is gone that the failure does not \
         need, as real runs show it; a random input that satisfies it and fails",
    ),
    (Method::Relaxed, "relaxed", "A random solution of the relaxed path condition"),
    (Method::Castro, "castro", "A random solution of the path condition as it is (Castro et al.)"),
    (
        Method::Camouflage,
        "camouflage",
        "The solution of the relaxed path condition that differs most (Camouflage)",
    ),
    (
        Method::Mpp,
        "mpp",
        "All paths to the failure, for small programs: the least that any double must reveal",
    ),
    (Method::ReapBrw, "reap-brw", "Another path by a bounded random walk (REAP)"),
    (Method::ReapBag, "reap-bag", "Another path by bounded, adaptive and greedy detours (REAP)"),
    (
        Method::ReapRm,
        "reap-rm",
        "Another path by detours that share few bytes with the original (the earlier REAP)",
    ),
    (Method::Respa, "respa", "Another path by searches for the least leaking one (RESPA)"),
    (
        Method::Blackbox,
        "blackbox",
        "Like weaken, without the machine: for scripts and whatever else can be run",
    ),
];

const RELAXATIONS: Values<Relaxation> = &[
    (Relaxation::Comparisons, "comparisons", "Comparisons of strings and memory"),
    (Relaxation::Clauses, "clauses", "Conditions of several clauses"),
    (Relaxation::Switches, "switches", "Jumps through tables"),
    (Relaxation::Reads, "reads", "Reads from constant tables, and accesses to one of a few places"),
];

const RESIZES: Values<Resize> = &[
    (Resize::Auto, "auto", "Short, or filled up to the original's length, whichever reveals less"),
    (Resize::Always, "always", "Short"),
    (Resize::Never, "never", "It has the length of the original"),
];

const READABLES: Values<Readable> = &[
    (Readable::Text, "auto", "Where all that the failure needs may be text"),
    (Readable::Always, "always", "Wherever the program still fails then"),
    (Readable::Never, "never", "Whatever satisfies what the failure needs has the same chance"),
];

/// Reads one of the values of a flag.
fn one_of<T: Copy + Send + Sync>(values: Values<T>) -> impl TypedValueParser<Value = T> {
    let all = values.iter().map(|(_, name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(all).try_map(move |given| {
        let named = values.iter().find(|(_, name, _)| *name == given);
        named.map(|(value, ..)| *value).context("one of the possible values")
    })
}

/// How far from the original's path to look.
#[derive(Clone, Copy, Debug)]
struct Radius(Option<usize>);

impl std::str::FromStr for Radius {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "max" => Ok(Self(None)),
            _ => text
                .parse()
                .map(|radius| Self(Some(radius)))
                .map_err(|_| format!("`{text}` is neither a number of tests nor `max`")),
        }
    }
}

/// Flags of searches over paths.
#[derive(clap::Args)]
#[group(skip)]
struct Search {
    /// The most tests that a search over paths makes
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    nodes: u64,
    /// reap: the most tests of a detour
    #[arg(long, value_name = "N", default_value_t = 32)]
    max_detour: usize,
    /// reap: how often it is tried
    #[arg(long, value_name = "N", default_value_t = 200)]
    attempts: u32,
    /// reap: the most tests at which an attempt leaves the path; as many as there are, if nothing is said
    #[arg(long, value_name = "N")]
    detours: Option<usize>,
    /// respa: how far from the path to look, in tests, or `max`
    #[arg(long, value_name = "N|max", default_value = "max")]
    radius: Radius,
    /// mpp, reap, respa: start from the original's own path, as in the papers; else respa, and on paths of
    /// 10,000 tests and more all of them, start from an input with one value wherever that will do, if its
    /// path reveals less
    #[arg(long)]
    as_is: bool,
    /// Random delays, up to so many seconds each, so that the time taken says nothing
    #[arg(long, value_name = "SECONDS")]
    hide_time: Option<u64>,
}

/// Flags of `stunt anonymize`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: subject::Arguments,
    /// How the double is found
    #[arg(long, value_parser = one_of(METHODS), default_value = "weaken")]
    algorithm: Method,
    /// Do without a relaxation, to see its worth; may be given several times
    #[arg(long, value_parser = one_of(RELAXATIONS), value_name = "NAME", value_delimiter = ',')]
    no_relax: Vec<Relaxation>,
    /// Stop at the first invalid access to memory: blocks of the heap have red zones, freed ones are
    /// not used again, canaries on the stack are watched. A double then needs the same check to fail
    #[arg(long)]
    check_memory: bool,
    /// Where the report goes. If nothing is said: the folder of the incident, or stunt-report.zip, or the first of
    /// stunt-report-2.zip and so on that is not there yet
    #[arg(short, long, value_name = "REPORT")]
    output: Option<PathBuf>,
    /// What counts as the failure: exit=N, signal=N, stdout~REGEX, stderr~REGEX, hang=SECONDS (it goes
    /// on for longer), or oom=SIZE (a process fills more memory; oom alone means 1G)
    #[arg(long, value_name = "CONDITION")]
    fails_if: Option<FailsIf>,
    /// How many seconds the job may take once the failure is known, but for the runs that prove the
    /// double; when they are over, the best double so far is handed out. If nothing is said, the search
    /// takes 20, 30 for a program that is slow, and the job 300
    #[arg(long, value_name = "SECONDS", env = "STUNT_TIME")]
    time: Option<u64>,
    /// How many times weaken and blackbox may run the program
    #[arg(long, value_name = "N", default_value_t = 12_000)]
    effort: u64,
    #[command(flatten)]
    search: Search,
    /// Equal paths give equal doubles: all randomness comes from the failure and the path. Reports of
    /// the same add nothing to each other; the figure is that of the path
    #[arg(long, conflicts_with_all = ["seed", "resize"])]
    canonical: bool,
    /// weaken, blackbox: how long the double is; the figure counts its length, too
    #[arg(
        long,
        value_parser = one_of(RESIZES),
        value_name = "WHEN",
        default_value = "auto",
        num_args = 0..=1,
        default_missing_value = "always",
        require_equals = true
    )]
    resize: Resize,
    /// weaken, blackbox: whether a person can read what is free in the double; if nothing is said, where all that is
    /// needed is text
    #[arg(
        long,
        value_parser = one_of(READABLES),
        value_name = "WHEN",
        default_value = "auto",
        num_args = 0..=1,
        default_missing_value = "always",
        require_equals = true
    )]
    readable: Readable,
    /// Do without a family of passes or moves, to see its worth
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide = true)]
    without: Vec<String>,
    /// How often the double must fail natively
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// The most that a double may tell of the original, in percent of it: above that nothing is handed
    /// out. Counted are the figure, and the original's bytes that are more than chance gives.
    /// If nothing is said, 90, and 33 if Ctrl-C has cut the search short
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    max_share: Option<u8>,
    /// The most of the original's different words and numbers that may stand in a double, in percent: above that
    /// nothing is handed out. Words that the program itself has do not count. If nothing is said, 10 for weaken and
    /// blackbox; the others keep to a path and to its words, and have no limit
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    accept_remains: Option<u8>,
    /// Make a double although the program fails in the same way on harmless inputs, an empty one among
    /// them: then the failure does not come from the input, and a double proves nothing
    #[arg(long)]
    even_if_any_input_fails: bool,
    /// A public document: what the double has of it tells little. `stunt explain` needs the same ones
    #[arg(long, value_name = "FILE")]
    example: Vec<PathBuf>,
    /// Repeat a run; without it the randomness is fresh, as it should be for a real double
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print what the run in the machine took, and where values were fixed
    #[arg(long)]
    stats: bool,
}

impl Arguments {
    /// What they ask of a job.
    fn options(&self, subject: &Subject) -> Result<Options> {
        let search = &self.search;
        let usual_remains = if self.algorithm.weakens() { USUAL_REMAINS } else { 100 };
        Ok(Options {
            method: self.algorithm,
            no_relax: self.no_relax.clone(),
            check_memory: self.check_memory,
            fails_if: self.fails_if.clone(),
            time: self.time.map(Duration::from_secs),
            effort: self.effort,
            paths: PathSearch {
                nodes: search.nodes,
                max_detour: search.max_detour,
                attempts: search.attempts,
                detours: search.detours,
                radius: search.radius.0,
                as_is: search.as_is,
                hide_time: search.hide_time.map(Duration::from_secs),
            },
            canonical: self.canonical,
            resize: self.resize,
            readable: self.readable,
            without: self.without.clone(),
            runs: self.runs,
            max_share: self.max_share.unwrap_or(USUAL_SHARE),
            max_share_cut: self.max_share.unwrap_or(USUAL_SHARE_CUT),
            accept_remains: self.accept_remains.unwrap_or(usual_remains),
            even_if_any_input_fails: self.even_if_any_input_fails,
            seed: self.seed,
            examples: explain::examples(&self.example)?,
            tell: self.subject.wishes(subject)?,
        })
    }
}

/// What is printed.
struct Print {
    json: bool,
    stats: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    if arguments.without.iter().any(|name| name == "list") {
        let lines: String = parts().map(|(name, what)| format!("{name}\t{what}\n")).collect();
        outcome::print(lines.as_bytes())?;
        return Ok(Outcome::Done);
    }
    if let Some(unknown) = arguments.without.iter().find(|it| !parts().any(|(name, _)| name == *it))
    {
        bail!("there is no `{unknown}` to do without; --without list says what there is");
    }
    if let Some(path) = arguments.subject.incident().map(Path::new) {
        let (time, seed, json) = (arguments.time, arguments.seed, arguments.json);
        let asked = gui::Asked { output: arguments.output.clone(), time, seed, json };
        if let Some(result) = gui::anonymize_if_recording(path, asked) {
            return result;
        }
    }
    let incident = arguments.subject.incident().map(incident_of).transpose()?;
    let output = match (&arguments.output, &incident) {
        (Some(output), _) => output.clone(),
        (None, Some(kept)) => kept.report_path(),
        (None, None) => outcome::free_name("stunt-report", "zip"),
    };
    check_place(&output)?;
    if arguments.output.is_some() && !may_replace(&output)? {
        return Ok(Outcome::Wrong);
    }
    // Where no file is the program itself, a way without a path is always left.
    let mut subject = subject::of(&arguments.subject, arguments.algorithm.weakens())?;
    if let Some(fails_if) = arguments.fails_if.clone().or_else(|| subject.fails_if.clone()) {
        subject.limit_by(&fails_if);
    }
    let options = arguments.options(&subject)?;
    let print = Print { json: arguments.json, stats: arguments.stats };
    let Answer { archive, text, owner } = match answer(&options, &print, &subject, &output)? {
        Ok(answer) => answer,
        Err(outcome) => return Ok(outcome),
    };
    whole(|| store_archive(&archive, &output)).context("the report was not written")?;
    Owner::keep(&owner, &archive);
    if let Some(mut kept) = incident {
        if arguments.output.is_none() {
            // All of an incident is for its owner alone, until it is sent.
            fs::set_permissions(&output, fs::Permissions::from_mode(0o600))?;
        }
        Store::set_state(&mut kept, State::Anonymised)?;
    }
    outcome::print(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// The incident of a name. A program in its place has lost its `--`.
fn incident_of(name: &OsStr) -> Result<Kept> {
    incident::find(name).map_err(|error| match hints::forgotten_dashes(&hints::words()) {
        Some(hint) if !incident::is_meant(Path::new(name)) => Hint(hint).into(),
        _ => error,
    })
}

/// Whether a file that is there may be replaced, which the user has named: a person is asked, and it is said.
fn may_replace(output: &Path) -> Result<bool> {
    if !output.is_file() {
        return Ok(true);
    }
    let name = visible(&output.display().to_string());
    if !terminal::is_there() {
        eprintln!("stunt: {name} is there already, and is replaced");
        return Ok(true);
    }
    let answer = terminal::question(&format!("{name} is there already. Replace it?"), false)?;
    if answer != terminal::Answer::Yes {
        eprintln!("stunt: nothing was done; give another name with -o");
    }
    Ok(answer == terminal::Answer::Yes)
}

/// Whether a report can go there, as far as that can be told before there is one.
fn check_place(output: &Path) -> Result<()> {
    let folder = match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        bail!("there is no folder {} for the report; make it first", folder.display());
    }
    if output.exists() && !output.is_file() {
        bail!("{} is not a file; give the report another name", output.display());
    }
    Ok(())
}

/// Says why there is no double. What it means for whoever called is the exit code.
pub fn refused(refusal: &Refusal) -> Outcome {
    eprintln!("stunt: {refusal}");
    if refusal.only_watched() > 0 {
        eprintln!(
            "stunt: doubles that failed only while they were watched, and not when they were started \
             plainly: {}",
            refusal.only_watched()
        );
    }
    match refusal {
        Refusal::NoFailure { .. } | Refusal::NotAsRecorded { .. } | Refusal::OnlyWatched { .. } => {
            Outcome::NoFailure
        }
        Refusal::Stopped(Stopped::Limit(_)) => Outcome::Limit,
        Refusal::Stopped(Stopped::Unsupported(_)) | Refusal::OtherInMachine { .. } => {
            Outcome::Unsupported
        }
        // It is stunt that cannot go on: nothing was found out about doubles.
        Refusal::Uncontained { why } if !why.is_empty() => Outcome::Unsupported,
        Refusal::OnlyUnwatched { .. }
        | Refusal::Unsteady(..)
        | Refusal::AnyInput(_)
        | Refusal::Uncontained { .. }
        | Refusal::Unproved { .. }
        | Refusal::UnprovedAlone { .. }
        | Refusal::IsOriginal
        | Refusal::TellsTooMuch { .. }
        | Refusal::CutShort { .. }
        | Refusal::TooMuchRemains { .. }
        | Refusal::TooAlike { .. } => Outcome::Unproved,
    }
}
