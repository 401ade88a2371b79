//! Bytes that are shared and cannot be printed.
//!
//! A slice of a content shares its memory, so the leaves of a document lie in the original's bytes or in
//! what was unpacked from them, and a copy of a tree copies no content.

use std::fmt;
use std::ops::{Deref, RangeBounds};

use bytes::Bytes;

/// Some bytes of a document.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Content(Bytes);

impl Content {
    /// A part of it, without a copy. It must lie inside.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Content {
        Content(self.0.slice(range))
    }

    /// A part of it, if it lies inside.
    pub(crate) fn get_slice(&self, from: usize, length: usize) -> Option<Content> {
        let to = from.checked_add(length)?;
        (to <= self.len()).then(|| self.slice(from..to))
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        Content(bytes.into())
    }
}

impl From<&[u8]> for Content {
    fn from(bytes: &[u8]) -> Content {
        Content(Bytes::copy_from_slice(bytes))
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}
