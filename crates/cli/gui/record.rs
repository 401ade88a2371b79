//! `stunt gui record`: a page in a window, with the recorder in it, until it fails.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use stunt_gui::chromium::{Browser, Look};
use stunt_gui::record::{Session, script};
use stunt_gui::{PageFailure, Recording};
use stunt_report::visible;

use super::{Choice, address, searching, write_private};
use crate::outcome::Outcome;

/// Flags of `stunt gui record`.
#[derive(clap::Args)]
#[command(
    after_help = "The page is not changed: the recorder is put into it as it loads. A window opens if there is a \
display. What you do is kept in memory; when the page fails, what led there is written to OUTPUT, for you alone to \
read (passwords are never in it). Ctrl-C ends the session and writes what there is.

Without a display, --script does the actions, a line for each: click SELECTOR; type SELECTOR | TEXT; key Ctrl+a; \
choose SELECTOR | VALUE; hover SELECTOR; dblclick SELECTOR; contextmenu SELECTOR; wait MS.

Exit codes: 0 it failed and was recorded; 3 it did not fail, and was recorded; 2 it could not be recorded"
)]
pub struct Arguments {
    /// The page: an address, or a file
    page: String,
    /// Where the recording goes; not into a folder that others read
    #[arg(short, long, value_name = "FILE", default_value = "recording.json")]
    output: PathBuf,
    /// Do what this file says, and end
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// An error that the page writes to the console is a failure, too: what some frameworks make of exceptions
    #[arg(long)]
    console: bool,
    #[command(flatten)]
    choice: Choice,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let url = address(&arguments.page)?;
    if arguments.output.exists() {
        bail!("{} is there already; give another --output", arguments.output.display());
    }
    let lines = match &arguments.script {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Some(script(&text)?)
        }
        None => None,
    };
    let display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let look = match (&lines, display) {
        (Some(_), _) => Look::Headless,
        (None, true) => Look::Window,
        (None, false) => bail!(
            "there is no display to show the page on (DISPLAY and WAYLAND_DISPLAY are not set); \
             --script does the actions without one"
        ),
    };
    let browser = Browser::start(look, arguments.choice.browser.as_deref())?;
    let mut session = Session::open(&browser, &url, arguments.console)?;
    let recording = if let Some(lines) = lines {
        if let Err(number) = session.perform(&lines)? {
            bail!("action {} of the script has no widget on the page", number + 1);
        }
        session.taken()?
    } else {
        eprintln!("stunt: recording; it ends when the page fails, when you close it, or by Ctrl-C");
        searching(|enough| {
            session.until_failure(&|| enough.load(std::sync::atomic::Ordering::Relaxed))
        })?
    };
    let recording =
        recording.context("the recorder has noted nothing: the page keeps it from its work")?;
    write_private(&arguments.output, &recording.to_bytes())?;
    Ok(told(&recording, arguments))
}

fn told(recording: &Recording, arguments: &Arguments) -> Outcome {
    let steps = recording.actions().len();
    let place = arguments.output.display();
    match PageFailure::read(&recording.value()["failure"]) {
        Some(failure) => {
            let words = visible(&failure.to_path(&|_| None).to_string());
            eprintln!("stunt: the page failed after {steps} steps: {words}");
            eprintln!(
                "stunt: the recording is in {place}; `stunt gui anonymize {place}` makes a double"
            );
            Outcome::Done
        }
        None => {
            eprintln!("stunt: the page did not fail in {steps} steps; the recording is in {place}");
            Outcome::NoFailure
        }
    }
}
