//! The reader of PDF: from the front, object by object, whatever the tables say.
//!
//! A document that breaks readers is broken somewhere, so the tables are not trusted to find objects; they
//! are compared with what was found.

use rustc_hash::FxHashMap;

use super::filters::{Undone, stream, undo_all};
use super::lexer::{digits, integer, is_white, reference, skip, value, value_end};
use super::object::{Object, Role, blank};
use super::xref::{Rows, Table, Target};
use super::{Offset, Pdf, Stretch};
use crate::content::Content;
use crate::formats::roles::Roles;
use crate::parse::{Budget, Found, Piece};

/// How far from the beginning the signature may be.
const NEAR: usize = 1024;

/// An object as it stands in the file.
struct Raw {
    number: u64,
    start: usize,
    value: std::ops::Range<usize>,
    /// Where the data of its stream are.
    data: Option<std::ops::Range<usize>>,
    end: usize,
}

/// The first object from here on.
fn next_object(bytes: &[u8], from: usize) -> Option<Raw> {
    let mut at = from;
    loop {
        let keyword = at + memchr::memmem::find(&bytes[at..], b"obj")?;
        at = keyword + 3;
        if let Some((number, start)) = head(bytes, from, keyword)
            && let Some(raw) = object(bytes, number, start, keyword + 3)
        {
            return Some(raw);
        }
    }
}

/// The number in front of `obj`, and where it begins.
fn head(bytes: &[u8], from: usize, keyword: usize) -> Option<(u64, usize)> {
    let back = |mut at: usize, wanted: fn(u8) -> bool| {
        while at > from && wanted(bytes[at - 1]) {
            at -= 1;
        }
        at
    };
    let generation_end = back(keyword, is_white);
    let generation = back(generation_end, |b| b.is_ascii_digit());
    let number_end = back(generation, is_white);
    let start = back(number_end, |b| b.is_ascii_digit());
    let apart = generation < generation_end && number_end < generation && start < number_end;
    if !apart || generation_end == keyword {
        return None;
    }
    Some((digits(bytes, start)?.0, start))
}

fn object(bytes: &[u8], number: u64, start: usize, at: usize) -> Option<Raw> {
    let from = skip(bytes, at);
    let to = value_end(bytes, from)?;
    let mut at = skip(bytes, to);
    let mut data = None;
    if bytes[at..].starts_with(b"stream") {
        let begin = match bytes.get(at + 6..)? {
            [b'\r', b'\n', ..] => at + 8,
            [b'\r' | b'\n', ..] => at + 7,
            _ => at + 6,
        };
        let end = stream_end(bytes, &bytes[from..to], begin)?;
        data = Some(begin..end);
        at = skip_white(bytes, end) + b"endstream".len();
        at = skip(bytes, at);
    }
    if !bytes.get(at..)?.starts_with(b"endobj") {
        return None;
    }
    at = skip_white(bytes, at + b"endobj".len());
    Some(Raw { number, start, value: from..to, data, end: at })
}

fn skip_white(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| is_white(byte)) {
        at += 1;
    }
    at
}

/// Where the data of a stream end: where its length says, if that is true, or in front of `endstream`.
fn stream_end(bytes: &[u8], dictionary: &[u8], begin: usize) -> Option<usize> {
    let stated = integer(dictionary, "Length").or_else(|| {
        let range = value(dictionary, "Length")?;
        let (number, generation, _) = reference(dictionary, range.start)?;
        length_object(bytes, number, generation)
    });
    if let Some(end) = stated.and_then(|length| begin.checked_add(usize::try_from(length).ok()?))
        && end <= bytes.len()
        && bytes[skip_white(bytes, end)..].starts_with(b"endstream")
    {
        return Some(end);
    }
    let end = begin + memchr::memmem::find(bytes.get(begin..)?, b"endstream")?;
    Some(match &bytes[begin..end] {
        [.., b'\r', b'\n'] => end - 2,
        [.., b'\r' | b'\n'] => end - 1,
        _ => end,
    })
}

/// The number that an object is, looked for by its head.
fn length_object(bytes: &[u8], number: u64, generation: u64) -> Option<u64> {
    let head = format!("{number} {generation} obj");
    for at in memchr::memmem::find_iter(bytes, head.as_bytes()) {
        if at == 0 || !bytes[at - 1].is_ascii_digit() {
            return digits(bytes, skip(bytes, at + head.len())).map(|(number, _)| number);
        }
    }
    None
}

/// A dictionary, and where in the file it stands.
struct Reader<'a> {
    bytes: &'a Content,
    stretches: Vec<Stretch>,
    pieces: Vec<Piece>,
    /// Which stretch begins where, for objects and tables.
    starts: FxHashMap<u64, usize>,
    /// Stretches that hold offsets, with the bytes that are to be read again when all is known.
    later: Vec<(usize, Later)>,
}

enum Later {
    Table(usize),
    Trailer(Content),
    TableObject(Raw),
    Start(u64),
}

impl Reader<'_> {
    fn part(&mut self, piece: Piece) -> usize {
        self.pieces.push(piece);
        self.pieces.len() - 1
    }

    /// What stands between objects: tables, trailers, offsets, and the rest.
    fn between(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            let rest = &self.bytes[at..to];
            let word = |word: &[u8]| {
                let alone = |n: usize| n == 0 || !rest[n - 1].is_ascii_alphanumeric();
                memchr::memmem::find_iter(rest, word).find(|&n| alone(n))
            };
            let found = [word(b"xref"), word(b"trailer"), word(b"startxref")];
            let Some(next) = found.iter().flatten().min().copied() else { break };
            self.other(at, at + next);
            let place = at + next;
            let end = if found[0] == Some(next) {
                self.table(place, to)
            } else if found[1] == Some(next) {
                self.trailer(place, to)
            } else {
                self.start(place, to)
            };
            at = end.unwrap_or_else(|| {
                let end = place + 4;
                self.other(place, end);
                end
            });
        }
        self.other(at, to);
    }

    fn other(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let bytes = self.bytes.slice(from..to);
        let trimmed = bytes.trim_ascii();
        if trimmed.is_empty() || trimmed == b"%%EOF" {
            self.stretches.push(Stretch::Fixed(bytes));
        } else {
            let part = self.part(Piece::leaf("text", bytes));
            self.stretches.push(Stretch::Leaf(part));
        }
    }

    fn table(&mut self, at: usize, to: usize) -> Option<usize> {
        let inside = self.bytes.slice(..to);
        let (table, end) = Table::read(&inside, at, Target::Was)?;
        self.starts.insert(at as u64, self.stretches.len());
        self.later.push((self.stretches.len(), Later::Table(at)));
        self.stretches.push(Stretch::Table(table));
        Some(end)
    }

    fn trailer(&mut self, at: usize, to: usize) -> Option<usize> {
        let from = skip(self.bytes, at + b"trailer".len());
        let end = value_end(&self.bytes[..to], from)?;
        self.stretches.push(Stretch::Fixed(self.bytes.slice(at..from)));
        self.later.push((self.stretches.len(), Later::Trailer(self.bytes.slice(from..end))));
        let part = self.part(Piece::leaf("trailer", Content::default()));
        self.stretches.push(Stretch::Trailer { part, offsets: Vec::new() });
        Some(end)
    }

    fn start(&mut self, at: usize, to: usize) -> Option<usize> {
        let from = skip(self.bytes, at + b"startxref".len());
        let (number, end) = digits(&self.bytes[..to], from)?;
        self.stretches.push(Stretch::Fixed(self.bytes.slice(at..from)));
        self.later.push((self.stretches.len(), Later::Start(number)));
        let width = if self.bytes[from] == b'0' { end - from } else { 1 };
        self.stretches.push(Stretch::Start { width, target: Target::Was(number) });
        Some(end)
    }

    /// The parts of an object as the file has them.
    fn form(&self, raw: &Raw, computed: Vec<(&'static str, usize)>, roles: Vec<Role>) -> Object {
        let slice = |from: usize, to: usize| self.bytes.slice(from..to);
        let (keyword, end) = match &raw.data {
            Some(data) => (slice(raw.value.end, data.start), slice(data.end, raw.end)),
            None => (Content::default(), slice(raw.value.end, raw.end)),
        };
        Object {
            roles: Roles(roles),
            head: slice(raw.start, raw.value.start),
            keyword,
            end,
            computed,
            bare: None,
        }
    }

    fn object(&mut self, raw: &Raw, lengths: &FxHashMap<u64, usize>, budget: &mut Budget) {
        let mut dictionary = self.bytes[raw.value.clone()].to_vec();
        let original = dictionary.clone();
        let (mut computed, mut bare) = (Vec::new(), None);
        let mut roles = vec![Role::Value];
        let mut parts = Vec::new();
        if let Some(data) = &raw.data {
            let data = self.bytes.slice(data.clone());
            let kind = value(&dictionary, "Type").map(|range| dictionary[range].to_vec());
            let length = blank(&mut dictionary, "Length", data.len() as u64);
            computed.extend(length.map(|width| ("Length", width)));
            let (piece, depth) = stream(&original, &data, budget);
            bare = depth;
            if kind.as_deref() == Some(b"/ObjStm") && piece.holds_container() {
                for key in ["N", "First"] {
                    let right = integer(&dictionary, key).unwrap_or(0);
                    computed.extend(blank(&mut dictionary, key, right).map(|width| (key, width)));
                }
            }
            roles.push(Role::Stream);
            parts.push(piece);
        } else if let Some(&of) = lengths.get(&raw.number)
            && let Some((_, end)) = digits(&dictionary, 0)
            && end == dictionary.len()
        {
            let width = if dictionary[0] == b'0' { dictionary.len() } else { 1 };
            let head = self.bytes.slice(raw.start..raw.value.start);
            let end = self.bytes.slice(raw.value.end..raw.end);
            return self.stretches.push(Stretch::Length { head, width, of, end });
        }
        parts.insert(0, Piece::leaf("value", dictionary.into()));
        let form = Object { bare, ..self.form(raw, computed, roles) };
        let name = format!("object {}", raw.number);
        let found = Found::container(form, parts);
        let part = self.part(Piece::known(name, Content::default(), found));
        self.stretches.push(Stretch::Object { part, number: raw.number });
    }

    fn find(&self, offset: u64) -> Target {
        self.starts.get(&offset).map_or(Target::Was(offset), |&stretch| Target::Piece(stretch))
    }

    /// The offsets of a dictionary that lead somewhere, and the dictionary without them.
    fn offsets(&self, dictionary: &mut Vec<u8>) -> Vec<Offset> {
        let mut offsets = Vec::new();
        for key in ["Prev", "XRefStm"] {
            let Some(stated) = integer(dictionary, key) else { continue };
            let target = self.find(stated);
            if matches!(target, Target::Piece(_))
                && let Some(width) = blank(dictionary, key, stated)
            {
                offsets.push(Offset { key, width, target });
            }
        }
        offsets
    }

    /// Fills in what depends on offsets, now that it is known what is where.
    fn settle(&mut self, budget: &mut Budget) {
        for (stretch, later) in std::mem::take(&mut self.later) {
            match later {
                Later::Table(at) => {
                    let find = |offset| self.find(offset);
                    if let Some((table, _)) = Table::read(self.bytes, at, find) {
                        self.stretches[stretch] = Stretch::Table(table);
                    }
                }
                Later::Start(number) => {
                    let found = self.find(number);
                    if let Stretch::Start { target, .. } = &mut self.stretches[stretch] {
                        *target = found;
                    }
                }
                Later::Trailer(bytes) => {
                    let mut dictionary = bytes.to_vec();
                    let found = self.offsets(&mut dictionary);
                    if let Stretch::Trailer { part, offsets } = &mut self.stretches[stretch] {
                        *offsets = found;
                        self.pieces[*part] = Piece::leaf("trailer", dictionary.into());
                    }
                }
                Later::TableObject(raw) => self.table_object(stretch, &raw, budget),
            }
        }
    }

    fn table_object(&mut self, stretch: usize, raw: &Raw, budget: &mut Budget) {
        let Stretch::Object { part, .. } = self.stretches[stretch] else { return };
        let Some(data) = raw.data.clone().map(|data| self.bytes.slice(data)) else { return };
        let mut dictionary = self.bytes[raw.value.clone()].to_vec();
        let Undone { layers, content: plain, .. } = undo_all(&dictionary, &data, budget);
        let find = |offset| self.find(offset);
        let Some(rows) = Rows::read(&dictionary, layers, &data, &plain, find) else { return };
        let length = blank(&mut dictionary, "Length", data.len() as u64);
        let computed = length.map(|width| ("Length", width)).into_iter().collect();
        let offsets = self.offsets(&mut dictionary);
        let form = self.form(raw, computed, vec![Role::Value]);
        let leaf = Piece::leaf("value", dictionary.into());
        let found = Found::container(form, vec![leaf]);
        let name = format!("object {} (table)", raw.number);
        self.pieces[part] = Piece::known(name, Content::default(), found);
        self.stretches[stretch] = Stretch::TableObject { part, rows, offsets };
    }
}

pub(crate) fn read(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    memchr::memmem::find(&bytes[..bytes.len().min(NEAR)], b"%PDF-")?;
    let mut raws = Vec::new();
    let mut at = 0;
    while let Some(raw) = next_object(bytes, at) {
        at = raw.end;
        raws.push(raw);
        if raws.len() > budget.nodes() {
            return None;
        }
    }
    // Objects that are the length of a stream: which stream.
    let mut owners: FxHashMap<u64, u64> = FxHashMap::default();
    for raw in raws.iter().filter(|raw| raw.data.is_some()) {
        let dictionary = &bytes[raw.value.clone()];
        if let Some(range) = value(dictionary, "Length")
            && let Some((number, generation, _)) = reference(dictionary, range.start)
            && length_object(bytes, number, generation) == raw.data.as_ref().map(|d| d.len() as u64)
        {
            owners.insert(number, raw.start as u64);
        }
    }
    let mut reader = Reader {
        bytes,
        stretches: Vec::new(),
        pieces: Vec::new(),
        starts: FxHashMap::default(),
        later: Vec::new(),
    };
    let mut at = 0;
    let mut waiting = Vec::new();
    for raw in raws {
        reader.between(at, raw.start);
        at = raw.end;
        let stretch = reader.stretches.len();
        reader.starts.insert(raw.start as u64, stretch);
        let dictionary = &bytes[raw.value.clone()];
        let kind = value(dictionary, "Type").map(|range| &dictionary[range]);
        let is_table = raw.data.is_some() && kind == Some(b"/XRef");
        let owner = owners.get(&raw.number).copied();
        let mut lengths = FxHashMap::default();
        if let Some(owner) = owner {
            // The stream may come later: its stretch is filled in then.
            lengths.insert(raw.number, reader.starts.get(&owner).copied().unwrap_or(usize::MAX));
            waiting.push((stretch, owner));
        }
        reader.object(&raw, &lengths, budget);
        if is_table {
            reader.later.push((stretch, Later::TableObject(raw)));
        }
    }
    reader.between(at, bytes.len());
    for (stretch, owner) in waiting {
        let found = reader.starts.get(&owner).copied()?;
        if let Stretch::Length { of, .. } = &mut reader.stretches[stretch] {
            *of = found;
        }
    }
    reader.settle(budget);
    let parts = reader.pieces.len();
    Some(Found::container(Pdf { stretches: reader.stretches, parts }, reader.pieces))
}
