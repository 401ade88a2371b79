//! PNG: chunks with their checksums, and the picture as one stream however many chunks carry it.

use std::sync::Arc;

use super::record::{Check, Coding, Inside, Raw, Record, four_letters};
use crate::content::Content;
use crate::formats::numbers::{be, be32, size};
use crate::formats::predictor::{self, Parameters};
use crate::formats::sequence::Sequence;
use crate::formats::zlib;
use crate::node::{Field, Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Found, Piece};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const DATA: &[u8] = b"IDAT";
/// The length and the type in front of a chunk, and the checksum behind it.
const AROUND: usize = 12;

/// The chunks of the picture: how long each was, and its checksum.
#[derive(Clone)]
struct Picture {
    lengths: Vec<usize>,
    checks: Vec<Field>,
}

impl Form for Picture {
    fn kind(&self) -> Kind {
        Kind::PngChunk
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let mut stream = out.fresh();
        for at in 0..parts.len() {
            parts.write(at, &mut stream);
        }
        let same = self.lengths.iter().sum::<usize>() == stream.len();
        // As long as the longest that the writer made, if others must be made.
        let longest = self.lengths.iter().copied().max().unwrap_or(0).max(8192);
        let mut from = 0;
        for at in 0.. {
            let left = stream.len() - from;
            let length = if same { self.lengths[at] } else { left.min(longest) };
            out.push(&be::<4>(length as u64));
            let start = out.len();
            out.push(DATA);
            out.append_range(&stream, from..from + length);
            let computed = u64::from(crc32fast::hash(&out.bytes()[start..]));
            let check = self.checks.get(at).copied().filter(|_| same).unwrap_or(Field::Right);
            out.push(&be::<4>(check.or(computed)));
            from += length;
            if if same { at + 1 == self.lengths.len() } else { from == stream.len() } {
                return;
            }
        }
    }

    fn keep(&self, _: &[usize]) -> Arc<dyn Form> {
        Arc::new(self.clone())
    }
}

fn chunk(bytes: &Content, at: usize, end: usize) -> Option<Raw> {
    let length = size(be32(bytes, at)?)?;
    let kind = bytes.get_slice(at + 4, 4)?;
    let payload = at + 8..(at + 8).checked_add(length)?;
    if payload.end + 4 > end || !kind.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    let crc = u64::from(crc32fast::hash(&bytes[at + 4..payload.end]));
    let form = Record {
        kind: Kind::PngChunk,
        before: Content::default(),
        coding: Coding::Big(4),
        after: kind.clone(),
        counted: 0,
        length: Field::Right,
        check: Check::Crc(Field::of(be32(bytes, payload.end)?, crc)),
        pad: None,
    };
    let text = &bytes[payload.clone()];
    let inside = match &kind[..] {
        b"zTXt" | b"iCCP" => Inside::Unknown(memchr::memchr(0, text).map_or(0, |n| n + 2)),
        b"iTXt" => Inside::Unknown(international(text)),
        b"tEXt" => Inside::Unknown(memchr::memchr(0, text).map_or(0, |n| n + 1)),
        b"eXIf" => Inside::Unknown(0),
        _ => Inside::Leaf,
    };
    let name = four_letters(&kind);
    Some(Raw { name, form, end: payload.end + 4, payload, inside })
}

/// Where the text of an international chunk begins: behind its keyword, two bytes and two names.
fn international(text: &[u8]) -> usize {
    let after = |at: usize| memchr::memchr(0, text.get(at..)?).map(|n| at + n + 1);
    let place = || after(after(after(0)? + 2)?);
    place().unwrap_or(0)
}

/// The stream of the picture: the pixels, as far as the header says how they are arranged.
fn picture(data: &Content, header: &[u8], budget: &mut Budget) -> Option<Piece> {
    let (codec, plain) = zlib::loose(data, budget)?;
    let parameters = || {
        let colors = match header.get(9)? {
            0 | 3 => 1,
            2 => 3,
            4 => 2,
            6 => 4,
            _ => return None,
        };
        let parameters = Parameters {
            predictor: 15,
            columns: be32(header, 0)?,
            colors,
            bits: u64::from(*header.get(8)?),
        };
        // Interlaced pictures have rows of several lengths.
        (header.get(12) == Some(&0)).then_some(parameters)
    };
    let rows = parameters().and_then(|p| predictor::unpack(&plain, &p, budget));
    let inner = match rows {
        Some((rows, pixels)) => {
            let found = Found::around(rows, Piece::leaf("pixels", pixels));
            Piece::known("rows", plain, found)
        }
        None => Piece::leaf("rows", plain),
    };
    Some(Piece::known("picture", data.clone(), Found::around(codec, inner)))
}

pub(crate) fn read(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    if !bytes.starts_with(SIGNATURE) {
        return None;
    }
    let mut pieces = Vec::new();
    let mut header: &[u8] = &[];
    let mut at = SIGNATURE.len();
    while at < bytes.len() && pieces.len() * 3 < budget.nodes() {
        if bytes[at..].get(4..8) == Some(DATA) {
            let (mut lengths, mut checks, mut data) = (Vec::new(), Vec::new(), Vec::new());
            let mut end = at;
            while bytes[end..].get(4..8) == Some(DATA)
                && let Some(raw) = chunk(bytes, end, bytes.len())
            {
                data.extend_from_slice(&bytes[raw.payload.clone()]);
                lengths.push(raw.payload.len());
                if let Check::Crc(field) = raw.form.check {
                    checks.push(field);
                }
                end = raw.end;
            }
            let data = Content::from(data);
            if let Some(piece) = picture(&data, header, budget) {
                let found = Found::container(Picture { lengths, checks }, vec![piece]);
                pieces.push(Piece::known("IDAT", bytes.slice(at..end), found));
                at = end;
                continue;
            }
        }
        let Some(raw) = chunk(bytes, at, bytes.len()) else { break };
        if pieces.is_empty() {
            header = &bytes[raw.payload.clone()];
        }
        let mut one = super::record::records(bytes, at..raw.end, chunk, 2, budget, &mut 0)?;
        pieces.append(&mut one);
        at = raw.end;
    }
    if pieces.is_empty() || at < SIGNATURE.len() + AROUND {
        return None;
    }
    if at < bytes.len() {
        pieces.push(Piece::new("rest", bytes.slice(at..)));
    }
    Some(Sequence::behind(SIGNATURE, Kind::Png, pieces))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{document, leaf, path, python, python_reads};

    const WRITE: &str = "
import struct, sys, zlib
def chunk(t, d): return struct.pack('>I', len(d)) + t + d + struct.pack('>I', zlib.crc32(t + d))
rows, above = b'', bytes(300)
for y in range(100):
    row = bytes((x * y + x) & 255 for x in range(300))
    rows += b'\\x02' + bytes((a - b) & 255 for a, b in zip(row, above)); above = row
data = zlib.compress(rows, 9)
out = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 100, 100, 8, 2, 0, 0, 0))
out += chunk(b'tEXt', b'Author\\0Anneliese Brandt') + chunk(b'zTXt', b'Comment\\0\\0' + zlib.compress(b'private ' * 20))
for i in range(0, len(data), 1000): out += chunk(b'IDAT', data[i:i + 1000])
sys.stdout.buffer.write(out + chunk(b'IEND', b''))
";
    const CHECK: &str = "
import struct, sys, zlib
b = sys.stdin.buffer.read(); at = 8; data = b''
while at < len(b):
    n, t = struct.unpack('>I4s', b[at:at + 8]); d = b[at + 8:at + 8 + n]
    assert struct.unpack('>I', b[at + 8 + n:at + 12 + n])[0] == zlib.crc32(t + d)
    if t == b'IDAT': data += d
    else: print(t.decode(), n)
    at += 12 + n
print(len(zlib.decompress(data)))
";

    #[test]
    fn pictures_are_written_as_they_were() {
        let bytes = python(WRITE, &[], b"");
        let doc = document(&bytes);
        assert_eq!(doc.root().kind(), Kind::Png);
        assert!(doc.render() == bytes);
        assert!(leaf(&doc, b"private private").is_some());
        assert!(doc.leaves().any(|(_, content)| content.len() == 30_000));
    }

    #[test]
    fn edited_pictures_are_read_by_others() {
        let doc = document(&python(WRITE, &[], b""));
        let pixels = doc.leaves().find(|(_, content)| content.len() == 30_000).unwrap().0;
        let comment = leaf(&doc, b"private").unwrap();
        let edited = doc
            .with_leaves([(pixels, vec![7; 30_000].into()), (comment, b"x".to_vec().into())])
            .without([&path(&doc, "tEXt")]);
        let list = python_reads(CHECK, &edited.render());
        assert_eq!(list, "IHDR 13\nzTXt 18\nIEND 0\n30100\n");
        assert_eq!(
            python_reads(CHECK, &edited.render_stored().bytes).lines().last(),
            Some("30100")
        );
        assert!(document(&edited.render()).same_tree(&edited));
    }
}
