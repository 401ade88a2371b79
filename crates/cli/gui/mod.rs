//! `stunt gui`: user interfaces in a browser: recorded, made anonymous, replayed, given to other tools.
//!
//! One file for each. A recording is an original: it is written for its owner alone, and nothing of it is printed.

mod anonymize;
mod demo;
mod film;
mod record;
mod replay;
mod report;
mod transfer;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use stunt_gui::chromium::Look;
use stunt_gui::{Pool, Recording};
use stunt_report::Opened;

use crate::inspect;
use crate::interrupt;
use crate::outcome::Outcome;

/// Tabs at once: trusted input waits more than it works, and two processors are common.
const WIDTH: usize = 4;

/// Flags of `stunt gui`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make a double of a recording that fails, and a report that may be sent
    Anonymize(anonymize::Arguments),
    /// Write what a report's double does for another tool: Chrome's Recorder, Playwright, WebDriver
    Export(transfer::Export),
    /// Make a recording of a flow of Chrome's Recorder
    Import(transfer::Import),
    /// Record what you do in a page, until it fails
    Record(record::Arguments),
    /// Do what a report's double does in a browser, and say whether the page fails as the report says
    Replay(replay::Arguments),
}

/// Which browser.
#[derive(Default, clap::Args)]
struct Choice {
    /// The browser to use: Chromium, or one of its kind
    #[arg(long, value_name = "PROGRAM", env = "STUNT_CHROMIUM")]
    browser: Option<PathBuf>,
}

impl Choice {
    fn pool(&self) -> Result<Pool> {
        Ok(Pool::new(Look::Headless, self.browser.clone(), WIDTH)?)
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    match &arguments.command {
        Command::Anonymize(arguments) => anonymize::run(arguments),
        Command::Export(arguments) => transfer::export(arguments),
        Command::Import(arguments) => transfer::import(arguments),
        Command::Record(arguments) => record::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
    }
}

/// What `stunt anonymize` was asked, as far as it concerns a recording.
pub struct Asked {
    /// Where the report goes.
    pub output: Option<PathBuf>,
    /// How many seconds it may take.
    pub time: Option<u64>,
    /// Makes it repeatable.
    pub seed: Option<u64>,
    /// Whether JSON is printed.
    pub json: bool,
}

/// `stunt anonymize RECORDING`; nothing if that is no recording.
pub fn anonymize_if_recording(path: &Path, asked: Asked) -> Option<Result<Outcome>> {
    let is_one =
        path.is_file() && std::fs::read(path).is_ok_and(|bytes| Recording::read(&bytes).is_ok());
    is_one.then(|| anonymize::run(&anonymize::Arguments::plain(path.to_owned(), asked)))
}

/// What `stunt replay` was asked, as far as it concerns a report about a user interface.
pub struct Wished<'a> {
    /// Where the page is.
    pub page: Option<&'a str>,
    /// Milliseconds before each step.
    pub delay: u64,
    /// Enter before each step.
    pub step: bool,
    /// Whether a stranger's address is opened without a question.
    pub yes: bool,
    /// Whether JSON is printed.
    pub json: bool,
}

/// `stunt replay REPORT`; nothing if it is about a program.
pub fn replay_if_interface(opened: &Opened, wished: &Wished<'_>) -> Option<Result<Outcome>> {
    let [double] = &opened.doubles[..] else { return None };
    let recording = Recording::read(double).ok()?;
    Some(replay::play(&replay::Arguments::plain(wished), opened, &recording))
}

/// `stunt demo --gui`.
pub fn demo(seed: Option<u64>) -> Result<Outcome> {
    demo::run(seed)
}

/// Does what Ctrl-C ends with what there is by then.
fn searching<T>(work: impl FnOnce(&'static AtomicBool) -> T) -> T {
    interrupt::set_searching(true);
    let done = work(interrupt::enough());
    interrupt::set_searching(false);
    done
}

/// A recording in a file of its own.
fn recording(path: &Path) -> Result<Recording> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Recording::read(&bytes).with_context(|| format!("{} cannot be used", path.display()))
}

/// A report whose double is a recording.
fn reported(path: &Path) -> Result<(Opened, Recording)> {
    let opened = inspect::read(path)?;
    let [double] = &opened.doubles[..] else {
        bail!("{}: this is a report about a program; `stunt replay` runs it", path.display());
    };
    let recording = Recording::read(double).with_context(|| {
        format!(
            "{}: this is no report about a user interface; for others there is `stunt replay`",
            path.display()
        )
    })?;
    Ok((opened, recording))
}

/// An address: of a page on the network, or of a file here.
fn address(page: &str) -> Result<String> {
    if page.contains("://") || page.starts_with("about:") || page.starts_with("data:") {
        return Ok(page.to_owned());
    }
    let path = Path::new(page).canonicalize().with_context(|| format!("cannot find {page}"))?;
    let path = path.to_str().context("the path of the page is no text")?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let escaped: String = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    Ok(format!("file://{escaped}"))
}

/// Writes a file for its owner alone; nothing is overwritten.
fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(bytes).with_context(|| format!("cannot write {}", path.display()))
}
