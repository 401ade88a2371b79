//! base64, with or without line breaks.
//!
//! What always holds: the writer, with the alphabet, padding and lines that the reader saw, gives the same
//! text for the same content.

use base64::Engine as _;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::content::Content;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found};

/// Shorter texts are not worth a look.
const SHORTEST: usize = 48;

#[derive(Clone)]
pub(crate) struct Base64 {
    url_safe: bool,
    padding: bool,
    /// How many characters a line has, and how it ends.
    lines: Option<(usize, &'static str)>,
    /// White space behind the last character.
    end: Content,
}

impl Base64 {
    fn engine(&self) -> GeneralPurpose {
        let alphabet: &Alphabet = if self.url_safe { &URL_SAFE } else { &STANDARD };
        let config = GeneralPurposeConfig::new()
            .with_encode_padding(self.padding)
            .with_decode_padding_mode(DecodePaddingMode::Indifferent);
        GeneralPurpose::new(alphabet, config)
    }

    fn text(&self, content: &[u8]) -> Vec<u8> {
        let text = self.engine().encode(content).into_bytes();
        let mut text = match self.lines {
            Some((width, line_end)) => {
                let lines: Vec<&[u8]> = text.chunks(width).collect();
                lines.join(line_end.as_bytes())
            }
            None => text,
        };
        text.extend_from_slice(&self.end);
        text
    }

    /// What the whole text stands for, if it is base64 that this writer can repeat.
    pub fn find(text: &Content, budget: &mut Budget) -> Option<(Base64, Content)> {
        let length = text.trim_ascii_end().len();
        let body = &text[..length];
        let width = memchr::memchr2(b'\r', b'\n', body);
        let lines = width
            .filter(|&width| width > 0)
            .map(|width| (width, if body[width] == b'\r' { "\r\n" } else { "\n" }));
        let letters: Vec<u8> =
            body.iter().copied().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
        let base64 = Base64 {
            url_safe: letters.iter().any(|b| matches!(b, b'-' | b'_')),
            // Where nothing had to be filled up, writers that fill up are the rule.
            padding: letters.ends_with(b"=") || letters.len().is_multiple_of(4),
            lines,
            end: text.slice(length..),
        };
        budget.pay(letters.len() / 4 * 3)?;
        let content = base64.engine().decode(&letters).ok()?;
        (base64.text(&content) == text[..]).then(|| (base64, content.into()))
    }
}

impl Codec for Base64 {
    fn kind(&self) -> Kind {
        Kind::Base64
    }

    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        out.push(&self.text(content.bytes()));
    }
}

/// Whether the beginning can be base64.
pub(crate) fn plausible(text: &[u8]) -> bool {
    let letter = |&b: &u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=' | b'\r' | b'\n')
    };
    text.len() >= SHORTEST && text[..text.len().min(256)].iter().all(letter)
}

/// A text that is base64 from end to end, and stands for something that makes sense.
pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    if !plausible(content) {
        return None;
    }
    let (base64, inner) = Base64::find(content, budget)?;
    super::text::makes_sense(&inner).then(|| Found::encoding(base64, inner))
}
