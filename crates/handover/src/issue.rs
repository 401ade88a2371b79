//! The text of an issue: what fails, how to see it, and the double itself where it is short.

use std::fmt::Write;

use stunt_report::{Opened, Report, SourceName, quoted, visible};

use crate::inline::unpacking;

/// The longest title, in characters.
const TITLE: usize = 200;
/// The most frames of the call stack that are shown.
const MOST_FRAMES: usize = 16;

/// An issue that can be pasted into any tracker that reads Markdown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Issue {
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Whether the double is in the text; otherwise the report's file has to be attached.
    pub is_whole: bool,
}

/// The issue of a report, whose file, should it have to be attached, has this name; `archive` is what is in it.
pub fn issue(opened: &Opened, archive: &[u8], attachment: &str) -> Issue {
    let report = &opened.report;
    let (steps, is_whole) = steps(opened, archive, attachment);
    let mut body = String::new();
    if let Some(comment) = &report.comment {
        let _ = writeln!(body, "{}", fenced("text", &lines_of(comment)));
    }
    let _ = writeln!(body, "{}", fenced("text", &title(report, usize::MAX)));
    if !is_whole {
        let _ = writeln!(body, "The input is in the attached file `{attachment}`.\n");
    }
    let _ = writeln!(body, "To see it:\n\n{}", fenced("sh", &steps));
    let stack = stack(report);
    if !stack.is_empty() {
        let _ = writeln!(body, "Call stack:\n\n{}", fenced("text", &stack));
    }
    let _ = writeln!(body, "About the input:\n\n{}", fenced("text", &about(report)));
    Issue { title: title(report, TITLE), body: body.trim_end().to_owned() + "\n", is_whole }
}

/// `parser: SIGSEGV in field (parser.c:12)`.
fn title(report: &Report, most: usize) -> String {
    let line = visible(&format!("{}: {}", report.program.name, report.failure.words));
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most - 1).chain(['…']).collect()
}

/// Lines of a shell that write the double and run the program on it; whether the double is in them.
fn steps(opened: &Opened, archive: &[u8], attachment: &str) -> (String, bool) {
    let report = &opened.report;
    let single = match (&report.sources[..], &opened.doubles[..]) {
        ([source], [double])
            if source.name.is_file() || matches!(source.name, SourceName::Stdin) =>
        {
            Some((source, double))
        }
        _ => None,
    };
    if let Some((source, double)) = single {
        let name = name(source.file_name());
        let run = run(report, &source.name, &name);
        if let Some(write) = unpacking(double, &name) {
            return (write + &run, true);
        }
        let entry = &source.entry;
        let unpack =
            format!("unzip -p {} {} > {}\n", quoted(attachment), quoted(entry), quoted(&name));
        return (unpack + &run, false);
    }
    // An input of several parts, or one that comes through a connection: stunt puts it in its place.
    let replay = format!("stunt replay {} -- {}\n", quoted(attachment), report.command_line());
    match unpacking(archive, attachment) {
        Some(write) => (write + &replay, true),
        None => (replay, false),
    }
}

/// What the file is called that is made of the double: `double.csv`.
fn name(file_name: &str) -> String {
    let ending = file_name.split_once('.').map_or_else(String::new, |(_, it)| format!(".{it}"));
    format!("double{ending}")
}

/// The program's command line, with the file's name where it belongs.
fn run(report: &Report, source: &SourceName, file: &str) -> String {
    let line = report.command_line();
    let checked = match (report.replay.check_memory, &report.replay.fails_if) {
        (true, _) => "  # under valgrind or a sanitizer: an invalid access that may do no harm",
        (false, Some(_)) => "  # what counts as the failure is below",
        (false, None) => "",
    };
    match source.place() {
        Some(place) => format!("{}{checked}\n", line.replace(&place, file)),
        None => format!("{line} < {file}{checked}\n"),
    }
}

fn stack(report: &Report) -> String {
    let frames = &report.failure.frames;
    let mut text = String::new();
    for (number, frame) in frames.iter().take(MOST_FRAMES).enumerate() {
        let symbol = frame.symbol.as_deref().unwrap_or("?");
        let place = match &frame.location {
            Some(location) => location.clone(),
            None => format!("{}+{:#x}", frame.module, frame.offset),
        };
        let _ = writeln!(text, "#{number} {}", visible(&format!("{symbol} ({place})")));
    }
    if frames.len() > MOST_FRAMES {
        let _ = writeln!(text, "and {} more", frames.len() - MOST_FRAMES);
    }
    text
}

/// What the input is, and what its reader has to know.
fn about(report: &Report) -> String {
    let mut text = String::from(
        "It stands in for a private one: stunt made it, and it fails at the same place.\n",
    );
    if let Some(tells) = report.tells_sentence() {
        let _ = writeln!(text, "{}", visible(&tells));
    } else {
        let _ = writeln!(text, "It {}", visible(&report.summary()));
    }
    if let Some(hidden) = report.hidden_words() {
        let _ = writeln!(text, "Of the command line, {hidden}.");
    }
    if let Some(condition) = &report.replay.fails_if {
        let _ = writeln!(text, "What counts as the failure: {}", visible(condition));
    }
    if let Some(build_id) = &report.program.build_id {
        let _ = writeln!(text, "Build of {}: {}", visible(&report.program.name), visible(build_id));
    }
    for note in &report.notes {
        let _ = writeln!(text, "Note: {}", visible(note));
    }
    text
}

/// Lines, each shown as it is.
fn lines_of(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// A fenced block, whose fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fenced("sh", "a\n"), "```sh\na\n```\n");
        assert_eq!(fenced("text", "````"), "`````text\n````\n`````\n");
    }
}
