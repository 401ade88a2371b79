//! Tables: rows of cells, with one sign between them in every row.

use super::build::Builder;
use super::{Layout, Role};

const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// How many rows decide.
const LOOK: usize = 50;

pub(super) fn read(bytes: &[u8], deepest: usize) -> Option<Builder> {
    let separator = SEPARATORS.into_iter().find(|&separator| is_table(bytes, separator))?;
    let mut builder = Builder::new(Layout::Table, deepest);
    let mut at = 0;
    while at < bytes.len() {
        builder.open(Role::Row, at);
        loop {
            let end = cell_end(bytes, at, separator);
            let cell = builder.add(Role::Cell, at..end);
            builder.separated(cell);
            at = end;
            if bytes.get(at) != Some(&separator) {
                break;
            }
            at += 1;
        }
        at += line_end(bytes, at);
        builder.close(at);
    }
    Some(builder)
}

/// Whether nearly all of the first rows have as many separators, and at least one.
fn is_table(bytes: &[u8], separator: u8) -> bool {
    let mut counts = Vec::new();
    let mut at = 0;
    while at < bytes.len() && counts.len() < LOOK {
        let (start, mut count) = (at, 0);
        loop {
            at = cell_end(bytes, at, separator);
            if bytes.get(at) != Some(&separator) {
                break;
            }
            count += 1;
            at += 1;
        }
        let empty = bytes[start..at].trim_ascii().is_empty();
        at += line_end(bytes, at);
        if !empty {
            counts.push(count);
        }
    }
    let first = counts.first().copied().unwrap_or(0);
    let alike = counts.iter().filter(|&&count| count == first).count();
    first > 0 && counts.len() > 1 && alike * 10 >= counts.len() * 8
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    match &bytes[at..] {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// Where a cell ends: at the separator or the end of the line, outside of quotes.
fn cell_end(bytes: &[u8], start: usize, separator: u8) -> usize {
    let mut at = start;
    if bytes.get(at) == Some(&b'"') {
        at += 1;
        while let Some(quote) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
            at += quote + 1;
            if bytes.get(at) != Some(&b'"') {
                return at + plain(&bytes[at..], separator);
            }
            at += 1;
        }
        // A quote that is never closed is a sign like others.
        at = start;
    }
    at + plain(&bytes[at..], separator)
}

fn plain(bytes: &[u8], separator: u8) -> usize {
    memchr::memchr3(separator, b'\n', b'\r', bytes).unwrap_or(bytes.len())
}
