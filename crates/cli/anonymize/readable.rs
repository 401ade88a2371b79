//! What of an original's content can be read in its double, wherever it stands and however it is packed.
//!
//! A figure of bits does not say which of them are left, and a comparison place by place sees nothing of
//! what has moved. So both inputs are unpacked as far as anybody would (deflate in zlib, gzip and ZIP, base64,
//! in each other), and the stretches of the one are looked for in the other. A stretch is at least
//! [`WINDOW`] bytes long and not a mere repetition: chance gives none.
//!
//! It is for the owner alone, and knows nothing of programs. Nothing here refuses: what cannot be unpacked is
//! compared as it is, and what is too long is left out, which errs on the side of saying less was compared.

use std::ops::Range;

use flate2::{Decompress, FlushDecompress, Status};

/// The shortest stretch that counts: shorter ones come by chance, or are anybody's.
pub(super) const WINDOW: usize = 8;
/// A window with fewer different bytes than this is filler: blanks, zeros, rules of dashes.
const DIFFERENT: usize = 4;
/// All that is compared of one input, unpacked.
const MOST: usize = 32 << 20;
/// How deep packings are opened in each other.
const DEPTH: usize = 4;
/// A packed part whose content is shorter is none.
const LEAST: usize = 16;
/// The shortest stretch of base64 that is opened.
const LEAST_BASE64: usize = 64;

/// What can be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Readable {
    /// How many bytes of the original's content.
    pub(super) bytes: usize,
    /// Of so many.
    pub(super) of: usize,
    /// The longest stretches of text among it; they are in the double.
    pub(super) stretches: Vec<Vec<u8>>,
}

impl Readable {
    /// In percent of the content.
    pub(super) fn percent(&self) -> f64 {
        if self.of == 0 { 0.0 } else { 100.0 * self.bytes as f64 / self.of as f64 }
    }

    /// What of an original can be read in a double, both source by source.
    pub(super) fn new(original: &[Vec<u8>], double: &[Vec<u8>]) -> Self {
        let mut known: Vec<u64> = double
            .iter()
            .flat_map(|bytes| unpacked(bytes))
            .flat_map(|layer| layer.windows(WINDOW).filter_map(code).collect::<Vec<u64>>())
            .collect();
        known.sort_unstable();
        known.dedup();
        let mut readable = Self::default();
        let mut stretches: Vec<Vec<u8>> = Vec::new();
        for layer in original.iter().flat_map(|bytes| unpacked(bytes)) {
            readable.of += layer.len();
            for stretch in stretches_of(&layer, &known) {
                readable.bytes += stretch.len();
                stretches.push(layer[stretch].to_vec());
            }
        }
        stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.len()));
        stretches.dedup();
        stretches.truncate(MOST_SHOWN);
        readable.stretches = stretches;
        readable
    }
}

/// So many stretches are shown.
const MOST_SHOWN: usize = 5;

/// A window as a number, unless it is filler.
fn code(window: &[u8]) -> Option<u64> {
    let mut seen = [0u64; 4];
    for &byte in window {
        seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }
    let different: u32 = seen.iter().map(|part| part.count_ones()).sum();
    let bytes: [u8; WINDOW] = window.try_into().ok()?;
    (different as usize >= DIFFERENT).then(|| u64::from_le_bytes(bytes))
}

/// Where windows that are known lie, joined.
fn stretches_of(layer: &[u8], known: &[u64]) -> Vec<Range<usize>> {
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for (at, window) in layer.windows(WINDOW).enumerate() {
        if code(window).is_none_or(|code| known.binary_search(&code).is_err()) {
            continue;
        }
        match stretches.last_mut() {
            Some(last) if at <= last.end => last.end = at + WINDOW,
            _ => stretches.push(at..at + WINDOW),
        }
    }
    stretches
}

/// The content of an input: each packed part unpacked, and the rest as it is.
fn unpacked(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut room = MOST;
    let mut content = Vec::new();
    unpack(bytes, DEPTH, &mut room, &mut content);
    content
}

/// The depth is bounded, so that this may call itself.
fn unpack(bytes: &[u8], depth: usize, room: &mut usize, content: &mut Vec<Vec<u8>>) {
    let mut plain = Vec::new();
    let mut at = 0;
    while at < bytes.len() && plain.len() < *room {
        let part = if depth == 0 { None } else { packed(&bytes[at..], *room) };
        let Some((length, inner)) = part else {
            plain.push(bytes[at]);
            at += 1;
            continue;
        };
        at += length;
        unpack(&inner, depth - 1, room, content);
    }
    *room -= plain.len().min(*room);
    if !plain.is_empty() {
        content.push(plain);
    }
}

/// A packed part at the beginning of some bytes: how long it is, and what it holds.
fn packed(bytes: &[u8], room: usize) -> Option<(usize, Vec<u8>)> {
    match bytes {
        [0x1f, 0x8b, 8, 0, ..] => {
            inflated(bytes.get(10..)?, false, room).map(|it| (it.0 + 10, it.1))
        }
        [b'P', b'K', 3, 4, ..] => {
            let half = |at: usize| {
                Some(usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])))
            };
            let head = 30 + half(26)? + half(28)?;
            (half(8)? == 8).then_some(())?;
            inflated(bytes.get(head..)?, false, room).map(|it| (it.0 + head, it.1))
        }
        [first, second, ..]
            if first & 0x0f == 8
                && first >> 4 <= 7
                && second & 0x20 == 0
                && u16::from_be_bytes([*first, *second]).is_multiple_of(31) =>
        {
            inflated(bytes, true, room)
        }
        _ => base64(bytes, room),
    }
}

fn inflated(bytes: &[u8], zlib: bool, room: usize) -> Option<(usize, Vec<u8>)> {
    let mut stream = Decompress::new(zlib);
    let mut content = Vec::new();
    loop {
        let (taken, given) = (stream.total_in() as usize, content.len());
        content.reserve((4 * bytes.len()).clamp(4096, 1 << 20));
        // A stream that is broken has the content up to there.
        let status =
            stream.decompress_vec(bytes.get(taken..)?, &mut content, FlushDecompress::None);
        let stuck = stream.total_in() as usize == taken && content.len() == given;
        match status {
            Ok(Status::StreamEnd) => break,
            Ok(_) if !stuck && content.len() < room => {}
            _ => break,
        }
    }
    content.truncate(room);
    (content.len() >= LEAST).then_some((stream.total_in() as usize, content))
}

/// A long stretch of base64, over lines.
fn base64(bytes: &[u8], room: usize) -> Option<(usize, Vec<u8>)> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    value(*bytes.first()?)?;
    let (mut content, mut bits, mut held, mut length, mut digits) =
        (Vec::new(), 0u32, 0, 0, 0usize);
    for (at, &byte) in bytes.iter().enumerate() {
        match value(byte) {
            Some(six) if content.len() < room => {
                bits = (bits << 6) | u32::from(six);
                held += 6;
                if held >= 8 {
                    held -= 8;
                    content.push((bits >> held) as u8);
                    bits &= (1 << held) - 1;
                }
                (length, digits) = (at + 1, digits + 1);
            }
            // Lines of it have one length, and words of a text do not follow each other without a blank.
            None if matches!(byte, b'\r' | b'\n') && digits >= LEAST_BASE64 => {}
            _ => break,
        }
    }
    (digits >= LEAST_BASE64).then_some((length, content))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    const SECRET: &[u8] = b"Anna Qvistgaard;DE44 5001 0517 5407 3249 31;Wyczolkowska 7";

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(original: &[u8], double: &[u8]) -> Readable {
        Readable::new(&[original.to_vec()], &[double.to_vec()])
    }

    #[test]
    fn attack_a_double_holds_the_original_somewhere_else_or_packed() {
        let moved = [b"noise;noise;", SECRET, b"."].concat();
        assert_eq!(read(SECRET, &moved).percent(), 100.0);
        // Packed in the one, in the other, in both, and twice.
        let sheet = [b"PDF header 1.7 \n", &zlib(SECRET)[..], b"\nendstream"].concat();
        for double in [SECRET.to_vec(), zlib(&moved), zlib(&zlib(SECRET)), sheet.clone()] {
            let found = read(&sheet, &double);
            assert!(found.percent() > 50.0, "{} of {}", found.bytes, found.of);
            assert_eq!(found.stretches[0], SECRET);
        }
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(SECRET).unwrap();
        assert_eq!(read(&gzip.finish().unwrap(), SECRET).stretches[0], SECRET);
        let encoded =
            b"QW5uYSBRdmlzdGdhYXJkO0RFNDQgNTAwMSAwNTE3IDU0MDcgMzI0OSAzMTtXeWN6\r\nb2xrb3dza2EgNw==";
        assert!(read(SECRET, &[&b"\r\n\r\n"[..], encoded].concat()).percent() > 90.0);
    }

    #[test]
    fn chance_and_filler_are_not_read() {
        let noise: Vec<u8> =
            (0u32..4096).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        assert_eq!(read(SECRET, &noise).bytes, 0);
        let blank = [&[b' '; 100][..], SECRET].concat();
        assert_eq!(read(&blank, &[b' '; 100]).bytes, 0);
        assert_eq!(read(b"", b"").percent(), 0.0);
    }

    #[test]
    fn a_part_is_read_in_part() {
        let found = read(b"0123456789abcdefghij", b"xx456789abcdxx");
        assert_eq!((found.bytes, found.of), (10, 20));
        assert_eq!(found.stretches, [b"456789abcd".to_vec()]);
    }

    #[test]
    fn what_unpacks_without_end_is_bounded() {
        let bomb = zlib(&zlib(&vec![b'x'; 40 << 20]));
        assert!(unpacked(&bomb).iter().map(Vec::len).sum::<usize>() <= MOST);
    }
}
