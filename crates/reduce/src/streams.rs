//! Compressed parts of an input, written anew without compression.
//!
//! In a compressed stream every bit says what the next ones mean, so nothing of it can be cut or left open.
//! The same content in a stored block is itself: it can be made shorter like any other text, and its bytes are
//! free as far as the program lets them. Streams are found by reading them: those of zlib, as they are in PNG
//! and PDF, and those of gzip.
//!
//! What always holds: a stream that is written anew has the content that was asked for. Whether the program
//! takes it is for a run to say. Contents larger than [`MOST`] are cut.

use std::ops::Range;

use flate2::{Decompress, FlushDecompress, Status};

use crate::edit::Edit;
use crate::passes::records;
use crate::sums::{adler32, crc32};

/// The longest content.
const MOST: usize = 1 << 16;
/// A stream shorter than this is none.
const SHORTEST: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrapping {
    Zlib,
    Gzip,
}

/// A compressed part.
pub(crate) struct Stream {
    /// Where it is.
    place: Range<usize>,
    wrapping: Wrapping,
    /// What it holds.
    pub(crate) content: Vec<u8>,
    /// Numbers that say how long it is: where, and how it is written.
    counts: Vec<records::Count>,
}

/// The first stream of an input.
pub(crate) fn first(bytes: &[u8]) -> Option<Stream> {
    (0..bytes.len().saturating_sub(SHORTEST))
        .find_map(|at| zlib(bytes, at).or_else(|| gzip(bytes, at)))
}

fn zlib(bytes: &[u8], at: usize) -> Option<Stream> {
    let head = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let known = bytes[at] & 0x0f == 8 && bytes[at] >> 4 <= 7 && head.is_multiple_of(31);
    if !known || bytes[at + 1] & 0x20 != 0 {
        return None;
    }
    let (length, content) = inflated(&bytes[at..], true)?;
    Some(Stream::new(bytes, at..at + length, Wrapping::Zlib, content))
}

fn gzip(bytes: &[u8], at: usize) -> Option<Stream> {
    /// Header, and what is behind the blocks: a sum and a length.
    const HEAD: usize = 10;
    const TAIL: usize = 8;
    let rest = bytes[at..].strip_prefix(&[0x1f, 0x8b, 8])?;
    let flags = *rest.first()?;
    // A name and a comment end with a zero each.
    let mut start = at + HEAD;
    for _ in 0..u32::from(flags & 8 != 0) + u32::from(flags & 16 != 0) {
        start += bytes.get(start..)?.iter().position(|&byte| byte == 0)? + 1;
    }
    let (length, content) = inflated(bytes.get(start..)?, false)?;
    let end = (start + length + TAIL).min(bytes.len());
    Some(Stream::new(bytes, at..end, Wrapping::Gzip, content))
}

/// How long a stream is, and what it holds, as far as it goes.
fn inflated(bytes: &[u8], header: bool) -> Option<(usize, Vec<u8>)> {
    let mut stream = Decompress::new(header);
    let mut content = Vec::with_capacity(MOST);
    let status = stream.decompress_vec(bytes, &mut content, FlushDecompress::Finish);
    let read = usize::try_from(stream.total_in()).ok()?;
    // One that ends too early holds what there is of it.
    let whole = matches!(status, Ok(Status::StreamEnd));
    let cut_off = status.is_ok() && read == bytes.len();
    let length = if whole { read } else { bytes.len() };
    ((whole || cut_off) && length >= SHORTEST && !content.is_empty()).then_some((length, content))
}

impl Stream {
    fn new(bytes: &[u8], place: Range<usize>, wrapping: Wrapping, content: Vec<u8>) -> Self {
        let counts = records::counts_of(bytes, &place);
        Self { place, wrapping, content, counts }
    }

    /// The edit that writes it anew with this content, and the numbers that say how long it is.
    pub(crate) fn with(&self, content: &[u8]) -> Edit {
        let mut other = match self.wrapping {
            Wrapping::Zlib => vec![0x78, 0x01],
            Wrapping::Gzip => vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3],
        };
        other.extend(stored(content));
        match self.wrapping {
            Wrapping::Zlib => other.extend(adler32(content).to_be_bytes()),
            Wrapping::Gzip => {
                other.extend(crc32(content).to_le_bytes());
                other.extend((content.len() as u32).to_le_bytes());
            }
        }
        let mut edit = Edit::instead(self.place.clone(), &other);
        for count in &self.counts {
            edit = edit.and(count.place(), count.bytes(other.len()));
        }
        edit
    }
}

/// Content in blocks that are not compressed.
fn stored(content: &[u8]) -> Vec<u8> {
    const LONGEST: usize = 0xffff;
    let blocks = content.chunks(LONGEST).count().max(1);
    let mut written = Vec::with_capacity(content.len() + 5 * blocks);
    for block in 0..blocks {
        let part = &content[block * LONGEST..content.len().min((block + 1) * LONGEST)];
        let length = part.len() as u16;
        written.push(u8::from(block + 1 == blocks));
        written.extend(length.to_le_bytes());
        written.extend((!length).to_le_bytes());
        written.extend_from_slice(part);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use flate2::Compression;
    use flate2::read::{GzDecoder, ZlibDecoder};
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    const TEXT: &[u8] = b"to be or not to be, that is the question; to be or not to be, again";

    fn in_zlib() -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(TEXT).expect("it is in memory");
        encoder.finish().expect("it is in memory")
    }

    #[test]
    fn a_stream_is_found_and_written_anew() {
        let stream = in_zlib();
        let mut bytes = b"...".to_vec();
        bytes.extend((stream.len() as u32).to_be_bytes());
        bytes.extend(b"DATA");
        bytes.extend(&stream);
        bytes.extend(b"behind");
        let found = first(&bytes).expect("there is one");
        assert_eq!(found.content, TEXT);
        let other = found.with(b"short").apply(&bytes);
        let (head, rest) = other.split_at(3);
        assert_eq!(head, b"...");
        let length = u32::from_be_bytes(rest[..4].try_into().expect("four")) as usize;
        assert_eq!(&rest[4..8], b"DATA");
        let mut text = Vec::new();
        ZlibDecoder::new(&rest[8..8 + length]).read_to_end(&mut text).expect("it is a stream");
        assert_eq!(text, b"short");
        assert_eq!(&rest[8 + length..], b"behind");
    }

    #[test]
    fn a_stream_that_is_cut_off_holds_what_there_is() {
        let stream = in_zlib();
        let found = first(&stream[..stream.len() - 12]).expect("there is one");
        assert!(!found.content.is_empty() && TEXT.starts_with(&found.content));
    }

    #[test]
    fn gzip_has_a_header_and_a_tail() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(TEXT).expect("it is in memory");
        let bytes = encoder.finish().expect("it is in memory");
        let found = first(&bytes).expect("there is one");
        assert_eq!(found.content, TEXT);
        for content in [TEXT, b"", b"x"] {
            let mut text = Vec::new();
            let other = found.with(content).apply(&bytes);
            GzDecoder::new(&other[..]).read_to_end(&mut text).expect("it is a stream");
            assert_eq!(text, content);
        }
    }

    #[test]
    fn texts_have_none() {
        assert!(first(TEXT).is_none());
        assert!(first(&TEXT.repeat(20)).is_none());
        assert!(first(b"").is_none());
    }
}
