//! GIF: blocks whose data come in pieces of at most 255 bytes.

use std::sync::Arc;

use super::sequence::Sequence;
use crate::content::Content;
use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Found, Piece};

/// The head of a block, and how long its pieces were.
#[derive(Clone)]
struct Block {
    head: Content,
    lengths: Vec<u8>,
    /// Whether an empty piece ends it.
    ended: bool,
}

impl Form for Block {
    fn kind(&self) -> Kind {
        Kind::Gif
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        out.push(&self.head);
        let mut data = out.fresh();
        for at in 0..parts.len() {
            parts.write(at, &mut data);
        }
        let before: usize = self.lengths.iter().map(|&length| usize::from(length)).sum();
        let mut at = 0;
        for number in 0.. {
            if at == data.len() {
                break;
            }
            let left = (data.len() - at).min(255);
            let same = before == data.len();
            let length = if same { usize::from(self.lengths[number]) } else { left };
            out.push(&[length as u8]);
            out.append_range(&data, at..at + length);
            at += length;
        }
        if self.ended {
            out.push(&[0]);
        }
    }

    fn keep(&self, _: &[usize]) -> Arc<dyn Form> {
        Arc::new(self.clone())
    }
}

/// How long a table of colours is, by the byte that says so.
fn colours(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// The block at a place, and where it ends.
fn block(bytes: &Content, at: usize) -> Option<(Piece, usize)> {
    let (name, head) = match bytes.get(at..)? {
        [0x21, 0xfe, ..] => ("comment", 2),
        [0x21, _, ..] => ("extension", 2),
        [0x2c, _, _, _, _, _, _, _, _, flags, ..] => ("picture", 10 + colours(*flags) + 1),
        _ => return None,
    };
    let head = bytes.get_slice(at, head)?;
    let (mut lengths, mut data) = (Vec::new(), Vec::new());
    let mut place = at + head.len();
    let ended = loop {
        let Some(&length) = bytes.get(place) else { break false };
        if length == 0 {
            place += 1;
            break true;
        }
        data.extend_from_slice(bytes.get(place + 1..place + 1 + usize::from(length))?);
        lengths.push(length);
        place += 1 + usize::from(length);
    };
    let parts = if data.is_empty() { vec![] } else { vec![Piece::leaf("data", data.into())] };
    let found = Found::container(Block { head, lengths, ended }, parts);
    Some((Piece::known(name, bytes.slice(at..place), found), place))
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    if !content.starts_with(b"GIF87a") && !content.starts_with(b"GIF89a") {
        return None;
    }
    let head = 13 + colours(*content.get(10)?);
    let mut parts = vec![Piece::leaf("screen", content.get_slice(6, head - 6)?)];
    let mut at = head;
    while let Some((piece, end)) = block(content, at) {
        parts.push(piece);
        at = end;
        if parts.len() * 2 > budget.nodes() {
            return None;
        }
    }
    if at < content.len() {
        parts.push(Piece::leaf("end", content.slice(at..)));
    }
    let signature: &'static [u8] = if content[4] == b'7' { b"GIF87a" } else { b"GIF89a" };
    Some(Sequence::behind(signature, Kind::Gif, parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{document, leaf};

    #[test]
    fn pieces_follow_their_data() {
        let mut bytes =
            b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xfe\x05hello\x03you\0".to_vec();
        bytes.extend(b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;");
        let doc = document(&bytes);
        assert_eq!(doc.root().kind(), Kind::Gif);
        assert!(doc.render() == bytes);
        let comment = leaf(&doc, b"helloyou").unwrap();
        let longer = doc.with_leaf(&comment, vec![b'x'; 300]);
        let rendered = longer.render();
        assert_eq!((rendered[21], rendered[21 + 256], rendered[21 + 256 + 46]), (255, 45, 0));
        assert!(document(&rendered).same_tree(&longer));
    }
}
