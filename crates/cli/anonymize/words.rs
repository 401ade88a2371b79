//! What `stunt anonymize` prints: a summary in words, JSON for programs, figures of the run.

use serde_json::{Value, json};
use stunt_report::{Draw, summary, visible};
use stunt_unwind::stack::Symbols;

use super::Account;
use super::job::Found;
use super::owner::{ForOwner, Seconds};
use super::readable::Readable;
use crate::place;

/// How many places are listed where values were fixed.
const MOST_PLACES: usize = 20;
/// So much is shown of a stretch that can be read.
const MOST_CHARACTERS: usize = 60;

/// All that programs may want to know; `path` is where the report has gone.
pub fn to_json(made: &Account<'_>, path: Option<&str>) -> Value {
    let Account { report, found, owner, hidden } = *made;
    json!({
        "failure": report.failure,
        "input": { "bytes": owner.bytes },
        "double": { "bytes": report.bytes() },
        "leak": owner.leak,
        "original_path_leak": owner.original_path_leak,
        "residue_percent": owner.residue_percent,
        "readable": { "bytes": owner.readable.bytes, "of": owner.readable.of },
        "verified": report.verified,
        "algorithm": report.algorithm.name,
        "uniform": report.draw == Draw::Uniform,
        "tests": owner.tests,
        "pins": owner.pins.values().sum::<u64>(),
        "pins_by_reason": owner.pins,
        "instructions": owner.instructions,
        "seconds": seconds(&owner.seconds),
        "search": found.facts,
        "summary": in_words(made),
        "notes": notes(made).collect::<Vec<_>>(),
        "command": report.command_line(),
        "hidden_arguments": hidden.iter().map(|(number, _)| number).collect::<Vec<_>>(),
        "report": path,
    })
}

/// What can be read of the original, with the longest stretches: they are the double's, too.
fn readable(owner: &ForOwner) -> String {
    let Readable { bytes, of, stretches } = &owner.readable;
    if *bytes == 0 {
        return "No stretch of the original can be read in it.\n".to_owned();
    }
    let cut = |stretch: &Vec<u8>| {
        let text: String = String::from_utf8_lossy(stretch).chars().take(MOST_CHARACTERS).collect();
        let more = if stretch.len() > MOST_CHARACTERS { "…" } else { "" };
        format!("  {}{more}\n", visible(&text))
    };
    let lines: String = stretches.iter().map(cut).collect();
    format!(
        "Of the original's content, {bytes} of {of} bytes can be read in it, in stretches such as\n{lines}"
    )
}

/// What the reader of the report is told, and what its owner alone.
fn notes<'a>(made: &Account<'a>) -> impl Iterator<Item = &'a String> {
    made.report.notes.iter().chain(&made.owner.notes)
}

/// To hundredths.
fn seconds(seconds: &Seconds) -> Value {
    let Seconds { trace, solve, search, count, verify, total } = seconds;
    let tidied = |time: &f64| (time * 100.0).round() / 100.0;
    json!({
        "trace": tidied(trace),
        "solve": tidied(solve),
        "search": tidied(search),
        "count": tidied(count),
        "verify": tidied(verify),
        "total": tidied(total),
    })
}

/// What the double reveals, beside the original.
fn in_words(made: &Account<'_>) -> String {
    let report = made.report;
    summary(&made.owner.leak, &report.per_byte, report.bytes(), &report.draw)
}

pub fn to_text(made: &Account<'_>, path: &str) -> String {
    let Account { report, owner, .. } = *made;
    let mut text = format!("The program fails with {}.\n", report.failure.words);
    text += &format!("The double {}\n", in_words(made));
    if let Some(leak) = &owner.original_path_leak {
        text += &format!(
            "A double that has to take the path of the original would reveal {}.\n",
            leak.sentence()
        );
    }
    text += &format!(
        "It fails in the same way, {} times of {}, and has {:.1} % of the original's bytes at their places{}.\n",
        report.verified.runs,
        report.verified.runs,
        owner.residue_percent,
        if report.is_shorter() { "; it is shorter" } else { "" },
    );
    text += &readable(owner);
    for note in notes(made).chain(&owner.disagreements()) {
        text += &format!("Note: {note}\n");
    }
    for (number, why) in made.hidden {
        text += &format!(
            "Argument {number} is hidden in the report: {}; --public-arg {number} would tell it.\n",
            why.words()
        );
    }
    text += &format!("Report: {path} (look at it with `stunt inspect {path}`)\n");
    text
}

/// What a search over paths did: whether its path leads to itself may not be known.
fn search(found: &Found) -> Option<String> {
    let number = |name: &str| found.facts.get(name).and_then(Value::as_u64);
    let (nodes, hybrid) = (number("nodes")?, number("hybrid")?);
    let mut text = format!("search: {nodes} tests made");
    for (name, words) in
        [("paths", "failing paths"), ("attempts", "attempts"), ("lost", "paths lost")]
    {
        text += &format!(", {} {words}", number(name).unwrap_or(0));
    }
    if let Some(spa) = number("spa").filter(|&spa| spa > 0) {
        let suspected = number("suspected").unwrap_or(0);
        let fixed = match found.facts.get("fixed_point").and_then(Value::as_bool) {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        text += &format!(
            "\nsearch: SPA invoked {spa} times, HYBRID {hybrid} times, {suspected} nodes suspected\n\
             search: the path leads to itself: {fixed}"
        );
    }
    let complete = found.facts.get("complete").and_then(Value::as_bool) == Some(true);
    text += if complete { "\nsearch: came to its end" } else { "\nsearch: was ended" };
    Some(text)
}

pub fn statistics(found: &Found) {
    if let Some(search) = search(found) {
        eprintln!("{search}");
    }
    let followed = &found.followed;
    eprintln!("instructions: {} ({} with terms)", followed.instructions, followed.followed);
    eprintln!("tests: {}", followed.tests.len());
    let mut places = std::collections::BTreeMap::new();
    for test in &followed.tests {
        if let stunt_path::TestKind::Pin(why) = test.kind {
            *places.entry((why, test.address)).or_insert(0u64) += 1;
        }
    }
    let by_reason = followed.pins();
    let reasons: Vec<String> =
        by_reason.iter().map(|(why, count)| format!("{why} {count}")).collect();
    let reasons =
        if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    eprintln!("pins: {}{reasons}", by_reason.values().sum::<u64>());
    let symbols = Symbols::of_host();
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for ((why, address), count) in places.iter().take(MOST_PLACES) {
        let frame = symbols.at(*address, &followed.modules);
        eprintln!("pin: {why} at {}: {count}", place::in_words(&frame));
    }
    if let Some(more) = places.len().checked_sub(MOST_PLACES).filter(|&more| more > 0) {
        eprintln!("pin: and at {more} other places");
    }
    for call in &followed.missing {
        eprintln!("missing system call: {} (first at {})", call.name, call.place);
    }
}
