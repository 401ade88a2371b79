//! The little JSON that an incident needs: texts that need not be UTF-8.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// A text as JSON: a string, or an object with its hexadecimal digits if it is not UTF-8.
pub fn word(text: &OsStr) -> String {
    match text.to_str() {
        Some(text) => string(text),
        None => {
            let digits: String = text.as_bytes().iter().map(|it| format!("{it:02x}")).collect();
            format!("{{\"hex\": \"{digits}\"}}")
        }
    }
}

/// A string as JSON.
pub fn string(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\0'..='\x1f' => {
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            _ => json.push(c),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(string("a\"b\\c\n\u{1}é"), r#""a\"b\\c\u000a\u0001é""#);
        assert_eq!(word(OsStr::from_bytes(b"\xff\x00a")), r#"{"hex": "ff0061"}"#);
    }
}
