//! All that there is to know before a report is sent: the command line, the failure, every byte of the double, what it
//! reveals, what of the original is still there, and where it goes.
//!
//! Always: everything is from the report that would be sent, and from what its owner alone is told; text of it is
//! shown with control characters escaped. What the report cannot know is said to be unknown.

use std::fmt::Write;

use stunt_graph::{Graph, character};
use stunt_report::{ByteKind, ByteRuns, Draw, Opened, Report, Run, Source, grouped, visible};

use super::screen::{Destination, Shown, whereto};
use crate::graph_text::{self, Style};
use crate::inspect;
use crate::owner::Owner;

/// How wide sentences are.
const WIDTH: usize = 78;
/// The most runs of bytes that are listed by themselves.
const MOST_RUNS: usize = 12;
/// The most bytes of a run that are shown.
const MOST_SHOWN: usize = 16;
/// The most frames of the call stack that are shown.
const MOST_FRAMES: usize = 8;

/// All of it.
pub fn text(shown: &Shown<'_>, style: Style) -> String {
    let report = &shown.opened.report;
    let mut text = String::from("\nThis is what would be sent.\n");
    command(&mut text, report);
    heading(&mut text, "The failure");
    paragraph(&mut text, &inspect::title(report));
    frames(&mut text, report);
    heading(&mut text, "The double that is sent in place of your input");
    for line in graph_text::text(&Graph::of(shown.opened, true), style).lines() {
        let _ = writeln!(text, "{}", format!("  {line}").trim_end());
    }
    heading(&mut text, "What it reveals about your input");
    if let Some(tells) = report.tells_sentence() {
        paragraph(&mut text, &tells);
    }
    paragraph(&mut text, &format!("It {}", visible(&report.summary())));
    if let Draw::NotUniform { why } = &report.draw {
        let caution = format!("It was not drawn uniformly: {}.", visible(why));
        paragraph(&mut text, &caution);
    }
    heading(&mut text, "What of your input is still there");
    for sentence in shown.owner.map(Owner::remains).into_iter().flatten() {
        paragraph(&mut text, &sentence);
    }
    still_there(&mut text, shown.opened);
    heading(&mut text, "What else the report says");
    let figures = inspect::figures(report);
    let width = figures.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    // What has a heading of its own is not repeated.
    let is_new = |(name, _): &(&str, String)| !matches!(*name, "command" | "comment");
    for (name, value) in figures.into_iter().filter(is_new) {
        let _ = writeln!(text, "  {name:<width$}  {}", visible(&value));
    }
    for note in &report.notes {
        paragraph(&mut text, &format!("Note: {}", visible(note)));
    }
    if let Some(comment) = &report.comment {
        heading(&mut text, "Your words");
        comment.lines().for_each(|line| paragraph(&mut text, &visible(line)));
    }
    if let Some(destination) = &shown.destination {
        heading(&mut text, "Where it goes");
        sent(&mut text, destination);
    }
    text.push('\n');
    text
}

fn heading(text: &mut String, words: &str) {
    let _ = write!(text, "\n{words}\n");
}

/// A paragraph, in lines that fit.
pub fn paragraph(text: &mut String, words: &str) {
    let mut width = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if width == 0 {
            text.push_str("  ");
            width = 2;
        } else if width + 1 + length > WIDTH {
            text.push_str("\n  ");
            width = 2;
        } else {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += length;
    }
    text.push('\n');
}

/// The command line, in one piece: it is what a person has typed, and first of all.
fn command(text: &mut String, report: &Report) {
    heading(text, "The command line");
    let _ = writeln!(text, "  {}", report.command_line());
    paragraph(
        text,
        &match report.hidden_words() {
            Some(hidden) => format!(
                "So much of it is sent: {hidden}. What stands there in place of them is all that \
                 the report has."
            ),
            None => "All of it is sent.".to_owned(),
        },
    );
}

fn frames(text: &mut String, report: &Report) {
    let frames = &report.failure.frames;
    for frame in frames.iter().take(MOST_FRAMES) {
        let symbol = frame.symbol.as_deref().unwrap_or("?");
        let location = frame.location.as_ref().map_or_else(String::new, |l| format!(" at {l}"));
        let _ = writeln!(
            text,
            "    in {}",
            visible(&format!("{symbol}{location} ({})", inspect::frame_place(frame)))
        );
    }
    if frames.len() > MOST_FRAMES {
        let _ = writeln!(text, "    and {} more", frames.len() - MOST_FRAMES);
    }
}

/// Runs of one kind, with the source and the double that they are of.
struct Stretch<'a> {
    source: &'a Source,
    run: Run,
    double: &'a [u8],
}

fn stretches(opened: &Opened, wanted: impl Fn(&Run) -> bool) -> Vec<Stretch<'_>> {
    let report = &opened.report;
    let sources = report.sources.iter().zip(&report.per_byte).zip(&opened.doubles);
    sources
        .flat_map(|((source, bytes), double): ((_, &ByteRuns), _)| {
            bytes.runs.iter().map(move |&run| Stretch { source, run, double })
        })
        .filter(|stretch| wanted(&stretch.run))
        .collect()
}

fn bytes_of(stretches: &[Stretch<'_>]) -> u64 {
    stretches.iter().fold(0, |sum, stretch| sum.saturating_add(stretch.run.length))
}

/// `1 byte is`, `4 bytes are`.
fn counted(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 byte {one}") } else { format!("{} bytes {many}", grouped(number)) }
}

fn still_there(text: &mut String, opened: &Opened) {
    let public = |run: &Run| run.kind == ByteKind::Public;
    let fixed = stretches(opened, |run| run.kind == ByteKind::Exact && run.bits >= 8.0);
    let perhaps =
        stretches(opened, |run| !public(run) && run.kind != ByteKind::Exact && run.bits >= 8.0);
    let partly = stretches(opened, |run| !public(run) && run.bits < 8.0);
    let public = stretches(opened, public);
    if !fixed.is_empty() {
        let words = counted(
            bytes_of(&fixed),
            "is fixed, because the failure comes with just this value, as far as was found; take it for your input's:",
            "are fixed, because the failure comes with just these values, as far as was found; take them for your \
             input's:",
        );
        paragraph(text, &words);
        list(text, &fixed);
    }
    if !perhaps.is_empty() {
        let words = counted(
            bytes_of(&perhaps),
            "may be the same, as far as could be found out: the failure may need it as it is:",
            "may be the same, as far as could be found out: the failure may need them as they are:",
        );
        paragraph(text, &words);
        list(text, &perhaps);
    }
    if !public.is_empty() {
        let words = counted(
            bytes_of(&public),
            "was not hidden, because you said that it need not be:",
            "were not hidden, because you said that they need not be:",
        );
        paragraph(text, &words);
        list(text, &public);
    }
    if !partly.is_empty() {
        let words = counted(
            bytes_of(&partly),
            "is free only within limits that the failure sets, and your value kept to them, too.",
            "are free only within limits that the failure sets, and your values kept to them, too.",
        );
        paragraph(text, &words);
    }
    if fixed.is_empty() && perhaps.is_empty() && public.is_empty() {
        paragraph(text, "No byte has to be as it was for the failure to come.");
    }
}

fn list(text: &mut String, stretches: &[Stretch<'_>]) {
    for stretch in stretches.iter().take(MOST_RUNS) {
        let (start, end) = (stretch.run.offset, stretch.run.end());
        let name = visible(&stretch.source.name.words());
        let place = if stretch.run.length == 1 {
            format!("{name}, byte {start}")
        } else {
            format!("{name}, bytes {start} to {}", end - 1)
        };
        let from = usize::try_from(start).unwrap_or(usize::MAX).min(stretch.double.len());
        let to = usize::try_from(end).unwrap_or(usize::MAX).min(stretch.double.len());
        let bytes = &stretch.double[from..to];
        let shown = &bytes[..bytes.len().min(MOST_SHOWN)];
        let hex: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
        let characters: String = shown.iter().map(|&byte| character(byte)).collect();
        let more = if shown.len() < bytes.len() { " …" } else { "" };
        let _ = writeln!(text, "    {place}:  {}{more}  \"{characters}\"{more}", hex.join(" "));
    }
    if stretches.len() > MOST_RUNS {
        let rest = &stretches[MOST_RUNS..];
        let _ = writeln!(
            text,
            "    and {} in {} more places",
            counted(bytes_of(rest), "", "").trim_end(),
            rest.len()
        );
    }
}

fn sent(text: &mut String, to: &Destination<'_>) {
    let _ = writeln!(text, "  {}", whereto(to.destination));
    let _ = writeln!(text, "  sealed for {}", to.recipient);
    paragraph(
        text,
        &format!(
            "Whoever has the secret half of that key can open it, and nobody on the way. The \
             server sees your network address and {} bytes; there is no name of you or of your \
             machine in them.",
            grouped(to.bytes as u64)
        ),
    );
    let signed = if to.signed {
        "It is signed with the key of this installation: the server can tell which reports come \
         from here."
    } else {
        "It is not signed: nothing links it to other reports of yours."
    };
    paragraph(text, signed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_fit_and_lose_no_word() {
        let words = "word ".repeat(60);
        let mut text = String::new();
        paragraph(&mut text, words.trim_end());
        assert!(text.lines().all(|line| line.starts_with("  word") && line.len() <= WIDTH));
        assert_eq!(text.split_whitespace().count(), 60);
    }

    #[test]
    fn one_byte_is_and_two_are() {
        assert_eq!(counted(1, "is", "are"), "1 byte is");
        assert_eq!(counted(2000, "is", "are"), "2,000 bytes are");
    }
}
