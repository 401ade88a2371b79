//! Text in UTF-16, of either byte order, with or without a mark in front. Inside it is UTF-8.

use crate::content::Content;
use crate::formats::text::is_text;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found};

/// Shorter texts without a mark are not believed.
const SHORTEST: usize = 16;

struct Utf16 {
    big: bool,
    mark: bool,
}

impl Utf16 {
    fn text(&self, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 * content.len());
        let mut push = |unit: u16| {
            bytes.extend(if self.big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        };
        if self.mark {
            push(0xfeff);
        }
        for chunk in content.utf8_chunks() {
            chunk.valid().encode_utf16().for_each(&mut push);
            // What is no UTF-8 has a character for each byte.
            chunk.invalid().iter().for_each(|&byte| push(byte.into()));
        }
        bytes
    }

    fn decode(&self, bytes: &[u8]) -> Option<String> {
        let unit = |pair: &[u8]| {
            let pair = [pair[0], pair[1]];
            if self.big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        };
        let units = bytes.chunks_exact(2).skip(usize::from(self.mark)).map(unit);
        char::decode_utf16(units).collect::<Result<String, _>>().ok()
    }
}

impl Codec for Utf16 {
    fn kind(&self) -> Kind {
        Kind::Utf16
    }

    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        out.push(&self.text(content.bytes()));
    }
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    if !content.len().is_multiple_of(2) {
        return None;
    }
    let codec = match &content[..] {
        [0xff, 0xfe, ..] => Utf16 { big: false, mark: true },
        [0xfe, 0xff, ..] => Utf16 { big: true, mark: true },
        bytes if bytes.len() >= SHORTEST => {
            let look = &bytes[..bytes.len().min(512)];
            let zeros = |odd: usize| look.iter().skip(odd).step_by(2).filter(|&&b| b == 0).count();
            let most = look.len() / 2 * 3 / 4;
            match (zeros(0), zeros(1)) {
                (high, low) if low >= most && high * 8 < low => Utf16 { big: false, mark: false },
                (high, low) if high >= most && low * 8 < high => Utf16 { big: true, mark: false },
                _ => return None,
            }
        }
        _ => return None,
    };
    budget.pay(content.len() * 2)?;
    let text = codec.decode(content)?.into_bytes();
    let same = is_text(&text) && codec.text(&text) == content[..];
    same.then(|| Found::encoding(codec, text.into()))
}
