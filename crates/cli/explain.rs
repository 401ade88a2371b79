//! `stunt explain`: what a double tells, as one would dictate it to somebody who has the program.
//!
//! The report has the description and its bits. Where the program is given, its words are found again, the bits
//! are decoded with them, and the double is looked for in what they describe: then nothing of the report has to be
//! believed but that the double was drawn from all of it. The report may come from a stranger: what is printed of
//! it is escaped.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::json;
use stunt_anonymize::as_described;
use stunt_belief::{
    Advice, Class, Described, Drawn, DrawnSource, Element, Length, Public, Values, decode,
};
use stunt_report::{ByteKind, Opened, Report, Tells, Told, visible};
use stunt_words::Cache;

use crate::inspect;
use crate::outcome::{self, Outcome};

/// Flags of `stunt explain`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The report, or the incident that it was made of
    report: PathBuf,
    /// A public document that the double may have stretches of: the same ones, in the same order, as when it was made
    #[arg(long, value_name = "FILE")]
    example: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The program: the advice is decoded with its words, and compared with the double
    #[arg(last = true, value_name = "PROGRAM")]
    program: Option<OsString>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let opened = inspect::read(&arguments.report)?;
    let Some(tells) = &opened.report.tells else {
        bail!(
            "{} is of an older version, which did not say what a double tells",
            arguments.report.display()
        );
    };
    let decoded = match &arguments.program {
        Some(program) => Some(decoded(&opened, tells, program, &arguments.example)?),
        None => None,
    };
    let output = match arguments.json {
        true => {
            let bits = decoded.as_ref().map(|it| it.cost.bits());
            let json = json!({ "tells": tells, "decoded": bits });
            serde_json::to_string_pretty(&json)? + "\n"
        }
        false => text(&opened.report, tells, decoded.as_ref()),
    };
    outcome::print(output.as_bytes())?;
    Ok(Outcome::Done)
}

/// Public documents, whole.
pub fn examples(files: &[PathBuf]) -> Result<Vec<Vec<u8>>> {
    let read =
        |file: &PathBuf| fs::read(file).with_context(|| format!("cannot read {}", file.display()));
    files.iter().map(read).collect()
}

/// What the advice describes, with the words of a program: the double is in it.
fn decoded(
    opened: &Opened,
    tells: &Tells,
    program: &OsString,
    files: &[PathBuf],
) -> Result<Described> {
    let Some(bits) = &tells.advice else {
        bail!(
            "the report has no advice to decode: the figure is counted as in the papers, or it was too long"
        );
    };
    if tells.belief != stunt_belief::VERSION {
        bail!(
            "the advice is in version {} of the code, which this stunt does not have",
            tells.belief
        );
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = stunt_native::find(program, &path)?;
    let lists = stunt_words::of(&program, &Cache::of_user());
    if tells.lists.as_ref() != Some(&stunt_words::identity(&lists)) {
        bail!(
            "{} and its libraries have other words than the program of the report: it is another build, or on a \
             system with other libraries",
            program.display()
        );
    }
    let public = Public { lists, documents: examples(files)?, doubles: Vec::new() };
    let apart: Option<Vec<usize>> =
        tells.apart.as_ref().map(|it| it.iter().map(|&leaf| leaf as usize).collect());
    let doubles = as_described(&opened.doubles, apart.as_deref())
        .context("the advice is about documents, and this report has none")?;
    let shape = if apart.is_some() { unpacked_shape(opened, &doubles) } else { shape(opened) };
    let described = decode(&advice(bits), &shape, &public)?;
    if !described.set.contains(&doubles) {
        bail!("the advice is that of another double: this report does not tell the truth");
    }
    Ok(described)
}

/// Bits from their digits.
fn advice(digits: &str) -> Advice {
    let mut bytes = vec![0u8; digits.len().div_ceil(8)];
    for (at, digit) in digits.bytes().enumerate() {
        bytes[at / 8] |= u8::from(digit == b'1') << (7 - at % 8);
    }
    Advice { bytes, count: digits.len() }
}

/// What a reader knows of each source: its length, if it is the original's; and what is public.
fn shape(opened: &Opened) -> Drawn {
    let report = &opened.report;
    let per_byte = report.per_byte.iter().zip(&opened.doubles);
    let source =
        |(source, (runs, double)): (&stunt_report::Source, (&stunt_report::ByteRuns, &Vec<u8>))| {
            let mut elements = vec![Element::Byte(Values::ALL); double.len()];
            for run in runs.runs.iter().filter(|run| run.kind == ByteKind::Public) {
                for at in run.offset as usize..run.end() as usize {
                    elements[at] = Element::Public(double[at]);
                }
            }
            let is_hidden = !elements.iter().any(|it| matches!(it, Element::Public(_)));
            let length = match report.is_shorter() && is_hidden && source.name.may_be_resized() {
                true => Length::Told(double.len()),
                false => Length::Known(double.len()),
            };
            DrawnSource { length, elements, fill: Class::Any }
        };
    Drawn { sources: report.sources.iter().zip(per_byte).map(source).collect() }
}

/// The same of documents without compression, whose lengths are told.
fn unpacked_shape(opened: &Opened, doubles: &[Vec<u8>]) -> Drawn {
    let mut shape = shape(opened);
    let known = std::mem::take(&mut shape.sources);
    let source = |(at, double): (usize, &Vec<u8>)| match known.get(at) {
        Some(source) if source.elements.iter().any(|it| matches!(it, Element::Public(_))) => {
            source.clone()
        }
        _ => DrawnSource {
            length: Length::Told(double.len()),
            elements: vec![Element::Byte(Values::ALL); double.len()],
            fill: Class::Any,
        },
    };
    shape.sources = doubles.iter().enumerate().map(source).collect();
    shape
}

fn text(report: &Report, tells: &Tells, decoded: Option<&Described>) -> String {
    let mut text = String::new();
    if let Some(sentence) = report.tells_sentence() {
        let _ = writeln!(text, "{sentence}\n");
    }
    if tells.pieces.is_empty() {
        text += "The pieces are not in the report: there are too many of them.\n";
    }
    let mut last = None;
    for Told { source, words, bits } in &tells.pieces {
        if *source != last
            && let Some(name) = source.and_then(|at| report.sources.get(at as usize))
        {
            let _ = writeln!(text, "{}:", visible(&name.name.words()));
        }
        last = *source;
        let _ = writeln!(text, "{bits:>9.2}  {}", visible(words));
    }
    let _ = writeln!(text, "{:>9.2}  in all: {}", tells.bits, visible(&tells.words));
    if let Some(advice) = &tells.advice {
        let _ = writeln!(text, "\nThe same in bits: {}", visible(advice));
    }
    if let Some(described) = decoded {
        let _ = writeln!(
            text,
            "Decoded with the words of this program, these bits ({:.2} by the code) describe a set that has the \
             double.",
            described.cost.bits()
        );
    }
    text
}
