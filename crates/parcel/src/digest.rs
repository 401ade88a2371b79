//! The SHA-256 of some bytes: the name under which a parcel or a report is known.

use sha2::{Digest as _, Sha256};

use crate::hex::as_digits;

/// The SHA-256 of some bytes, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

as_digits!(Digest, "a SHA-256 in 64 lower-case hexadecimal digits");

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// The 32 bytes themselves.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
