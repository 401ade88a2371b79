//! Sums over parts of an input, as file formats have them: found by computing them, and made right again
//! when what they are over has changed.
//!
//! A program that checks a sum refuses every candidate in which a byte under it is another one, so nothing
//! could be tried there. Nothing is known of formats: a part whose sum stands directly behind it is found by
//! trying all parts. That a number is there by chance is as likely as one part in four thousand million,
//! and costs a few tries in vain.
//!
//! What always holds: repairing changes only the bytes of sums. Which part is summed is not believed but
//! tried, by a run.

use std::ops::Range;

/// How a sum is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// CRC-32 of PNG, gzip and many others.
    Crc32,
    /// The other common polynomial, Castagnoli's.
    Crc32C,
    /// Adler-32.
    Adler32,
}

const KINDS: [Kind; 3] = [Kind::Crc32, Kind::Crc32C, Kind::Adler32];

/// How many bytes a sum has.
const WIDTH: usize = 4;
/// Sums over fewer bytes than this are not looked for: small numbers look like them.
const SHORTEST: usize = 5;
/// Longer inputs are not searched: all parts of one are as many as the square of its length.
const LONGEST: usize = 4096;

/// A part of an input with its sum behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sum {
    /// What is summed; the sum is directly behind it.
    pub(crate) over: Range<usize>,
    kind: Kind,
    big_endian: bool,
}

impl Kind {
    fn start(self) -> u32 {
        match self {
            Kind::Crc32 | Kind::Crc32C => u32::MAX,
            Kind::Adler32 => 1,
        }
    }

    /// The state after one more byte.
    fn step(self, state: u32, byte: u8, table: &[u32; 256]) -> u32 {
        match self {
            Kind::Crc32 | Kind::Crc32C => table[usize::from(state as u8 ^ byte)] ^ state >> 8,
            Kind::Adler32 => {
                let low = ((state & 0xffff) + u32::from(byte)) % 65521;
                let high = ((state >> 16) + low) % 65521;
                high << 16 | low
            }
        }
    }

    /// The sum that a state stands for.
    fn end(self, state: u32) -> u32 {
        match self {
            Kind::Crc32 | Kind::Crc32C => !state,
            Kind::Adler32 => state,
        }
    }

    /// What one byte does to a state, for all bytes.
    fn table(self) -> [u32; 256] {
        let polynomial: u32 = match self {
            Kind::Crc32 => 0xedb8_8320,
            Kind::Crc32C => 0x82f6_3b78,
            Kind::Adler32 => return [0; 256],
        };
        let shift =
            |state: u32, _| if state & 1 == 1 { polynomial ^ state >> 1 } else { state >> 1 };
        std::array::from_fn(|byte| (0..8).fold(byte as u32, shift))
    }

    fn sum(self, bytes: &[u8]) -> u32 {
        let table = self.table();
        self.end(bytes.iter().fold(self.start(), |state, &byte| self.step(state, byte, &table)))
    }
}

/// The CRC-32 of some bytes.
#[cfg(test)]
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    Kind::Crc32.sum(bytes)
}

/// All sums of an input.
pub(crate) fn sums(bytes: &[u8]) -> Vec<Sum> {
    let mut found = Vec::new();
    if bytes.len() > LONGEST || bytes.len() < SHORTEST + WIDTH {
        return found;
    }
    for kind in KINDS {
        let table = kind.table();
        for first in 0..bytes.len() - WIDTH {
            let mut state = kind.start();
            for last in first..bytes.len() - WIDTH {
                state = kind.step(state, bytes[last], &table);
                let over = first..last + 1;
                if over.len() < SHORTEST {
                    continue;
                }
                let mut stored = [0; WIDTH];
                stored.copy_from_slice(&bytes[over.end..over.end + WIDTH]);
                let sum = kind.end(state);
                if sum == u32::from_be_bytes(stored) || sum == u32::from_le_bytes(stored) {
                    let big_endian = sum == u32::from_be_bytes(stored);
                    found.push(Sum { over, kind, big_endian });
                }
            }
        }
    }
    found
}

impl Sum {
    /// Where the sum stands.
    pub(crate) fn place(&self) -> Range<usize> {
        self.over.end..self.over.end + WIDTH
    }

    /// The same sum over a part that lies elsewhere.
    pub(crate) fn moved(&self, over: Range<usize>) -> Sum {
        Sum { over, ..self.clone() }
    }

    /// Makes it right.
    pub(crate) fn repair(&self, bytes: &mut [u8]) {
        let sum = self.kind.sum(&bytes[self.over.clone()]);
        let stored = if self.big_endian { sum.to_be_bytes() } else { sum.to_le_bytes() };
        bytes[self.place()].copy_from_slice(&stored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_well_known_ones() {
        let check = b"123456789";
        assert_eq!(Kind::Crc32.sum(check), 0xcbf4_3926);
        assert_eq!(Kind::Crc32C.sum(check), 0xe306_9283);
        assert_eq!(Kind::Adler32.sum(check), 0x091e_01de);
    }

    #[test]
    fn sums_are_found_wherever_they_are_and_made_right_again() {
        for kind in KINDS {
            for big_endian in [true, false] {
                let mut bytes = b"..header..the part that is summed....behind".to_vec();
                let sum = Sum { over: 10..33, kind, big_endian };
                sum.repair(&mut bytes);
                assert_eq!(sums(&bytes), std::slice::from_ref(&sum));
                bytes[12] ^= 0x20;
                assert!(sums(&bytes).is_empty());
                sum.repair(&mut bytes);
                assert_eq!(sums(&bytes), [sum]);
            }
        }
    }

    #[test]
    fn what_is_too_short_or_too_long_has_none() {
        assert!(sums(b"").is_empty());
        assert!(sums(&[0; 8]).is_empty());
        assert!(sums(&vec![0; LONGEST + 1]).is_empty());
    }
}
