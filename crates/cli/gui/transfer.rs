//! `stunt gui export` and `import`: to other tools and from them.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;
use stunt_gui::export::{from_recorder, playwright, to_recorder, webdriver};

use super::{address, reported, write_private};
use crate::inspect;
use crate::outcome::{self, Outcome};

/// Who is to read it.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Chrome DevTools Recorder, and `@puppeteer/replay`: JSON
    Recorder,
    /// A test for Playwright that fails as long as the page does
    Playwright,
    /// A script for WebDriver, in Python
    Webdriver,
}

/// Flags of `stunt gui export`.
#[derive(clap::Args)]
pub struct Export {
    /// The report
    report: PathBuf,
    /// Who is to read it
    #[arg(long = "as", value_enum, default_value = "recorder")]
    format: Format,
    /// Where the page is: an address, or a file; else where the report says
    #[arg(long, value_name = "PAGE")]
    page: Option<String>,
}

/// Flags of `stunt gui import`.
#[derive(clap::Args)]
pub struct Import {
    /// The flow, as Chrome's Recorder exports it
    flow: PathBuf,
    /// Where the recording goes
    #[arg(short, long, value_name = "FILE", default_value = "recording.json")]
    output: PathBuf,
}

/// Writes it to standard output.
pub fn export(arguments: &Export) -> Result<Outcome> {
    let (opened, recording) = reported(&arguments.report)?;
    let title = inspect::title(&opened.report);
    let url = match &arguments.page {
        Some(page) => address(page)?,
        None => recording.url().to_owned(),
    };
    let text = match arguments.format {
        Format::Recorder => format!("{:#}\n", to_recorder(&recording, &title, &url)),
        Format::Playwright => playwright(&recording, &title, &url),
        Format::Webdriver => webdriver(&recording, &title, &url),
    };
    outcome::print(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// Reads a flow, and writes a recording.
pub fn import(arguments: &Import) -> Result<Outcome> {
    let path = &arguments.flow;
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let flow: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))?;
    let recording =
        from_recorder(&flow).with_context(|| format!("{} is no flow", path.display()))?;
    write_private(&arguments.output, &recording.to_bytes())?;
    eprintln!(
        "stunt: {} steps are in {}; it has no failure of its own: any that comes last counts",
        recording.actions().len(),
        arguments.output.display()
    );
    Ok(Outcome::Done)
}
