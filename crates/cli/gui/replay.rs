//! `stunt gui replay`: the steps of a report's double, in a browser, before somebody's eyes.
//!
//! The report may come from a stranger, and so does the address in it: it is opened only if the user has named the
//! page, or agrees.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::json;
use stunt_gui::chromium::{Browser, Error, Look, Tab};
use stunt_gui::{End, Manner, PageFailure, Plan, Recording, walk};
use stunt_report::{Opened, steps, visible};

use super::film::Film;
use super::{Choice, Wished, address, reported};
use crate::inspect;
use crate::outcome::{self, Outcome};
use crate::submit::terminal::{self, Answer};

/// How long it may take, without the user's pauses.
const TIME: Duration = Duration::from_secs(120);

/// Flags of `stunt gui replay`.
#[derive(clap::Args)]
#[command(
    after_help = "The page is opened in a fresh browser without your cookies. Without --page it is the address \
that the report names: a stranger may have written it, so you are asked first.

Exit codes: 0 it fails as the report says, 1 it does not, 2 it could not be tried"
)]
pub struct Arguments {
    /// The report
    report: PathBuf,
    /// Where the page is: an address, or a file
    #[arg(long, value_name = "PAGE")]
    page: Option<String>,
    /// Wait so many milliseconds before each step
    #[arg(long, value_name = "MS", default_value_t = 0)]
    delay: u64,
    /// Wait for Enter before each step
    #[arg(long)]
    step: bool,
    /// Only up to this step, from 1
    #[arg(long, value_name = "STEP")]
    until: Option<usize>,
    /// Write pictures of all steps into a page of its own
    #[arg(long, value_name = "FILE")]
    film: Option<PathBuf>,
    /// Without a window
    #[arg(long)]
    headless: bool,
    /// Do not ask before the address that the report names is opened
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: Choice,
}

impl Arguments {
    /// What `stunt replay REPORT` asks for.
    pub(super) fn plain(wished: &Wished<'_>) -> Self {
        Self {
            report: PathBuf::new(),
            page: wished.page.map(str::to_owned),
            delay: wished.delay,
            step: wished.step,
            until: None,
            film: None,
            headless: false,
            yes: wished.yes,
            json: wished.json,
            choice: Choice::default(),
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let (opened, recording) = reported(&arguments.report)?;
    play(arguments, &opened, &recording)
}

/// Does what a report says in a browser.
pub(super) fn play(
    arguments: &Arguments,
    opened: &Opened,
    recording: &Recording,
) -> Result<Outcome> {
    let url = match &arguments.page {
        Some(page) => Some(address(page)?),
        None if recording.is_local() => bail!(
            "the page was on the reporter's machine, and the report has its name only: {}. Say where it is with --page",
            visible(&recording.page())
        ),
        None => {
            agree(recording.url(), arguments.yes)?;
            None
        }
    };
    let display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let look = if arguments.headless || !display { Look::Headless } else { Look::Window };
    let words = steps(&opened.doubles[0], opened.report.per_byte.first()).unwrap_or_default();
    let all = recording.actions().len();
    let some: Vec<usize> = (0..arguments.until.unwrap_or(all).min(all)).collect();
    let plan = Plan {
        recording: recording.with_actions(&some),
        url,
        manner: Manner::Trusted,
        time: TIME,
        stop: false,
        afterwards: recording.afterwards(),
    };
    let browser = Browser::start(look, arguments.choice.browser.as_deref())?;
    let mut film = arguments.film.as_deref().map(Film::new);
    let mut before = |number: usize, tab: &mut Tab| {
        if let Some(film) = &mut film {
            film.take(tab)?;
        }
        let step = words.get(number).filter(|_| number < some.len());
        if let Some(step) = step {
            eprintln!("{:>3}. {}", number + 1, visible(step));
        }
        wait(arguments, number, some.len(), tab)
    };
    let ran = match walk(&browser, &plan, &mut before) {
        Ok(ran) => ran,
        Err(error @ (Error::Load(_) | Error::Late)) => {
            eprintln!("stunt: {error}.");
            return Ok(Outcome::Limit);
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(film) = &film {
        film.write(&inspect::title(&opened.report), &words[..some.len().min(words.len())])?;
    }
    let expected = PageFailure::read(&recording.value()["failure"]);
    let same = expected.as_ref().is_some_and(|it| ran.same(it).is_some());
    let other = ran.failures.first().map(|it| it.to_path(&|_| None).to_string());
    if arguments.json {
        let told = json!({
            "same": same, "done": ran.done.len(), "skipped": ran.skipped.len(), "failure": other,
            "expected": opened.report.failure.words, "late": ran.end == End::Late,
        });
        outcome::print(format!("{told:#}\n").as_bytes())?;
    } else {
        for (id, why) in &ran.skipped {
            eprintln!("stunt: step {id} could not be done: its widget is {}", visible(why));
        }
        let expected = visible(&opened.report.failure.words);
        let text = match (same, other) {
            (true, _) => format!("The page fails as the report says: {expected}.\n"),
            (false, Some(other)) => {
                format!(
                    "The page fails differently: {}, where the report says {expected}.\n",
                    visible(&other)
                )
            }
            (false, None) => format!("The page does not fail, where the report says {expected}.\n"),
        };
        outcome::print(text.as_bytes())?;
    }
    Ok(if same { Outcome::Done } else { Outcome::NotAsReported })
}

/// Somebody agrees to an address that a stranger may have written.
fn agree(url: &str, yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    let shown = visible(url);
    if !terminal::is_there() {
        bail!(
            "the report names the page {shown}, and there is no terminal to ask on: say --yes, or --page"
        );
    }
    match terminal::question(&format!("Open {shown} in a fresh browser?"), false)? {
        Answer::Yes => Ok(()),
        _ => bail!("nothing was opened"),
    }
}

/// The user's pace. After the last step, a window stays for a moment.
fn wait(arguments: &Arguments, number: usize, all: usize, tab: &mut Tab) -> Result<(), Error> {
    if arguments.step && number <= all {
        let what = if number < all { "Enter for this step" } else { "Enter to end" };
        eprint!("     {what} ");
        // A terminal that is gone has nobody who waits.
        let _ = std::io::stderr().flush();
        let _ = std::io::stdin().lock().read_line(&mut String::new());
        tab.extend(TIME);
    }
    if arguments.delay > 0 {
        let pause = Duration::from_millis(arguments.delay.min(3_600_000));
        tab.extend(TIME + pause);
        tab.pause(pause)?;
    }
    Ok(())
}
