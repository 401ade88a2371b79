//! quoted-printable: text with `=XX` for what mail cannot carry, in lines of 76 characters.

use crate::content::Content;
use crate::formats::text::{lines, trimmed};
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found};

/// The longest line, with the sign that it goes on.
const WIDTH: usize = 76;

struct QuotedPrintable {
    line_end: &'static [u8],
}

impl QuotedPrintable {
    fn text(&self, content: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(content.len());
        for line in lines(content) {
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
    Some(Found::encoding(QuotedPrintable { line_end }, content.into()))
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
        let ours = QuotedPrintable { line_end: b"\n" }.text(long.as_bytes());
        assert_eq!(String::from_utf8(ours), String::from_utf8(text));
    }
}
