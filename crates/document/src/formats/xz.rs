//! xz streams, one or several in a row.

use liblzma::read::{XzDecoder, XzEncoder};
use liblzma::stream::Stream;
use std::io::Read as _;

use crate::content::Content;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found};

const MAGIC: &[u8] = b"\xfd7zXZ\0";
const LEVEL: u32 = 6;
/// What a decoder may take: the largest preset needs 65 MB.
const MEMORY: u64 = 128 << 20;

struct Xz;

impl Codec for Xz {
    fn kind(&self) -> Kind {
        Kind::Xz
    }

    /// The format can store only together with a dictionary: compressed is what programs know.
    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        let mut packed = Vec::new();
        let mut encoder = XzEncoder::new(content.bytes(), LEVEL);
        encoder.read_to_end(&mut packed).expect("memory takes everything");
        out.push(&packed);
    }
}

/// A stream that all of the bytes are.
pub(crate) fn whole(bytes: &[u8], budget: &mut Budget) -> Option<Found> {
    if !bytes.starts_with(MAGIC) {
        return None;
    }
    let stream = Stream::new_stream_decoder(MEMORY, liblzma::stream::CONCATENATED).ok()?;
    let inner = budget.read(XzDecoder::new_stream(bytes, stream))?;
    Some(Found::encoding(Xz, inner.into()))
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    whole(content, budget)
}
