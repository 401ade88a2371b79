//! `stunt inspect`: what a report says and reveals.
//!
//! The report may come from a stranger: everything that is printed of it passes [`visible`], and
//! doubles are written nowhere unless asked, and then under names of stunt's own making.

use std::fmt::Write;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use stunt_graph::Graph;
use stunt_graph::svg::svg;
use stunt_report::{
    Draw, Error, Frame, Leak, Opened, Report, SourceName, grouped, quoted, steps, visible,
};

use crate::graph_text::{self, Style};
use crate::outcome::{self, Outcome};
use crate::{graph_html, incident, view};

/// Flags of `stunt inspect`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The report, or the incident that it was made of
    report: PathBuf,
    /// Print JSON: the report's own, with a summary
    #[arg(long)]
    json: bool,
    /// Draw the leak graph as a picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write all that is printed here as a page, with the leak graph
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the double to this folder, a file for each source
    #[arg(long, value_name = "DIR")]
    extract: Option<PathBuf>,
    /// Show every byte of the double: nothing is folded, and JSON has its hexadecimal digits
    #[arg(long)]
    hex: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let opened = read(&arguments.report)?;
    let graphs = Graph::of(&opened, arguments.hex);
    if let Some(file) = &arguments.svg {
        let summary = format!("The double {}", opened.report.summary());
        let title = format!("What the double reveals: {}", title(&opened.report));
        store(file, &svg(&graphs, &title, &summary))?;
    }
    if let Some(file) = &arguments.html {
        store(file, &graph_html::html(&opened.report, &graphs))?;
    }
    if let Some(folder) = &arguments.extract {
        extract(&opened, folder)?;
    }
    let output = if arguments.json {
        json(&opened, arguments.hex)?
    } else {
        text(&opened, &graphs, style())
    };
    outcome::print(output.as_bytes())?;
    Ok(Outcome::Done)
}

/// Reads a report: that of an incident, or a file. The error names the file.
pub fn read(path: &Path) -> Result<Opened> {
    if incident::is_meant(path)
        && let Some(report) = incident::report_of(path)?
    {
        return read(&report);
    }
    match Report::read(path) {
        // It names the file already.
        Err(error @ Error::Unreadable { .. }) => match incident::report_of(path)? {
            Some(report) => read(&report),
            None => Err(anyhow!(error)),
        },
        opened => opened.map_err(|error| anyhow!("{}: {error}", path.display())),
    }
}

/// Colours on a terminal, unless the user does not want any (<https://no-color.org>).
pub fn style() -> Style {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stdout().is_terminal() && !unwanted { Style::Colours } else { Style::Characters }
}

fn store(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Writes the doubles to a folder. Nothing is overwritten.
fn extract(opened: &Opened, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (source, double) in opened.report.sources.iter().zip(&opened.doubles) {
        let path = folder.join(source.file_name());
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!("{} is there already; give another folder", path.display())
            }
            file => file.with_context(|| format!("cannot write {}", path.display()))?,
        };
        file.write_all(double).with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("stunt: {} is in {}", source_words(&source.name), path.display());
    }
    Ok(())
}

/// `the double of the file`.
fn source_words(name: &SourceName) -> String {
    format!("the double of {}", visible(&name.words()))
}

/// The report for programs: its own JSON, and what is told in words elsewhere.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    report: &'a Report,
    input: Input,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubles: Option<Vec<Double<'a>>>,
}

#[derive(Serialize)]
struct Input {
    bytes: u64,
}

#[derive(Serialize)]
struct Double<'a> {
    source: &'a SourceName,
    hex: String,
}

fn json(opened: &Opened, hex: bool) -> Result<String> {
    let report = &opened.report;
    let pairs = report.sources.iter().zip(&opened.doubles);
    let doubles =
        pairs.map(|(source, double)| Double { source: &source.name, hex: view::hex(double) });
    let printed = Printed {
        report,
        input: Input { bytes: report.bytes() },
        summary: report.summary(),
        doubles: hex.then(|| doubles.collect()),
    };
    Ok(serde_json::to_string_pretty(&printed)? + "\n")
}

/// The command line, and what of it is not told.
pub fn command(report: &Report) -> String {
    let hidden = report.hidden_words().map_or_else(String::new, |words| format!("  ({words})"));
    report.command_line() + &hidden
}

/// The report in one line: `parser fails: SIGSEGV in field (parser.c:12)`.
pub fn title(report: &Report) -> String {
    visible(&format!("{} fails: {}", report.program.name, report.failure.words))
}

/// Where a frame is: `parser+0x11d6`.
pub fn frame_place(frame: &Frame) -> String {
    format!("{}+{:#x}", frame.module, frame.offset)
}

fn text(opened: &Opened, graphs: &[Graph<'_>], style: Style) -> String {
    let report = &opened.report;
    let mut text = format!("{}\nThe double {}\n", title(report), visible(&report.summary()));
    if let Some(tells) = report.tells_sentence() {
        let _ = writeln!(text, "{tells}");
    }
    text.push('\n');
    let frames = &report.failure.frames;
    let digits = frames.len().saturating_sub(1).to_string().len();
    for (number, frame) in frames.iter().enumerate() {
        let symbol = frame.symbol.as_deref().unwrap_or("?");
        let location = frame.location.as_ref().map_or_else(String::new, |l| format!(" at {l}"));
        let line = format!("{symbol}{location} ({})", frame_place(frame));
        let _ = writeln!(text, "#{number:<digits$}  {}", visible(&line));
    }
    if !frames.is_empty() {
        text.push('\n');
    }
    // A double of a user interface is a recording: what its reader does to see the failure.
    let recorded = opened.doubles.iter().zip(&report.per_byte);
    for steps in recorded.filter_map(|(double, runs)| steps(double, Some(runs))) {
        let digits = steps.len().to_string().len();
        for (number, step) in (1..).zip(steps) {
            let _ = writeln!(text, "{number:>digits$}. {}", visible(&step));
        }
        text.push('\n');
    }
    let figures = figures(report);
    let width = figures.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in figures {
        let _ = writeln!(text, "{name:<width$}  {}", visible(&value));
    }
    for note in &report.notes {
        let _ = writeln!(text, "\nNote: {}", visible(note));
    }
    let _ = write!(text, "\n{}", graph_text::text(graphs, style));
    text
}

/// The figures of a report, each with its name.
pub fn figures(report: &Report) -> Vec<(&'static str, String)> {
    let mut figures: Vec<(&'static str, String)> = vec![
        ("command", command(report)),
        ("failure", format!("{}, signature {}", report.failure.kind, report.failure.signature)),
        ("tells", report.tells.as_ref().map_or_else(String::new, |it| it.words.clone())),
        ("reveals", said(report, &report.leak)),
        ("verified", verified(report)),
    ];
    if let Some(comment) = &report.comment {
        figures.insert(1, ("comment", comment.clone()));
    }
    // An older report does not say it.
    figures.retain(|(_, value)| !value.is_empty());
    if let Some(how) = replay(report) {
        figures.push(("to replay", how));
    }
    figures.push(("algorithm", algorithm(report)));
    figures.push((
        "draw",
        match &report.draw {
            Draw::Uniform => "uniform: every possible double had the same chance".to_owned(),
            Draw::NotUniform { why } => format!("not uniform: {why}"),
        },
    ));
    figures.push(("written by", format!("stunt {}", report.stunt)));
    figures
}

/// A figure, in percent where the report says of what.
fn said(report: &Report, leak: &Leak) -> String {
    if report.is_shorter() { leak.words.clone() } else { leak.sentence() }
}

fn verified(report: &Report) -> String {
    let runs = u64::from(report.verified.runs);
    if runs == 0 {
        return "no: the double has not been run".to_owned();
    }
    let times = if runs == 1 { "once".to_owned() } else { format!("{} times", grouped(runs)) };
    let place = if report.verified.native { "natively" } else { "in the machine" };
    format!("the double failed in the same way, {times}, {place}")
}

/// What a replay needs beside the program and the double.
fn replay(report: &Report) -> Option<String> {
    let mut needs = Vec::new();
    if report.replay.check_memory {
        needs.push(
            "`stunt replay` does it in the machine, with checked memory, by itself: the failure is an \
             invalid access that may do no harm"
                .to_owned(),
        );
    } else if !report.replay.native {
        needs.push("use --machine: the program does not fail natively".to_owned());
    }
    if let Some(condition) = &report.replay.fails_if {
        needs.push(format!(
            "`stunt replay` looks for {} by itself: that is what counts as the failure",
            quoted(condition)
        ));
    }
    (!needs.is_empty()).then(|| needs.join("; "))
}

fn algorithm(report: &Report) -> String {
    let parameters: Vec<String> =
        report.algorithm.parameters.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if parameters.is_empty() {
        report.algorithm.name.clone()
    } else {
        format!("{} ({})", report.algorithm.name, parameters.join(", "))
    }
}
