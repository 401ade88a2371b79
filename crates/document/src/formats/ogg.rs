//! Ogg: pages with a table of packet lengths and a checksum. A page is a container of its packets.
//!
//! Numbers of pages are content of the page's head and stay as they were: a removed page is a hole, which
//! readers report and survive.

use std::sync::Arc;

use super::sequence::Sequence;
use crate::content::Content;
use crate::formats::numbers::{le, le32};
use crate::node::{Field, Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Found, Piece};

const SIGNATURE: &[u8] = b"OggS";
/// Where the checksum is, and how long the head is without its table.
const SUM: usize = 22;
const HEAD: usize = 27;

#[derive(Clone)]
struct Page {
    /// All between the signature and the checksum.
    head: Content,
    sum: Field,
    /// The last packet goes on in the next page.
    goes_on: bool,
}

/// The checksum of Ogg: the polynomial of CRC-32, but from the highest bit on and without inversion.
fn checksum(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x04c1_1db7;
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut at = 0;
        while at < 256 {
            let mut value = (at as u32) << 24;
            let mut bit = 0;
            while bit < 8 {
                value = if value >> 31 == 1 { value << 1 ^ POLYNOMIAL } else { value << 1 };
                bit += 1;
            }
            table[at] = value;
            at += 1;
        }
        table
    };
    bytes.iter().fold(0, |sum, &byte| sum << 8 ^ TABLE[(sum >> 24) as usize ^ usize::from(byte)])
}

impl Form for Page {
    fn kind(&self) -> Kind {
        Kind::OggPage
    }

    /// A table has 255 places; packets that need more are cut off, because the page cannot hold them.
    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let start = out.len();
        let mut body = out.fresh();
        let mut table = Vec::new();
        for at in 0..parts.len() {
            let mut packet = out.fresh();
            parts.write(at, &mut packet);
            let open = self.goes_on && at + 1 == parts.len();
            let room = 255 - table.len();
            let most = (room * 255).saturating_sub(usize::from(!open));
            let mut length = packet.len().min(most);
            if open {
                length -= length % 255;
            }
            table.extend(vec![255; length / 255]);
            if !open && table.len() < 255 {
                table.push((length % 255) as u8);
            }
            body.append_range(&packet, 0..length);
        }
        out.push(SIGNATURE);
        out.push(&self.head);
        out.push(&[0; 4]);
        out.push(&[table.len() as u8]);
        out.push(&table);
        out.append(&body);
        let sum = self.sum.or(u64::from(checksum(&out.bytes()[start..])));
        out.patch(start + SUM, &le::<4>(sum));
    }

    fn keep(&self, _: &[usize]) -> Arc<dyn Form> {
        Arc::new(self.clone())
    }
}

fn page(bytes: &Content, at: usize) -> Option<(Piece, usize)> {
    if !bytes.get(at..)?.starts_with(SIGNATURE) {
        return None;
    }
    let table = bytes.get_slice(at + HEAD, usize::from(*bytes.get(at + HEAD - 1)?))?;
    let mut place = at + HEAD + table.len();
    let (mut parts, mut length) = (Vec::new(), 0);
    for &lace in table.iter() {
        length += usize::from(lace);
        if lace < 255 {
            parts.push(Piece::leaf("packet", bytes.get_slice(place, length)?));
            place += length;
            length = 0;
        }
    }
    let goes_on = table.last() == Some(&255);
    if goes_on {
        parts.push(Piece::leaf("packet", bytes.get_slice(place, length)?));
        place += length;
    }
    let mut blank = bytes.slice(at..place).to_vec();
    blank[SUM..SUM + 4].fill(0);
    let sum = Field::of(le32(bytes, at + SUM)?, u64::from(checksum(&blank)));
    let form = Page { head: bytes.slice(at + 4..at + SUM), sum, goes_on };
    Some((Piece::known("page", bytes.slice(at..place), Found::container(form, parts)), place))
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some((piece, end)) = page(content, at) {
        parts.push(piece);
        at = end;
        if parts.len() * 2 > budget.nodes() {
            return None;
        }
    }
    if parts.is_empty() {
        return None;
    }
    if at < content.len() {
        parts.push(Piece::new("rest", content.slice(at..)));
    }
    Some(Sequence::found(Kind::Ogg, parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::document;

    #[test]
    fn tables_and_checksums_follow() {
        // The first page of a file with Vorbis in it.
        let mut bytes = b"OggS\0\x02".to_vec();
        bytes.extend([0; 8]);
        bytes.extend(
            b"\x01\0\0\0\0\0\0\0\0\0\0\0\x01\x1e\x01vorbis\0\0\0\0\x02\x44\xac\0\0\0\0\0\0",
        );
        bytes.extend(b"\x80\x38\x01\0\0\0\0\0\xb8\x01");
        bytes.truncate(28 + 30);
        let sum = checksum(&bytes);
        bytes[22..26].copy_from_slice(&sum.to_le_bytes());
        let doc = document(&bytes);
        assert_eq!(doc.root().kind(), Kind::Ogg);
        assert!(doc.render() == bytes);
        let packet = doc.leaves().next().unwrap().0;
        let longer = doc.with_leaf(&packet, vec![7; 600]);
        let rendered = longer.render();
        assert_eq!(rendered[26..30], [3, 255, 255, 90]);
        assert!(document(&rendered).same_tree(&longer));
        // A known value: the checksum of "123456789" with these parameters.
        assert_eq!(checksum(b"123456789"), 0x89a1_897f);
    }
}
