//! Encoded stretches anywhere in a text: base64, hexadecimal digits, percent signs.
//!
//! Nothing announces them, so a stretch must be long, and what it stands for must make sense: text, or
//! something with a signature. The text becomes a sequence of what is plain and what is encoded.

use std::ops::Range;

use super::ascii::{hex, unhex};
use super::base64::Base64;
use super::sequence::Sequence;
use super::text::{is_text, makes_sense};
use crate::content::Content;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found, Piece};

/// The shortest stretch that is believed.
const SHORTEST: usize = 40;
/// The fewest percent signs.
const SIGNS: usize = 4;

/// Two digits for each byte.
struct Hex {
    upper: bool,
}

impl Codec for Hex {
    fn kind(&self) -> Kind {
        Kind::Hex
    }

    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        out.push(&hex(content.bytes(), self.upper));
    }
}

/// A percent sign and two digits for what is not plain.
struct Percent {
    upper: bool,
    /// A space is a plus sign.
    plus: bool,
    /// The signs besides letters and digits that stand for themselves.
    plain: Vec<u8>,
}

impl Percent {
    fn text(&self, content: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(content.len());
        for &byte in content {
            if byte == b' ' && self.plus {
                text.push(b'+');
            } else if byte.is_ascii_alphanumeric() || self.plain.contains(&byte) {
                text.push(byte);
            } else {
                text.push(b'%');
                text.extend(hex(&[byte], self.upper));
            }
        }
        text
    }
}

impl Codec for Percent {
    fn kind(&self) -> Kind {
        Kind::Percent
    }

    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        out.push(&self.text(content.bytes()));
    }
}

fn base64(text: &Content, budget: &mut Budget) -> Option<Found> {
    if text.len() < SHORTEST || !text.len().is_multiple_of(4) {
        return None;
    }
    let (codec, inner) = Base64::find(text, budget)?;
    makes_sense(&inner).then(|| Found::encoding(codec, inner))
}

fn digits(text: &Content, budget: &mut Budget) -> Option<Found> {
    let even = text.len() >= SHORTEST && text.len().is_multiple_of(2);
    if !even || !text.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    budget.pay(text.len() / 2)?;
    let inner = unhex(text)?;
    let upper = !text.iter().any(|b| matches!(b, b'a'..=b'f'));
    let same = makes_sense(&inner) && hex(&inner, upper) == text[..];
    same.then(|| Found::encoding(Hex { upper }, inner.into()))
}

fn percent(text: &Content, budget: &mut Budget) -> Option<Found> {
    if memchr::memchr_iter(b'%', text).count() < SIGNS {
        return None;
    }
    budget.pay(text.len())?;
    let (mut inner, mut plain) = (Vec::new(), b"-_.~".to_vec());
    let plus = text.contains(&b'+');
    let mut upper = true;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'%' => {
                let pair = text.get(at + 1..at + 3)?;
                upper &= !pair.iter().any(|b| matches!(b, b'a'..=b'f'));
                inner.extend(unhex(pair)?);
                at += 3;
                continue;
            }
            b'+' => inner.push(b' '),
            byte => {
                if !byte.is_ascii_alphanumeric() && !plain.contains(&byte) {
                    plain.push(byte);
                }
                inner.push(byte);
            }
        }
        at += 1;
    }
    let codec = Percent { upper, plus, plain };
    let same = is_text(&inner) && codec.text(&inner) == text[..];
    same.then(|| Found::encoding(codec, inner.into()))
}

/// Runs of the letters of an encoding, in order.
fn runs(text: &[u8], letter: fn(u8) -> bool, least: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, &byte) in text.iter().chain([&b' ']).enumerate() {
        match (letter(byte), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                if at - from >= least {
                    found.push(from..at);
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn base64_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

fn query_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'+' | b'-' | b'_' | b'.' | b'~' | b'*')
}

type Decoder = fn(&Content, &mut Budget) -> Option<Found>;

/// How an encoding is found: the letters that it is written with, how many there are at least, and how to
/// undo it.
struct Search {
    letter: fn(u8) -> bool,
    least: usize,
    decode: Decoder,
}

const SEARCHES: [Search; 2] = [
    Search {
        letter: base64_letter,
        least: SHORTEST,
        decode: |text, budget| digits(text, budget).or_else(|| base64(text, budget)),
    },
    Search { letter: query_letter, least: 3 * SIGNS, decode: percent },
];

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    if content.len() < 3 * SIGNS || !is_text(content) {
        return None;
    }
    let mut found: Vec<(Range<usize>, Found)> = Vec::new();
    for search in SEARCHES {
        for run in runs(content, search.letter, search.least) {
            let free =
                found.iter().all(|(taken, _)| run.end <= taken.start || taken.end <= run.start);
            if !free || found.len() * 4 > budget.nodes() {
                continue;
            }
            // What belongs to an assignment in front is no part of the text.
            let from = run.start
                + memchr::memchr(b'=', &content[run.clone()])
                    .filter(|&n| n + 4 < run.len())
                    .map_or(0, |n| n + 1);
            if let Some(inside) = (search.decode)(&content.slice(from..run.end), budget) {
                found.push((from..run.end, inside));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    found.sort_by_key(|(range, _)| range.start);
    if found.len() == 1 && found[0].0.len() == content.len() {
        return found.pop().map(|(_, inside)| inside);
    }
    let mut parts = Vec::new();
    let mut at = 0;
    for (range, inside) in found {
        if range.start > at {
            parts.push(Piece::leaf("text", content.slice(at..range.start)));
        }
        parts.push(Piece::known("encoded", content.slice(range.clone()), inside));
        at = range.end;
    }
    if at < content.len() {
        parts.push(Piece::leaf("text", content.slice(at..)));
    }
    Some(Sequence::found(Kind::Sequence, parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{document, leaf, python, python_reads};

    const WRITE: &str = "
import sys, base64, json, urllib.parse, zlib
t = 'Anneliese Brandt, born 1987-03-04 in Lindenstraße; '
print(json.dumps({'b': base64.b64encode((t * 3).encode()).decode(), 'h': (t * 2).encode().hex(),
  'u': 'https://example.org/?q=' + urllib.parse.quote_plus(t) + '&p=' + urllib.parse.quote(t, safe=''),
  'z': base64.b64encode(b'\\x1f\\x8b' + b'\\x08' + bytes(60)).decode(), 'id': 'a' * 80}))
";

    #[test]
    fn stretches_are_found_and_written_as_they_were() {
        let bytes = python(WRITE, &[], b"");
        let doc = document(&bytes);
        assert!(doc.render() == bytes);
        let kinds: Vec<Kind> = doc.nodes().map(|(_, node)| node.kind()).collect();
        for kind in [Kind::Base64, Kind::Hex, Kind::Percent] {
            assert!(kinds.contains(&kind), "{kind:?} in {doc:?}");
        }
        assert_eq!(kinds.iter().filter(|&&kind| kind == Kind::Percent).count(), 2);
    }

    #[test]
    fn edited_stretches_are_read_by_others() {
        let doc = document(&python(WRITE, &[], b""));
        let edits = doc.leaves().filter(|(_, content)| content.starts_with(b"Anneliese"));
        let edits: Vec<_> = edits.map(|(path, _)| (path, b"x y=z".to_vec().into())).collect();
        assert_eq!(edits.len(), 4);
        let read = "
import sys, json, base64, urllib.parse
d = json.load(sys.stdin)
q = urllib.parse.parse_qs(d['u'].split('?')[1])
print(base64.b64decode(d['b']), bytes.fromhex(d['h']), q['q'], q['p'])
";
        let list = python_reads(read, &doc.with_leaves(edits).render());
        assert_eq!(list, "b'x y=z' b'x y=z' ['x y=z'] ['x y=z']\n");
        assert!(leaf(&doc, b"{\"b\"").is_some());
    }
}
