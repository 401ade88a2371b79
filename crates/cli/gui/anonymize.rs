//! `stunt gui anonymize`: from a recording to a report.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde_json::json;
use stunt_gui::{Algorithm, Case, Content, NoCase, NoDouble, Settings, anonymize};
use stunt_report::visible;

use super::{Choice, address, recording, report, searching};
use crate::outcome::{self, Outcome};

/// How many seconds it takes, about, if nothing is said,
const TIME: f64 = 60.0;
/// and how many replays.
const TRIALS: u64 = 20_000;

/// How steps are minimised.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Way {
    /// Complements, with the last step fixed
    Gui,
    /// As GAUDI does: the shortest suffix, then ordered subsets
    Gaudi,
}

/// Flags of `stunt gui anonymize`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 there is a report; 3 the recording does not fail when it is replayed; \
5 no double could be proved; 2 it cannot be used"
)]
pub struct Arguments {
    /// The recording
    recording: PathBuf,
    /// Where the report goes
    #[arg(short, long, value_name = "FILE", default_value = "report.zip")]
    output: PathBuf,
    /// Where the page is now: an address, or a file; else where it was recorded
    #[arg(long, value_name = "PAGE")]
    page: Option<String>,
    /// How steps are minimised
    #[arg(long, value_enum, default_value = "gui")]
    algorithm: Way,
    /// How many seconds it may take, about
    #[arg(long, value_name = "SECONDS", default_value_t = TIME)]
    time: f64,
    /// How many replays minimising the steps may take
    #[arg(long, value_name = "COUNT", default_value_t = TRIALS)]
    trials: u64,
    /// A number that makes the run repeatable: for tests only, for the double can be drawn again by who knows it
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: Choice,
}

impl Arguments {
    /// What `stunt anonymize RECORDING` asks for.
    pub(super) fn plain(recording: PathBuf, asked: super::Asked) -> Self {
        Self {
            recording,
            output: asked.output.unwrap_or_else(|| outcome::free_name("stunt-report", "zip")),
            page: None,
            algorithm: Way::Gui,
            time: asked.time.map_or(TIME, |seconds| seconds as f64),
            trials: TRIALS,
            seed: asked.seed,
            json: asked.json,
            choice: Choice::default(),
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let original = recording(&arguments.recording)?;
    let url = arguments.page.as_deref().map(address).transpose()?;
    let pool = arguments.choice.pool()?;
    let case = match Case::new(&pool, &original, url) {
        Ok(case) => case,
        Err(NoCase::Browser(error)) => return Err(error.into()),
        Err(error) => {
            eprintln!("stunt: {error}");
            return Ok(match error {
                NoCase::Late(_) => Outcome::Limit,
                NoCase::Assistance => Outcome::Unproved,
                _ => Outcome::NoFailure,
            });
        }
    };
    let algorithm = match arguments.algorithm {
        Way::Gui => Algorithm::Complements,
        Way::Gaudi => Algorithm::Gaudi,
    };
    let mut rng = match arguments.seed {
        Some(seed) => ChaCha20Rng::seed_from_u64(seed),
        None => ChaCha20Rng::from_entropy(),
    };
    let stage = |what: &'static str| tracing::info!(what, "stage");
    let double = searching(|cancel| {
        let time = Duration::from_secs_f64(arguments.time.clamp(1.0, 86_400.0));
        let settings =
            Settings { algorithm, time, trials: arguments.trials, cancel, stage: &stage };
        anonymize(&case, &original, settings, &mut rng)
    });
    let double = match double {
        Ok(double) => double,
        Err(error @ (NoDouble::Unproved | NoDouble::NoTime)) => {
            eprintln!("stunt: {error}.");
            return Ok(Outcome::Unproved);
        }
        Err(error) => return Err(error.into()),
    };
    let content = Content::of(&case, &original)?;
    let report = report::report(&double, algorithm, &content);
    report.write(&[&double.bytes.0], &arguments.output)?;
    let minimised = &double.minimised;
    if arguments.json {
        let told = json!({
            "report": arguments.output,
            "steps": { "before": double.before, "after": double.recording.actions().len(),
                       "minimal": report::is_minimal(&double) },
            "failure": { "words": report.failure.words, "signature": report.failure.signature },
            "leak": { "bits": report.leak.bits, "words": report.leak.words },
            "structure_bits": double.claim.structure(),
            "trials": { "steps": minimised.trials, "all": double.trials },
            "seconds": { "steps": double.minimising.as_secs_f64(), "all": double.took.as_secs_f64() },
            "seen": double.seen, "proved": { "player": double.proved[0], "trusted": double.proved[1] },
        });
        outcome::print(format!("{told:#}\n").as_bytes())?;
    } else {
        let text = format!(
            "{}\n{} of {} steps are left, after {} replays.\nThe double {}\n{}",
            visible(&format!("{} fails: {}", report.program.name, report.failure.words)),
            double.recording.actions().len(),
            double.before,
            double.trials,
            visible(&report.summary()),
            report::steps_text(&report, &double.bytes.0),
        );
        outcome::print(text.as_bytes())?;
        eprintln!("stunt: the report is in {}", arguments.output.display());
    }
    Ok(Outcome::Done)
}
