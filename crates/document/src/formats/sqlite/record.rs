//! The values of a row: what types they have stands in front of them, and follows from how long they are.

use std::sync::Arc;

use super::varint;
use crate::content::Content;
use crate::formats::record::varint as written;
use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Found, Piece};

/// The types of text and of blobs begin here: even ones are blobs, odd ones are text.
const LONG: u64 = 12;

#[derive(Clone)]
struct Row {
    types: Vec<u64>,
}

/// How long a value of a type is.
fn length(kind: u64) -> Option<usize> {
    Some(match kind {
        0 | 8 | 9 => 0,
        1..=4 => kind as usize,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        _ => usize::try_from((kind - LONG) / 2).ok()?,
    })
}

/// The type of a value that has another length than before: text stays text, a number becomes nothing or a
/// blob.
fn retyped(kind: u64, long: usize) -> u64 {
    if length(kind) == Some(long) {
        return kind;
    }
    match kind {
        LONG.. => LONG + kind % 2 + 2 * long as u64,
        _ if long == 0 => 0,
        _ => LONG + 2 * long as u64,
    }
}

impl Form for Row {
    fn kind(&self) -> Kind {
        Kind::SqliteRecord
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let (mut body, mut types) = (out.fresh(), Vec::new());
        // Values that have no bytes have no parts: they stand between those that have.
        let mut part = 0;
        for &kind in &self.types {
            let before = body.len();
            if length(kind) != Some(0) && part < parts.len() {
                parts.write(part, &mut body);
                part += 1;
            }
            types.extend(written(retyped(kind, body.len() - before)));
        }
        // The length of the header counts itself.
        let mut head = types.len() + 1;
        while written(head as u64).len() + types.len() != head {
            head = written(head as u64).len() + types.len();
        }
        out.push(&written(head as u64));
        out.push(&types);
        out.append(&body);
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        // A value that is gone is none, in its place.
        let mut part = 0;
        let keep = |&kind: &u64| {
            if length(kind) == Some(0) {
                return kind;
            }
            part += 1;
            if kept.binary_search(&(part - 1)).is_ok() { kind } else { 0 }
        };
        Arc::new(Row { types: self.types.iter().map(keep).collect() })
    }
}

pub(super) fn read(content: &Content) -> Option<Found> {
    let (head, mut at) = varint(content)?;
    let head = usize::try_from(head).ok()?;
    let (mut types, mut parts) = (Vec::new(), Vec::new());
    let mut from = head;
    while at < head {
        let (kind, long) = varint(content.get(at..)?)?;
        at += long;
        let value = content.get_slice(from, length(kind)?)?;
        from += value.len();
        types.push(kind);
        if !value.is_empty() {
            let name = format!("column {}", types.len());
            let text = kind >= LONG;
            parts.push(if text { Piece::new(name, value) } else { Piece::leaf(name, value) });
        }
    }
    (at == head && from == content.len()).then(|| Found::container(Row { types }, parts))
}
