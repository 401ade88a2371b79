//! The original: the private input, in a type that cannot print it.
//!
//! No `Display`, no serialisation, and a `Debug` that shows lengths only. What cannot print it
//! cannot leak it: not logs, not panics, not reports.

use std::{fmt, ops::Range};

use stunt_terms::{Assignment, InputByte};

/// One part of an input: the bytes that came from one source.
#[derive(Clone)]
struct Part {
    bytes: Vec<u8>,
    /// Bytes that need not be hidden.
    public: Vec<Range<u64>>,
}

/// A private input, source by source.
#[derive(Clone, Default)]
pub struct Original {
    parts: Vec<Part>,
}

impl Part {
    fn hides(&self, offset: usize) -> bool {
        !self.public.iter().any(|range| range.contains(&(offset as u64)))
    }
}

impl fmt::Debug for Original {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths = self.parts.iter().map(|part| part.bytes.len());
        f.write_str("Original of ")?;
        f.debug_list().entries(lengths).finish()?;
        f.write_str(" bytes")
    }
}

impl Original {
    /// An input without any source.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a source: its bytes, and which of them need not be hidden.
    pub fn push(&mut self, bytes: Vec<u8>, public: Vec<Range<u64>>) {
        self.parts.push(Part { bytes, public });
    }

    /// Adds a source of another input, as it is.
    pub fn push_of(&mut self, other: &Original, source: usize) {
        self.parts.push(other.parts[source].clone());
    }

    /// How many sources there are.
    #[must_use]
    pub fn sources(&self) -> usize {
        self.parts.len()
    }

    /// How many bytes it has in all.
    pub fn size(&self) -> usize {
        (0..self.sources()).map(|source| self.len_of(source)).sum()
    }

    /// How many bytes a source has.
    #[must_use]
    pub fn len_of(&self, source: usize) -> usize {
        self.parts[source].bytes.len()
    }

    /// The bytes to be hidden, in order.
    #[must_use]
    pub fn hidden(&self) -> Vec<InputByte> {
        let mut all = Vec::new();
        for (part, source) in self.parts.iter().zip(0u16..) {
            for offset in 0..part.bytes.len() as u32 {
                if part.hides(offset as usize) {
                    all.push(InputByte::new(source, offset));
                }
            }
        }
        all
    }

    /// How many there are.
    #[must_use]
    pub fn hidden_len(&self) -> usize {
        (0..self.sources()).map(|source| self.hidden_of(source)).sum()
    }

    /// How many bytes of a source are to be hidden.
    #[must_use]
    pub fn hidden_of(&self, source: usize) -> usize {
        let part = &self.parts[source];
        if part.public.is_empty() {
            return part.bytes.len();
        }
        (0..part.bytes.len()).filter(|&offset| part.hides(offset)).count()
    }

    /// Whether a byte is to be hidden.
    #[must_use]
    pub fn hides(&self, source: usize, offset: usize) -> bool {
        self.parts[source].hides(offset)
    }

    /// Its bytes, for computing with them.
    #[must_use]
    pub fn assignment(&self) -> Assignment {
        let mut all = Assignment::new();
        for (part, source) in self.parts.iter().zip(0u16..) {
            for (&byte, offset) in part.bytes.iter().zip(0u32..) {
                all.set(InputByte::new(source, offset), byte);
            }
        }
        all
    }

    /// The share of bytes that a double has in common with this, in percent.
    #[must_use]
    pub fn residue(&self, double: &[Vec<u8>]) -> f64 {
        let (mut same, mut all) = (0usize, 0usize);
        for (source, part) in self.parts.iter().enumerate() {
            let theirs = double.get(source).map_or(&[][..], |bytes| &bytes[..]);
            for (offset, own) in part.bytes.iter().enumerate().filter(|(at, _)| part.hides(*at)) {
                all += 1;
                same += usize::from(theirs.get(offset) == Some(own));
            }
        }
        if all == 0 { 0.0 } else { 100.0 * same as f64 / all as f64 }
    }

    /// An input of the same shape: other bytes, as many of them and the same ones public.
    #[must_use]
    pub fn with_bytes(&self, bytes: Vec<Vec<u8>>) -> Self {
        let parts = self.parts.iter().zip(bytes);
        let parts = parts.map(|(part, bytes)| Part { bytes, public: part.public.clone() });
        Self { parts: parts.collect() }
    }

    /// Its bytes, source by source; as private as it is.
    #[must_use]
    pub fn reveal(&self) -> Vec<Vec<u8>> {
        self.parts.iter().map(|part| part.bytes.clone()).collect()
    }

    /// A double: the given values where bytes are hidden, the original's where they are public.
    #[must_use]
    pub fn replaced_by(&self, values: &Assignment) -> Vec<Vec<u8>> {
        let mut double: Vec<Vec<u8>> = self.parts.iter().map(|part| part.bytes.clone()).collect();
        for byte in self.hidden() {
            double[usize::from(byte.source)][byte.offset as usize] = values.get(byte);
        }
        double
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Original {
        let mut original = Original::new();
        original.push(b"secret".to_vec(), std::iter::once(2..4).collect());
        original.push(b"x".to_vec(), vec![]);
        original
    }

    #[test]
    fn nothing_of_it_is_printed() {
        assert_eq!(format!("{:?}", example()), "Original of [6, 1] bytes");
    }

    #[test]
    fn public_bytes_stay_and_do_not_count() {
        let original = example();
        assert_eq!(original.hidden().len(), 5);
        let mut values = Assignment::new();
        for byte in original.hidden() {
            values.set(byte, b'-');
        }
        let double = original.replaced_by(&values);
        assert_eq!(double, [b"--cr--".to_vec(), b"-".to_vec()]);
        assert_eq!(original.residue(&double), 0.0);
        let same = original.replaced_by(&original.assignment());
        assert_eq!(original.residue(&same), 100.0);
    }
}
