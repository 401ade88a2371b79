//! `stunt demo`: the main job on a built-in example, step by step.
//!
//! A parser of records fails on a private file. The demo makes a double of the file, by the same
//! code and with the same proofs as `stunt anonymize`, and explains what happens. The file is built
//! in, which is why it, alone of all originals, may be shown.

use std::ffi::OsString;
use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;
use stunt_anonymize::{Conditions, Error, Found, Made, Method, Options, make};
use stunt_graph::Graph;
use stunt_leakage::ByteLeak;
use stunt_report::{Opened, SourceName};
use stunt_subject::{PLACE, Public, RunLimits, Scratch, Subject};
use stunt_terms::smtlib;

use crate::anonymize::{self, refused};
use crate::graph_text::{self, Style};
use crate::gui;
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use crate::{demo_program, inspect, view};

/// The private file: in the third record, somebody has written the day before the month.
const RECORDS: &str = "\
Anneliese Brandt;1954-03-12;DE02120300000000202051;1490.00
Tomasz Wieczorek;1979-11-02;PL61109010140000071219;310.75
Ingrid Solheim;1987-23-04;NO9386011117947;82.10
Mehmet Yildirim;1990-07-30;TR330006100519786457;12.40
";

/// More than the search takes on any host, so that what is shown depends on the seed alone.
const TIME: Duration = Duration::from_secs(600);

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
    /// Say what happens on the way: what is left of the file, tests of the path, what each byte reveals
    #[arg(long, conflicts_with = "json")]
    explain: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "gui")]
    json: bool,
    /// A page in a browser instead, that fails after some clicks and words
    #[arg(long)]
    gui: bool,
}

/// Runs the demo.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    if arguments.gui {
        return gui::demo(arguments.seed);
    }
    let scratch = Scratch::new()?;
    let file = scratch.write("records.csv", RECORDS.as_bytes())?;
    let own = std::env::current_exe().context("stunt does not find its own file")?;
    let words: Vec<OsString> = vec![own.clone().into(), demo_program::WORD.into(), PLACE.into()];
    let mut subject = Subject::new(own, words, false, RunLimits::default())?;
    let bytes = RECORDS.as_bytes().to_vec();
    let mut public = Public::parse(&[])?;
    subject.add_file(SourceName::File, bytes, Some("csv"), file, &mut public);
    let options =
        Options { seed: arguments.seed, time: Some(TIME), ..Options::new(Method::Weaken) };
    let progress = Progress::new(arguments.json);
    let made = make(&options, &subject, Conditions::default(), &progress);
    drop(progress);
    let made = match made {
        Ok(made) => made,
        Err(Error::Refused(refusal)) => return Ok(refused(&refusal)),
        Err(error) => return Err(error.into()),
    };
    let text = if arguments.json {
        let mut value = anonymize::to_json(&made.told(), None);
        value["double"] = json!({
            "uniform": made.found.drawn.double.not_uniform.is_none(),
            "bytes": view::hex(&made.found.drawn.double.bytes[0]),
        });
        format!("{value:#}\n")
    } else {
        text(made, arguments.explain, inspect::style())
    };
    outcome::print(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// The story: the crash, the double, what it tells, what would be sent, the replay. With all explained, also how
/// the double is found.
fn text(made: Made, explain: bool, style: Style) -> String {
    let Made { report, found, owner, .. } = made;
    let double = &found.drawn.double.bytes[0];
    let mut story = Story::default();
    story.say("A program reads records, and fails on this file:");
    story.show(RECORDS.lines());
    story.say(&format!("It ends in a {}.", report.failure.words));
    story.say("Say the file is private.");
    story.say("");
    if explain {
        story.say(
            "Stunt runs the program on smaller and plainer files, some hundred times, and leaves out what the \
             failure does not need. This is left:",
        );
        story.show(view::printable(&found.base.reveal()[0]));
        story.say(
            "It runs the program once more on that, in its own machine, and follows each byte. Whatever the \
             program finds out about them until it fails is the path condition. A test of each kind, as SMT-LIB 2:",
        );
        story.show(kinds_of_tests(&found));
        story.say(
            "Even of these the failure does not need all. So stunt takes them out, or asks for less, as long as \
             real runs on random files show that the program still fails in the same way.",
        );
        story.say("");
    }
    story.say(
        "Stunt finds out what the failure needs of it, and draws another file at random that has just that, of plain \
         characters where those will do. This is the double; what is needed is marked:",
    );
    story.show(marked(double, &found.drawn.measured.bytes, style));
    let readable = match owner.remains.bytes {
        0 => "No stretch of the private file can be read in it.".to_owned(),
        bytes => format!("{bytes} bytes of the private file can be read in it."),
    };
    if let Some(sentence) = report.tells_sentence() {
        story.say(&format!("{sentence} {readable}"));
    }
    if explain {
        story.say(&format!(
            "Counted as in the papers, over all files of its length, it {}",
            report.summary()
        ));
    }
    let (runs, bytes) = (report.verified.runs, double.len());
    story.say("");
    story.say(&format!(
        "What would be sent: these {bytes} bytes, where and how the program failed on them, and which program \
         it was. Nothing else, and nothing before you have seen it and said yes."
    ));
    story.say("");
    story.say(&format!(
        "What a maintainer sees: a {}. So it was {runs} times of {runs}, on the processor itself, with nobody \
         watching.",
        report.failure.words
    ));
    if explain {
        let opened = Opened { report, doubles: found.drawn.double.bytes.clone() };
        story.say("");
        story.say("Byte by byte, what it reveals:");
        story.show(graph_text::text(&Graph::of(&opened, false), style).lines());
    } else {
        story.say("");
        story.say("How it is found:     stunt demo --explain");
    }
    story.say("On your own program: stunt anonymize -i FILE -- PROGRAM @@");
    story.0
}

/// What is told, in lines that fit a terminal.
#[derive(Default)]
struct Story(String);

impl Story {
    fn say(&mut self, words: &str) {
        let _ = writeln!(self.0, "{}", wrapped(words));
    }

    /// Lines as they are, set apart.
    fn show<L: AsRef<str>>(&mut self, lines: impl IntoIterator<Item = L>) {
        self.0.push('\n');
        for line in lines {
            let _ = writeln!(self.0, "{}", format!("    {}", line.as_ref()).trim_end());
        }
        self.0.push('\n');
    }
}

/// A byte that reveals less, in bits, is not marked.
const MARKED: f64 = 1.0;

/// A double's text; what is needed in another colour, or with a mark under it.
fn marked(double: &[u8], leaks: &[ByteLeak], style: Style) -> Vec<String> {
    let mut needed = vec![false; double.len()];
    for leak in leaks.iter().filter(|leak| leak.bits.value() >= MARKED) {
        needed[leak.byte.offset as usize] = true;
    }
    let mut lines = Vec::new();
    let mut begin = 0;
    for line in view::printable(double) {
        let needed = &needed[begin..begin + line.len()];
        begin += line.len();
        if style == Style::Colours {
            let paint = |(shown, &needed): (char, &bool)| match needed {
                true => format!("\x1b[1;33m{shown}\x1b[0m"),
                false => shown.to_string(),
            };
            lines.push(line.chars().zip(needed).map(paint).collect());
            continue;
        }
        lines.push(line);
        if needed.contains(&true) {
            lines.push(needed.iter().map(|&it| if it { '^' } else { ' ' }).collect());
        }
    }
    lines
}

/// The first test of each kind: kinds differ in more than which bytes they are about.
fn kinds_of_tests(found: &Found) -> Vec<String> {
    let Some(followed) = found.origin.run() else { return Vec::new() };
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
pub fn wrapped(words: &str) -> String {
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
