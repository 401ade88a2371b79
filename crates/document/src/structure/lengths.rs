//! Lengths and counts in front of what they tell about, and how they follow a change.
//!
//! A length that follows may need more or fewer bytes than before; then the lengths around it follow that,
//! too, from the inside to the outside.

use std::ops::Range;

use super::{Change, Structure};

/// How a length is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// So many bytes, the highest first.
    Big(u8),
    /// So many bytes, the lowest first.
    Little(u8),
    /// As DER does.
    Der,
    /// Seven bits a byte, the lowest first.
    Varint,
    /// The length or count of a MessagePack value of this sort, with its first byte.
    MessagePack(Sort),
    /// The length or count of a CBOR item of this major type, with its first byte.
    Cbor(u8),
}

/// The MessagePack values that state a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Text,
    Bytes,
    List,
    Map,
}

/// What is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// How many bytes the element has, and so many more.
    Bytes(usize),
    /// How many elements are directly inside.
    Count,
}

/// A length or count of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Length {
    pub at: Range<usize>,
    pub coding: Coding,
    pub measure: Measure,
}

impl Coding {
    /// The number as it is written, as short as the coding allows. Numbers that do not fit wrap around: no
    /// reader can be told more.
    fn write(self, number: usize) -> Vec<u8> {
        let number = number as u64;
        let big = |width: usize| number.to_be_bytes()[8 - width..].to_vec();
        let headed = |first: u8, width: usize| [&[first][..], &big(width)].concat();
        let shortest = (64 - number.leading_zeros() as usize).div_ceil(8).max(1);
        match self {
            Coding::Big(width) => big(width as usize),
            Coding::Little(width) => number.to_le_bytes()[..width as usize].to_vec(),
            Coding::Der if number < 128 => vec![number as u8],
            Coding::Der => headed(0x80 | shortest as u8, shortest),
            Coding::Varint => {
                let (mut left, mut bytes) = (number, Vec::new());
                while left >= 128 {
                    bytes.push(left as u8 | 128);
                    left >>= 7;
                }
                bytes.push(left as u8);
                bytes
            }
            Coding::Cbor(major) => match number {
                0..24 => vec![major << 5 | number as u8],
                24..256 => headed(major << 5 | 24, 1),
                256..65_536 => headed(major << 5 | 25, 2),
                65_536..=0xffff_ffff => headed(major << 5 | 26, 4),
                _ => headed(major << 5 | 27, 8),
            },
            Coding::MessagePack(sort) => {
                let width: usize = match number {
                    0..256 => 1,
                    256..65_536 => 2,
                    _ => 4,
                };
                let step = |first: u8| headed(first + width.trailing_zeros() as u8, width);
                let wide = |first: u8| headed(first + u8::from(number > 65_535), width.max(2));
                match sort {
                    Sort::Text if number < 32 => vec![0xa0 | number as u8],
                    Sort::Text => step(0xd9),
                    Sort::Bytes => step(0xc4),
                    Sort::List if number < 16 => vec![0x90 | number as u8],
                    Sort::List => wide(0xdc),
                    Sort::Map if number < 16 => vec![0x80 | number as u8],
                    Sort::Map => wide(0xde),
                }
            }
        }
    }
}

/// Adds to the changes what follows from them. They are in order and do not overlap.
pub(super) fn follow(structure: &Structure, bytes: &[u8], changes: Vec<Change>) -> Vec<Change> {
    let elements = &structure.elements;
    if changes.is_empty() || !structure.has_lengths {
        return changes;
    }
    // By how much each element grows, its own length field not included; children come after parents, so
    // from the back to the front every element is complete when it is met.
    let mut growth = vec![0_isize; elements.len()];
    let mut lost = vec![0_usize; elements.len()];
    for (change, holder) in changes.iter().zip(holders(structure, &changes)) {
        if let Some(holder) = holder {
            growth[holder] += change.bytes.len() as isize - change.range.len() as isize;
        }
    }
    for element in elements {
        let at = changes.partition_point(|change| change.range.end <= element.range.start);
        let gone = changes.get(at).is_some_and(|change| {
            change.bytes.is_empty()
                && change.range.start <= element.range.start
                && element.range.end <= change.range.end
        });
        if let (true, Some(parent)) = (gone && !element.range.is_empty(), element.parent) {
            lost[parent] += 1;
        }
    }
    let mut all = changes.clone();
    for number in (0..elements.len()).rev() {
        let element = &elements[number];
        let mut grown = growth[number];
        let touched = grown != 0 || lost[number] > 0;
        if let (Some(length), true) = (&element.length, touched) {
            let told = match length.measure {
                Measure::Bytes(more) => element.range.len().wrapping_add_signed(grown) + more,
                Measure::Count => structure.children(number).count().saturating_sub(lost[number]),
            };
            let at = changes.partition_point(|change| change.range.end <= length.at.start);
            let replaced = changes.get(at).is_some_and(|next| next.range.start < length.at.end);
            let field = length.coding.write(told);
            if !replaced && field != bytes[length.at.clone()] {
                let more = field.len() as isize - length.at.len() as isize;
                all.push(Change { range: length.at.clone(), bytes: field.into() });
                // The field lies in the parent, or, for a count, in the element itself.
                if element.range.start <= length.at.start {
                    grown += more;
                } else if let Some(parent) = element.parent {
                    growth[parent] += more;
                }
            }
        }
        if let Some(parent) = element.parent {
            growth[parent] += grown;
        }
    }
    all.sort_by_key(|change| (change.range.start, change.range.end));
    all
}

/// For each change the smallest element that holds it and is not replaced as a whole.
fn holders(structure: &Structure, changes: &[Change]) -> Vec<Option<usize>> {
    let elements = &structure.elements;
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    let mut holders = Vec::with_capacity(changes.len());
    for change in changes {
        while next < elements.len() && elements[next].range.start <= change.range.start {
            while open.last().is_some_and(|&last| elements[next].parent != Some(last)) {
                open.pop();
            }
            open.push(next);
            next += 1;
        }
        let holds = |&&number: &&usize| {
            let element = &elements[number];
            let (inner, outer) = (&change.range, &element.range);
            let whole = inner == outer && element.length.is_none();
            outer.start <= inner.start && inner.end <= outer.end && !whole
        };
        holders.push(open.iter().rev().find(holds).copied());
    }
    holders
}
