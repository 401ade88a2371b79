//! Compound files: the old Word, Excel and Outlook formats.
//!
//! A container of its directory, its streams, and what lies in sectors that nothing uses. As long as all
//! streams are as long as they were, everything stays where it was. Otherwise the file is laid out anew:
//! streams one after the other, then the stream of the small ones, tables, directory. Names, times and the
//! tree of storages are in the directory, a leaf; where a stream begins and how long it is are computed.

mod rebuild;

use std::ops::Range;
use std::sync::Arc;

use crate::content::Content;
use crate::formats::numbers::{le, le16, le32, le64, size};
use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Found, Piece};

const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const HEADER: usize = 512;
/// The length of an entry of the directory, and where the beginning and the length of its stream are.
const ENTRY: usize = 128;
const START: usize = 116;
const LENGTH: usize = 120;
const KIND: usize = 66;
/// What ends a chain, and what is free.
const END: u32 = 0xffff_fffe;
const FREE: u32 = 0xffff_ffff;
/// How many sectors of the table the header lists.
const LISTED: usize = 109;

/// A stream: its entry, and its part if it has one.
#[derive(Clone)]
struct Stream {
    entry: usize,
    part: Option<usize>,
    start: u32,
    length: usize,
}

/// A stretch of the file and what is there.
#[derive(Clone)]
struct Stretch {
    at: Range<usize>,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    /// Header and tables, from the place in `fixed`.
    Fixed(usize),
    Directory(usize),
    /// A stream of that number, from that place on.
    Stream(usize, usize),
    /// What nothing uses, from that place in its part.
    Unused(usize),
}

#[derive(Clone)]
struct Compound {
    sector: usize,
    mini: usize,
    /// Shorter streams lie in the stream of the small ones.
    cutoff: usize,
    /// Header and tables as they were.
    fixed: Content,
    stretches: Vec<Stretch>,
    directory: Option<usize>,
    directory_length: usize,
    unused: Option<usize>,
    unused_length: usize,
    /// The first is the stream of the small ones, which is no part.
    streams: Vec<Stream>,
}

impl Compound {
    /// The part, or nothing if it is gone.
    fn part(part: Option<usize>, parts: &Parts<'_>, out: &Out) -> Out {
        let mut written = out.fresh();
        if let Some(part) = part.filter(|&part| part < parts.len()) {
            parts.write(part, &mut written);
        }
        written
    }
}

impl Form for Compound {
    fn kind(&self) -> Kind {
        Kind::CompoundFile
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let streams: Vec<Out> =
            self.streams.iter().map(|stream| Compound::part(stream.part, parts, out)).collect();
        let directory = Compound::part(self.directory, parts, out);
        let unused = Compound::part(self.unused, parts, out);
        let lengths = self.streams.iter().zip(&streams).skip(1);
        let same = lengths.clone().all(|(stream, now)| stream.length == now.len())
            && directory.len() == self.directory_length
            && unused.len() == self.unused_length;
        if !same {
            return self.rebuild(&directory, &streams, out);
        }
        let mut told = out.fresh();
        self.tell(&directory, &self.streams, &mut told);
        for stretch in &self.stretches {
            let length = stretch.at.len();
            match stretch.what {
                What::Fixed(from) => out.push(&self.fixed[from..from + length]),
                What::Directory(from) => out.append_range(&told, from..from + length),
                What::Stream(number, from) => {
                    out.append_range(&streams[number], from..from + length);
                }
                What::Unused(from) => out.append_range(&unused, from..from + length),
            }
        }
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        let place = |part: Option<usize>| part.and_then(|part| kept.binary_search(&part).ok());
        let mut form = self.clone();
        form.directory = place(form.directory);
        form.unused = place(form.unused);
        for stream in &mut form.streams {
            stream.part = place(stream.part);
        }
        Arc::new(form)
    }
}

impl Compound {
    /// Writes the directory with where streams begin and how long they are.
    fn tell(&self, directory: &Out, streams: &[Stream], out: &mut Out) {
        let start = out.len();
        out.append(directory);
        for stream in streams {
            let at = start + stream.entry * ENTRY;
            if at + ENTRY <= out.len() {
                out.patch(at + START, &stream.start.to_le_bytes());
                out.patch(at + LENGTH, &le::<8>(stream.length as u64));
            }
        }
    }
}

struct Reader<'a> {
    bytes: &'a Content,
    sector: usize,
    table: Vec<u32>,
    /// What is known to be used.
    stretches: Vec<Stretch>,
}

impl Reader<'_> {
    fn place(&self, sector: u32) -> Option<Range<usize>> {
        let at = (sector as usize).checked_add(1)?.checked_mul(self.sector)?;
        (at + self.sector <= self.bytes.len()).then(|| at..at + self.sector)
    }

    /// The places of the sectors of a chain.
    fn chain(&self, start: u32) -> Option<Vec<Range<usize>>> {
        follow(&self.table, start)?.into_iter().map(|sector| self.place(sector)).collect()
    }
}

/// The members of a chain; nothing if it is a ring or leads out of the table.
fn follow(table: &[u32], start: u32) -> Option<Vec<u32>> {
    let mut chain = Vec::new();
    let mut at = start;
    while at != END {
        chain.push(at);
        at = *table.get(at as usize)?;
        if chain.len() > table.len() {
            return None;
        }
    }
    Some(chain)
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]])).collect()
}

pub(crate) fn read(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    if !bytes.starts_with(SIGNATURE) || bytes.len() < HEADER {
        return None;
    }
    let (shift, mini_shift) = (le16(bytes, 30)?, le16(bytes, 32)?);
    if !matches!(shift, 9 | 12) || mini_shift != 6 {
        return None;
    }
    let (sector, mini) = (1 << shift, 1 << mini_shift);
    let word = |at: usize| le32(bytes, at).map(|number| number as u32);
    let mut reader = Reader { bytes, sector, table: Vec::new(), stretches: Vec::new() };

    // The table: its sectors are listed in the header, and beyond that in sectors of their own.
    let mut fixed: Vec<Range<usize>> = Vec::new();
    fixed.push(0..sector.min(bytes.len()));
    let mut listed = numbers(&bytes[76..HEADER]);
    let mut more = word(68)?;
    while more < END {
        let place = reader.place(more)?;
        let mut inside = numbers(&bytes[place.clone()]);
        more = inside.pop()?;
        listed.append(&mut inside);
        fixed.push(place);
        if fixed.len() > bytes.len() / sector {
            return None;
        }
    }
    for &number in listed.iter().filter(|&&number| number < END) {
        let place = reader.place(number)?;
        reader.table.extend(numbers(&bytes[place.clone()]));
        fixed.push(place);
    }
    let small_table = reader.chain(word(60)?)?;
    let small: Vec<u32> =
        small_table.iter().flat_map(|place| numbers(&bytes[place.clone()])).collect();
    fixed.extend(small_table);

    let directory_places = reader.chain(word(48)?)?;
    let mut directory: Vec<u8> = Vec::new();
    let mut at = 0;
    for place in directory_places {
        directory.extend_from_slice(&bytes[place.clone()]);
        reader.stretches.push(Stretch { at: place, what: What::Directory(at) });
        at += sector;
    }
    let cutoff = size(le32(bytes, 56)?)?;
    let entries = directory.len() / ENTRY;
    if entries == 0 || entries > budget.nodes() {
        return None;
    }
    let root = &directory[..ENTRY];
    let container = match le32(root, START)? as u32 {
        FREE => Vec::new(),
        start => reader.chain(start)?,
    };
    let container_length = size(le64(root, LENGTH)?)?;

    let mut streams = Vec::new();
    let mut contents = Vec::new();
    for entry in 0..entries {
        let record = &directory[entry * ENTRY..(entry + 1) * ENTRY];
        let start = le32(record, START)? as u32;
        // The upper half of the length is not used where sectors are small.
        let length =
            size(if sector == HEADER { le32(record, LENGTH)? } else { le64(record, LENGTH)? })?;
        match (entry, record[KIND]) {
            (0, _) => streams.push(Stream { entry, part: None, start, length: container_length }),
            (_, 2) if length > 0 => {
                let places: Vec<Range<usize>> = if length < cutoff {
                    let inside = |number: u32| {
                        let from = number as usize * mini;
                        let holder = container.get(from / sector)?;
                        let place = holder.start + from % sector;
                        Some(place..place + mini)
                    };
                    follow(&small, start)?.into_iter().map(inside).collect::<Option<_>>()?
                } else {
                    reader.chain(start)?
                };
                let mut content: Vec<u8> = Vec::new();
                for place in places {
                    let from = content.len();
                    let long = place.len().min(length.checked_sub(from)?);
                    content.extend_from_slice(&bytes[place.start..place.start + long]);
                    if long > 0 {
                        let what = What::Stream(streams.len(), from);
                        reader
                            .stretches
                            .push(Stretch { at: place.start..place.start + long, what });
                    }
                }
                if content.len() != length {
                    return None;
                }
                budget.pay(length)?;
                streams.push(Stream { entry, part: None, start, length });
                contents.push((name(record), content));
            }
            _ => {}
        }
    }
    assemble(bytes, reader.stretches, fixed, directory, streams, contents, (sector, mini, cutoff))
}

/// The name of an entry.
fn name(record: &[u8]) -> String {
    let units = record[..64].chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units.take_while(|&unit| unit != 0))
        .map(|letter| letter.unwrap_or('?'))
        .collect();
    text.replace(char::is_control, "")
}

fn assemble(
    bytes: &Content,
    mut stretches: Vec<Stretch>,
    places: Vec<Range<usize>>,
    mut directory: Vec<u8>,
    mut streams: Vec<Stream>,
    contents: Vec<(String, Vec<u8>)>,
    (sector, mini, cutoff): (usize, usize, usize),
) -> Option<Found> {
    let mut fixed = Vec::new();
    for place in places {
        stretches.push(Stretch { at: place.clone(), what: What::Fixed(fixed.len()) });
        fixed.extend_from_slice(&bytes[place]);
    }
    stretches.sort_by_key(|stretch| stretch.at.start);
    let (mut all, mut unused) = (Vec::new(), Vec::new());
    let mut at = 0;
    let end = Stretch { at: bytes.len()..bytes.len(), what: What::Unused(0) };
    for stretch in stretches.into_iter().chain([end]) {
        // Two things in one place: nothing that a writer made.
        let gap = bytes.get(at..stretch.at.start)?;
        if !gap.is_empty() {
            all.push(Stretch { at: at..stretch.at.start, what: What::Unused(unused.len()) });
            unused.extend_from_slice(gap);
        }
        at = stretch.at.end;
        all.push(stretch);
    }
    for stream in &streams {
        let record = &mut directory[stream.entry * ENTRY..(stream.entry + 1) * ENTRY];
        record[START..LENGTH + 8].fill(0);
    }
    let mut parts = vec![Piece::leaf("directory", directory.clone().into())];
    for (stream, (name, content)) in streams[1..].iter_mut().zip(contents) {
        stream.part = Some(parts.len());
        parts.push(Piece::new(name, content.into()));
    }
    let unused_part = (!unused.is_empty()).then_some(parts.len());
    let form = Compound {
        sector,
        mini,
        cutoff,
        fixed: fixed.into(),
        stretches: all,
        directory: Some(0),
        directory_length: directory.len(),
        unused: unused_part,
        unused_length: unused.len(),
        streams,
    };
    if unused_part.is_some() {
        parts.push(Piece::leaf("unused", unused.into()));
    }
    Some(Found::container(form, parts))
}

#[cfg(test)]
mod tests;
