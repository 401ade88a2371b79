//! Bytes as lower-case hexadecimal digits, and back.
//!
//! Always: a text is read in one way only. Upper-case digits, signs and spaces are refused, so that
//! two different texts never name the same thing.

/// The digits of some bytes.
pub fn digits(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all text");
        text
    })
}

/// The bytes of exactly `2 * N` lower-case digits.
pub fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Writes `Display`, `FromStr`, `Debug` and serde for a type that is `[u8; N]` as digits.
macro_rules! as_digits {
    ($type:ident, $what:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&crate::hex::digits(&self.0))
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::KeyError;

            fn from_str(text: &str) -> Result<Self, crate::KeyError> {
                crate::hex::bytes(text).map($type).ok_or(crate::KeyError { what: $what })
            }
        }

        crate::hex::as_text!($type);
    };
}

/// Writes serde for a type that has `Display` and `FromStr`.
macro_rules! as_text {
    ($type:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use {as_digits, as_text};

#[cfg(test)]
mod tests {
    use super::{bytes, digits};

    #[test]
    fn digits_are_read_in_one_way_only() {
        assert_eq!(bytes::<2>(&digits(&[0x0a, 0xff])), Some([0x0a, 0xff]));
        for text in ["", "0aF0", "0aff0", "+aff", "0a f", "0äf"] {
            assert_eq!(bytes::<2>(text), None, "{text}");
        }
    }
}
