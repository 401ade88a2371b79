//! LZW as PDF and TIFF write it: codes of 9 to 12 bits, the highest bit first.

use rustc_hash::FxHashMap;

use crate::content::Content;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::Budget;

const CLEAR: u16 = 256;
const END: u16 = 257;
const FIRST: u16 = 258;
const FULL: u16 = 4096;

/// The writer, and whether codes grow one step before they must.
pub(crate) struct Lzw {
    early: bool,
    /// What stands behind the last code.
    end: Content,
}

fn width(next: u16, early: bool) -> u32 {
    match next + u16::from(early) {
        0..512 => 9,
        512..1024 => 10,
        1024..2048 => 11,
        _ => 12,
    }
}

/// Codes to bytes.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, code: u16, width: u32) {
        self.held = self.held << width | u32::from(code);
        self.count += width;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.held >> self.count) as u8);
        }
        self.held &= (1 << self.count) - 1;
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push((self.held << (8 - self.count)) as u8);
        }
        self.bytes
    }
}

impl Codec for Lzw {
    fn kind(&self) -> Kind {
        Kind::Lzw
    }

    fn encode(&self, content: &Out, _: Style, out: &mut Out) {
        let mut bits = Bits::default();
        let mut table: FxHashMap<(u16, u8), u16> = FxHashMap::default();
        let mut next = FIRST;
        bits.push(CLEAR, 9);
        let mut held: Option<u16> = None;
        for &byte in content.bytes() {
            let Some(prefix) = held else {
                held = Some(u16::from(byte));
                continue;
            };
            if let Some(&code) = table.get(&(prefix, byte)) {
                held = Some(code);
                continue;
            }
            bits.push(prefix, width(next, self.early));
            table.insert((prefix, byte), next);
            next += 1;
            if next == FULL - 2 {
                bits.push(CLEAR, width(next, self.early));
                table.clear();
                next = FIRST;
            }
            held = Some(u16::from(byte));
        }
        if let Some(code) = held {
            bits.push(code, width(next, self.early));
            next += 1;
        }
        bits.push(END, width(next, self.early));
        out.push(&bits.finish());
        out.push(&self.end);
    }
}

pub(crate) fn unpack(bytes: &Content, early: bool, budget: &mut Budget) -> Option<(Lzw, Content)> {
    // Each entry is the entry before, and one more byte; with its length.
    let mut table: Vec<(u16, u8, usize)> = Vec::new();
    let reset = |table: &mut Vec<(u16, u8, usize)>| {
        table.clear();
        table.extend((0..FIRST).map(|code| (code, code as u8, 1)));
    };
    reset(&mut table);
    let mut content: Vec<u8> = Vec::new();
    let mut before: Option<u16> = None;
    let mut bit = 0_usize;
    loop {
        let pending = table.len() as u16 + u16::from(before.is_some());
        let wide = width(pending, early) as usize;
        let mut code = 0_u16;
        for at in bit..bit + wide {
            let byte = *bytes.get(at / 8)?;
            code = code << 1 | u16::from(byte >> (7 - at % 8) & 1);
        }
        bit += wide;
        match code {
            CLEAR => {
                reset(&mut table);
                before = None;
                continue;
            }
            END => break,
            _ => {}
        }
        let start = content.len();
        match before {
            None if code >= CLEAR => return None,
            None => content.push(code as u8),
            Some(previous) => {
                if usize::from(code) > table.len() {
                    return None;
                }
                let known = usize::from(code) < table.len();
                spell(&table, if known { code } else { previous }, &mut content);
                if !known {
                    content.push(content[start]);
                }
                if table.len() < usize::from(FULL) {
                    let length = table[usize::from(previous)].2 + 1;
                    table.push((previous, content[start], length));
                }
            }
        }
        budget.pay(content.len() - start)?;
        before = Some(code);
    }
    let end = bytes.slice(bit.div_ceil(8)..);
    Some((Lzw { early, end }, content.into()))
}

/// Writes what a code stands for.
fn spell(table: &[(u16, u8, usize)], code: u16, content: &mut Vec<u8>) {
    let start = content.len();
    let length = table[usize::from(code)].2;
    content.resize(start + length, 0);
    let mut code = code;
    for at in (start..start + length).rev() {
        let (before, byte, _) = table[usize::from(code)];
        content[at] = byte;
        code = before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_budget;

    #[test]
    fn what_is_packed_can_be_unpacked() {
        let text: Vec<u8> =
            (0..60_000_u32).map(|n| (n.wrapping_mul(n / 7) >> 3) as u8 & 0x3f).collect();
        for early in [true, false] {
            for length in [0, 1, 2, 300, 5_000, 60_000] {
                let mut content = Out::new(false);
                content.push(&text[..length]);
                let mut out = Out::new(false);
                Lzw { early, end: Content::default() }.encode(&content, Style::Packed, &mut out);
                let packed = Content::from(out.into_bytes());
                let (_, back) = unpack(&packed, early, &mut parse_budget()).unwrap();
                assert!(back[..] == text[..length], "{early} {length}");
            }
        }
    }

    #[test]
    fn the_example_of_the_standard() {
        let packed: Content = vec![0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01].into();
        let (_, back) = unpack(&packed, true, &mut parse_budget()).unwrap();
        assert_eq!(back[..], [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
    }
}
