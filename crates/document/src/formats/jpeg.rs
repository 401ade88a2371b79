//! JPEG: segments with their lengths, and the scans between them.

use super::record::{Check, Coding, Inside, Raw, Record, records};
use super::sequence::Sequence;
use crate::content::Content;
use crate::formats::numbers::be16;
use crate::node::{Field, Kind};
use crate::parse::{Budget, Found, Piece};

const START: &[u8] = b"\xff\xd8";
const SCAN: u8 = 0xda;
const EXIF: &[u8] = b"Exif\0\0";
const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";

/// Whether a marker has no segment.
fn alone(marker: u8) -> bool {
    matches!(marker, 0x01 | 0xd0..=0xd9)
}

fn segment(bytes: &Content, at: usize, end: usize) -> Option<Raw> {
    let marker = match bytes.get(at..)? {
        [0xff, marker @ 0xc0..=0xfe, ..] if !alone(*marker) => *marker,
        _ => return None,
    };
    let length = be16(bytes, at + 2)? as usize;
    let to = at + 2 + length;
    if length < 2 || to > end {
        return None;
    }
    let form = Record {
        kind: Kind::JpegSegment,
        before: bytes.slice(at..at + 2),
        coding: Coding::Big(2),
        after: Content::default(),
        counted: 2,
        length: Field::Right,
        check: Check::None,
        pad: None,
    };
    let payload = &bytes[at + 4..to];
    let inside = match marker {
        0xe1 if payload.starts_with(EXIF) => Inside::Unknown(EXIF.len()),
        0xe1 if payload.starts_with(XMP) => Inside::Unknown(XMP.len()),
        _ => Inside::Leaf,
    };
    Some(Raw { name: format!("segment {marker:02x}"), form, payload: at + 4..to, end: to, inside })
}

/// Where a scan ends: at a marker that is no part of it.
fn scan_end(bytes: &[u8], at: usize) -> usize {
    let ends = |&n: &usize| !matches!(bytes.get(at + n + 1), Some(0 | 0xd0..=0xd7 | 0xff) | None);
    memchr::memchr_iter(0xff, &bytes[at..]).find(ends).map_or(bytes.len(), |n| at + n)
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    if !content.starts_with(START) || content.get(2) != Some(&0xff) {
        return None;
    }
    let mut parts = Vec::new();
    let mut at = START.len();
    while at < content.len() && parts.len() * 3 < budget.nodes() {
        if content[at] == 0xff && content.get(at + 1).is_some_and(|&marker| alone(marker)) {
            parts.push(Piece::leaf("marker", content.slice(at..at + 2)));
            at += 2;
            continue;
        }
        let Some(raw) = segment(content, at, content.len()) else { break };
        let end = raw.end;
        parts.append(&mut records(content, at..end, segment, 2, budget, &mut 0)?);
        if content[at + 1] == SCAN {
            let to = scan_end(content, end);
            if to > end {
                parts.push(Piece::leaf("scan", content.slice(end..to)));
            }
            at = to;
        } else {
            at = end;
        }
    }
    if parts.is_empty() {
        return None;
    }
    if at < content.len() {
        parts.push(Piece::new("rest", content.slice(at..)));
    }
    Some(Sequence::behind(START, Kind::Jpeg, parts))
}
