//! What crosses the wire between a user's machine and a server: sealed reports, and the messages
//! around them.
//!
//! A *parcel* is a report that only its recipient can open. The messages are the bodies of the
//! requests and answers under `/api/v1`. Both sides use this crate, so that neither can drift.
//!
//! Always: what is sealed for a recipient opens with its identity and is the same, and with no
//! other; what is opened was written by a stranger, and gives bytes within the limit or an error in
//! a sentence. No secret has a `Debug` or `Display`.
//!
//! This crate must not know files, sockets or databases, and nothing of the original input.

mod digest;
mod error;
mod hex;
mod keys;
pub mod messages;
mod parcel;
mod signing;

pub use digest::Digest;
pub use error::{Error, KeyError};
pub use keys::{Identity, Recipient};
pub use parcel::{Parcel, open, seal};
pub use signing::{InstallationKey, SignerKey};
