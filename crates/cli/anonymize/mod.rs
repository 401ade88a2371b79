//! `stunt anonymize`: from a crash on a private input to a double that may be sent.
//!
//! The program is run natively to see how it fails, followed in the machine to find what the
//! failure asks of the input, and run natively again on every double, which must fail in the same
//! way. What is not proved is not handed out. Text of the original run goes nowhere.

mod assemble;
mod base;
mod blackbox;
mod guarded;
mod in_machine;
mod job;
mod natively;
mod nearness;
mod needed;
mod on_path;
mod oracle;
mod other_path;
mod owner;
mod proof;
mod readable;
mod reduced;
mod stage;
mod starts;
mod weakening;
mod words;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use stunt_machine::symbolic::Relaxations;
use stunt_record::{State, Store};
use stunt_report::{Report, store_archive};

use crate::arguments::Why;
use crate::fails_if::FailsIf;
use crate::incident;
use crate::interrupt;
use crate::outcome::{self, Outcome};
use crate::subject::{self, Subject};

use guarded::{Answer, guarded};
pub use job::Found;
use job::{Conditions, Halt, Job};
use owner::ForOwner;
pub use stage::Stage;
pub use words::to_json;

/// How the double is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Choice {
    /// What is left of the relaxed path condition when everything is gone that the failure does
    /// not need, as real runs show it; a random input that satisfies it and fails
    Weaken,
    /// A random solution of the relaxed path condition
    Relaxed,
    /// A random solution of the path condition as it is (Castro et al.)
    Castro,
    /// The solution of the relaxed path condition that differs most (Camouflage)
    Camouflage,
    /// All paths to the failure, for small programs: the least that any double must reveal
    Mpp,
    /// Another path by a bounded random walk (REAP)
    ReapBrw,
    /// Another path by bounded, adaptive and greedy detours (REAP)
    ReapBag,
    /// Another path by detours that share few bytes with the original (the earlier REAP)
    ReapRm,
    /// Another path by searches for the least leaking one (RESPA)
    Respa,
    /// Like weaken, without the machine: for scripts and whatever else can be run
    Blackbox,
}

impl Choice {
    fn name(self) -> &'static str {
        match self {
            Choice::Weaken => "weaken",
            Choice::Relaxed => "relaxed",
            Choice::Castro => "castro",
            Choice::Camouflage => "camouflage",
            Choice::Mpp => "mpp",
            Choice::ReapBrw => "reap-brw",
            Choice::ReapBag => "reap-bag",
            Choice::ReapRm => "reap-rm",
            Choice::Respa => "respa",
            Choice::Blackbox => "blackbox",
        }
    }
}

/// A relaxation, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Relaxation {
    /// Comparisons of strings and memory
    Comparisons,
    /// Conditions of several clauses
    Clauses,
    /// Jumps through tables
    Switches,
    /// Reads from constant tables, and accesses to one of a few places
    Reads,
}

/// How long a double is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Resize {
    /// Short, or filled up to the original's length, whichever reveals less
    Auto,
    /// Short
    Always,
    /// It has the length of the original
    Never,
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
    #[arg(long, value_enum, default_value_t = Choice::Weaken)]
    algorithm: Choice,
    /// Do without a relaxation, to see its worth; may be given several times
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',')]
    no_relax: Vec<Relaxation>,
    /// Stop at the first invalid access to memory: blocks of the heap have red zones, freed ones are
    /// not used again, canaries on the stack are watched. A double then needs the same check to fail
    #[arg(long)]
    check_memory: bool,
    /// Where the report goes: stunt-report.zip, or the folder of the incident, if nothing is said
    #[arg(short, long, value_name = "REPORT")]
    output: Option<PathBuf>,
    /// What counts as the failure: exit=N, signal=N, stdout~REGEX or stderr~REGEX
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
        value_enum,
        value_name = "WHEN",
        default_value_t = Resize::Auto,
        num_args = 0..=1,
        default_missing_value = "always",
        require_equals = true
    )]
    resize: Resize,
    /// Do without a family of passes or moves, to see its worth
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide = true)]
    without: Vec<String>,
    /// How often the double must fail natively
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// The most that a double may tell of the original, in percent of it: above that nothing is handed
    /// out. Counted are the figure, and the original's bytes that are more than chance gives
    #[arg(long, value_name = "PERCENT", default_value_t = nearness::USUAL, value_parser = clap::value_parser!(u8).range(0..=100))]
    max_share: u8,
    /// Make a double although the program fails in the same way on harmless inputs, an empty one among
    /// them: then the failure does not come from the input, and a double proves nothing
    #[arg(long)]
    even_if_any_input_fails: bool,
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
    /// What is run.
    pub fn subject(&self) -> &subject::Arguments {
        &self.subject
    }

    /// Whether the double may be shorter. Algorithms that keep to a path keep to a length.
    fn resize(&self) -> Resize {
        match self.algorithm {
            Choice::Weaken | Choice::Blackbox if !self.canonical => self.resize,
            _ => Resize::Never,
        }
    }

    /// How long a search may take, if nothing is said.
    fn usual_time(&self) -> Duration {
        job::USUAL_TIME
    }

    /// Whether the program may be a script: not if it has to be followed.
    fn runs_scripts(&self) -> bool {
        matches!(self.algorithm, Choice::Weaken | Choice::Blackbox)
    }

    fn relaxations(&self) -> Relaxations {
        let mut relax = match self.algorithm {
            Choice::Castro => Relaxations::NONE,
            Choice::Weaken | Choice::Relaxed | Choice::Camouflage | Choice::Blackbox => {
                Relaxations::ALL
            }
            // Clauses take back tests that were made, which a walk over paths cannot.
            Choice::Mpp | Choice::ReapBrw | Choice::ReapBag | Choice::ReapRm | Choice::Respa => {
                Relaxations::STEPWISE
            }
        };
        for without in &self.no_relax {
            match without {
                Relaxation::Comparisons => relax.comparisons = false,
                Relaxation::Clauses => relax.clauses = false,
                Relaxation::Switches => relax.switches = false,
                Relaxation::Reads => relax.reads = false,
            }
        }
        relax
    }
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
    let incident = arguments.subject.incident().map(incident::find).transpose()?;
    let output = match (&arguments.output, &incident) {
        (Some(output), _) => output.clone(),
        (None, Some(kept)) => kept.report_path(),
        (None, None) => PathBuf::from("stunt-report.zip"),
    };
    check_place(&output)?;
    let subject = Subject::new(&arguments.subject, arguments.runs_scripts())?;
    let Answer { archive, text } = match guarded(arguments, &subject, &output)? {
        Ok(answer) => answer,
        Err(outcome) => return Ok(outcome),
    };
    interrupt::whole(|| store_archive(&archive, &output)).context("the report was not written")?;
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

/// What a search can do without, and what each is for.
fn parts() -> impl Iterator<Item = (&'static str, &'static str)> {
    stunt_reduce::FAMILIES.into_iter().chain(stunt_search::weaken::MOVES)
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

/// A double and its report.
pub struct Made {
    /// What may leave this machine.
    pub report: Report,
    /// How it was found.
    pub found: Found,
    /// The figures beside the original, which may not.
    pub owner: ForOwner,
    /// The arguments that the report hides, by their numbers on the command line, and why.
    pub hidden: Vec<(usize, Why)>,
}

impl Made {
    /// What can be told about it.
    pub fn told(&self) -> Account<'_> {
        let Made { report, found, owner, hidden } = self;
        Account { report, found, owner, hidden }
    }
}

/// What can be told about a double.
#[derive(Clone, Copy)]
pub struct Account<'a> {
    report: &'a Report,
    found: &'a Found,
    owner: &'a ForOwner,
    hidden: &'a [(usize, Why)],
}

/// A double that reveals more than this share of the original is hardly worth its name.
const NEARLY_ALL: f64 = 0.9;

/// Says so if a double is nearly the original. Of a shorter one it is not said: the report would tell how
/// long the original is at most.
fn warn(subject: &Subject, found: &mut Found) {
    let all = 8.0 * subject.original.hidden().len() as f64;
    if !found.is_shorter && found.drawn.measured.total.upper() > NEARLY_ALL * all {
        found.notes.push(
            "This double reveals nearly all of the original: what the program computes from it could \
             not be solved otherwise. Look at it before you send it."
                .to_owned(),
        );
    }
}

/// Makes a double and its report, in this process. Nothing is written.
pub fn make(arguments: &Arguments, subject: &Subject) -> Result<Result<Made, Outcome>> {
    make_by(arguments, subject, Conditions::none())
}

fn make_by(
    arguments: &Arguments,
    subject: &Subject,
    conditions: Conditions,
) -> Result<Result<Made, Outcome>> {
    if arguments.resize == Resize::Always && arguments.resize() != Resize::Always {
        bail!(
            "--resize is for --algorithm weaken and blackbox: others keep to a path, and so to a length"
        );
    }
    let begun = Instant::now();
    let mut job = Job::new(arguments, subject, conditions);
    let invalid = if arguments.check_memory { job.invalid_access()? } else { Ok(None) };
    let invalid = match invalid {
        Ok(invalid) => invalid,
        Err(halt) => return Ok(Err(job.halt(halt))),
    };
    let failure = match invalid {
        Some(failure) => failure,
        None => match job.original_failure()? {
            Ok(failure) => failure,
            Err(outcome) => return Ok(Err(outcome)),
        },
    };
    if let Err(halt) = job.control(&failure)? {
        return Ok(Err(job.halt(halt)));
    }
    job.known();
    let found = match job.find(&failure)? {
        Ok(found) => found,
        Err(halt) => return Ok(Err(job.halt(halt))),
    };
    // One that is the original by chance is as good as any other: to draw again would tell something.
    if let Some(why) = job.too_near(&found) {
        return Ok(Err(job.halt(Halt { outcome: Outcome::Unproved, why })));
    }
    let telling = job.tell(&failure, &found)?;
    job.seconds.total = begun.elapsed().as_secs_f64();
    job.progress.finish();
    let report = job.report(&telling, &found)?;
    let owner = job.for_owner(&report, &found);
    Ok(Ok(Made { report, found, owner, hidden: telling.hidden }))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn what_can_be_left_out_has_one_name_each() {
        let mut names: Vec<&str> = parts().map(|(name, _)| name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(!names.contains(&"list"));
    }
}
