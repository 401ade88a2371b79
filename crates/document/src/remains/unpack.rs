//! What is packed in some bytes, wherever it begins and however broken it is: deflate in zlib, gzip and ZIP, base64,
//! in each other.
//!
//! A reader of a format takes it for one only if it could write it again. Whoever looks for what can be read is
//! content with less: a stream that breaks off has the content up to there.

use flate2::{Decompress, FlushDecompress, Status};

/// All that is looked at of one document, unpacked.
pub(super) const MOST: usize = 128 << 20;
/// How deep packings are opened in each other.
const DEPTH: usize = 4;
/// A packed part whose content is shorter is none.
const LEAST: usize = 16;
/// The shortest stretch of base64 that is opened.
const LEAST_BASE64: usize = 64;

/// Each packed part unpacked, and the rest as it is, as far as there is room.
pub(super) fn unpack(bytes: &[u8], room: &mut usize, content: &mut Vec<Vec<u8>>) {
    unpack_within(bytes, DEPTH, room, content);
}

/// The depth is bounded, so that this may call itself.
fn unpack_within(bytes: &[u8], depth: usize, room: &mut usize, content: &mut Vec<Vec<u8>>) {
    let mut plain = Vec::new();
    // Up to here, a stretch of base64 that begins later is too short as well.
    let (mut at, mut no_base64) = (0, 0);
    while at < bytes.len() && plain.len() < *room {
        let mut part = if depth == 0 { None } else { packed(&bytes[at..], *room) };
        if part.is_none() && depth > 0 && at >= no_base64 {
            match base64(&bytes[at..], *room) {
                Ok(found) => part = Some(found),
                Err(length) => no_base64 = at + length,
            }
        }
        let Some((length, inner)) = part else {
            plain.push(bytes[at]);
            at += 1;
            continue;
        };
        at += length;
        unpack_within(&inner, depth - 1, room, content);
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
        _ => None,
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

/// A long stretch of base64, over lines; or how long one is that is too short.
fn base64(bytes: &[u8], room: usize) -> Result<(usize, Vec<u8>), usize> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
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
    if digits >= LEAST_BASE64 { Ok((length, content)) } else { Err(length) }
}
