//! Something with its length, and perhaps a checksum: what boxes, chunks, segments and elements of many
//! formats are.
//!
//! A record is a container of what its length is the length of. Formats say how the record at a place looks;
//! the records of a range are read here.

use std::sync::Arc;

use crate::content::Content;
use crate::formats::numbers::be;
use crate::node::{Field, Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Piece};

/// How a length is written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Coding {
    Big(usize),
    Little(usize),
    /// As DER does, with at least so many bytes.
    Der(usize),
    /// As EBML does, with at least so many bytes.
    Ebml(usize),
    /// As SQLite does: seven bits a byte, the highest first.
    Varint,
    /// The length is not told: the record goes to the end of what it is in, in these bytes.
    Open([u8; 8], usize),
    /// 32 bits say 1, and 64 bits behind the type tell the length: the way of ISO boxes.
    Wide,
}

impl Coding {
    /// The number in as many bytes as the coding needs.
    pub fn write(self, number: u64) -> Vec<u8> {
        let big = |width: usize| number.to_be_bytes()[8 - width..].to_vec();
        match self {
            Coding::Big(width) => big(width),
            Coding::Little(width) => number.to_le_bytes()[..width].to_vec(),
            Coding::Der(1) if number < 128 => vec![number as u8],
            Coding::Der(least) => {
                let needed = (64 - number.leading_zeros() as usize).div_ceil(8).max(1);
                let width = needed.max(least - 1);
                [vec![0x80 | width as u8], big(width)].concat()
            }
            Coding::Ebml(least) => {
                // All ones means that the length is not known.
                let fits = |width: &usize| number < (1 << (7 * width)) - 1;
                let width = (least..8).find(fits).unwrap_or(8);
                let mut bytes = big(width);
                bytes[0] |= 1 << (8 - width);
                bytes
            }
            Coding::Varint => varint(number),
            Coding::Open(bytes, width) => bytes[..width].to_vec(),
            Coding::Wide => be::<4>(1).to_vec(),
        }
    }
}

/// Seven bits a byte, the highest first. Lengths are never as large as to need the ninth byte.
pub(crate) fn varint(number: u64) -> Vec<u8> {
    let groups = (64 - number.leading_zeros() as usize).div_ceil(7).max(1);
    let group = |at: usize| (number >> (7 * at)) as u8 & 127 | if at > 0 { 128 } else { 0 };
    (0..groups).rev().map(group).collect()
}

/// What is computed over a record.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Check {
    None,
    /// The CRC-32 of all between the length and the checksum, as PNG has it.
    Crc(Field),
}

#[derive(Clone)]
pub(crate) struct Record {
    pub kind: Kind,
    /// What stands in front of the length.
    pub before: Content,
    pub coding: Coding,
    /// What stands between the length and the payload.
    pub after: Content,
    /// What the length counts besides the payload.
    pub counted: u64,
    pub length: Field,
    pub check: Check,
    /// What fills up a record of odd length.
    pub pad: Option<u8>,
}

impl Form for Record {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let mut payload = out.fresh();
        for at in 0..parts.len() {
            parts.write(at, &mut payload);
        }
        let length = self.length.or(payload.len() as u64 + self.counted);
        out.push(&self.before);
        out.push(&self.coding.write(length));
        let start = out.len();
        out.push(&self.after);
        if self.coding == Coding::Wide {
            out.push(&be::<8>(length));
        }
        out.append(&payload);
        if let Check::Crc(field) = self.check {
            let crc = field.or(u64::from(crc32fast::hash(&out.bytes()[start..])));
            out.push(&be::<4>(crc));
        }
        if let Some(pad) = self.pad
            && !payload.len().is_multiple_of(2)
        {
            out.push(&[pad]);
        }
    }

    fn keep(&self, _: &[usize]) -> Arc<dyn Form> {
        Arc::new(self.clone())
    }
}

/// A record at a place.
pub(crate) struct Raw {
    pub name: String,
    pub form: Record,
    pub payload: std::ops::Range<usize>,
    pub end: usize,
    pub inside: Inside,
}

/// What is in a record.
pub(crate) enum Inside {
    /// More records, from so many bytes on.
    Records(usize),
    /// To be looked into, from so many bytes on.
    Unknown(usize),
    Leaf,
}

/// The record at a place that ends before another.
pub(crate) type Next = fn(&Content, usize, usize) -> Option<Raw>;

/// The records in a range, one after the other. What is left at the end, if it is no record, is a leaf.
pub(crate) fn records(
    bytes: &Content,
    range: std::ops::Range<usize>,
    next: Next,
    levels: usize,
    budget: &Budget,
    count: &mut usize,
) -> Option<Vec<Piece>> {
    use crate::parse::Found;
    let mut pieces = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let Some(raw) = next(bytes, at, range.end) else { break };
        *count += 2;
        if *count > budget.nodes() {
            return None;
        }
        let (from, to) = (raw.payload.start, raw.payload.end);
        let mut parts = Vec::new();
        let mut head = |skipped: usize| {
            let place = from + skipped.min(to - from);
            if place > from {
                parts.push(Piece::leaf("head", bytes.slice(from..place)));
            }
            place
        };
        match raw.inside {
            Inside::Leaf => drop(head(to - from)),
            Inside::Unknown(skipped) => {
                let place = head(skipped);
                if place < to {
                    parts.push(Piece::new("content", bytes.slice(place..to)));
                }
            }
            Inside::Records(skipped) => {
                let place = head(skipped);
                let deeper = levels.checked_sub(1).filter(|&levels| levels > 0);
                let inner = deeper
                    .and_then(|levels| records(bytes, place..to, next, levels, budget, count));
                match inner {
                    Some(inner) => parts.extend(inner),
                    None => parts.push(Piece::leaf("content", bytes.slice(place..to))),
                }
            }
        }
        let all = bytes.slice(at..raw.end);
        pieces.push(Piece::known(raw.name, all, Found::container(raw.form, parts)));
        at = raw.end;
    }
    if pieces.is_empty() && range.start < range.end {
        return None;
    }
    if at < range.end {
        pieces.push(Piece::new("rest", bytes.slice(at..range.end)));
    }
    Some(pieces)
}

/// The name of a type of four letters.
pub(crate) fn four_letters(bytes: &[u8]) -> String {
    bytes.iter().map(|&b| if b.is_ascii_graphic() { char::from(b) } else { '.' }).collect()
}

impl Record {
    /// A record whose length counts its payload alone, four bytes, the lowest first.
    pub fn little(kind: Kind, before: Content) -> Record {
        Record {
            kind,
            before,
            coding: Coding::Little(4),
            after: Content::default(),
            counted: 0,
            length: Field::Right,
            check: Check::None,
            pad: None,
        }
    }
}
