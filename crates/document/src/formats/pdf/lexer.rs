//! The tokens of PDF, as far as they say where values end and what dictionaries hold.

use std::ops::Range;

pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 12 | b'\r' | b' ')
}

fn is_regular(byte: u8) -> bool {
    !is_white(byte)
        && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

/// The first place from here on that is neither white space nor comment.
pub(super) fn skip(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        if is_white(bytes[at]) {
            at += 1;
        } else if bytes[at] == b'%' {
            at = memchr::memchr2(b'\r', b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
        } else {
            break;
        }
    }
    at
}

/// Where the value that begins here ends. A reference is one value.
pub(super) fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = skip(bytes, at);
    if let Some((_, _, end)) = reference(bytes, at) {
        return Some(end);
    }
    let mut depth = 0_usize;
    loop {
        at = skip(bytes, at);
        match bytes.get(at..)? {
            [b'<', b'<', ..] => {
                depth += 1;
                at += 2;
            }
            [b'[', ..] => {
                depth += 1;
                at += 1;
            }
            [b'>', b'>', ..] => {
                depth = depth.checked_sub(1)?;
                at += 2;
            }
            [b']', ..] => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            [b'<', rest @ ..] => at += 2 + memchr::memchr(b'>', rest)?,
            [b'(', ..] => at = string_end(bytes, at)?,
            [b'/', rest @ ..] => {
                at += 1 + rest.iter().position(|&b| !is_regular(b)).unwrap_or(rest.len());
            }
            rest => {
                let length = rest.iter().position(|&b| !is_regular(b)).unwrap_or(rest.len());
                if length == 0 {
                    return None;
                }
                at += length;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Where a string ends that begins here with its bracket.
pub(crate) fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 1,
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// A number of digits alone, and where it ends.
pub(super) fn digits(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let rest = bytes.get(at..)?;
    let length = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
    let number = std::str::from_utf8(&rest[..length]).ok()?.parse().ok()?;
    Some((number, at + length))
}

/// `5 0 R` at this place: the number, the generation and where it ends.
pub(super) fn reference(bytes: &[u8], at: usize) -> Option<(u64, u64, usize)> {
    let (number, end) = digits(bytes, at)?;
    let (generation, end) = digits(bytes, skip(bytes, end))?;
    let at = skip(bytes, end);
    let alone = bytes.get(at + 1).is_none_or(|&b| !is_regular(b));
    (bytes.get(at) == Some(&b'R') && alone).then_some((number, generation, at + 1))
}

/// The keys of the dictionary that the bytes begin with, and where their values are.
pub(super) fn entries(bytes: &[u8]) -> Vec<(&[u8], Range<usize>)> {
    let mut found = Vec::new();
    let mut at = skip(bytes, 0);
    if !bytes[at..].starts_with(b"<<") {
        return found;
    }
    at += 2;
    loop {
        at = skip(bytes, at);
        if bytes.get(at) != Some(&b'/') {
            return found;
        }
        let Some(key_end) = value_end(bytes, at) else { return found };
        let from = skip(bytes, key_end);
        let Some(to) = value_end(bytes, from) else { return found };
        found.push((&bytes[at + 1..key_end], from..to));
        at = to;
    }
}

/// Where the value of a key is.
pub(super) fn value(dictionary: &[u8], key: &str) -> Option<Range<usize>> {
    let found = entries(dictionary).into_iter().find(|(name, _)| *name == key.as_bytes())?;
    Some(found.1)
}

/// The value of a key, if it is a number.
pub(super) fn integer(dictionary: &[u8], key: &str) -> Option<u64> {
    let range = value(dictionary, key)?;
    let (number, end) = digits(dictionary, range.start)?;
    (end == range.end).then_some(number)
}

/// The values of an array, or the value itself if it is none.
pub(super) fn list(bytes: &[u8]) -> Vec<&[u8]> {
    let Some(inside) = bytes.strip_prefix(b"[") else { return vec![bytes] };
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        at = skip(inside, at);
        match value_end(inside, at) {
            Some(end) if inside[at] != b']' => {
                found.push(&inside[at..end]);
                at = end;
            }
            _ => return found,
        }
    }
}

/// Numbers in an array.
pub(super) fn numbers(bytes: &[u8]) -> Option<Vec<u64>> {
    list(bytes).into_iter().map(|word| digits(word, 0).map(|(number, _)| number)).collect()
}
