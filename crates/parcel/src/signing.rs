//! The key of an installation, for those who choose to be recognised.
//!
//! A signature lets a vendor see that two reports come from one installation, and from which. That
//! is a link between reports, so nothing is signed unless the user asks for it.

use std::fmt;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use crate::hex::as_digits;

/// The secret key of an installation.
#[derive(Clone)]
pub struct InstallationKey(SigningKey);

impl InstallationKey {
    /// A new one, at random.
    pub fn generate() -> InstallationKey {
        InstallationKey(SigningKey::generate(&mut rand::rngs::OsRng))
    }

    /// The key that [`InstallationKey::to_bytes`] gave.
    pub fn from_bytes(bytes: &[u8; 32]) -> InstallationKey {
        InstallationKey(SigningKey::from_bytes(bytes))
    }

    /// The secret, for the one file that keeps it.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// The public half, which a signature comes with.
    pub fn public(&self) -> SignerKey {
        SignerKey(self.0.verifying_key().to_bytes())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for InstallationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InstallationKey(of {})", self.public())
    }
}

/// The public key of an installation, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignerKey([u8; 32]);

as_digits!(SignerKey, "a public key in 64 lower-case hexadecimal digits");

impl SignerKey {
    /// Whether this key signed the message. Weak keys, which fit many messages, never did.
    pub(crate) fn signed(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        VerifyingKey::from_bytes(&self.0)
            .is_ok_and(|key| key.verify_strict(message, &Signature::from_bytes(signature)).is_ok())
    }
}
