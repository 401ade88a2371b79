//! What stands in brackets, quotes or tags; for text of any language that has some.

use std::ops::Range;

use crate::edit::Edit;
use crate::pass::{Pass, in_order};

/// More bracketed parts than these are not looked at in pairs.
const MOST_BRACKETS: usize = 60;

/// What stands in brackets, quotes or tags, with or without these, or only these.
pub(crate) struct Brackets;

impl Pass for Brackets {
    fn family(&self) -> &'static str {
        "brackets"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        let mut edits = Vec::new();
        for Nested { whole, inner } in bracketed(bytes).into_iter().chain(tagged(bytes)) {
            edits.push(Edit::cut(whole.clone()));
            if !inner.is_empty() {
                edits.push(Edit::cut(inner.clone()));
                edits.push(Edit::both(whole.start..inner.start, inner.end..whole.end));
            }
        }
        in_order(edits)
    }
}

/// From one pair of brackets to another, or both without what is between.
pub(crate) struct BracketPairs;

impl Pass for BracketPairs {
    fn family(&self) -> &'static str {
        "brackets"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        let parts = bracketed(bytes);
        let mut edits = Vec::new();
        if parts.len() > MOST_BRACKETS {
            return edits;
        }
        for (number, first) in parts.iter().enumerate() {
            let first = &first.whole;
            for second in parts[number + 1..].iter().filter(|it| it.whole.start >= first.end) {
                let second = &second.whole;
                edits.push(Edit::cut(first.start..second.end));
                if second.start > first.end {
                    edits.push(Edit::both(first.clone(), second.clone()));
                }
            }
        }
        in_order(edits)
    }
}

/// A part, and what of it is within its brackets, quotes or tags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Nested {
    pub(crate) whole: Range<usize>,
    pub(crate) inner: Range<usize>,
}

/// The parts in brackets and quotes.
pub(crate) fn bracketed(bytes: &[u8]) -> Vec<Nested> {
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut quoted: Option<(u8, usize)> = None;
    let mut parts = Vec::new();
    let nested = |from: usize, at: usize| Nested { whole: from..at + 1, inner: from + 1..at };
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'"' | b'\'' | b'`' => match quoted {
                Some((quote, from)) if quote == byte => {
                    parts.push(nested(from, at));
                    quoted = None;
                }
                Some(_) => {}
                None => quoted = Some((byte, at)),
            },
            b'(' | b'[' | b'{' | b'<' => open.push((byte, at)),
            b')' | b']' | b'}' | b'>' => {
                let mate = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    b'}' => b'{',
                    _ => b'<',
                };
                if let Some(found) = open.iter().rposition(|&(bracket, _)| bracket == mate) {
                    parts.push(nested(open[found].1, at));
                    open.truncate(found);
                }
            }
            _ => {}
        }
    }
    parts.sort_by_key(|part| part.whole.start);
    parts
}

/// The most elements that are open at a time, when the end of one is looked for.
const MOST_OPEN: usize = 256;

/// The elements of markup: from a tag to the one that ends it.
pub(crate) fn tagged(bytes: &[u8]) -> Vec<Nested> {
    let mut open: Vec<(&[u8], Range<usize>)> = Vec::new();
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(from) = bytes[at..].iter().position(|&byte| byte == b'<').map(|it| at + it) {
        let Some(to) = bytes[from..].iter().position(|&byte| byte == b'>').map(|it| from + it + 1)
        else {
            break;
        };
        at = from + 1;
        let tag = &bytes[from + 1..to - 1];
        let ends = tag.first() == Some(&b'/');
        let name = &tag[usize::from(ends)..];
        let length = name.iter().take_while(|&&it| !it.is_ascii_whitespace() && it != b'/').count();
        let name = &name[..length];
        if name.is_empty() || tag.contains(&b'<') {
            continue;
        }
        at = to;
        if !ends {
            if tag.last() != Some(&b'/') {
                open.push((name, from..to));
            }
            continue;
        }
        let near = open.len().saturating_sub(MOST_OPEN);
        if let Some(found) = open[near..].iter().rposition(|(known, _)| *known == name) {
            let begin = open[near + found].1.clone();
            parts.push(Nested { whole: begin.start..to, inner: begin.end..from });
            open.truncate(near + found);
        }
    }
    parts.sort_by_key(|part| part.whole.start);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::tests::after;

    #[test]
    fn parts_go_with_their_brackets_or_without() {
        let left = after(&Brackets, b"<a>b</a>");
        let tags = ["", "<a></a>", "b"];
        assert!(tags.iter().all(|it| left.contains(&(*it).to_owned())), "{left:?}");
        assert!(left.contains(&"b</a>".to_owned()), "single tags are brackets, too");
        assert_eq!(after(&BracketPairs, b"<a>b</a>"), ["", "b"]);
        assert_eq!(after(&Brackets, b"x'\"'"), ["x", "x\"", "x''"]);
    }

    #[test]
    fn elements_end_where_their_tag_does() {
        let found = tagged(b"<r><a x='1'>t</a><b/><a>u</a></r>");
        let text: Vec<Range<usize>> = found.into_iter().map(|it| it.inner).collect();
        assert_eq!(text, [3..29, 12..13, 24..25]);
        // One that does not end is none, and one that was not begun ends nothing.
        assert!(tagged(b"<a><b></c> a<b").is_empty());
    }
}
