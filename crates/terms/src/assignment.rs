//! Values for the input bytes.
//!
//! An assignment often *is* the private input, so it must not be printable: it has no `Display`,
//! and its `Debug` tells sizes only. It is total: a byte that was never set is zero.

use std::fmt;

use crate::term::InputByte;

/// A value for every input byte.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Assignment {
    sources: Vec<Vec<u8>>,
}

impl Assignment {
    /// All bytes zero.
    pub fn new() -> Assignment {
        Assignment::default()
    }

    /// The given bytes as source 0.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Assignment {
        Assignment { sources: vec![bytes.into()] }
    }

    /// The value of `byte`.
    pub fn get(&self, byte: InputByte) -> u8 {
        self.source(byte.source).get(byte.offset as usize).copied().unwrap_or(0)
    }

    /// Gives `byte` the value `value`.
    pub fn set(&mut self, byte: InputByte, value: u8) {
        let (source, offset) = (byte.source as usize, byte.offset as usize);
        if self.sources.len() <= source {
            self.sources.resize_with(source + 1, Vec::new);
        }
        let bytes = &mut self.sources[source];
        if bytes.len() <= offset {
            bytes.resize(offset + 1, 0);
        }
        bytes[offset] = value;
    }

    /// The bytes of a source, as far as any was set.
    pub fn source(&self, source: u16) -> &[u8] {
        self.sources.get(source as usize).map_or(&[], Vec::as_slice)
    }

    /// How many sources have bytes.
    pub fn source_count(&self) -> usize {
        self.sources.len()
    }
}

impl fmt::Debug for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths: Vec<usize> = self.sources.iter().map(Vec::len).collect();
        write!(f, "Assignment(lengths {lengths:?})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_prints_its_bytes() {
        let secret = Assignment::from_bytes(*b"secret");
        assert_eq!(format!("{secret:?}"), "Assignment(lengths [6])");
    }

    #[test]
    fn unset_bytes_are_zero() {
        let mut assignment = Assignment::new();
        assignment.set(InputByte::new(2, 3), 7);
        assert_eq!(assignment.get(InputByte::new(2, 3)), 7);
        assert_eq!(assignment.get(InputByte::new(2, 2)), 0);
        assert_eq!(assignment.get(InputByte::new(9, 0)), 0);
    }
}
