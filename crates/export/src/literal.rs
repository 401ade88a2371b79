//! Texts of a report as literals and comments of a language, which they cannot end.
//!
//! What always holds: the result is printable ASCII on one line; read by the language, a literal is the text
//! again, and a comment ends where its line does.

use std::fmt::Write;

/// A comment's text: no line end, no backslash (Java reads `\u000a` as a line end even there), nothing hidden.
pub(crate) fn comment(text: &str) -> String {
    let plain = |c: char| if (' '..='~').contains(&c) && c != '\\' { c } else { '?' };
    text.chars().map(plain).collect()
}

/// A string literal of Rust.
pub(crate) fn rust(text: &str) -> String {
    literal(text, |out, c| {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    })
}

/// A string literal of Python.
pub(crate) fn python(text: &str) -> String {
    literal(text, |out, c| {
        let _ = match u32::from(c) {
            code if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
            code => write!(out, "\\U{code:08x}"),
        };
    })
}

/// A string literal of JavaScript.
pub(crate) fn javascript(text: &str) -> String {
    literal(text, |out, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

/// A string literal of Java, where `\u` is read before anything else: so only for what is not ASCII.
pub(crate) fn java(text: &str) -> String {
    literal(text, |out, c| match c {
        '\0'..='\u{7f}' => {
            let _ = write!(out, "\\{:03o}", u32::from(c));
        }
        _ => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    })
}

fn literal(text: &str, mut escape: impl FnMut(&mut String, char)) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => escape(&mut out, c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\"; x(\"\\u000a\n\u{202e}é😀\0*/ ${y} $(z)";

    #[test]
    fn nothing_ends_a_literal_or_a_comment() {
        for literal in [rust(HOSTILE), python(HOSTILE), javascript(HOSTILE), java(HOSTILE)] {
            assert!(literal.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{literal}");
            let inside = &literal[1..literal.len() - 1];
            let mut escaped = false;
            for c in inside.chars() {
                assert!(escaped || c != '"', "{literal}");
                escaped = c == '\\' && !escaped;
            }
            assert!(!escaped, "{literal}");
        }
        assert!(!java("\n\"\\").contains("\\u"));
        assert!(!comment(HOSTILE).contains(['\\', '\n', '\u{202e}']));
    }
}
