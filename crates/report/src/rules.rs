//! The rules that the schema's types do not express.
//!
//! They are checked before a report is written and after one is read, so whoever holds a report
//! from a file may rely on them: figures are finite and in their ranges, runs lie inside their
//! source, entries are safe as names of files.

use std::collections::BTreeSet;

use crate::figure::Leak;
use crate::per_byte::ByteRuns;
use crate::report::{LONGEST_COMMENT, Report};
use crate::source::{SourceName, is_safe};
use crate::tells::Tells;
use crate::text::visible;

/// The most frames of a call stack.
pub(crate) const MOST_FRAMES: usize = 32;
/// The most runs of bytes, over all sources.
pub(crate) const MOST_RUNS: usize = 512;
/// The most sources.
pub(crate) const MOST_SOURCES: usize = 64;

/// Checks all rules; the error says which one is broken.
pub(crate) fn check(report: &Report) -> Result<(), String> {
    ensure(report.sources.len() <= MOST_SOURCES, || "there are too many sources".to_owned())?;
    let (mut names, mut entries) = (BTreeSet::new(), BTreeSet::new());
    for source in &report.sources {
        let name = visible(&source.name.to_string());
        ensure(names.insert(&source.name), || format!("the source {name} is there twice"))?;
        let socket = matches!(source.name, SourceName::Socket(_));
        ensure(socket == source.connection.is_some(), || {
            format!("the source {name} is a connection, or is none, and says otherwise")
        })?;
        ensure(is_safe(&source.entry), || format!("the source {name} has a strange entry"))?;
        ensure(entries.insert(&source.entry), || {
            format!("two sources have the entry {}", source.entry)
        })?;
    }
    ensure(report.failure.frames.len() <= MOST_FRAMES, || {
        format!("the call stack has more than {MOST_FRAMES} frames")
    })?;
    ensure(report.comment.iter().all(|it| it.chars().count() <= LONGEST_COMMENT), || {
        format!("the comment has more than {LONGEST_COMMENT} characters")
    })?;
    leak("leak", &report.leak, report.bytes())?;
    report.tells.as_ref().map_or(Ok(()), Tells::check)?;
    let sources = report.sources.iter().map(|source| &source.name);
    ensure(sources.eq(report.per_byte.iter().map(|runs| &runs.source)), || {
        "per_byte does not list the sources in their order".to_owned()
    })?;
    for (source, runs) in report.sources.iter().zip(&report.per_byte) {
        per_byte(runs, source.bytes)?;
    }
    let runs: usize = report.per_byte.iter().map(|runs| runs.runs.len()).sum();
    ensure(runs <= MOST_RUNS, || format!("per_byte has more than {MOST_RUNS} runs"))
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn leak(what: &str, leak: &Leak, bytes: u64) -> Result<(), String> {
    ensure(leak.bits.is_finite() && leak.bits >= 0.0, || format!("{what}.bits is not a figure"))?;
    ensure(leak.percent.is_finite() && leak.percent >= 0.0, || {
        format!("{what}.percent is not a percentage")
    })?;
    ensure(leak.of <= bytes.saturating_mul(8), || {
        format!("{what} is of more bits than the input has")
    })
}

fn per_byte(runs: &ByteRuns, bytes: u64) -> Result<(), String> {
    let mut end = 0;
    for run in &runs.runs {
        ensure(run.length > 0 && run.offset >= end, || "runs of bytes overlap".to_owned())?;
        ensure(run.offset.checked_add(run.length).is_some_and(|end| end <= bytes), || {
            "a run of bytes goes beyond the end of its source".to_owned()
        })?;
        ensure(run.bits > 0.0 && run.bits <= 8.0, || {
            "a byte reveals something between 0 and 8 bits, or is in no run".to_owned()
        })?;
        end = run.end();
    }
    Ok(())
}
