//! To whom a parcel is sealed, and who can open it: an age X25519 key pair.
//!
//! Always: the secret half leaves its type only through [`Identity::expose`], whose callers are
//! few and easy to find.

use std::fmt;
use std::str::FromStr;

use age::secrecy::ExposeSecret;
use age::x25519;

use crate::KeyError;
use crate::hex::as_text;

/// The public half: whoever has it can seal.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient(pub(crate) x25519::Recipient);

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Recipient {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Recipient, KeyError> {
        let what = "a public key of age, such as age1qy…";
        text.parse().map(Recipient).map_err(|_| KeyError { what })
    }
}

as_text!(Recipient);

/// The secret half: whoever has it can open.
#[derive(Clone)]
pub struct Identity(pub(crate) x25519::Identity);

impl Identity {
    /// A new one, at random.
    pub fn generate() -> Identity {
        Identity(x25519::Identity::generate())
    }

    /// The public half.
    pub fn recipient(&self) -> Recipient {
        Recipient(self.0.to_public())
    }

    /// The secret as text, for the one file that keeps it.
    pub fn expose(&self) -> String {
        self.0.to_string().expose_secret().to_owned()
    }
}

impl FromStr for Identity {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Identity, KeyError> {
        let what = "a secret key of age, such as AGE-SECRET-KEY-1…";
        text.trim().parse().map(Identity).map_err(|_| KeyError { what })
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity(of {})", self.recipient())
    }
}
