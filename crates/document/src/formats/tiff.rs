//! TIFF, and the Exif data of pictures: directories of entries whose values lie anywhere in the file.
//!
//! Every value is a part, and so are strips, tiles and thumbnails. Counts and offsets are computed; values
//! lie in the order that the writer chose, and a value that becomes too long for its entry goes to the end.

use std::sync::Arc;

use crate::content::Content;
use crate::formats::numbers::{be, be16, be32, le, le16, le32, size};
use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Found, Piece};

/// Entries that lead to another directory.
const DIRECTORIES: [u16; 3] = [0x8769, 0x8825, 0xa005];
/// Entries that say where data are, with those that say how long they are.
const DATA: [(u16, u16); 3] = [(0x0111, 0x0117), (0x0144, 0x0145), (0x0201, 0x0202)];
const HEADER: usize = 8;
const ENTRY: usize = 12;
const MOST_DIRECTORIES: usize = 256;

/// The size of a value of a type.
fn width(kind: u16) -> Option<usize> {
    match kind {
        1 | 2 | 6 | 7 => Some(1),
        3 | 8 => Some(2),
        4 | 9 | 11 | 13 => Some(4),
        5 | 10 | 12 => Some(8),
        _ => None,
    }
}

/// The order of bytes.
#[derive(Clone, Copy)]
struct Order {
    big: bool,
}

impl Order {
    fn short(self, bytes: &[u8], at: usize) -> Option<u64> {
        if self.big { be16(bytes, at) } else { le16(bytes, at) }
    }

    fn long(self, bytes: &[u8], at: usize) -> Option<u64> {
        if self.big { be32(bytes, at) } else { le32(bytes, at) }
    }

    fn push(self, width: usize, number: u64, out: &mut Out) {
        match (width, self.big) {
            (2, true) => out.push(&be::<2>(number)),
            (2, false) => out.push(&le::<2>(number)),
            (_, true) => out.push(&be::<4>(number)),
            (_, false) => out.push(&le::<4>(number)),
        }
    }

    /// The numbers of a value.
    fn numbers(self, kind: u16, value: &[u8]) -> Option<Vec<usize>> {
        let width = width(kind).filter(|&width| width == 2 || width == 4)?;
        let number = |at| if width == 2 { self.short(value, at) } else { self.long(value, at) };
        (0..value.len() / width).map(|at| number(at * width).and_then(size)).collect()
    }
}

#[derive(Clone)]
enum Value {
    Part(usize),
    Directory(usize),
    /// Where these parts are.
    Places(Vec<usize>),
    /// How long these parts are.
    Lengths(Vec<usize>),
}

#[derive(Clone)]
struct Entry {
    tag: u16,
    kind: u16,
    value: Value,
    /// What stands behind a short value.
    filler: [u8; 4],
}

#[derive(Clone, Copy)]
enum Next {
    Directory(usize),
    Was(u64),
    /// Values begin where the offset of the next directory would be.
    Absent,
}

#[derive(Clone)]
struct Directory {
    entries: Vec<Entry>,
    next: Next,
}

/// A stretch of the file.
#[derive(Clone, PartialEq)]
enum Block {
    Directory(usize),
    Part(usize),
    /// The numbers of an entry.
    Numbers(usize, u16),
    Fill(Content),
}

#[derive(Clone)]
struct Tiff {
    order: Order,
    directories: Vec<Directory>,
    /// The stretches behind the header, and whether they began at an even place.
    blocks: Vec<(Block, bool)>,
}

/// Where everything is while it is written.
struct Layout {
    parts: Vec<Out>,
    part_places: Vec<usize>,
    directory_places: Vec<usize>,
    number_places: Vec<((usize, u16), usize)>,
}

impl Tiff {
    fn is_value(&self, part: usize) -> bool {
        let mut entries = self.directories.iter().flat_map(|directory| &directory.entries);
        entries.any(|entry| matches!(entry.value, Value::Part(value) if value == part))
    }

    /// How long a block is.
    fn length(&self, block: &Block, parts: &[Out]) -> usize {
        match block {
            Block::Directory(number) => {
                let directory = &self.directories[*number];
                let next = if matches!(directory.next, Next::Absent) { 0 } else { 4 };
                2 + ENTRY * directory.entries.len() + next
            }
            // A short value stands in its entry.
            Block::Part(part) if self.is_value(*part) && parts[*part].len() <= 4 => 0,
            Block::Part(part) => parts[*part].len(),
            Block::Numbers(directory, tag) => {
                let entry = self.directories[*directory].entries.iter().find(|e| e.tag == *tag);
                let length = entry.map_or(0, Entry::numbers_length);
                if length <= 4 { 0 } else { length }
            }
            Block::Fill(bytes) => bytes.len(),
        }
    }

    fn write_directory(&self, number: usize, layout: &Layout, out: &mut Out) {
        let directory = &self.directories[number];
        self.order.push(2, directory.entries.len() as u64, out);
        for entry in &directory.entries {
            let one = width(entry.kind).unwrap_or(1);
            self.order.push(2, entry.tag.into(), out);
            self.order.push(2, entry.kind.into(), out);
            match &entry.value {
                Value::Directory(inner) => {
                    self.order.push(4, 1, out);
                    self.order.push(4, layout.directory_places[*inner] as u64, out);
                }
                Value::Part(part) => {
                    let bytes = &layout.parts[*part];
                    self.order.push(4, bytes.len().div_ceil(one) as u64, out);
                    if bytes.len() <= 4 {
                        out.append(bytes);
                        out.push(&entry.filler[bytes.len()..]);
                    } else {
                        self.order.push(4, layout.part_places[*part] as u64, out);
                    }
                }
                Value::Places(parts) | Value::Lengths(parts) => {
                    self.order.push(4, parts.len() as u64, out);
                    let length = entry.numbers_length();
                    if length <= 4 {
                        self.write_numbers(entry, layout, out);
                        out.push(&entry.filler[length..]);
                    } else {
                        let key = (number, entry.tag);
                        let place = layout.number_places.iter().find(|(k, _)| *k == key);
                        self.order.push(4, place.map_or(0, |(_, at)| *at as u64), out);
                    }
                }
            }
        }
        let next = match directory.next {
            Next::Directory(next) => layout.directory_places[next] as u64,
            Next::Was(number) => number,
            Next::Absent => return,
        };
        self.order.push(4, next, out);
    }

    fn write_numbers(&self, entry: &Entry, layout: &Layout, out: &mut Out) {
        let one = width(entry.kind).unwrap_or(4);
        match &entry.value {
            Value::Places(parts) => {
                parts.iter().for_each(|&p| self.order.push(one, layout.part_places[p] as u64, out));
            }
            Value::Lengths(parts) => {
                parts.iter().for_each(|&p| self.order.push(one, layout.parts[p].len() as u64, out));
            }
            _ => {}
        }
    }
}

impl Entry {
    fn numbers_length(&self) -> usize {
        match &self.value {
            Value::Places(parts) | Value::Lengths(parts) => {
                parts.len() * width(self.kind).unwrap_or(4)
            }
            _ => 0,
        }
    }
}

impl Form for Tiff {
    fn kind(&self) -> Kind {
        Kind::Tiff
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let write = |at| {
            let mut part = out.fresh();
            parts.write(at, &mut part);
            part
        };
        let mut layout = Layout {
            parts: (0..parts.len()).map(write).collect(),
            part_places: vec![0; parts.len()],
            directory_places: vec![0; self.directories.len()],
            number_places: Vec::new(),
        };
        // What had no place of its own gets one at the end.
        let mut blocks = self.blocks.clone();
        for part in 0..parts.len() {
            let placed = blocks.iter().any(|(block, _)| *block == Block::Part(part));
            if !placed && (layout.parts[part].len() > 4 || !self.is_value(part)) {
                blocks.push((Block::Part(part), true));
            }
        }
        let mut at = HEADER;
        let mut places = Vec::new();
        for (block, even) in &blocks {
            let length = self.length(block, &layout.parts);
            at += usize::from(*even && length > 0 && !at.is_multiple_of(2));
            places.push((at, length));
            match block {
                Block::Directory(number) => layout.directory_places[*number] = at,
                Block::Part(part) => layout.part_places[*part] = at,
                Block::Numbers(directory, tag) => {
                    layout.number_places.push(((*directory, *tag), at));
                }
                Block::Fill(_) => {}
            }
            at += length;
        }
        let start = out.len();
        out.push(if self.order.big { b"MM\0*" } else { b"II*\0" });
        self.order.push(4, layout.directory_places[0] as u64, out);
        for ((block, _), (place, length)) in blocks.iter().zip(places) {
            if length == 0 {
                continue;
            }
            out.push(&vec![0; place + start - out.len()]);
            match block {
                Block::Directory(number) => self.write_directory(*number, &layout, out),
                Block::Part(part) => out.append(&layout.parts[*part]),
                Block::Numbers(directory, tag) => {
                    let entries = &self.directories[*directory].entries;
                    if let Some(entry) = entries.iter().find(|entry| entry.tag == *tag) {
                        self.write_numbers(entry, &layout, out);
                    }
                }
                Block::Fill(bytes) => out.push(bytes),
            }
        }
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        let place = |part: usize| kept.binary_search(&part).ok();
        let mut form = self.clone();
        for directory in &mut form.directories {
            directory.entries.retain_mut(|entry| match &mut entry.value {
                Value::Part(part) => place(*part).map(|new| *part = new).is_some(),
                Value::Directory(_) => true,
                Value::Places(parts) | Value::Lengths(parts) => {
                    *parts = parts.iter().filter_map(|&part| place(part)).collect();
                    true
                }
            });
        }
        form.blocks.retain_mut(|(block, _)| match block {
            Block::Part(part) => place(*part).map(|new| *part = new).is_some(),
            _ => true,
        });
        Arc::new(form)
    }
}

struct Reader<'a> {
    bytes: &'a Content,
    order: Order,
    /// Where directories are, in the order in which they were met.
    waiting: Vec<usize>,
    blocks: Vec<(usize, usize, Block)>,
    parts: Vec<Piece>,
}

impl Reader<'_> {
    /// The number of the directory at a place.
    fn directory_at(&mut self, at: usize) -> usize {
        let known = self.waiting.iter().position(|&place| place == at);
        known.unwrap_or_else(|| {
            self.waiting.push(at);
            self.waiting.len() - 1
        })
    }

    fn directory(&mut self, number: usize) -> Option<Directory> {
        let at = self.waiting[number];
        let count = size(self.order.short(self.bytes, at)?)?;
        let end = at + 2 + ENTRY * count;
        let mut raw = Vec::new();
        for place in (at + 2..end).step_by(ENTRY) {
            let tag = self.order.short(self.bytes, place)? as u16;
            let kind = self.order.short(self.bytes, place + 2)? as u16;
            let count = size(self.order.long(self.bytes, place + 4)?)?;
            let length = count.checked_mul(width(kind)?)?;
            let offset = size(self.order.long(self.bytes, place + 8)?)?;
            let from = if length <= 4 { place + 8 } else { offset };
            let value = self.bytes.get_slice(from, length)?;
            let filler: [u8; 4] = self.bytes.get(place + 8..place + 12)?.try_into().ok()?;
            raw.push((tag, kind, value, from, filler));
        }
        let absent = raw
            .iter()
            .any(|(_, _, value, from, _)| value.len() > 4 && (end..end + 4).contains(from));
        let next = if absent { None } else { Some(self.order.long(self.bytes, end)?) };
        let to = if absent { end } else { end + 4 };
        self.blocks.push((at, to, Block::Directory(number)));
        let mut entries = Vec::new();
        for (tag, kind, value, from, filler) in &raw {
            let out_of_line = value.len() > 4;
            let numbers = self.order.numbers(*kind, value);
            let entry = |value| Entry { tag: *tag, kind: *kind, value, filler: *filler };
            if DIRECTORIES.contains(tag)
                && let Some([place]) = numbers.as_deref()
                && !out_of_line
            {
                let inner = self.directory_at(*place);
                entries.push(entry(Value::Directory(inner)));
                continue;
            }
            if DATA.iter().any(|(places, lengths)| places == tag || lengths == tag) {
                // Filled in below, once the data are parts.
                entries.push(entry(Value::Places(Vec::new())));
                if out_of_line {
                    let block = Block::Numbers(number, *tag);
                    self.blocks.push((*from, from + value.len(), block));
                }
                continue;
            }
            let part = self.part(format!("directory {number}, tag {tag:04x}"), value.clone());
            if out_of_line {
                self.blocks.push((*from, from + value.len(), Block::Part(part)));
            }
            entries.push(entry(Value::Part(part)));
        }
        for (places, lengths) in DATA {
            let numbers = |tag| {
                let (_, kind, value, ..) = raw.iter().find(|(t, ..)| *t == tag)?;
                self.order.numbers(*kind, value)
            };
            let (from, long) = match (numbers(places), numbers(lengths)) {
                (Some(from), Some(long)) if from.len() == long.len() => (from, long),
                (None, None) => continue,
                _ => return None,
            };
            let mut parts = Vec::new();
            for (&from, &length) in from.iter().zip(&long) {
                let data = self.bytes.get_slice(from, length)?;
                let part = self.part(format!("directory {number}, data"), data);
                self.blocks.push((from, from + length, Block::Part(part)));
                parts.push(part);
            }
            for entry in &mut entries {
                if entry.tag == places {
                    entry.value = Value::Places(parts.clone());
                } else if entry.tag == lengths {
                    entry.value = Value::Lengths(parts.clone());
                }
            }
        }
        let next = match next.and_then(size) {
            None => Next::Absent,
            Some(0) => Next::Was(0),
            Some(at) if at < self.bytes.len() => Next::Directory(self.directory_at(at)),
            Some(at) => Next::Was(at as u64),
        };
        Some(Directory { entries, next })
    }

    fn part(&mut self, name: String, content: Content) -> usize {
        self.parts.push(Piece::new(name, content));
        self.parts.len() - 1
    }
}

pub(crate) fn read(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    let big = match bytes.get(..4)? {
        b"MM\0*" => true,
        b"II*\0" => false,
        _ => return None,
    };
    let order = Order { big };
    let mut reader = Reader {
        bytes,
        order,
        waiting: vec![size(order.long(bytes, 4)?)?],
        blocks: Vec::new(),
        parts: Vec::new(),
    };
    let mut directories = Vec::new();
    while directories.len() < reader.waiting.len() {
        if directories.len() > MOST_DIRECTORIES || reader.parts.len() > budget.nodes() {
            return None;
        }
        directories.push(reader.directory(directories.len())?);
    }
    reader.blocks.sort_by_key(|(from, to, _)| (*from, *to));
    let mut blocks = Vec::new();
    let mut at = HEADER;
    for (from, to, block) in std::mem::take(&mut reader.blocks) {
        reader.gap(at, from, &mut blocks)?;
        blocks.push((block, from.is_multiple_of(2)));
        at = to;
    }
    reader.gap(at, bytes.len(), &mut blocks)?;
    Some(Found::container(Tiff { order, directories, blocks }, reader.parts))
}

impl Reader<'_> {
    /// What lies between two blocks: nothing, a filler, or something unknown.
    fn gap(&mut self, from: usize, to: usize, blocks: &mut Vec<(Block, bool)>) -> Option<()> {
        let bytes = self.bytes.get_slice(from, to.checked_sub(from)?)?;
        // One zero in front of an even place is what the writer puts there by itself.
        let usual = bytes[..] == [0] && !from.is_multiple_of(2) && to < self.bytes.len();
        if bytes.is_empty() || usual {
            return Some(());
        }
        let block = if bytes.iter().all(|&b| b == 0) {
            Block::Fill(bytes)
        } else {
            Block::Part(self.part("unknown".to_owned(), bytes))
        };
        blocks.push((block, false));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{document, leaf, run};

    /// A directory with an author, a number, a thumbnail and a directory inside.
    fn made(big: bool) -> Vec<u8> {
        let order = Order { big };
        let mut out = Out::new(false);
        out.push(if big { b"MM\0*" } else { b"II*\0" });
        order.push(4, 8, &mut out);
        let entry = |out: &mut Out, tag: u16, kind: u16, count: u64, value: u64| {
            order.push(2, tag.into(), out);
            order.push(2, kind.into(), out);
            order.push(4, count, out);
            if kind == 3 {
                order.push(2, value, out);
                order.push(2, 0, out);
            } else {
                order.push(4, value, out);
            }
        };
        order.push(2, 5, &mut out);
        entry(&mut out, 0x0112, 3, 1, 6);
        entry(&mut out, 0x013b, 2, 17, 74);
        entry(&mut out, 0x0201, 4, 1, 110);
        entry(&mut out, 0x0202, 4, 1, 10);
        entry(&mut out, 0x8769, 4, 1, 92);
        order.push(4, 0, &mut out);
        out.push(b"Anneliese Brandt\0\0");
        order.push(2, 1, &mut out);
        entry(&mut out, 0xa420, 2, 4, if big { 0x4142_4300 } else { 0x0043_4241 });
        order.push(4, 0, &mut out);
        out.push(b"0123456789");
        out.into_bytes()
    }

    #[test]
    fn offsets_follow() {
        for big in [true, false] {
            let bytes = made(big);
            let doc = document(&bytes);
            assert_eq!(doc.root().kind(), Kind::Tiff);
            assert!(doc.render() == bytes);
            let author = leaf(&doc, b"Anneliese").unwrap();
            let number = leaf(&doc, b"ABC").unwrap();
            let edited = doc.with_leaves([
                (author, b"Bo\0".to_vec().into()),
                (number, b"a longer number\0".to_vec().into()),
            ]);
            let again = document(&edited.render());
            let leaves = |wanted: &[u8]| leaf(&again, wanted).is_some();
            assert!(leaves(b"Bo\0") && leaves(b"a longer number\0") && leaves(b"0123456789"));
            let without = doc.without([&leaf(&doc, b"Anneliese").unwrap()]);
            assert!(document(&without.render()).same_tree(&without));
        }
    }

    #[test]
    fn others_read_what_was_edited() {
        let doc = document(&made(true));
        let author = leaf(&doc, b"Anneliese").unwrap();
        let edited = doc.with_leaf(&author, b"Somebody else altogether\0".to_vec());
        let script = "
import sys, struct
b = sys.stdin.buffer.read(); assert b[:4] == b'MM\\0*'
def ifd(at):
    n = struct.unpack('>H', b[at:at + 2])[0]
    for i in range(n):
        t, k, c, v = struct.unpack('>HHII', b[at + 2 + 12 * i:at + 14 + 12 * i])
        if t == 0x8769: ifd(v)
        elif t == 0x201: print(b[v:v + 10])
        elif k == 2: print(b[v:v + c] if c > 4 else b[at + 10 + 12 * i:at + 10 + 12 * i + c])
ifd(struct.unpack('>I', b[4:8])[0])
";
        let list = run("python3", &["-c", script], &edited.render());
        let expected = "b'Somebody else altogether\\x00'\nb'0123456789'\nb'ABC\\x00'\n";
        assert_eq!(String::from_utf8(list).unwrap(), expected);
    }
}
