//! What `stunt anonymize` prints: a summary in words, JSON for programs, figures of the run.

use serde_json::json;
use stunt_report::{Draw, Report};

use super::job::Found;

/// All that programs may want to know; `path` is where the report has gone.
pub fn to_json(report: &Report, path: Option<&str>, found: &Found) -> serde_json::Value {
    json!({
        "failure": report.failure,
        "input": { "bytes": report.original_bytes() },
        "double": { "bytes": report.bytes() },
        "leak": report.leak,
        "original_path_leak": report.original_path_leak,
        "residue_percent": report.residue_percent,
        "verified": report.verified,
        "algorithm": report.algorithm.name,
        "uniform": report.draw == Draw::Uniform,
        "tests": report.tests,
        "pins": report.pins.total,
        "pins_by_reason": report.pins.by_reason,
        "instructions": report.instructions,
        "seconds": report.seconds,
        "search": found.facts,
        "summary": report.summary(),
        "notes": report.notes,
        "report": path,
    })
}

pub fn to_text(report: &Report, path: &str) -> String {
    let mut text = format!("The program fails with {}.\n", report.failure.words);
    text += &format!("The double {}\n", report.summary());
    text += &format!(
        "A double that has to take the path of the original would reveal {}.\n",
        report.original_path_leak.sentence()
    );
    text += &format!(
        "It fails in the same way, {} times of {}, and has {:.1} % of the original's bytes{}.\n",
        report.verified.runs,
        report.verified.runs,
        report.residue_percent,
        if report.bytes() < report.original_bytes() { "; it is shorter" } else { "" },
    );
    for note in &report.notes {
        text += &format!("Note: {note}\n");
    }
    text += &format!("Report: {path} (look at it with `stunt inspect {path}`)\n");
    text
}

pub fn statistics(found: &Found) {
    let followed = &found.followed;
    eprintln!("instructions: {} ({} with terms)", followed.instructions, followed.followed);
    eprintln!("tests: {}", followed.tests.len());
    let mut places = std::collections::BTreeMap::new();
    for test in &followed.tests {
        if let stunt_path::TestKind::Pin(why) = test.kind {
            *places.entry((why, test.address)).or_insert(0u64) += 1;
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for ((why, address), count) in places.iter().take(20) {
        eprintln!("pin: {why} at {address:#x}: {count}");
    }
}
