//! SQLite: pages, the rows of tables and indices on them, and their values.
//!
//! A page of rows is a container of its cells, and of what nothing uses on it. As long as cells are as long as
//! they were, they stay where they were; otherwise the page is laid out anew, and a page keeps its size: cells
//! that it has no room for are left out. Rows that go on on other pages, and pages that lead to others, are
//! leaves. An index does not follow its table.

mod record;

use std::sync::Arc;

use super::record::{Check, Coding, Record};
use super::sequence::Sequence;
use crate::content::Content;
use crate::formats::numbers::{be, be16, size};
use crate::node::{Field, Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Found, Piece};

const SIGNATURE: &[u8] = b"SQLite format 3\0";
/// The header of the file, which stands on its first page.
const HEADER: usize = 100;
/// The header of a page of rows.
const PAGE_HEADER: usize = 8;
const TABLE: u8 = 0x0d;
const INDEX: u8 = 0x0a;

/// Where a cell was, and how long.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    length: usize,
}

#[derive(Clone)]
struct Page {
    length: usize,
    /// What stands in front of its own header: that of the file, on the first page.
    front: Option<usize>,
    front_length: usize,
    kind: u8,
    /// First free block, cells, beginning of the cells and fragments, as they were.
    header: [u8; 7],
    /// The parts that are cells, in the order of the page.
    cells: Vec<(usize, Place)>,
    count: usize,
    /// What nothing uses, from the front.
    unused: Option<usize>,
    unused_length: usize,
    reserved: usize,
}

impl Form for Page {
    fn kind(&self) -> Kind {
        Kind::SqlitePage
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let part = |part: Option<usize>| {
            let mut written = out.fresh();
            if let Some(part) = part.filter(|&part| part < parts.len()) {
                parts.write(part, &mut written);
            }
            written
        };
        let cells: Vec<Out> = self.cells.iter().map(|(cell, _)| part(Some(*cell))).collect();
        let (front, unused) = (part(self.front), part(self.unused));
        let mut places: Vec<Place> = self.cells.iter().map(|(_, place)| *place).collect();
        let same = self.count == cells.len()
            && unused.len() == self.unused_length
            && places.iter().zip(&cells).all(|(place, cell)| place.length == cell.len());
        out.append_range(&front, 0..front.len().min(self.front_length));
        out.push(&vec![0; self.front_length.saturating_sub(front.len())]);
        out.push(&[self.kind]);
        if same {
            out.push(&self.header);
        } else {
            places = self.arrange(&cells);
            let first = places.last().map_or(self.length - self.reserved, |place| place.at);
            out.push(&[0; 2]);
            out.push(&be::<2>(places.len() as u64));
            out.push(&be::<2>(first as u64));
            out.push(&[0]);
        }
        for place in &places {
            out.push(&be::<2>(place.at as u64));
        }
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&at| places[at].at);
        let mut at = self.front_length + PAGE_HEADER + 2 * places.len();
        let mut used = 0;
        let mut fill = |at: usize, to: usize, out: &mut Out| {
            if same {
                out.append_range(&unused, used..used + (to - at));
                used += to - at;
            } else {
                out.push(&vec![0; to - at]);
            }
        };
        for number in order {
            fill(at, places[number].at, out);
            out.append(&cells[number]);
            at = places[number].at + cells[number].len();
        }
        fill(at, self.length, out);
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        let place = |part: usize| kept.binary_search(&part).ok();
        let mut form = self.clone();
        form.front = form.front.and_then(place);
        form.unused = form.unused.and_then(place);
        form.cells.retain_mut(|(part, _)| place(*part).map(|new| *part = new).is_some());
        Arc::new(form)
    }
}

impl Page {
    /// Places for as many cells as there is room for, from the end of the page.
    fn arrange(&self, cells: &[Out]) -> Vec<Place> {
        let mut end = self.length - self.reserved;
        let mut places = Vec::new();
        for cell in cells {
            let pointers = self.front_length + PAGE_HEADER + 2 * (places.len() + 1);
            // Freed cells become blocks of at least four bytes.
            let Some(at) = end.checked_sub(cell.len().max(4)).filter(|&at| at >= pointers) else {
                break;
            };
            places.push(Place { at, length: cell.len() });
            end = at;
        }
        places
    }
}

/// A number of up to nine bytes, and how long it is.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for at in 0..9 {
        let byte = *bytes.get(at)?;
        if at == 8 {
            return Some((number << 8 | u64::from(byte), 9));
        }
        number = number << 7 | u64::from(byte & 127);
        if byte < 128 {
            return Some((number, at + 1));
        }
    }
    None
}

/// The cell at a place of a page: what it is, and how long.
fn cell(page: &Content, at: usize, kind: u8, usable: usize) -> Option<(Piece, usize)> {
    let rest = page.get(at..)?;
    let (stated, long) = varint(rest)?;
    let payload = size(stated)?;
    let number = if kind == TABLE { varint(rest.get(long..)?)?.1 } else { 0 };
    let most = if kind == TABLE { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
    let from = at + long + number;
    if payload > most {
        let least = (usable - 12) * 32 / 255 - 23;
        let here = least + (payload - least) % (usable - 4);
        let here = if here <= most { here } else { least };
        let length = long + number + here + 4;
        return Some((Piece::leaf("row that goes on", page.get_slice(at, length)?), length));
    }
    let content = page.get_slice(from, payload)?;
    let form = Record {
        kind: Kind::SqliteCell,
        before: Content::default(),
        coding: Coding::Varint,
        after: page.slice(at + long..from),
        counted: 0,
        length: Field::Right,
        check: Check::None,
        pad: None,
    };
    let length = long + number + payload;
    let whole = page.slice(at..at + length);
    let inside = match record::read(&content) {
        Some(found) => Piece::known("record", content, found),
        None => Piece::leaf("record", content),
    };
    let found = Found::container(form, vec![inside]);
    // A number that is longer than it must be is none that a writer made.
    if !crate::parse::gives_back(&found, &whole) {
        return Some((Piece::leaf("row", whole), length));
    }
    Some((Piece::known("row", whole, found), length))
}

/// A page of rows.
fn page(bytes: &Content, first: bool, reserved: usize, count: &mut usize) -> Option<Found> {
    let start = if first { HEADER } else { 0 };
    let kind = *bytes.get(start).filter(|kind| matches!(**kind, TABLE | INDEX))?;
    let header: [u8; 7] = bytes.get(start + 1..start + 8)?.try_into().ok()?;
    let cells = be16(bytes, start + 3)? as usize;
    let pointers = start + PAGE_HEADER;
    let usable = bytes.len().checked_sub(reserved).filter(|&usable| usable >= 480)?;
    let mut parts = Vec::new();
    if first {
        parts.push(Piece::leaf("header of the file", bytes.slice(..HEADER)));
    }
    let mut places = Vec::new();
    for number in 0..cells {
        let at = be16(bytes, pointers + 2 * number)? as usize;
        let (piece, length) = cell(bytes, at, kind, usable)?;
        *count += 10;
        places.push((parts.len(), Place { at, length }));
        parts.push(piece);
    }
    let mut order: Vec<Place> = places.iter().map(|(_, place)| *place).collect();
    order.sort_by_key(|place| place.at);
    let mut unused = Vec::new();
    let mut at = pointers + 2 * cells;
    for place in order {
        unused.extend_from_slice(bytes.get(at..place.at)?);
        at = place.at + place.length;
    }
    unused.extend_from_slice(bytes.get(at..)?);
    let form = Page {
        length: bytes.len(),
        front: first.then_some(0),
        front_length: start,
        kind,
        header,
        count: places.len(),
        cells: places,
        unused: (!unused.is_empty()).then_some(parts.len()),
        unused_length: unused.len(),
        reserved,
    };
    if !unused.is_empty() {
        parts.push(Piece::leaf("unused", unused.into()));
    }
    let found = Found::container(form, parts);
    crate::parse::gives_back(&found, bytes).then_some(found)
}

pub(crate) fn read(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    if !bytes.starts_with(SIGNATURE) {
        return None;
    }
    let length = match be16(bytes, 16)? {
        1 => 65_536,
        length => length as usize,
    };
    if !length.is_power_of_two() || length < 512 || !bytes.len().is_multiple_of(length) {
        return None;
    }
    let pages = bytes.len() / length;
    if pages > budget.nodes() / 2 {
        return None;
    }
    let reserved = usize::from(*bytes.get(20)?);
    let (mut parts, mut count) = (Vec::new(), pages);
    for number in 0..pages {
        let content = bytes.slice(number * length..(number + 1) * length);
        // Of a large file, the pages are leaves from where nodes run out.
        let room = count < budget.nodes() / 2;
        let found = if room { page(&content, number == 0, reserved, &mut count) } else { None };
        let name = format!("page {}", number + 1);
        parts.push(match found {
            Some(found) => Piece::known(name, content, found),
            None => Piece::leaf(name, content),
        });
    }
    Some(Sequence::found(Kind::Sqlite, parts))
}

#[cfg(test)]
mod tests;
