//! Several mails in the body of one, between the lines of a boundary.
//!
//! The line in front of a part belongs to it: a part that vanishes takes it along.

use std::sync::Arc;

use super::entity;
use crate::content::Content;
use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Found, Piece};

#[derive(Clone)]
enum Slot {
    /// Text before the first boundary or after the last one.
    Before,
    /// A mail, and the line in front of it.
    Entity(Content),
    After,
}

#[derive(Clone)]
struct Multipart {
    slots: Vec<Slot>,
    /// A line as it stands in front of parts: for those that come from elsewhere.
    line: Content,
    /// The last line, if there is one.
    close: Content,
}

impl Form for Multipart {
    fn kind(&self) -> Kind {
        Kind::Multipart
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let mut closed = false;
        for at in 0..parts.len() {
            match self.slots.get(at) {
                Some(Slot::Before) => {}
                Some(Slot::Entity(line)) => out.push(line),
                Some(Slot::After) => {
                    out.push(&self.close);
                    closed = true;
                }
                None => out.push(&self.line),
            }
            parts.write(at, out);
        }
        if !closed {
            out.push(&self.close);
        }
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        let slots = kept.iter().filter_map(|&at| self.slots.get(at).cloned()).collect();
        Arc::new(Multipart { slots, ..self.clone() })
    }
}

/// A line that is a boundary.
struct Line {
    /// With the line break in front of it, which is no part of the text before.
    start: usize,
    end: usize,
    last: bool,
}

fn boundaries(bytes: &[u8], boundary: &[u8]) -> Vec<Line> {
    let mark = [b"--", boundary].concat();
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(bytes, &mark) {
        if at > 0 && bytes[at - 1] != b'\n' {
            continue;
        }
        let rest = &bytes[at + mark.len()..];
        let last = rest.starts_with(b"--");
        let rest = if last { &rest[2..] } else { rest };
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        if !rest[..length].trim_ascii().is_empty() {
            continue;
        }
        let line_end = match &bytes[..at] {
            before if before.ends_with(b"\r\n") => 2,
            before if before.ends_with(b"\n") => 1,
            _ => 0,
        };
        let end = bytes.len() - rest.len() + length;
        found.push(Line { start: at - line_end, end, last });
        if last {
            break;
        }
    }
    found
}

pub(super) fn find(
    bytes: &Content,
    boundary: &[u8],
    levels: usize,
    budget: &mut Budget,
) -> Option<Found> {
    // A part takes three levels at least: itself, an encoding, and what that holds.
    let levels = levels.checked_sub(2).filter(|&left| left >= 2)?;
    let lines = boundaries(bytes, boundary);
    if lines.is_empty() || lines.len() > budget.nodes() {
        return None;
    }
    let (mut slots, mut parts) = (Vec::new(), Vec::new());
    let mut close = Content::default();
    if lines[0].start > 0 {
        slots.push(Slot::Before);
        parts.push(Piece::leaf("preamble", bytes.slice(..lines[0].start)));
    }
    for (at, line) in lines.iter().enumerate() {
        // Two boundaries may share a line break: then there is nothing between them.
        let end = lines.get(at + 1).map_or(bytes.len(), |next| next.start.max(line.end));
        let (text, inside) = (bytes.slice(line.start..line.end), bytes.slice(line.end..end));
        if line.last {
            close = text;
            if !inside.is_empty() {
                slots.push(Slot::After);
                parts.push(Piece::leaf("epilogue", inside));
            }
            break;
        }
        slots.push(Slot::Entity(text));
        let name = format!("part {}", at + 1);
        parts.push(match entity(&inside, levels, budget) {
            Some(found) => Piece::known(name, inside, found),
            None => Piece::new(name, inside),
        });
    }
    let line = bytes.slice(lines[0].start..lines[0].end);
    Some(Found::container(Multipart { slots, line, close }, parts))
}
