//! `stunt anonymize`: from a crash on a private input to a double that may be sent.
//!
//! The program is run natively to see how it fails, followed in the machine to find what the
//! failure asks of the input, and run natively again on every double, which must fail in the same
//! way. What is not proved is not handed out. Text of the original run goes nowhere.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde_json::json;
use stunt_leakage::Bits;
use stunt_machine::symbolic::Relaxations;
use stunt_native::{Ending, Native, Run};
use stunt_path::{Failure, FailureKind};
use stunt_report::{
    Algorithm, ByteKind, ByteRuns, Draw, Kind, Leak, Module, Pins, Program, Replay, Report, Schema,
    Seconds, Verified,
};
use stunt_search::{Double, Measured, PathCondition, camouflage, castro};
use tracing::{debug, info, info_span};

use crate::fails_if::FailsIf;
use crate::follow::{Followed, Stopped, follow, run_double};
use crate::interrupt;
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use crate::subject::{self, Subject};

/// The most doubles that are tried on the program before it is followed without relaxations.
const MOST_DRAWS: u32 = 12;
/// The most frames of a failure that a report shows.
const MOST_FRAMES: usize = 32;

/// How the double is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Choice {
    /// A random solution of the relaxed path condition
    Relaxed,
    /// A random solution of the path condition as it is (Castro et al.)
    Castro,
    /// The solution of the relaxed path condition that differs most (Camouflage)
    Camouflage,
}

impl Choice {
    fn name(self) -> &'static str {
        match self {
            Choice::Relaxed => "relaxed",
            Choice::Castro => "castro",
            Choice::Camouflage => "camouflage",
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
    /// Reads from constant tables
    Reads,
}

/// Flags of `stunt anonymize`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: subject::Arguments,
    /// How the double is found
    #[arg(long, value_enum, default_value_t = Choice::Relaxed)]
    algorithm: Choice,
    /// Do without a relaxation, to see its worth; may be given several times
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',')]
    no_relax: Vec<Relaxation>,
    /// Stop at the first invalid access to memory: blocks of the heap have red zones, freed ones are
    /// not used again, canaries on the stack are watched. A double then needs the same check to fail
    #[arg(long)]
    check_memory: bool,
    /// Where the report goes
    #[arg(short, long, value_name = "REPORT", default_value = "stunt-report.zip")]
    output: PathBuf,
    /// What counts as the failure: exit=N, signal=N, stdout~REGEX or stderr~REGEX
    #[arg(long, value_name = "CONDITION")]
    fails_if: Option<FailsIf>,
    /// How often the double must fail natively
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
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

    fn relaxations(&self) -> Relaxations {
        let mut relax = match self.algorithm {
            Choice::Castro => Relaxations::NONE,
            Choice::Relaxed | Choice::Camouflage => Relaxations::ALL,
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
    check_place(&arguments.output)?;
    let subject = Subject::new(&arguments.subject)?;
    let (report, found) = match make(arguments, &subject)? {
        Ok(made) => made,
        Err(outcome) => return Ok(outcome),
    };
    interrupt::whole(|| report.write(&found.drawn.double.bytes, &arguments.output))
        .context("the report was not written")?;
    let path = arguments.output.display().to_string();
    let text = if arguments.json {
        format!("{:#}\n", to_json(&report, Some(&path)))
    } else {
        to_text(&report, &path)
    };
    outcome::print(text.as_bytes())?;
    if arguments.stats {
        statistics(&found);
    }
    Ok(Outcome::Done)
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

/// Makes a double and its report. Nothing is written.
pub fn make(arguments: &Arguments, subject: &Subject) -> Result<Result<(Report, Found), Outcome>> {
    let begun = Instant::now();
    let progress = Progress::new(arguments.json);
    let native = Native::new();
    let seconds = Seconds::default();
    let mut job = Job { arguments, subject, native, progress, seconds, checked: false };
    let invalid = if arguments.check_memory { job.invalid_access()? } else { None };
    let failure = match invalid {
        Some(failure) => failure,
        None => match job.original_failure()? {
            Ok(failure) => failure,
            Err(outcome) => return Ok(Err(outcome)),
        },
    };
    let found = match job.find(&failure)? {
        Ok(found) => found,
        Err(outcome) => return Ok(Err(outcome)),
    };
    job.seconds.total = begun.elapsed().as_secs_f64();
    job.progress.finish();
    Ok(Ok((job.assemble(&failure, &found), found)))
}

/// One run of the command.
struct Job<'a> {
    arguments: &'a Arguments,
    subject: &'a Subject,
    native: Native,
    progress: Progress,
    seconds: Seconds,
    /// The failure is one that only checked memory shows.
    checked: bool,
}

/// A proved double with its figures.
pub struct Found {
    /// The double.
    pub drawn: Proved,
    /// What the original path reveals.
    path_leak: Bits,
    /// The run that it comes from.
    pub followed: Followed,
    relax: Relaxations,
}

/// A double that fails as the original does.
pub struct Proved {
    /// The double.
    pub double: Double,
    measured: Measured,
    size: usize,
    /// How many doubles were drawn until one failed.
    draws: u32,
}

impl Job<'_> {
    /// The first invalid access to memory on the original, if there is one.
    fn invalid_access(&mut self) -> Result<Option<Failure>> {
        self.progress.stage("checking the program's memory");
        let begun = Instant::now();
        let followed = follow(self.subject, Relaxations::NONE, true)?;
        self.seconds.trace += begun.elapsed().as_secs_f64();
        let failure = followed.ok().and_then(|followed| followed.failure);
        let invalid = failure.filter(|failure| failure.kind == FailureKind::InvalidAccess);
        self.checked = invalid.is_some();
        Ok(invalid)
    }

    /// How the program fails on the original, if it always does in the same way.
    fn original_failure(&mut self) -> Result<Result<Failure, Outcome>> {
        self.progress.stage("running the program on the original");
        let mut first: Option<Failure> = None;
        for _ in 0..2 {
            let run = self.native.run(&self.subject.on_original())?;
            let Some(failure) = self.failure_of(&run) else {
                self.progress.finish();
                eprintln!("stunt: {}", self.no_failure(&run, first.is_some()));
                return Ok(Err(Outcome::NoFailure));
            };
            if let Some(first) = &first
                && *first != failure
            {
                self.progress.finish();
                eprintln!(
                    "stunt: the program fails differently each time: {first}, then {failure}. A double \
                     cannot be proved then; try --fails-if."
                );
                return Ok(Err(Outcome::Unproved));
            }
            first = Some(failure);
        }
        Ok(first.ok_or(Outcome::NoFailure))
    }

    fn failure_of(&self, run: &Run) -> Option<Failure> {
        match &self.arguments.fails_if {
            Some(condition) => condition.holds(run).then(|| Failure::stated(condition.text())),
            None => run.failure.clone(),
        }
    }

    fn no_failure(&self, run: &Run, failed_before: bool) -> String {
        let again = if failed_before { "the second time " } else { "" };
        let hint = match (&self.arguments.fails_if, run.ending) {
            (Some(condition), _) => format!("; --fails-if {} does not hold", condition.text()),
            (None, Ending::Exit(0)) => String::new(),
            (None, Ending::Exit(code)) => {
                format!("; if that is the failure, say --fails-if exit={code}")
            }
            (None, Ending::TimedOut) => "; give it more with --timeout".to_owned(),
            (None, _) => String::new(),
        };
        format!("the program does not fail on this input: {again}it {}{hint}", run.ending)
    }

    /// Follows the original, and looks for a double.
    fn find(&mut self, failure: &Failure) -> Result<Result<Found, Outcome>> {
        let chosen = self.arguments.relaxations();
        let mut rng =
            self.arguments.seed.map_or_else(ChaCha20Rng::from_entropy, ChaCha20Rng::seed_from_u64);
        let mut ways = vec![chosen];
        if chosen != Relaxations::NONE {
            ways.push(Relaxations::NONE);
        }
        for relax in ways {
            let mut followed = match self.follow(failure, relax)? {
                Ok(followed) => followed,
                Err(outcome) => return Ok(Err(outcome)),
            };
            let Some(drawn) = self.draw(failure, &mut followed, &mut rng)? else { continue };
            let path_leak = drawn.measured.total;
            let found = Found { drawn, path_leak, followed, relax };
            return Ok(Ok(if relax == Relaxations::NONE {
                found
            } else {
                self.or_plain(failure, found, &mut rng)?
            }));
        }
        self.progress.finish();
        eprintln!(
            "stunt: no double could be proved: {MOST_DRAWS} solutions of the path condition do not fail \
             natively as the original does. Nothing is handed out."
        );
        Ok(Err(Outcome::Unproved))
    }

    fn follow(
        &mut self,
        failure: &Failure,
        relax: Relaxations,
    ) -> Result<Result<Followed, Outcome>> {
        self.progress.stage("following the input through the program");
        let _span = info_span!("trace", ?relax).entered();
        let followed = follow(self.subject, relax, self.checked)?;
        let followed = match followed {
            Ok(followed) => followed,
            Err(Stopped::Unsupported(what)) => {
                self.progress.finish();
                eprintln!("stunt: {what}. This is a limit of stunt, not a bug of the program.");
                return Ok(Err(Outcome::Unsupported));
            }
            Err(Stopped::Limit(what)) => {
                self.progress.finish();
                eprintln!("stunt: {what}.");
                return Ok(Err(Outcome::Limit));
            }
        };
        self.seconds.trace += followed.seconds;
        info!(
            instructions = followed.instructions,
            with_terms = followed.followed,
            tests = followed.tests.len(),
            "followed"
        );
        let stated = matches!(failure.kind, FailureKind::Stated(_));
        if !stated && followed.failure.as_ref() != Some(failure) {
            self.progress.finish();
            let how = match &followed.failure {
                Some(other) => format!("fails with {other}"),
                None => followed.ending.clone(),
            };
            let lacks = match &followed.missing[..] {
                [] => String::new(),
                calls => format!(", which does not have the system call {}", calls.join(", ")),
            };
            eprintln!(
                "stunt: the program fails with {failure} natively, but in the machine{lacks}, it {how}. This \
                 is a limit of stunt, not a bug of the program."
            );
            return Ok(Err(Outcome::Unsupported));
        }
        Ok(Ok(followed))
    }

    /// Compares with the path condition as it is. A relaxed one says less, but what it says can be
    /// harder to solve or to count; then the double comes from the other one, if any will do.
    fn or_plain(
        &mut self,
        failure: &Failure,
        found: Found,
        rng: &mut ChaCha20Rng,
    ) -> Result<Found> {
        let Ok(mut followed) = self.follow(failure, Relaxations::NONE)? else { return Ok(found) };
        self.progress.stage("counting");
        let span = info_span!("count").entered();
        let begun = Instant::now();
        let mut condition =
            PathCondition::new(&mut followed.pool, &followed.tests, &self.subject.original);
        let path_leak = condition.total();
        self.seconds.count += begun.elapsed().as_secs_f64();
        drop(span);
        let worse = found.drawn.measured.total.upper() > path_leak.upper();
        if worse
            && self.arguments.algorithm == Choice::Relaxed
            && let Some(drawn) = self.draw(failure, &mut followed, rng)?
            && drawn.measured.total.upper() < found.drawn.measured.total.upper()
        {
            return Ok(Found { drawn, path_leak, followed, relax: Relaxations::NONE });
        }
        Ok(Found { path_leak, ..found })
    }

    /// Draws doubles until one is proved.
    fn draw(
        &mut self,
        failure: &Failure,
        followed: &mut Followed,
        rng: &mut ChaCha20Rng,
    ) -> Result<Option<Proved>> {
        let original = &self.subject.original;
        let begun = Instant::now();
        let mut condition = PathCondition::new(&mut followed.pool, &followed.tests, original);
        self.seconds.solve += begun.elapsed().as_secs_f64();
        let size = condition.size();
        let mut measured = None;
        for draws in 1..=MOST_DRAWS {
            self.progress.stage("drawing a double");
            let begun = Instant::now();
            let span = info_span!("solve", draws).entered();
            let double = match self.arguments.algorithm {
                Choice::Camouflage => {
                    let (double, figures) = camouflage(&mut condition, original, rng)?;
                    measured = Some(figures);
                    double
                }
                Choice::Relaxed | Choice::Castro => castro(&mut condition, original, rng)?,
            };
            drop(span);
            self.seconds.solve += begun.elapsed().as_secs_f64();
            if self.proved(failure, &double)? {
                let begun = Instant::now();
                self.progress.stage("counting");
                let _span = info_span!("count").entered();
                let measured = measured.unwrap_or_else(|| condition.measure());
                self.seconds.count += begun.elapsed().as_secs_f64();
                return Ok(Some(Proved { double, measured, size, draws }));
            }
        }
        Ok(None)
    }

    /// Whether the program fails on a double as it does on the original, every time.
    fn proved(&mut self, failure: &Failure, double: &Double) -> Result<bool> {
        self.progress.stage("running the program on the double");
        let _span = info_span!("verify", runs = self.arguments.runs).entered();
        let begun = Instant::now();
        if self.checked {
            // Only the machine sees it, and it does the same every time.
            let run = run_double(self.subject, &double.bytes, true)?;
            self.seconds.verify += begun.elapsed().as_secs_f64();
            return Ok(run.is_ok_and(|run| run.failure.as_ref() == Some(failure)));
        }
        let command = self.subject.on_double(&double.bytes)?;
        let mut all = true;
        for _ in 0..self.arguments.runs {
            let run = self.native.run(&command)?;
            debug!(ending = %run.ending, seconds = run.seconds(), "a native run");
            if self.failure_of(&run).as_ref() != Some(failure) {
                all = false;
                break;
            }
        }
        self.seconds.verify += begun.elapsed().as_secs_f64();
        Ok(all)
    }

    fn assemble(&self, failure: &Failure, found: &Found) -> Report {
        let name = self.subject.name();
        let module = |frame: &&stunt_path::Frame| frame.module == name && frame.build_id.is_some();
        let build_id = failure.frames.iter().find(module).and_then(|it| it.build_id.clone());
        let frames: Vec<stunt_report::Frame> =
            failure.frames.iter().take(MOST_FRAMES).map(report_frame).collect();
        let mut modules: Vec<Module> = Vec::new();
        for frame in &frames {
            let module = Module { name: frame.module.clone(), build_id: frame.build_id.clone() };
            if !module.name.is_empty() && !modules.contains(&module) {
                modules.push(module);
            }
        }
        let total = self.revealed(found);
        let pins = found.followed.pins();
        let uniform = match (self.arguments.algorithm, found.drawn.double.not_uniform) {
            (Choice::Camouflage, _) => Draw::NotUniform {
                why: "it was chosen to differ most from the original; the figure counts that"
                    .to_owned(),
            },
            (_, Some(reason)) => Draw::NotUniform { why: reason.to_string() },
            (_, None) => Draw::Uniform,
        };
        let mut notes = Vec::new();
        if self.checked {
            notes.push(
                "The failure is an invalid access that only checked memory shows; it is \
                 replayed in the machine, with the same check."
                    .to_owned(),
            );
        }
        if found.drawn.double.fixed > 0 {
            notes.push(format!(
                "{} bytes stay as they are: what the program computes from them is too hard to solve.",
                found.drawn.double.fixed
            ));
        }
        if found.drawn.draws > 1 {
            notes.push(format!(
                "{} doubles were drawn until one failed; the figure allows for that.",
                found.drawn.draws
            ));
        }
        if found.relax == Relaxations::NONE && self.arguments.algorithm != Choice::Castro {
            notes.push(
                "This double keeps the path: the relaxed condition gave none, or one that reveals more.".to_owned(),
            );
        }
        for call in &found.followed.missing {
            notes.push(format!("The machine does not have the system call {call}."));
        }
        let mut parameters = std::collections::BTreeMap::new();
        for without in &self.arguments.no_relax {
            parameters.insert(format!("no-relax {without:?}").to_lowercase(), "yes".to_owned());
        }
        Report {
            schema: Schema,
            stunt: env!("CARGO_PKG_VERSION").to_owned(),
            program: Program { name, build_id, modules },
            arguments: self.subject.shown_arguments(),
            sources: self.subject.sources.clone(),
            failure: stunt_report::Failure {
                kind: failure.kind.word().to_owned(),
                signature: failure.signature(),
                words: failure.to_string(),
                frames,
            },
            replay: Replay {
                native: !self.checked,
                check_memory: self.checked,
                fails_if: self.arguments.fails_if.as_ref().map(|it| it.text().to_owned()),
            },
            leak: leak_of(total, found.drawn.size),
            original_path_leak: leak_of(found.path_leak, found.drawn.size),
            per_byte: self.per_byte(&found.drawn.measured),
            residue_percent: self.subject.original.residue(&found.drawn.double.bytes),
            algorithm: Algorithm { name: self.arguments.algorithm.name().to_owned(), parameters },
            draw: uniform,
            verified: if self.checked {
                Verified { native: false, runs: 1 }
            } else {
                Verified { native: true, runs: self.arguments.runs }
            },
            tests: found.followed.tests.len() as u64,
            pins: Pins { total: pins.values().sum(), by_reason: pins },
            instructions: found.followed.instructions,
            seconds: self.seconds.clone(),
            notes,
        }
        .tidied()
    }

    /// What the double reveals. Doubles that were drawn and did not fail make the set smaller from
    /// which it comes; by how much is estimated by their number.
    fn revealed(&self, found: &Found) -> Bits {
        if found.drawn.draws == 1 {
            return found.drawn.measured.total;
        }
        // With this probability a share that is smaller would have taken more draws.
        let confidence: f64 = 0.99;
        let draws = f64::from(found.drawn.draws);
        let least_share = 1.0 - confidence.powf(1.0 / draws);
        let total = found.drawn.measured.total;
        Bits::Estimate {
            value: total.value() + draws.log2(),
            at_most: total.upper() - least_share.log2(),
            confidence,
        }
    }

    fn per_byte(&self, measured: &Measured) -> Vec<ByteRuns> {
        let mut all = Vec::new();
        for (source, number) in self.subject.sources.iter().zip(0u16..) {
            let mut figures = vec![(0.0, ByteKind::Public); source.bytes as usize];
            for leak in measured.bytes.iter().filter(|leak| leak.byte.source == number) {
                let kind = ByteKind::from(kind_of(leak.bits));
                figures[leak.byte.offset as usize] = (leak.bits.value(), kind);
            }
            all.push(ByteRuns::new(source.name.clone(), figures));
        }
        all
    }
}

/// All that programs may want to know; `path` is where the report has gone.
pub fn to_json(report: &Report, path: Option<&str>) -> serde_json::Value {
    json!({
        "failure": report.failure,
        "input": { "bytes": report.bytes() },
        "leak": report.leak,
        "original_path_leak": report.original_path_leak,
        "residue_percent": report.residue_percent,
        "verified": report.verified,
        "algorithm": report.algorithm.name,
        "uniform": report.draw == Draw::Uniform,
        "tests": report.tests,
        "pins": report.pins.total,
        "pins_by_reason": report.pins.by_reason,
        "instructions": report.instructions,
        "seconds": report.seconds,
        "summary": report.summary(),
        "notes": report.notes,
        "report": path,
    })
}

fn to_text(report: &Report, path: &str) -> String {
    let mut text = format!("The program fails with {}.\n", report.failure.words);
    text += &format!("The double {}\n", report.summary());
    text += &format!(
        "A double that has to take the path of the original would reveal {}.\n",
        report.original_path_leak.sentence()
    );
    text += &format!(
        "It fails in the same way, {} times of {}, and shares {:.1} % of its bytes with the original.\n",
        report.verified.runs, report.verified.runs, report.residue_percent
    );
    for note in &report.notes {
        text += &format!("Note: {note}\n");
    }
    text += &format!("Report: {path} (look at it with `stunt inspect {path}`)\n");
    text
}

fn statistics(found: &Found) {
    let followed = &found.followed;
    eprintln!("instructions: {} ({} with terms)", followed.instructions, followed.followed);
    eprintln!("tests: {}", followed.tests.len());
    let mut places = std::collections::BTreeMap::new();
    for test in &followed.tests {
        if let stunt_path::TestKind::Pin(why) = test.kind {
            *places.entry((why, test.address)).or_insert(0u64) += 1;
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for ((why, address), count) in places.iter().take(20) {
        eprintln!("pin: {why} at {address:#x}: {count}");
    }
}

fn report_frame(frame: &stunt_path::Frame) -> stunt_report::Frame {
    stunt_report::Frame {
        module: frame.module.clone(),
        build_id: frame.build_id.clone(),
        offset: frame.offset,
        symbol: frame.symbol.clone(),
        location: frame.location.as_ref().map(|it| format!("{}:{}", it.file, it.line)),
    }
}

fn kind_of(bits: Bits) -> Kind {
    match bits.kind() {
        "exact" => Kind::Exact,
        "at-most" => Kind::AtMost,
        _ => Kind::Estimate,
    }
}

fn leak_of(bits: Bits, size: usize) -> Leak {
    Leak::new(bits.value(), size as u64, kind_of(bits), bits.to_string())
}
