//! Binary formats that say for every value what and how long it is: DER, protocol buffers, MessagePack and
//! CBOR.
//!
//! Each is believed only if all of the bytes are such values, to the last one.

use std::ops::Range;

use super::build::Builder;
use super::lengths::{Coding, Length, Measure, Sort};
use super::{Layout, Role};

/// How deep values may lie in one another.
const DEEPEST: usize = 64;
/// With fewer elements it may be chance.
const FEWEST: usize = 4;

/// A value with its length in front: where it is, its length field, and what that is the length of.
struct Tlv {
    all: Range<usize>,
    length: Range<usize>,
    payload: Range<usize>,
    /// Whether there may be values inside.
    nests: bool,
}

fn der_value(bytes: &[u8], within: &Range<usize>) -> Option<Tlv> {
    let mut at = within.start;
    let tag = *bytes.get(at)?;
    at += 1;
    if tag & 31 == 31 {
        while *bytes.get(at)? & 128 != 0 {
            at += 1;
        }
        at += 1;
    }
    let field = at;
    let first = *bytes.get(at)?;
    at += 1;
    let length = match first {
        ..=0x7f => usize::from(first),
        0x81..=0x84 => {
            let width = usize::from(first & 127);
            let digits = bytes.get(at..at + width)?;
            at += width;
            digits.iter().fold(0, |number, &digit| number << 8 | usize::from(digit))
        }
        _ => return None,
    };
    let end = at.checked_add(length)?;
    let nests = tag & 0x20 != 0 || tag == 4 || tag == 3;
    let fits = end <= within.end && tag != 0;
    fits.then_some(Tlv { all: within.start..end, length: field..at, payload: at..end, nests })
}

/// What is inside a value: the range that values may fill. A bit string has a byte in front of it.
fn der_inside(bytes: &[u8], value: &Tlv) -> Range<usize> {
    let skipped = usize::from(bytes[value.all.start] == 3 && !value.payload.is_empty());
    value.payload.start + skipped..value.payload.end
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0_u64;
    for shift in 0..10 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 127) << (7 * shift);
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

fn protobuf_value(bytes: &[u8], within: &Range<usize>) -> Option<Tlv> {
    let mut at = within.start;
    let tag = varint(bytes, &mut at)?;
    if !(8..8 << 12).contains(&tag) {
        return None;
    }
    let field = at;
    match tag & 7 {
        0 => drop(varint(bytes, &mut at)?),
        1 => at += 8,
        5 => at += 4,
        2 => {
            let length = usize::try_from(varint(bytes, &mut at)?).ok()?;
            let end = at.checked_add(length).filter(|&end| end <= within.end)?;
            let nests = !super::is_text(&bytes[at..end]);
            return Some(Tlv {
                all: within.start..end,
                length: field..at,
                payload: at..end,
                nests,
            });
        }
        _ => return None,
    }
    let all = within.start..at;
    (at <= within.end).then_some(Tlv { all, length: at..at, payload: at..at, nests: false })
}

type Next = fn(&[u8], &Range<usize>) -> Option<Tlv>;

/// Whether the range is nothing but values.
fn fills(bytes: &[u8], range: &Range<usize>, next: Next) -> bool {
    let mut at = range.start;
    while at < range.end {
        match next(bytes, &(at..range.end)) {
            Some(value) => at = value.all.end,
            None => return false,
        }
    }
    !range.is_empty()
}

fn values(
    bytes: &[u8],
    layout: Layout,
    coding: Coding,
    next: Next,
    inside: fn(&[u8], &Tlv) -> Range<usize>,
    deepest: usize,
) -> Option<Builder> {
    let whole = 0..bytes.len();
    if !fills(bytes, &whole, next) {
        return None;
    }
    let mut builder = Builder::new(layout, deepest);
    // What is left of each range that is being read. Each has two elements open around it.
    let mut open = vec![whole];
    while let Some(range) = open.last_mut() {
        if range.start >= range.end {
            let end = range.end;
            open.pop();
            if !open.is_empty() {
                builder.close(end);
                builder.close(end);
            }
            continue;
        }
        let value = next(bytes, range)?;
        range.start = value.all.end;
        builder.open(Role::Record, value.all.start);
        if value.length.is_empty() {
            builder.close(value.all.end);
            continue;
        }
        let payload = builder.open(Role::Payload, value.payload.start);
        let (at, measure) = (value.length.clone(), Measure::Bytes(0));
        builder.length(payload, Length { at, coding, measure });
        let within = inside(bytes, &value);
        if value.nests && open.len() < DEEPEST && fills(bytes, &within, next) {
            open.push(within);
        } else {
            builder.close(value.payload.end);
            builder.close(value.payload.end);
        }
    }
    (builder.len() >= FEWEST).then_some(builder)
}

pub(super) fn der(bytes: &[u8], deepest: usize) -> Option<Builder> {
    if !matches!(bytes.first(), Some(0x30 | 0x31 | 0x60..=0x7f | 0xa0..=0xbf)) {
        return None;
    }
    values(bytes, Layout::Der, Coding::Der, der_value, der_inside, deepest)
}

pub(super) fn protobuf(bytes: &[u8], deepest: usize) -> Option<Builder> {
    let payload = |_: &[u8], value: &Tlv| value.payload.clone();
    values(bytes, Layout::Protobuf, Coding::Varint, protobuf_value, payload, deepest)
}

/// The beginning of an item: how long it is, and what follows.
struct Head {
    length: usize,
    what: What,
}

enum What {
    /// So many bytes.
    Scalar(usize),
    /// So many bytes whose number is stated.
    Bytes(usize, Coding),
    /// So many items, or as many as come before a break.
    List(Option<usize>, Option<Coding>),
    /// So many pairs.
    Map(Option<usize>, Option<Coding>),
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let digits = bytes.get(at..at.checked_add(width)?)?;
    let number = digits.iter().fold(0_u64, |number, &digit| number << 8 | u64::from(digit));
    usize::try_from(number).ok()
}

fn message_pack_head(bytes: &[u8], at: usize) -> Option<Head> {
    let first = *bytes.get(at)?;
    let small = usize::from(first);
    let stated = |width: usize| number(bytes, at + 1, width);
    let head = |width: usize, what: What| Some(Head { length: 1 + width, what });
    let text = Coding::MessagePack(Sort::Text);
    let data = Coding::MessagePack(Sort::Bytes);
    let list = Some(Coding::MessagePack(Sort::List));
    let map = Some(Coding::MessagePack(Sort::Map));
    let scalar = |length| head(0, What::Scalar(length));
    match first {
        0x00..=0x7f | 0xc0 | 0xc2 | 0xc3 | 0xe0.. => scalar(0),
        0x80..=0x8f => head(0, What::Map(Some(small & 15), map)),
        0x90..=0x9f => head(0, What::List(Some(small & 15), list)),
        0xa0..=0xbf => head(0, What::Bytes(small & 31, text)),
        0xc4..=0xc6 => {
            let width = 1 << (first - 0xc4);
            head(width, What::Bytes(stated(width)?, data))
        }
        0xc7..=0xc9 => {
            let width = 1 << (first - 0xc7);
            head(width, What::Scalar(stated(width)?.checked_add(1)?))
        }
        0xca | 0xce | 0xd2 => scalar(4),
        0xcb | 0xcf | 0xd3 => scalar(8),
        0xcc | 0xd0 => scalar(1),
        0xcd | 0xd1 => scalar(2),
        0xd4..=0xd8 => scalar(1 + (1 << (first - 0xd4))),
        0xd9..=0xdb => {
            let width = 1 << (first - 0xd9);
            head(width, What::Bytes(stated(width)?, text))
        }
        0xdc | 0xdd => {
            let width = 2 << (first - 0xdc);
            head(width, What::List(Some(stated(width)?), list))
        }
        0xde | 0xdf => {
            let width = 2 << (first - 0xde);
            head(width, What::Map(Some(stated(width)?), map))
        }
        0xc1 => None,
    }
}

fn cbor_head(bytes: &[u8], at: usize) -> Option<Head> {
    let first = *bytes.get(at)?;
    let (major, low) = (first >> 5, first & 31);
    let (width, stated) = match low {
        0..24 => (0, Some(usize::from(low))),
        24..28 => {
            let width = 1 << (low - 24);
            // Numbers may be larger than anything that has a length.
            match major {
                0 | 1 | 6 | 7 => (width, Some(0)),
                _ => (width, Some(number(bytes, at + 1, width)?)),
            }
        }
        31 => (0, None),
        _ => return None,
    };
    let coding = stated.map(|_| Coding::Cbor(major));
    let what = match (major, stated) {
        (0 | 1 | 7, Some(_)) => What::Scalar(0),
        (2 | 3, Some(length)) => What::Bytes(length, Coding::Cbor(major)),
        (2 | 3, None) => What::List(None, None),
        (4, count) => What::List(count, coding),
        (5, count) => What::Map(count, coding),
        (6, Some(_)) => What::List(Some(1), None),
        _ => return None,
    };
    Some(Head { length: 1 + width, what })
}

/// A list or a map that is being read.
struct Level {
    /// Items that are missing yet; none if a break ends them.
    left: Option<usize>,
    map: bool,
    /// The key of a pair was read, its value not yet.
    in_pair: bool,
}

fn items(
    bytes: &[u8],
    layout: Layout,
    head: fn(&[u8], usize) -> Option<Head>,
    nothing: &'static [u8],
    deepest: usize,
) -> Option<Builder> {
    const BREAK: u8 = 0xff;
    let mut builder = Builder::new(layout, deepest);
    let mut levels: Vec<Level> = Vec::new();
    let (mut at, mut roots) = (0, 0);
    while at < bytes.len() || !levels.is_empty() {
        if let Some(level) = levels.last_mut() {
            let broken = level.left.is_none() && bytes.get(at) == Some(&BREAK);
            if level.left == Some(0) || (broken && !level.in_pair) {
                at += usize::from(broken);
                levels.pop();
                builder.close(at);
                after(&mut levels, &mut builder, at);
                continue;
            }
            if level.map && !level.in_pair {
                builder.open(Role::Member, at);
            }
        } else {
            roots += 1;
        }
        let Head { length, what } = head(bytes, at)?;
        let value = builder.open(Role::Value, at);
        // What stands in a list can vanish, and its count follows; half of a pair cannot.
        if levels.last().is_some_and(|level| level.map) {
            builder.rest(value, nothing);
        }
        let field = at..at + length;
        let end = at.checked_add(length)?;
        at = end;
        match what {
            What::Scalar(more) => at = end.checked_add(more)?,
            What::Bytes(more, coding) => {
                at = end.checked_add(more)?;
                if more > 0 {
                    let payload = builder.add(Role::Payload, end..at);
                    let measure = Measure::Bytes(0);
                    builder.length(payload, Length { at: field, coding, measure });
                }
            }
            What::List(left, coding) | What::Map(left, coding) => {
                if let Some(coding) = coding {
                    let measure = Measure::Count;
                    builder.length(value, Length { at: field, coding, measure });
                }
                let map = matches!(what, What::Map(..));
                levels.push(Level { left, map, in_pair: false });
                continue;
            }
        }
        if at > bytes.len() {
            return None;
        }
        builder.close(at);
        after(&mut levels, &mut builder, at);
    }
    (builder.len() >= FEWEST && roots * FEWEST <= builder.len()).then_some(builder)
}

/// A value is complete: so is the pair that it ends.
fn after(levels: &mut [Level], builder: &mut Builder, at: usize) {
    let Some(level) = levels.last_mut() else { return };
    if level.map && !level.in_pair {
        level.in_pair = true;
        return;
    }
    if level.map {
        builder.close(at);
    }
    level.in_pair = false;
    level.left = level.left.map(|left| left - 1);
}

pub(super) fn message_pack(bytes: &[u8], deepest: usize) -> Option<Builder> {
    matches!(bytes.first()?, 0x80..=0x9f | 0xdc..=0xdf)
        .then(|| items(bytes, Layout::MessagePack, message_pack_head, b"\xc0", deepest))?
}

pub(super) fn cbor(bytes: &[u8], deepest: usize) -> Option<Builder> {
    matches!(bytes.first()?, 0x80..=0xbf | 0xd9)
        .then(|| items(bytes, Layout::Cbor, cbor_head, b"\xf6", deepest))?
}
