//! Deflate without a frame: inside ZIP, gzip and zlib, and rarely alone.
//!
//! A stream that was cut off is written as one that is cut off: what it holds, and no end.

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};

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

/// How a stream ends.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    Whole,
    CutOff,
}

/// The writer of deflate.
pub(crate) struct Deflate(pub End);

impl Codec for Deflate {
    fn kind(&self) -> Kind {
        Kind::Deflate
    }

    fn encode(&self, content: &Out, style: Style, out: &mut Out) {
        match style {
            Style::Packed => out.push(&pack(content.bytes(), self.0)),
            Style::Stored | Style::Blocks => store(content, self.0, out),
        }
    }
}

/// The content, compressed.
fn pack(content: &[u8], end: End) -> Vec<u8> {
    let level = if content.len() > LARGE { Compression::fast() } else { Compression::default() };
    let mut encoder = DeflateEncoder::new(Vec::new(), level);
    encoder.write_all(content).expect("memory takes everything");
    match end {
        End::Whole => encoder.finish().expect("memory takes everything"),
        End::CutOff => {
            encoder.flush().expect("memory takes everything");
            std::mem::take(encoder.get_mut())
        }
    }
}

/// The content in stored blocks.
fn store(content: &Out, end: End, out: &mut Out) {
    let mut from = 0;
    loop {
        let to = content.len().min(from + BLOCK);
        let (last, length) = (to == content.len(), (to - from) as u16);
        out.push(&[u8::from(last && end == End::Whole)]);
        out.push(&length.to_le_bytes());
        out.push(&(!length).to_le_bytes());
        out.append_range(content, from..to);
        if last {
            return;
        }
        from = to;
    }
}

/// What a stream holds, how long it is, and how it ends.
pub(crate) struct Inflated {
    pub content: Content,
    pub length: usize,
    pub end: End,
}

/// What a stream at the beginning of the bytes holds, also if the bytes end before it does.
pub(crate) fn inflate(bytes: &[u8], budget: &mut Budget) -> Option<Inflated> {
    const STEP: usize = 32 << 10;
    let mut state = Decompress::new(false);
    let mut content = Vec::new();
    let end = loop {
        if content.capacity() - content.len() < STEP {
            content.reserve(content.len().max(STEP));
        }
        let taken = state.total_in() as usize;
        let before = content.len();
        let status = state.decompress_vec(&bytes[taken..], &mut content, FlushDecompress::None);
        let stuck = state.total_in() as usize == taken && content.len() == before;
        match status {
            Ok(Status::StreamEnd) => break End::Whole,
            Ok(_) if content.len() > budget.bytes() => break End::CutOff,
            Ok(_) if stuck => break End::CutOff,
            Ok(_) => {}
            Err(_) => {
                let _ = budget.pay(content.len());
                return None;
            }
        }
    };
    budget.pay(content.len())?;
    Some(Inflated { content: content.into(), length: state.total_in() as usize, end })
}

/// What a whole stream at the beginning of the bytes unpacks to, and how long the stream is.
pub(crate) fn unpack(bytes: &[u8], budget: &mut Budget) -> Option<(Content, usize)> {
    let found = inflate(bytes, budget)?;
    (found.end == End::Whole).then_some((found.content, found.length))
}

/// A stream that all of the bytes are.
pub(crate) fn whole(bytes: &[u8], budget: &mut Budget) -> Option<Found> {
    let found = inflate(bytes, budget)?;
    let something = found.end == End::Whole || !found.content.is_empty();
    let all = found.length == bytes.len() && something;
    all.then(|| Found::encoding(Deflate(found.end), found.content))
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    // Text is no deflate stream, and the kind of its first block is rarely anything but dynamic.
    let plausible = content.len() >= SHORTEST && content[0] & 7 != 7 && !content.is_ascii();
    if !plausible {
        return None;
    }
    let (inner, length) = unpack(content, budget)?;
    let worth = length == content.len() && inner.len() >= content.len();
    worth.then(|| Found::encoding(Deflate(End::Whole), inner))
}
