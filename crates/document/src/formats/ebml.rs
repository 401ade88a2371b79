//! EBML: Matroska and WebM. Elements with an identifier and a length that may be unknown.
//!
//! Positions inside the segment (seek heads, cues) are content and stay as they were; readers use them only
//! to jump.

use super::record::{Check, Coding, Inside, Raw, Record, records};
use super::sequence::Sequence;
use crate::content::Content;
use crate::node::{Field, Kind};
use crate::parse::{Budget, Found};

/// Elements that hold elements.
const HOLDERS: &[u32] = &[
    0x1a45_dfa3,
    0x1853_8067,
    0x114d_9b74,
    0x4dbb,
    0x1549_a966,
    0x1654_ae6b,
    0xae,
    0xe0,
    0xe1,
    0x6d80,
    0x6240,
    0x1f43_b675,
    0xa0,
    0x1c53_bb6b,
    0xbb,
    0xb7,
    0x1254_c367,
    0x7373,
    0x63c0,
    0x67c8,
    0x1043_a770,
    0x45b9,
    0xb6,
    0x80,
    0x1941_a469,
    0x61a7,
];

/// How many bytes a number has that begins with this byte.
fn width(first: u8) -> Option<usize> {
    let zeros = first.leading_zeros() as usize;
    (zeros < 8).then_some(zeros + 1)
}

fn element(bytes: &Content, at: usize, end: usize) -> Option<Raw> {
    let long = width(*bytes.get(at)?).filter(|&long| long <= 4)?;
    let id = bytes.get_slice(at, long)?;
    let number = id.iter().fold(0, |n: u32, &b| n << 8 | u32::from(b));
    let place = at + long;
    let wide = width(*bytes.get(place)?)?;
    let field = bytes.get(place..place + wide)?;
    let stated = field[1..]
        .iter()
        .fold(u64::from(field[0]) & ((1 << (8 - wide)) - 1), |n, &b| n << 8 | u64::from(b));
    let from = place + wide;
    let unknown = stated == (1 << (7 * wide)) - 1;
    let (coding, to) = if unknown {
        let mut told = [0; 8];
        told[..wide].copy_from_slice(field);
        (Coding::Open(told, wide), end)
    } else {
        (Coding::Ebml(wide), from.checked_add(usize::try_from(stated).ok()?)?)
    };
    if to > end || from > to {
        return None;
    }
    let form = Record {
        kind: Kind::EbmlElement,
        before: id,
        coding,
        after: Content::default(),
        counted: 0,
        length: Field::Right,
        check: Check::None,
        pad: None,
    };
    let inside = if HOLDERS.contains(&number) { Inside::Records(0) } else { Inside::Leaf };
    Some(Raw { name: format!("element {number:x}"), form, payload: from..to, end: to, inside })
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    if !content.starts_with(b"\x1a\x45\xdf\xa3") {
        return None;
    }
    let pieces = records(content, 0..content.len(), element, budget.depth(), budget, &mut 0)?;
    Some(Sequence::found(Kind::Ebml, pieces))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{document, leaf};

    #[test]
    fn lengths_follow_and_grow() {
        let mut bytes =
            b"\x1a\x45\xdf\xa3\x84\x42\x86\x81\x01\x18\x53\x80\x67\x01\0\0\0\0\0\0\x0f".to_vec();
        bytes.extend(b"\x15\x49\xa9\x66\x8a\x7b\xa9\x87A. Brand");
        bytes.truncate(bytes.len() - 1);
        let doc = document(&bytes);
        assert_eq!(doc.root().kind(), Kind::Ebml);
        assert!(doc.render() == bytes);
        let title = leaf(&doc, b"A. Bran").unwrap();
        let longer = doc.with_leaf(&title, vec![b'x'; 200]).render();
        // 200 needs two bytes, and so does what is around it; eight were there for the segment.
        assert_eq!(longer[13..21], [0x01, 0, 0, 0, 0, 0, 0, 210]);
        assert_eq!(longer[25..27], [0x40, 204]);
        assert_eq!(longer[29..31], [0x40, 200]);
    }
}
