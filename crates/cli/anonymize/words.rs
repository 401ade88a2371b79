//! What `stunt anonymize` prints: a summary in words, JSON for programs, figures of the run.

use serde_json::{Value, json};
use stunt_anonymize::{Account, ForOwner, Found, Remains, Searched, Seconds};
use stunt_leakage::Bits;
use stunt_report::{Draw, summary, visible};
use stunt_subject::in_words as place_in_words;
use stunt_unwind::stack::Symbols;

/// How many places are listed where values were fixed.
const MOST_PLACES: usize = 20;
/// So many words and numbers are listed.
const MOST_WORDS: usize = 40;
/// So much is shown of a stretch that can be read.
const MOST_CHARACTERS: usize = 60;

/// All that programs may want to know; `path` is where the report has gone.
pub fn to_json(made: &Account<'_>, path: Option<&str>) -> Value {
    let Account { report, found, owner, hidden } = *made;
    json!({
        "failure": report.failure,
        "input": { "bytes": owner.bytes },
        "double": { "bytes": report.bytes() },
        "tells": report.tells,
        "leak": owner.leak,
        "original_path_leak": owner.original_path_leak,
        "residue_percent": owner.residue_percent,
        "remains": remains(&owner.remains),
        "verified": report.verified,
        "algorithm": report.algorithm.name,
        "uniform": report.draw == Draw::Uniform,
        "tests": owner.tests,
        "pins": owner.pins.values().sum::<u64>(),
        "pins_by_reason": owner.pins,
        "instructions": owner.instructions,
        "seconds": seconds(&owner.seconds),
        "search": searched(&found.searched),
        "summary": in_words(made),
        "notes": notes(made).collect::<Vec<_>>(),
        "command": report.command_line(),
        "hidden_arguments": hidden.iter().map(|(number, _)| number).collect::<Vec<_>>(),
        "report": path,
    })
}

/// What of the original stands in the double, for programs of its owner.
fn remains(remains: &Remains) -> Value {
    json!({
        "words": remains.words,
        "of_words": remains.of_words,
        "numbers": remains.numbers,
        "of_numbers": remains.of_numbers,
        "percent": (remains.percent() * 100.0).round() / 100.0,
        "bytes": remains.bytes,
        "of": remains.of,
    })
}

/// What can be read of the original: words and numbers, and the longest stretches. They are the double's, too.
fn readable(owner: &ForOwner) -> String {
    let Remains { words, of_words, numbers, of_numbers, bytes, of, stretches, .. } = &owner.remains;
    let mut text = String::new();
    for (found, all, what) in [(words, of_words, "words"), (numbers, of_numbers, "numbers")] {
        if found.is_empty() {
            continue;
        }
        let some: Vec<_> = found.iter().take(MOST_WORDS).map(|word| visible(word)).collect();
        let more = found.len().saturating_sub(MOST_WORDS);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        text += &format!(
            "Of the original's {all} different {what}, {} stand in it: {}{more}.\n",
            found.len(),
            some.join(", ")
        );
    }
    if *bytes == 0 {
        return text + "No stretch of the original can be read in it.\n";
    }
    let cut = |stretch: &Vec<u8>| {
        let text: String = String::from_utf8_lossy(stretch).chars().take(MOST_CHARACTERS).collect();
        let more = if stretch.len() > MOST_CHARACTERS { "…" } else { "" };
        format!("  {}{more}\n", visible(&text))
    };
    let lines: String = stretches.iter().map(cut).collect();
    text + &format!(
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
    if let Some(tells) = report.tells_sentence() {
        text += &format!("{tells}\n");
    }
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

/// What a search took and found, by name.
fn searched(searched: &Searched) -> Value {
    let bits = |bits: Bits| json!({ "bits": bits.value(), "kind": bits.kind() });
    match searched {
        Searched::Nothing => json!({}),
        Searched::Weakened { runs, kept, all, share, gaps, .. } => json!({
            "runs": runs,
            "conditions": { "kept": kept, "all": all },
            "share": { "failed": share.hits, "of": share.runs },
            "gaps": gaps,
        }),
        Searched::Paths { found, is_from_original } => json!({
            "nodes": found.statistics.nodes,
            "paths": found.statistics.paths,
            "attempts": found.statistics.attempts,
            "spa": found.statistics.spa,
            "hybrid": found.statistics.hybrid,
            "suspected": found.statistics.suspected,
            "lost": found.statistics.lost,
            "complete": found.complete,
            "fixed_point": found.fixed_point.filter(|_| *is_from_original),
            "by_path": found.by_path && *is_from_original,
            "chosen_path_leak": bits(found.chosen().leak()),
        }),
    }
}

/// What a search over paths did: whether its path leads to itself may not be known.
fn walked(found: &Found) -> Option<String> {
    let Searched::Paths { found, is_from_original } = &found.searched else { return None };
    let statistics = &found.statistics;
    let mut text = format!(
        "search: {} tests made, {} failing paths, {} attempts, {} paths lost",
        statistics.nodes, statistics.paths, statistics.attempts, statistics.lost
    );
    if statistics.spa > 0 {
        let fixed = match found.fixed_point.filter(|_| *is_from_original) {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        text += &format!(
            "\nsearch: SPA invoked {} times, HYBRID {} times, {} nodes suspected\n\
             search: the path leads to itself: {fixed}",
            statistics.spa, statistics.hybrid, statistics.suspected
        );
    }
    text += if found.complete { "\nsearch: came to its end" } else { "\nsearch: was ended" };
    Some(text)
}

pub fn statistics(found: &Found) {
    if let Some(search) = walked(found) {
        eprintln!("{search}");
    }
    let tests = found.origin.tests();
    let run = found.origin.run();
    let (instructions, followed) = run.map_or((0, 0), |run| (run.instructions, run.followed));
    eprintln!("instructions: {instructions} ({followed} with terms)");
    eprintln!("tests: {}", tests.len());
    let mut places = std::collections::BTreeMap::new();
    for test in tests {
        if let stunt_path::TestKind::Pin(why) = test.kind {
            *places.entry((why, test.address)).or_insert(0u64) += 1;
        }
    }
    let by_reason = found.origin.pins();
    let reasons: Vec<String> =
        by_reason.iter().map(|(why, count)| format!("{why} {count}")).collect();
    let reasons =
        if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    eprintln!("pins: {}{reasons}", by_reason.values().sum::<u64>());
    let symbols = Symbols::of_host();
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for ((why, address), count) in places.iter().take(MOST_PLACES) {
        let frame = symbols.at(*address, run.map_or(&[], |run| &run.modules));
        eprintln!("pin: {why} at {}: {count}", place_in_words(&frame));
    }
    if let Some(more) = places.len().checked_sub(MOST_PLACES).filter(|&more| more > 0) {
        eprintln!("pin: and at {more} other places");
    }
    for call in run.into_iter().flat_map(|run| &run.missing) {
        eprintln!("missing system call: {} (first at {})", call.name, call.place);
    }
}
