//! quoted-printable: text with `=XX` for what mail cannot carry, in lines of 76 characters.

use rustc_hash::FxHashMap;

use crate::content::Content;
use crate::formats::text::{lines, trimmed};
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found};

/// The longest line, with the sign that it goes on.
const WIDTH: usize = 76;

struct QuotedPrintable {
    line_end: &'static [u8],
    /// The text as it was: lines that stay are written as they were.
    original: Content,
}

impl QuotedPrintable {
    fn text(&self, content: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(content.len());
        let known: FxHashMap<Vec<u8>, &[u8]> = hard_lines(&self.original)
            .into_iter()
            .filter_map(|line| Some((decode(line)?, line)))
            .collect();
        for line in lines(content) {
            if let Some(as_it_was) = known.get(line) {
                text.extend_from_slice(as_it_was);
                continue;
            }
            let body = trimmed(line);
            let mut column = 0;
            for (at, &byte) in body.iter().enumerate() {
                let last = at + 1 == body.len();
                let plain = match byte {
                    b'=' => false,
                    b' ' | b'\t' => !last,
                    _ => (33..=126).contains(&byte),
                };
                let length = if plain { 1 } else { 3 };
                // The last character may stand where the sign that the line goes on would.
                if column + length > WIDTH - usize::from(!last) {
                    text.push(b'=');
                    text.extend_from_slice(self.line_end);
                    column = 0;
                }
                match plain {
                    true => text.push(byte),
                    false => text.extend_from_slice(format!("={byte:02X}").as_bytes()),
                }
                column += length;
            }
            text.extend_from_slice(&line[body.len()..]);
        }
        text
    }
}

impl Codec for QuotedPrintable {
    fn kind(&self) -> Kind {
        Kind::QuotedPrintable
    }

    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        out.push(&self.text(content.bytes()));
    }
}

/// The lines of the content as they are written, each with its soft breaks.
fn hard_lines(text: &[u8]) -> Vec<&[u8]> {
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    for line in lines(text) {
        at += line.len();
        if !trimmed(line).ends_with(b"=") {
            found.push(&text[start..at]);
            start = at;
        }
    }
    found.push(&text[start..]);
    found
}

fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    let mut content = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'=' {
            content.push(text[at]);
            at += 1;
        } else if text[at + 1..].starts_with(b"\n") {
            at += 2;
        } else if text[at + 1..].starts_with(b"\r\n") {
            at += 3;
        } else if at + 1 == text.len() {
            at += 1;
        } else {
            content.push((digit(at + 1)? * 16 + digit(at + 2)?) as u8);
            at += 3;
        }
    }
    Some(content)
}

/// The text of a mail that says it is quoted-printable.
pub(crate) fn whole(text: &Content, budget: &mut Budget) -> Option<Found> {
    budget.pay(text.len())?;
    let content = decode(text)?;
    let line_end: &[u8] = match memchr::memchr(b'\n', text) {
        Some(at) if at > 0 && text[at - 1] == b'\r' => b"\r\n",
        _ => b"\n",
    };
    Some(Found::encoding(QuotedPrintable { line_end, original: text.clone() }, content.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_python_writes_it() {
        let long = "Grüße an Frau Müller, ".repeat(12) + "a = b \nkurz\n\nEnde";
        let script =
            "import sys, quopri; quopri.encode(sys.stdin.buffer, sys.stdout.buffer, False)";
        let text = crate::formats::testing::python(script, &[], long.as_bytes());
        assert!(decode(&text).unwrap() == long.as_bytes());
        let ours =
            QuotedPrintable { line_end: b"\n", original: Content::default() }.text(long.as_bytes());
        assert_eq!(String::from_utf8(ours), String::from_utf8(text));
    }

    #[test]
    fn lines_that_stay_are_written_as_they_were() {
        let text: Content = b"plain=20text=\n goes on\n=41nother\nlast=2E".to_vec().into();
        let codec = QuotedPrintable { line_end: b"\n", original: text.clone() };
        let content = decode(&text).unwrap();
        assert_eq!(content, b"plain text goes on\nAnother\nlast.");
        assert_eq!(codec.text(&content), text[..]);
        let edited = codec.text(b"plain text goes on\nOne more\nlast.");
        assert_eq!(edited, b"plain=20text=\n goes on\nOne more\nlast=2E");
    }
}
