//! `stunt demo --gui`: somebody works in a page until it fails, and a double of that.
//!
//! By the same code as `stunt gui`. Page and session are built in, which is why this original, alone of all, may be
//! shown.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use stunt_gui::chromium::{Browser, Look};
use stunt_gui::record::{Session, script};
use stunt_gui::{Algorithm, Case, Content, Recording, Settings, anonymize};
use stunt_report::{steps, visible};
use stunt_subject::Scratch;

use super::{Choice, address, report};
use crate::demo::wrapped;
use crate::outcome::{self, Outcome};

const PAGE: &str = include_str!("demo.html");
/// What somebody does.
const SESSION: &str = "
click #wide
click #new
type #name | Anneliese Brandt
type #complaint | cannot sleep
click #save
click #new
type #name | Tomasz Wieczorek
type #complaint | knee (left)
click #save
type #search | Brandt
key Ctrl+a
type #search | knee (le
";
/// More than the search takes on any host.
const TIME: Duration = Duration::from_secs(600);

/// Runs it.
pub fn run(seed: Option<u64>) -> Result<Outcome> {
    let scratch = Scratch::new()?;
    let page = scratch.write("patients.html", PAGE.as_bytes())?;
    let url = address(page.to_str().context("the path of the page is no text")?)?;
    let original = recorded(&url)?;
    let pool = Choice::default().pool()?;
    let case = Case::new(&pool, &original, None)?;
    let mut rng = match seed {
        Some(seed) => ChaCha20Rng::seed_from_u64(seed),
        None => ChaCha20Rng::from_entropy(),
    };
    let (algorithm, cancel) = (Algorithm::Complements, AtomicBool::new(false));
    let settings =
        Settings { algorithm, time: TIME, trials: 2_000, cancel: &cancel, stage: &|_| {} };
    let double = anonymize(&case, &original, settings, &mut rng)?;
    let report = report::report(&double, algorithm, &Content::of(&case, &original)?);
    let mut text = String::new();
    let mut say = |line: &str| {
        let _ = writeln!(text, "{line}");
    };
    say("Somebody works in a page with a list of patients:\n");
    // As a report's double begins, so that its steps are read as those of one.
    let all = original.to_bytes();
    for (number, step) in (1..).zip(steps(&all, None).unwrap_or_default()) {
        say(&format!("    {number:>2}. {}", visible(&step)));
    }
    say(&format!("\nThen it fails: {}. All of that is private.\n", report.failure.words));
    say(&wrapped(&format!(
        "Stunt replays the steps in a browser, {} times in all, leaves out what the failure does not need, and types \
         something else in place of the words. This is left, and it fails at the same place:",
        double.trials
    )));
    say("");
    for line in report::steps_text(&report, &double.bytes.0).lines() {
        say(&format!("    {line}"));
    }
    say("");
    say(&wrapped(&format!("The double {}", report.summary())));
    let [player, trusted] = double.proved;
    say(&wrapped(&format!(
        "\nProved: it failed in {} of {} replays by the player, and in {} of {} by mouse and keys of the browser.",
        player.0, player.1, trusted.0, trusted.1
    )));
    say("\nOn your own page: stunt gui record PAGE, then stunt anonymize recording.json");
    outcome::print(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// The session, recorded.
fn recorded(url: &str) -> Result<Recording> {
    let browser = Browser::start(Look::Headless, None)?;
    let mut session = Session::open(&browser, url, false)?;
    // Both are built in, and fit.
    let _ = session.perform(&script(SESSION)?)?;
    session.taken()?.context("the recorder has noted nothing")
}
