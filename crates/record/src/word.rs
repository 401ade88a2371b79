//! A text of the system: an argument, a path, a value of a variable.
//!
//! Such a text need not be UTF-8, and it may be private: `Debug` tells its length only. In JSON it
//! is a string if it can be one, else an object with its hexadecimal digits.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that may be private.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(OsString);

impl Word {
    /// The text, for the system and for its owner.
    #[must_use]
    pub fn reveal(&self) -> &OsStr {
        &self.0
    }

    /// The text as a path.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl From<OsString> for Word {
    fn from(text: OsString) -> Self {
        Self(text)
    }
}

impl From<PathBuf> for Word {
    fn from(path: PathBuf) -> Self {
        Self(path.into_os_string())
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<Vec<u8>> for Word {
    fn from(bytes: Vec<u8>) -> Self {
        Self(OsString::from_vec(bytes))
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Word({} bytes)", self.0.len())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes { hex: String },
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match self.0.to_str() {
            Some(text) => Form::Text(text.to_owned()),
            None => Form::Bytes { hex: hex(self.0.as_bytes()) },
        };
        form.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Text(text) => Ok(Self(text.into())),
            Form::Bytes { hex } => unhex(&hex)
                .map(Self::from)
                .ok_or_else(|| serde::de::Error::custom("digits that are not hexadecimal")),
        }
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    let digit = |at: u8| (at as char).to_digit(16).and_then(|it| u8::try_from(it).ok());
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|it| Some(digit(it[0])? << 4 | digit(it[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for bytes in [&b""[..], b"plain", "grün".as_bytes(), b"\xff\0\xfe", b"{\"hex\""] {
            let word = Word::from(bytes.to_vec());
            let json = serde_json::to_string(&word).unwrap();
            assert_eq!(serde_json::from_str::<Word>(&json).unwrap(), word, "{json}");
        }
        assert_eq!(
            serde_json::to_string(&Word::from(b"\xff\x01".to_vec())).unwrap(),
            r#"{"hex":"ff01"}"#
        );
        for wrong in [r#"{"hex":"f"}"#, r#"{"hex":"zz"}"#, "7", r#"{"hax":""}"#] {
            assert!(serde_json::from_str::<Word>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_text_is_not_shown() {
        let shown = format!("{:?}", Word::from("secret"));
        assert_eq!(shown, "Word(6 bytes)");
    }
}
