//! XML and HTML: tags with what they enclose, attributes, text.
//!
//! A tag that is never closed ends where the element around it does; one that closes nothing is text.

use std::ops::Range;

use super::build::Builder;
use super::{Layout, Role};

/// Tags that HTML never closes.
const VOID: &[&[u8]] = &[
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param",
    b"source", b"track", b"wbr",
];
/// Tags whose content is no markup.
const RAW: &[&[u8]] = &[b"script", b"style"];

pub(super) fn read(bytes: &[u8], deepest: usize) -> Option<Builder> {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let looks = matches!(start, [b'<', b'?' | b'!' | b'a'..=b'z' | b'A'..=b'Z' | b'_', ..]);
    if !looks {
        return None;
    }
    let html = start.len() >= 5
        && (start[..5].eq_ignore_ascii_case(b"<html")
            || start.to_ascii_lowercase().starts_with(b"<!doctype html"));
    let mut reader =
        Reader { bytes, html, builder: Builder::new(Layout::Markup, deepest), open: Vec::new() };
    reader.run();
    (reader.builder.len() > 1).then_some(reader.builder)
}

struct Reader<'a> {
    bytes: &'a [u8],
    html: bool,
    builder: Builder,
    /// The names of the tags that are open.
    open: Vec<Range<usize>>,
}

impl Reader<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while at < self.bytes.len() {
            let next = memchr::memchr(b'<', &self.bytes[at..]).map_or(self.bytes.len(), |n| at + n);
            if next > at {
                self.text(at..next);
                at = next;
                continue;
            }
            at = self.markup(at);
        }
        self.builder.close_to(0, self.bytes.len());
    }

    fn text(&mut self, range: Range<usize>) {
        if !self.bytes[range.clone()].trim_ascii().is_empty() {
            self.builder.add(Role::Text, range);
        }
    }

    /// What begins with `<` here; where it ends.
    fn markup(&mut self, at: usize) -> usize {
        let rest = &self.bytes[at..];
        let until = |end: &[u8]| {
            memchr::memmem::find(rest, end).map_or(self.bytes.len(), |n| at + n + end.len())
        };
        let remark = match rest {
            [b'<', b'!', b'-', b'-', ..] => Some(until(b"-->")),
            [b'<', b'!', b'[', b'C', b'D', b'A', b'T', b'A', b'[', ..] => {
                let end = until(b"]]>");
                self.builder.add(Role::Text, at..end);
                return end;
            }
            [b'<', b'?', ..] => Some(until(b"?>")),
            [b'<', b'!', ..] => Some(at + declaration(rest)),
            _ => None,
        };
        if let Some(end) = remark {
            self.builder.add(Role::Remark, at..end);
            return end;
        }
        match rest.get(1) {
            Some(b'/') => self.close_tag(at),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b':' | 0x80..) => self.open_tag(at),
            _ => {
                let end = memchr::memchr(b'<', &rest[1..]).map_or(self.bytes.len(), |n| at + 1 + n);
                self.text(at..end);
                end
            }
        }
    }

    fn same(&self, one: &Range<usize>, two: &[u8]) -> bool {
        let one = &self.bytes[one.clone()];
        if self.html { one.eq_ignore_ascii_case(two) } else { one == two }
    }

    fn close_tag(&mut self, at: usize) -> usize {
        let rest = &self.bytes[at..];
        let end = memchr::memchr(b'>', rest).map_or(self.bytes.len(), |n| at + n + 1);
        let name = name_end(self.bytes, at + 2);
        let name = &self.bytes[at + 2..name];
        match self.open.iter().rposition(|open| self.same(open, name)) {
            Some(depth) => {
                // What was left open inside ends in front of this tag.
                self.builder.close_to(depth + 1, at);
                self.builder.close(end);
                self.open.truncate(depth);
            }
            None => drop(self.builder.add(Role::Remark, at..end)),
        }
        end
    }

    fn open_tag(&mut self, at: usize) -> usize {
        let name = at + 1..name_end(self.bytes, at + 1);
        self.builder.open(Role::Tag, at);
        let (end, closed) = self.attributes(name.end);
        let word = self.bytes[name.clone()].to_ascii_lowercase();
        if closed || (self.html && VOID.contains(&&word[..])) {
            self.builder.close(end);
            return end;
        }
        if self.html && RAW.contains(&&word[..]) {
            let close = [b"</", &word[..]].concat();
            let length = find_ignoring_case(&self.bytes[end..], &close);
            self.text(end..end + length);
            self.open.push(name);
            return end + length;
        }
        self.open.push(name);
        end
    }

    /// Notes the attributes of a tag; where it ends, and whether it is empty.
    fn attributes(&mut self, mut at: usize) -> (usize, bool) {
        let bytes = self.bytes;
        loop {
            let start = at;
            while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                at += 1;
            }
            match bytes.get(at) {
                None => return (at, false),
                Some(b'>') => return (at + 1, false),
                Some(b'/') if bytes.get(at + 1) == Some(&b'>') => return (at + 2, true),
                // The next tag begins before this one ended: it is broken off.
                Some(b'<') => return (at, true),
                Some(b'/') => {
                    at += 1;
                    continue;
                }
                Some(_) => {}
            }
            self.builder.open(Role::Attribute, start);
            let name = at;
            while bytes.get(at).is_some_and(|b| {
                !matches!(b, b'=' | b'>' | b'/' | b'<') && !b.is_ascii_whitespace()
            }) {
                at += 1;
            }
            if at == name {
                at += 1;
            }
            if bytes.get(at) == Some(&b'=') {
                at = self.value(at + 1);
            }
            self.builder.close(at);
        }
    }

    fn value(&mut self, at: usize) -> usize {
        let bytes = self.bytes;
        let (from, to, end) = match bytes.get(at) {
            Some(&quote @ (b'"' | b'\'')) => {
                let length = memchr::memchr(quote, &bytes[at + 1..]);
                let to = length.map_or(bytes.len(), |n| at + 1 + n);
                (at + 1, to, (to + 1).min(bytes.len()))
            }
            _ => {
                let stop = |b: &u8| b.is_ascii_whitespace() || *b == b'>';
                let to = bytes[at..].iter().position(stop).map_or(bytes.len(), |n| at + n);
                (at, to, to)
            }
        };
        if to > from {
            self.builder.add(Role::AttributeValue, from..to);
        }
        end
    }
}

fn name_end(bytes: &[u8], at: usize) -> usize {
    let stop = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'>' | b'/' | b'<');
    bytes[at.min(bytes.len())..].iter().position(stop).map_or(bytes.len(), |n| at + n)
}

/// How long a declaration is, with the part in brackets that it may have.
fn declaration(rest: &[u8]) -> usize {
    let mut inside = 0_usize;
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            b'[' => inside += 1,
            b']' => inside = inside.saturating_sub(1),
            b'>' if inside == 0 => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn find_ignoring_case(bytes: &[u8], word: &[u8]) -> usize {
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'<', &bytes[at..]) {
        at += next;
        if bytes.len() >= at + word.len() && bytes[at..at + word.len()].eq_ignore_ascii_case(word) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}
