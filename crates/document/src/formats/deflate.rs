//! Deflate without a frame: inside ZIP, gzip and zlib, and rarely alone.

use flate2::write::DeflateEncoder;
use flate2::{Compression, bufread::DeflateDecoder};
use std::io::Write as _;

use crate::content::Content;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found};

/// The longest stored block.
const BLOCK: usize = 0xffff;
/// Contents beyond this are compressed quickly rather than well.
const LARGE: usize = 4 << 20;
/// Streams that nothing announces are believed from this length on.
const SHORTEST: usize = 24;

/// The writer of deflate.
pub(crate) struct Deflate;

impl Codec for Deflate {
    fn kind(&self) -> Kind {
        Kind::Deflate
    }

    fn encode(&self, content: &Out, style: Style, out: &mut Out) {
        match style {
            Style::Packed => out.push(&pack(content.bytes())),
            Style::Stored | Style::Blocks => store(content, out),
        }
    }
}

/// The content, compressed.
fn pack(content: &[u8]) -> Vec<u8> {
    let level = if content.len() > LARGE { Compression::fast() } else { Compression::default() };
    let mut encoder = DeflateEncoder::new(Vec::new(), level);
    encoder.write_all(content).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

/// The content in stored blocks.
fn store(content: &Out, out: &mut Out) {
    let mut from = 0;
    loop {
        let to = content.len().min(from + BLOCK);
        let (last, length) = (to == content.len(), (to - from) as u16);
        out.push(&[u8::from(last)]);
        out.push(&length.to_le_bytes());
        out.push(&(!length).to_le_bytes());
        out.append_range(content, from..to);
        if last {
            return;
        }
        from = to;
    }
}

/// What a stream at the beginning of the bytes unpacks to, and how long the stream is.
pub(crate) fn unpack(bytes: &[u8], budget: &mut Budget) -> Option<(Content, usize)> {
    let mut decoder = DeflateDecoder::new(bytes);
    let content = budget.read(&mut decoder)?;
    let length = usize::try_from(decoder.total_in()).ok()?;
    Some((content.into(), length))
}

/// A stream that all of the bytes are.
pub(crate) fn whole(bytes: &[u8], budget: &mut Budget) -> Option<Found> {
    let (content, length) = unpack(bytes, budget)?;
    (length == bytes.len()).then(|| Found::encoding(Deflate, content))
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    // Text is no deflate stream, and the kind of its first block is rarely anything but dynamic.
    let plausible = content.len() >= SHORTEST && content[0] & 7 != 7 && !content.is_ascii();
    if !plausible {
        return None;
    }
    let (inner, length) = unpack(content, budget)?;
    let worth = length == content.len() && inner.len() >= content.len();
    worth.then(|| Found::encoding(Deflate, inner))
}
