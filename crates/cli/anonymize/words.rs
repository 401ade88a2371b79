//! What `stunt anonymize` prints: a summary in words, JSON for programs, figures of the run.

use serde_json::{Value, json};
use stunt_machine::stack::Symbols;
use stunt_report::{Draw, summary};

use super::Told;
use super::job::Found;
use crate::place;

/// How many places are listed where values were fixed.
const MOST_PLACES: usize = 20;

/// All that programs may want to know; `path` is where the report has gone.
pub fn to_json(made: &Told<'_>, path: Option<&str>) -> Value {
    let Told { report, found, owner } = *made;
    json!({
        "failure": report.failure,
        "input": { "bytes": owner.bytes },
        "double": { "bytes": report.bytes() },
        "leak": owner.leak,
        "original_path_leak": owner.original_path_leak,
        "residue_percent": owner.residue_percent,
        "verified": report.verified,
        "algorithm": report.algorithm.name,
        "uniform": report.draw == Draw::Uniform,
        "tests": report.tests,
        "pins": report.pins.total,
        "pins_by_reason": report.pins.by_reason,
        "instructions": report.instructions,
        "seconds": report.seconds,
        "search": found.facts,
        "summary": in_words(made),
        "notes": report.notes,
        "report": path,
    })
}

/// What the double reveals, beside the original.
fn in_words(made: &Told<'_>) -> String {
    let report = made.report;
    summary(&made.owner.leak, &report.per_byte, report.bytes(), &report.draw)
}

pub fn to_text(made: &Told<'_>, path: &str) -> String {
    let Told { report, owner, .. } = *made;
    let mut text = format!("The program fails with {}.\n", report.failure.words);
    text += &format!("The double {}\n", in_words(made));
    text += &format!(
        "A double that has to take the path of the original would reveal {}.\n",
        owner.original_path_leak.sentence()
    );
    text += &format!(
        "It fails in the same way, {} times of {}, and has {:.1} % of the original's bytes{}.\n",
        report.verified.runs,
        report.verified.runs,
        owner.residue_percent,
        if report.is_shorter() { "; it is shorter" } else { "" },
    );
    for note in &report.notes {
        text += &format!("Note: {note}\n");
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
