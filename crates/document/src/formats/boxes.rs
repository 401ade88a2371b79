//! ISO boxes: MP4, MOV, HEIC, JPEG 2000.
//!
//! Offsets of media data (`stco`, `co64`) follow when boxes move. Other tables of offsets (`iloc` of HEIC,
//! fragment indices) stay as they were.

use std::sync::Arc;

use super::record::{Check, Coding, Inside, Raw, Record, four_letters, records};
use crate::content::Content;
use crate::formats::numbers::{be, be32, be64, size};
use crate::node::{Field, Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Found};

/// Boxes that hold boxes, and how many bytes stand in front of those.
const HOLDERS: &[(&[u8; 4], usize)] = &[
    (b"moov", 0),
    (b"trak", 0),
    (b"mdia", 0),
    (b"minf", 0),
    (b"stbl", 0),
    (b"edts", 0),
    (b"dinf", 0),
    (b"udta", 0),
    (b"moof", 0),
    (b"traf", 0),
    (b"mvex", 0),
    (b"mfra", 0),
    (b"meta", 4),
    (b"ilst", 0),
    (b"iprp", 0),
    (b"ipco", 0),
    (b"jp2h", 0),
    (b"sinf", 0),
    (b"schi", 0),
    (b"gmhd", 0),
    (b"tref", 0),
    (b"stsd", 8),
    (b"dref", 8),
];

#[derive(Clone)]
struct Boxes {
    /// Where each part was, and where it ended.
    places: Vec<(u64, u64)>,
}

impl Form for Boxes {
    fn kind(&self) -> Kind {
        Kind::IsoBoxes
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let start = out.len();
        let mut moved = Vec::new();
        for at in 0..parts.len() {
            moved.push((out.len() - start) as u64);
            parts.write(at, out);
        }
        let places = self.places.iter().zip(&moved);
        if places.clone().all(|(before, now)| before.0 == *now) {
            return;
        }
        let new = |offset: u64| {
            let holds = |((from, to), _): &(&(u64, u64), &u64)| (*from..*to).contains(&offset);
            places.clone().find(holds).map_or(offset, |((from, _), now)| offset - from + now)
        };
        for table in tables(&out.bytes()[start..]) {
            let mut at = start + table.first;
            for _ in 0..table.count {
                if table.wide {
                    let offset = be64(out.bytes(), at).unwrap_or(0);
                    out.patch(at, &be::<8>(new(offset)));
                } else {
                    let offset = be32(out.bytes(), at).unwrap_or(0);
                    out.patch(at, &be::<4>(new(offset)));
                }
                at += if table.wide { 8 } else { 4 };
            }
        }
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        let places = kept.iter().filter_map(|&at| self.places.get(at).copied()).collect();
        Arc::new(Boxes { places })
    }
}

/// A table of offsets in rendered boxes.
struct Table {
    first: usize,
    count: usize,
    wide: bool,
}

fn tables(bytes: &[u8]) -> Vec<Table> {
    let mut found = Vec::new();
    let mut waiting = vec![(0, bytes.len())];
    while let Some((mut at, end)) = waiting.pop() {
        while let Some(head) = Head::at(bytes, at, end) {
            if let Some(&(_, skipped)) = HOLDERS.iter().find(|(name, _)| head.kind == **name) {
                waiting.push(((head.payload + skipped).min(head.end), head.end));
            }
            let wide = head.kind == *b"co64";
            if wide || head.kind == *b"stco" {
                let width = if wide { 8 } else { 4 };
                let stated = be32(bytes, head.payload + 4).and_then(size).unwrap_or(0);
                let room = head.end.saturating_sub(head.payload + 8) / width;
                found.push(Table { first: head.payload + 8, count: stated.min(room), wide });
            }
            at = head.end;
        }
    }
    found
}

/// The head of a box.
struct Head {
    kind: [u8; 4],
    coding: Coding,
    payload: usize,
    end: usize,
}

impl Head {
    fn at(bytes: &[u8], at: usize, end: usize) -> Option<Head> {
        let stated = be32(bytes, at)?;
        let kind: [u8; 4] = bytes.get(at + 4..at + 8)?.try_into().ok()?;
        let (coding, payload, length) = match stated {
            0 => (Coding::Open([0; 8], 4), at + 8, end.checked_sub(at)?),
            1 => (Coding::Wide, at + 16, size(be64(bytes, at + 8)?)?),
            _ => (Coding::Big(4), at + 8, size(stated)?),
        };
        let to = at.checked_add(length)?;
        let named = kind.iter().all(|&b| b >= 32);
        (named && payload <= to && to <= end && at < end).then_some(Head {
            kind,
            coding,
            payload,
            end: to,
        })
    }
}

fn one(bytes: &Content, at: usize, end: usize) -> Option<Raw> {
    let head = Head::at(bytes, at, end)?;
    let offsets = matches!(&head.kind, b"stco" | b"co64");
    let fixed = if offsets { head.end } else { head.payload };
    let mut after = bytes.slice(at + 4..at + 8).to_vec();
    if head.coding == Coding::Wide && offsets {
        return None;
    }
    after.extend_from_slice(&bytes[head.payload..fixed]);
    let form = Record {
        kind: Kind::IsoBox,
        before: Content::default(),
        coding: head.coding,
        after: after.into(),
        counted: (fixed - at) as u64,
        length: Field::Right,
        check: Check::None,
        pad: None,
    };
    let holder = HOLDERS.iter().find(|(name, _)| head.kind == **name);
    let inside = match holder {
        Some(&(_, skipped)) if head.payload + skipped < head.end => {
            // QuickTime's `meta` has nothing in front of its boxes.
            let plain = Head::at(bytes, head.payload, head.end).is_some_and(|h| &h.kind == b"hdlr");
            Inside::Records(if plain { 0 } else { skipped })
        }
        _ if matches!(&head.kind, b"Exif" | b"xml " | b"jp2c") => Inside::Unknown(0),
        _ => Inside::Leaf,
    };
    let name = four_letters(&head.kind);
    Some(Raw { name, form, payload: fixed..head.end, end: head.end, inside })
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    const FIRST: &[&[u8]] =
        &[b"ftyp", b"moov", b"styp", b"jP  ", b"wide", b"free", b"skip", b"pnot"];
    if !FIRST.contains(&content.get(4..8)?) {
        return None;
    }
    let mut at = 0;
    let mut places = Vec::new();
    while let Some(head) = Head::at(content, at, content.len()) {
        places.push((at as u64, head.end as u64));
        at = head.end;
    }
    let pieces = records(content, 0..content.len(), one, budget.depth(), budget, &mut 0)?;
    Some(Found::container(Boxes { places }, pieces))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{document, path};

    fn boxed(kind: &[u8; 4], payload: &[u8]) -> Vec<u8> {
        [&be::<4>(8 + payload.len() as u64)[..], kind, payload].concat()
    }

    /// A film whose table comes before its data, and points into them.
    fn film() -> Vec<u8> {
        let name = boxed(b"free", b"Anneliese Brandt's birthday");
        let table = |offset: u64| {
            let stco = boxed(
                b"stco",
                &[&be::<4>(0)[..], &be::<4>(2), &be::<4>(offset), &be::<4>(offset + 5)].concat(),
            );
            boxed(
                b"moov",
                &[
                    boxed(b"udta", &name),
                    boxed(b"trak", &boxed(b"mdia", &boxed(b"minf", &boxed(b"stbl", &stco)))),
                ]
                .concat(),
            )
        };
        let ftyp = boxed(b"ftyp", b"isom\0\0\x02\0");
        let first = (ftyp.len() + table(0).len() + 8) as u64;
        [ftyp, table(first), boxed(b"mdat", b"01234567890")].concat()
    }

    #[test]
    fn offsets_follow_when_boxes_move() {
        let bytes = film();
        let doc = document(&bytes);
        assert_eq!(doc.root().kind(), Kind::IsoBoxes);
        assert!(doc.render() == bytes);
        let edited = doc.without([&path(&doc, "udta")]).render();
        let data = edited.windows(4).position(|w| w == b"mdat").unwrap() + 4;
        let table = edited.windows(4).position(|w| w == b"stco").unwrap() + 12;
        assert_eq!(be32(&edited, table), Some(data as u64));
        assert_eq!(be32(&edited, table + 4), Some(data as u64 + 5));
    }
}
