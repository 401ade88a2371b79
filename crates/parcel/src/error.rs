//! Why a parcel could not be sealed or opened, and why a text is no key.

/// Why a parcel could not be sealed or opened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The parcel is encrypted to somebody else's key.
    #[error("the parcel is not encrypted to this server's key")]
    NotForUs,
    /// The bytes are no parcel, or a damaged one.
    #[error("this is not a parcel: {0}")]
    Malformed(&'static str),
    /// The parcel holds more than the limit.
    #[error("the parcel holds more than {most} bytes")]
    TooLarge {
        /// How much it may hold.
        most: usize,
    },
    /// The parcel is signed, and the signature does not fit.
    #[error("the signature does not fit the parcel")]
    BadSignature,
    /// The parcel could not be made.
    #[error("cannot encrypt: {0}")]
    Sealing(String),
}

/// A text that should be a key or a digest and is not. It never quotes the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("this is not {what}")]
pub struct KeyError {
    /// What the text should be.
    pub what: &'static str,
}
