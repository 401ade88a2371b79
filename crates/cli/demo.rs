//! `stunt demo`: the main job on a built-in example, step by step.
//!
//! A parser of records fails on a private file. The demo makes a double of the file, by the same
//! code and with the same proofs as `stunt anonymize`, and explains what happens. The file is built
//! in, which is why it, alone of all originals, may be shown.

use std::ffi::OsString;
use std::fmt::Write;

use anyhow::{Context, Result};
use clap::{Args, FromArgMatches};
use serde_json::json;
use stunt_graph::Graph;
use stunt_report::{Opened, Report};
use stunt_terms::smtlib;

use crate::anonymize::{self, Found};
use crate::graph_text::{self, Style};
use crate::outcome::{self, Outcome};
use crate::scratch::Scratch;
use crate::subject::Subject;
use crate::{demo_program, view};

/// The private file: in the third record, somebody has written the day before the month.
const RECORDS: &str = "\
Anneliese Brandt;1954-03-12;DE02120300000000202051;1490.00
Tomasz Wieczorek;1979-11-02;PL61109010140000071219;310.75
Ingrid Solheim;1987-23-04;NO9386011117947;82.10
Mehmet Yildirim;1990-07-30;TR330006100519786457;12.40
";

/// How many tests are shown.
const SHOWN: usize = 8;

/// How wide the text is.
const WIDTH: usize = 88;

/// Flags of `stunt demo`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Repeat a run; without it the randomness is fresh, as it should be for a real double
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the demo.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let scratch = Scratch::new()?;
    let file = scratch.write("records.csv", RECORDS.as_bytes())?;
    let own = std::env::current_exe().context("stunt does not find its own file")?;
    let seed = arguments.seed.map(|seed| format!("--seed={seed}"));
    let mut words: Vec<OsString> = vec!["demo".into(), "--input".into(), file.into()];
    // The path condition can be shown test by test.
    words.push("--algorithm=relaxed".into());
    words.extend(seed.map(OsString::from));
    words.extend(arguments.json.then(|| "--json".into()));
    words.extend(["--".into(), own.into(), demo_program::WORD.into(), "@@".into()]);
    let command = anonymize::Arguments::augment_args(clap::Command::new("demo"));
    let job = anonymize::Arguments::from_arg_matches(&command.try_get_matches_from(words)?)?;

    let subject = Subject::new(job.subject(), false)?;
    let made = match anonymize::make(&job, &subject)? {
        Ok(made) => made,
        Err(outcome) => return Ok(outcome),
    };
    let text = if arguments.json {
        let mut value = anonymize::to_json(&made.told(), None);
        value["double"] = json!({
            "uniform": made.found.drawn.double.not_uniform.is_none(),
            "bytes": view::hex(&made.found.drawn.double.bytes[0]),
        });
        format!("{value:#}\n")
    } else {
        text(made.report, &made.found)
    };
    outcome::print(text.as_bytes())?;
    Ok(Outcome::Done)
}

fn text(report: Report, found: &Found) -> String {
    let mut text = String::new();
    let mut say = |line: &str| {
        let _ = writeln!(text, "{line}");
    };
    let indented = |say: &mut dyn FnMut(&str), lines: &[String]| {
        say("");
        lines.iter().for_each(|line| say(format!("    {line}").trim_end()));
        say("");
    };
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    say("A program reads records, and fails on this file:");
    indented(&mut say, &lines(RECORDS));
    say(&format!("It ends in a {}.\nSay the file is private.", report.failure.words));
    say("");
    say(&wrapped(
        "Stunt runs the program once more, in its own machine, and follows each byte of the file. \
         Whatever the program finds out about them until it fails is the path condition. A test of \
         each kind, as SMT-LIB 2:",
    ));
    indented(&mut say, &kinds_of_tests(found));
    say(&wrapped(
        "Any other file that passes all the tests fails in the same way. Here is one, drawn at \
         random from all of them:",
    ));
    let double = &found.drawn.double.bytes[0];
    indented(&mut say, &view::printable(double));
    say(&wrapped(&format!("It {}", report.summary())));
    let runs = report.verified.runs;
    let opened = Opened { report, doubles: found.drawn.double.bytes.clone() };
    say("\nByte by byte, what it reveals:");
    indented(&mut say, &lines(&graph_text::text(&Graph::of(&opened, false), Style::Characters)));
    let same = RECORDS.bytes().zip(double).filter(|(a, b)| a == *b).count();
    say(&wrapped(&format!(
        "Proved: outside of the machine, on the processor itself, the program was run on the double \
         {runs} times and failed each time at the same place with the same calls. {same} of {} \
         bytes are the same in both files.",
        RECORDS.len()
    )));
    say("\nOn your own program: stunt anonymize -i FILE -- PROGRAM @@");
    text
}

/// The first test of each kind: kinds differ in more than which bytes they are about.
fn kinds_of_tests(found: &Found) -> Vec<String> {
    let followed = &found.followed;
    let mut kinds: Vec<(String, String)> = Vec::new();
    for test in &followed.tests {
        let text = smtlib::print_term(&followed.pool, test.condition);
        // The offset of a byte follows its `@`.
        let parts =
            text.split('@').map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        let kind: String = parts.collect();
        if text.len() < WIDTH - 16 && kinds.iter().all(|(other, _)| *other != kind) {
            kinds.push((kind, text));
        }
    }
    kinds.truncate(SHOWN);
    kinds.into_iter().map(|(_, text)| format!("(assert {text})")).collect()
}

/// The words in lines that fit a terminal.
fn wrapped(words: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in words.split(' ') {
        let length = word.chars().count();
        if width > 0 {
            let fits = width + 1 + length <= WIDTH;
            text.push(if fits { ' ' } else { '\n' });
            width = if fits { width + 1 } else { 0 };
        }
        text += word;
        width += length;
    }
    text
}
