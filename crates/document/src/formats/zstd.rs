//! Zstandard frames, one or several in a row.

use std::io::Write as _;

use zstd::stream::read::Decoder;
use zstd::stream::write::Encoder;

use crate::content::Content;
use crate::formats::numbers::le32;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found};

const MAGIC: u64 = 0xfd2f_b528;
const LEVEL: i32 = 3;
/// The longest window, as a power of two, that is unpacked.
const WINDOW: u32 = 27;
/// The longest raw block.
const BLOCK: usize = 128 << 10;

/// The writer, and whether a checksum follows the content.
struct Zstd {
    checksum: bool,
}

impl Codec for Zstd {
    fn kind(&self) -> Kind {
        Kind::Zstd
    }

    fn encode(&self, content: &Out, style: Style, out: &mut Out) {
        match style {
            Style::Packed => out.push(&self.pack(content.bytes())),
            Style::Stored | Style::Blocks => store(content, out),
        }
    }
}

impl Zstd {
    fn pack(&self, content: &[u8]) -> Vec<u8> {
        let mut encoder = Encoder::new(Vec::new(), LEVEL).expect("the level is known");
        encoder.include_checksum(self.checksum).expect("nothing was written yet");
        encoder.set_pledged_src_size(Some(content.len() as u64)).expect("nothing was written yet");
        encoder.write_all(content).expect("memory takes everything");
        encoder.finish().expect("memory takes everything")
    }
}

/// One frame of raw blocks: one segment, its length in eight bytes, no checksum.
fn store(content: &Out, out: &mut Out) {
    out.push(&(MAGIC as u32).to_le_bytes());
    out.push(&[0b1110_0000]);
    out.push(&(content.len() as u64).to_le_bytes());
    let mut from = 0;
    loop {
        let to = content.len().min(from + BLOCK);
        let last = to == content.len();
        let header = ((to - from) as u32) << 3 | u32::from(last);
        out.push(&header.to_le_bytes()[..3]);
        out.append_range(content, from..to);
        if last {
            return;
        }
        from = to;
    }
}

/// A stream that all of the bytes are.
pub(crate) fn whole(bytes: &[u8], budget: &mut Budget) -> Option<Found> {
    if le32(bytes, 0)? != MAGIC {
        return None;
    }
    let checksum = bytes.get(4)? & 4 != 0;
    let mut decoder = Decoder::with_buffer(bytes).ok()?;
    decoder.window_log_max(WINDOW).ok()?;
    let inner = budget.read(decoder)?;
    Some(Found::encoding(Zstd { checksum }, inner.into()))
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    whole(content, budget)
}
