//! zlib: deflate between two bytes of header and an Adler-32.
//!
//! A checksum that was wrong stays wrong, and a stream that was cut off has none.

use crate::content::Content;
use crate::formats::deflate::{self, End};
use crate::formats::numbers::be32;
use crate::node::{Codec, Field, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found};

/// The writer of a zlib stream.
pub(crate) struct Zlib {
    header: [u8; 2],
    /// The checksum, unless the stream ends before it.
    adler: Option<Field>,
    deflate: deflate::Deflate,
    /// What stands behind the stream and is counted as part of it.
    end: Content,
}

impl Codec for Zlib {
    fn kind(&self) -> Kind {
        Kind::Zlib
    }

    fn encode(&self, content: &Out, style: Style, out: &mut Out) {
        out.push(&self.header);
        self.deflate.encode(content, style, out);
        if let Some(adler) = self.adler {
            let adler = adler.or(u64::from(adler32(content.bytes())));
            out.push(&(adler as u32).to_be_bytes());
        }
        out.push(&self.end);
    }
}

pub(crate) fn adler32(bytes: &[u8]) -> u32 {
    const PRIME: u32 = 65_521;
    // So many sums fit into 32 bits before they must be reduced.
    const MOST: usize = 5_552;
    let (mut low, mut high) = (1_u32, 0_u32);
    for stretch in bytes.chunks(MOST) {
        for &byte in stretch {
            low += u32::from(byte);
            high += low;
        }
        low %= PRIME;
        high %= PRIME;
    }
    high << 16 | low
}

/// A stream at the beginning of the bytes: its writer, what it holds, and how long it is.
fn unpack(bytes: &[u8], budget: &mut Budget) -> Option<(Zlib, Content, usize)> {
    let &[cmf, flg, ..] = bytes else { return None };
    let checked = (u32::from(cmf) * 256 + u32::from(flg)).is_multiple_of(31);
    if cmf & 15 != 8 || cmf >> 4 > 7 || flg & 0x20 != 0 || !checked {
        return None;
    }
    let found = deflate::inflate(&bytes[2..], budget)?;
    let mut end = 2 + found.length;
    let mut adler = None;
    if found.end == End::Whole
        && let Some(stated) = be32(bytes, end)
    {
        adler = Some(Field::of(stated, u64::from(adler32(&found.content))));
        end += 4;
    }
    let deflate = deflate::Deflate(found.end);
    let zlib = Zlib { header: [cmf, flg], adler, deflate, end: Content::default() };
    Some((zlib, found.content, end))
}

/// A stream that nothing announces: it must be whole.
pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    let (zlib, inner, length) = unpack(content, budget)?;
    let whole = length == content.len() && zlib.adler.is_some();
    whole.then(|| Found::encoding(zlib, inner))
}

/// A stream with a little behind it, as those of PDF have, or cut off.
pub(crate) fn loose(bytes: &Content, budget: &mut Budget) -> Option<(Zlib, Content)> {
    const LITTLE: usize = 4;
    let (mut zlib, inner, length) = unpack(bytes, budget)?;
    zlib.end = bytes.slice(length..);
    let something = zlib.adler.is_some() || !inner.is_empty();
    (zlib.end.len() <= LITTLE && something).then_some((zlib, inner))
}
