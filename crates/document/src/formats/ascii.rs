//! The two text encodings of PDF and PostScript: ASCII85 and ASCIIHex.

use crate::content::Content;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::Budget;

/// How the text is broken into lines, and what stands behind its last letter.
struct Lines {
    width: Option<usize>,
    line_end: &'static [u8],
    end: Content,
}

impl Lines {
    /// Splits a text into its letters and how they were arranged.
    fn of(text: &Content, mark: u8) -> Option<(Lines, Vec<u8>)> {
        let last = memchr::memrchr(mark, text).unwrap_or(text.len());
        let body = &text[..last];
        let width = memchr::memchr2(b'\r', b'\n', body).filter(|&width| width > 0);
        let line_end: &[u8] = match width.map(|width| &body[width..]) {
            Some([b'\r', b'\n', ..]) => b"\r\n",
            Some([b'\r', ..]) => b"\r",
            _ => b"\n",
        };
        let letters = body.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
        Some((Lines { width, line_end, end: text.slice(last..) }, letters))
    }

    fn arrange(&self, letters: &[u8]) -> Vec<u8> {
        let mut text = match self.width {
            Some(width) => letters.chunks(width).collect::<Vec<_>>().join(self.line_end),
            None => letters.to_vec(),
        };
        text.extend_from_slice(&self.end);
        text
    }
}

/// Five letters for four bytes.
pub(crate) struct Ascii85(Lines);

impl Codec for Ascii85 {
    fn kind(&self) -> Kind {
        Kind::Ascii85
    }

    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        let mut letters = Vec::new();
        for group in content.bytes().chunks(4) {
            if group == [0; 4] {
                letters.push(b'z');
                continue;
            }
            let mut four = [0; 4];
            four[..group.len()].copy_from_slice(group);
            let mut number = u32::from_be_bytes(four);
            let mut five = [0; 5];
            for digit in five.iter_mut().rev() {
                *digit = b'!' + (number % 85) as u8;
                number /= 85;
            }
            letters.extend_from_slice(&five[..=group.len()]);
        }
        out.push(&self.0.arrange(&letters));
    }
}

pub(crate) fn unpack85(text: &Content, budget: &mut Budget) -> Option<(Ascii85, Content)> {
    let (lines, letters) = Lines::of(text, b'~')?;
    budget.pay(letters.len().checked_mul(4)?)?;
    let mut content = Vec::with_capacity(letters.len());
    let mut group = Vec::with_capacity(5);
    for &letter in &letters {
        match letter {
            b'z' if group.is_empty() => content.extend([0; 4]),
            b'!'..=b'u' => group.push(letter - b'!'),
            _ => return None,
        }
        if group.len() == 5 {
            content.extend(four(&group)?);
            group.clear();
        }
    }
    if group.len() == 1 {
        return None;
    }
    if !group.is_empty() {
        let length = group.len() - 1;
        group.resize(5, 84);
        content.extend_from_slice(&four(&group)?[..length]);
    }
    Some((Ascii85(lines), content.into()))
}

fn four(group: &[u8]) -> Option<[u8; 4]> {
    let number = group.iter().fold(0_u64, |number, &digit| number * 85 + u64::from(digit));
    u32::try_from(number).ok().map(u32::to_be_bytes)
}

/// Two digits for a byte.
pub(crate) struct AsciiHex {
    lines: Lines,
    upper: bool,
}

impl Codec for AsciiHex {
    fn kind(&self) -> Kind {
        Kind::AsciiHex
    }

    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        out.push(&self.lines.arrange(&hex(content.bytes(), self.upper)));
    }
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8], upper: bool) -> Vec<u8> {
    let digits: &[u8; 16] = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    bytes.iter().flat_map(|b| [digits[usize::from(b >> 4)], digits[usize::from(b & 15)]]).collect()
}

/// Digits as bytes; there must be an even number of them.
pub(crate) fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |&letter: &u8| char::from(letter).to_digit(16);
    let pair = |pair: &[u8]| Some((digit(pair.first()?)? * 16 + digit(pair.get(1)?)?) as u8);
    digits.chunks(2).map(pair).collect()
}

pub(crate) fn unpack_hex(text: &Content, budget: &mut Budget) -> Option<(AsciiHex, Content)> {
    let (lines, letters) = Lines::of(text, b'>')?;
    budget.pay(letters.len() / 2)?;
    let upper = !letters.iter().any(|b| matches!(b, b'a'..=b'f'));
    Some((AsciiHex { lines, upper }, unhex(&letters)?.into()))
}
