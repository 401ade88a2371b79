//! bzip2 streams, one or several in a row.

use bzip2::Compression;
use bzip2::read::{BzEncoder, MultiBzDecoder};
use std::io::Read as _;

use crate::content::Content;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found};

/// The writer, with the block size of the original in units of 100,000 bytes.
struct Bzip2(u32);

impl Codec for Bzip2 {
    fn kind(&self) -> Kind {
        Kind::Bzip2
    }

    /// The format cannot store.
    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        let mut packed = Vec::new();
        let mut encoder = BzEncoder::new(content.bytes(), Compression::new(self.0));
        encoder.read_to_end(&mut packed).expect("memory takes everything");
        out.push(&packed);
    }
}

/// A stream that all of the bytes are.
pub(crate) fn whole(bytes: &[u8], budget: &mut Budget) -> Option<Found> {
    let level = match bytes {
        [b'B', b'Z', b'h', digit @ b'1'..=b'9', ..] => u32::from(digit - b'0'),
        _ => return None,
    };
    let inner = budget.read(MultiBzDecoder::new(bytes))?;
    Some(Found::encoding(Bzip2(level), inner.into()))
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    whole(content, budget)
}
