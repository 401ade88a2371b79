//! The first screen before a report leaves: what failed, what the double tells, what of the content remains, and where
//! it goes. It fits on a terminal of 80 columns and 24 lines; everything else is one key away (`details`).
//!
//! Always: all of it is from the report that would be sent, and from what its owner alone is told; text of it is shown
//! with control characters escaped. What is cut says so.

use std::fmt::Write;

use stunt_client::config;
use stunt_graph::character;
use stunt_parcel::Recipient;
use stunt_report::{ByteKind, Draw, Opened, Report, grouped, visible};

use super::COUNTED;
use crate::inspect;
use crate::owner::Owner;

/// How wide it is, with two columns before it.
const WIDTH: usize = 78;
/// The widest word before what it is about.
const LABEL: usize = 14;
/// The most lines of the double that are shown, of those that tell what remains, and of other sentences.
const MOST_PREVIEW: usize = 2;
const MOST_REMAINS: usize = 3;
const MOST_SENTENCE: usize = 2;
const MOST_TELLS: usize = 3;

/// What is shown.
pub struct Shown<'a> {
    /// The report.
    pub opened: &'a Opened,
    /// What its owner alone is told, if it was made here.
    pub owner: Option<&'a Owner>,
    /// Where it goes; nowhere by itself, if there is none.
    pub destination: Option<Destination<'a>>,
}

/// Where a report goes.
pub struct Destination<'a> {
    /// The server.
    pub destination: &'a config::Destination,
    /// Who can open it.
    pub recipient: &'a Recipient,
    /// Whether it is signed.
    pub signed: bool,
    /// How large the sealed parcel is.
    pub bytes: usize,
}

/// The screen. The command line comes first and is never cut: it is told as it stands there, and is not measured.
pub fn text(shown: &Shown<'_>) -> String {
    let report = &shown.opened.report;
    let mut text = String::from("\n");
    labelled(&mut text, "Command line", &report.command_line(), usize::MAX);
    if let Some(hidden) = report.hidden_words() {
        labelled(&mut text, "", &format!("({hidden})"), MOST_SENTENCE);
    }
    labelled(&mut text, "Failure", &inspect::title(report), MOST_SENTENCE);
    double(&mut text, shown.opened);
    let tells = report.tells_sentence().unwrap_or_else(|| format!("It {}", report.summary()));
    lines(&mut text, &visible(&tells), MOST_TELLS);
    if let (Some(told), Some(owner)) = (&report.tells, shown.owner)
        && owner.bits > 0
    {
        let percent = 100.0 * told.bits / owner.bits as f64;
        let of = grouped(owner.bits);
        lines(&mut text, &format!("That is {percent:.1} % of your input's {of} bits."), 1);
    }
    if let Draw::NotUniform { why } = &report.draw
        && !why.ends_with(COUNTED)
    {
        let caution = format!("It may tell more, because it was not drawn uniformly: {why}.");
        lines(&mut text, &visible(&caution), 1);
    }
    text.push('\n');
    remains(&mut text, shown);
    text.push('\n');
    if let Some(comment) = &report.comment {
        labelled(&mut text, "Your words", &visible(&format!("\"{comment}\"")), 1);
    }
    match &shown.destination {
        Some(destination) => sent(&mut text, destination),
        None => labelled(&mut text, "It goes", "nowhere by itself: you get it as a file.", 1),
    }
    text
}

fn sent(text: &mut String, to: &Destination<'_>) {
    let server = to.destination.server.to_string();
    labelled(text, "It goes to", &server, MOST_SENTENCE);
    if to.destination.is_a_suggestion() {
        let says = "a file of this project says so, and none of yours. Do you know it?";
        labelled(text, "", says, 1);
    }
    labelled(text, "Sealed for", &to.recipient.to_string(), 1);
    if to.signed {
        let signed = "with this installation's key: it links your reports";
        labelled(text, "Signed", signed, 1);
    }
}

/// The server, and who says that it is this one.
pub fn whereto(destination: &config::Destination) -> String {
    let says = match (&destination.layer, &destination.file) {
        (Some(_), Some(file)) if destination.is_a_suggestion() => format!(
            ", as {} says: a file of this project, not of yours. Do you know that server?",
            visible(&file.display().to_string())
        ),
        (Some(_), Some(file)) => format!(", as {} says", visible(&file.display().to_string())),
        _ => ", as the command line says".to_owned(),
    };
    format!("{}{says}", destination.server)
}

/// What takes the input's place: how long it is, and how it begins.
fn double(text: &mut String, opened: &Opened) {
    let (report, first) = (&opened.report, opened.doubles.first());
    let whose = match &report.sources[..] {
        [one] => visible(&one.name.words()),
        several => format!("{} inputs", several.len()),
    };
    let bytes = report.bytes();
    let plural = if bytes == 1 { "" } else { "s" };
    let room = WIDTH - 4;
    let shown = first.map_or(&[][..], |double| &double[..double.len().min(MOST_PREVIEW * room)]);
    let begins = match (shown.len() as u64, bytes) {
        (_, 0) => ".",
        (shown, bytes) if shown < bytes => ", which begins:",
        _ => ":",
    };
    let double = format!("a double of {} byte{plural} that fails alike{begins}", grouped(bytes));
    lines(text, &format!("In place of {whose}, {double}"), MOST_SENTENCE);
    for row in shown.chunks(room) {
        let row: String = row.iter().map(|&byte| character(byte)).collect();
        let _ = writeln!(text, "    {}", row.trim_end());
    }
}

/// What of the input's content is left, as far as is known here.
fn remains(text: &mut String, shown: &Shown<'_>) {
    let report = &shown.opened.report;
    let sentences = match shown.owner {
        Some(owner) => owner.remains(),
        None => fixed(shown.opened),
    };
    lines(text, "What is left of your input's content:", 1);
    let mut left = MOST_REMAINS;
    for sentence in sentences.iter().chain(&public(report)) {
        if left == 0 {
            break;
        }
        left -= indented(text, sentence, left.min(MOST_SENTENCE));
    }
}

/// What a report says by itself: which bytes are as the failure needs them.
fn fixed(opened: &Opened) -> Vec<String> {
    let report = &opened.report;
    let mut count = 0_u64;
    let mut shown = String::new();
    for (runs, double) in report.per_byte.iter().zip(&opened.doubles) {
        for run in runs.runs.iter().filter(|run| run.kind != ByteKind::Public && run.bits >= 8.0) {
            count = count.saturating_add(run.length);
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(double.len());
            let bytes = &double[place(run.offset)..place(run.end())];
            shown.extend(bytes.iter().take(WIDTH).map(|&byte| character(byte)));
            shown.push(' ');
        }
    }
    if count == 0 {
        return vec!["No byte has to be as it was for the failure to come.".to_owned()];
    }
    let bytes = if count == 1 { "byte is" } else { "bytes are" };
    vec![format!(
        "{} {bytes} as the failure needs; take them for your input's: {}",
        grouped(count),
        shown.trim_end()
    )]
}

/// What the user did not want to hide.
fn public(report: &Report) -> Option<String> {
    let runs = report.per_byte.iter().flat_map(|runs| &runs.runs);
    let public = runs.filter(|run| run.kind == ByteKind::Public);
    match public.fold(0_u64, |sum, run| sum.saturating_add(run.length)) {
        0 => None,
        1 => Some("1 byte was not hidden, as you said.".to_owned()),
        many => Some(format!("{} bytes were not hidden, as you said.", grouped(many))),
    }
}

/// A sentence in so many lines at most.
fn lines(text: &mut String, words: &str, most: usize) {
    for line in wrapped(words, WIDTH - 2, most) {
        let _ = writeln!(text, "  {line}");
    }
}

/// The same, further in; how many lines it took.
fn indented(text: &mut String, words: &str, most: usize) -> usize {
    let lines = wrapped(words, WIDTH - 4, most);
    for line in &lines {
        let _ = writeln!(text, "    {line}");
    }
    lines.len()
}

fn labelled(text: &mut String, label: &str, words: &str, most: usize) {
    for (number, line) in wrapped(words, WIDTH - 2 - LABEL, most).iter().enumerate() {
        let label = if number == 0 { label } else { "" };
        let _ = writeln!(text, "  {label:<LABEL$}{line}");
    }
}

/// Words in lines of this width, so many at most; what is cut ends with `…`. A word that is too long is broken.
fn wrapped(words: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in words.split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        if used > 0 && used + 1 + rest.len() > width && rest.len() <= width {
            lines.push(String::new());
            used = 0;
        } else if used > 0 && used < width {
            lines.last_mut().expect("there is a line").push(' ');
            used += 1;
        }
        while !rest.is_empty() {
            if used == width {
                lines.push(String::new());
                used = 0;
            }
            let piece: String = rest.drain(..rest.len().min(width - used)).collect();
            used += piece.chars().count();
            lines.last_mut().expect("there is a line").push_str(&piece);
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        let last = lines.last_mut().expect("there is a line");
        let cut: String = last.chars().take(width - 2).collect();
        *last = format!("{} …", cut.trim_end());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_and_what_is_cut_says_so() {
        let words = "word ".repeat(60);
        let all = wrapped(words.trim_end(), 30, 100);
        assert!(all.iter().all(|line| line.chars().count() <= 30));
        assert_eq!(all.join(" "), words.trim_end());
        let cut = wrapped(words.trim_end(), 30, 2);
        assert!(cut.len() == 2 && cut[1].ends_with(" …") && cut[1].chars().count() <= 30);
        let long = wrapped(&"x".repeat(100), 30, 100);
        assert_eq!(long.concat(), "x".repeat(100));
        assert!(long.iter().all(|line| line.len() <= 30));
        assert_eq!(wrapped("", 30, 2), [""]);
    }
}
