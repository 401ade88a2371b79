//! A message with the report attached, as a file that mail programs open as a draft.
//!
//! Always: what the report says can begin no header and end no part.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::issue::Issue;
use crate::way::Address;

/// The longest line of a message, without its end.
const LONGEST_LINE: usize = 990;
/// How many bytes of a subject are in a word of it.
const WORD: usize = 42;

/// A message to `to`, with the text of the issue, and the report attached under this name, which is a plain one.
pub fn mail(issue: &Issue, archive: &[u8], attachment: &str, to: Option<&Address>) -> Vec<u8> {
    let text = part(&issue.body);
    let border = border(&text);
    let mut message = String::new();
    let mut line = |words: &str| {
        message += words;
        message += "\r\n";
    };
    // Mail programs that know it open the file as a message to be sent.
    line("X-Unsent: 1");
    if let Some(to) = to {
        line(&format!("To: {to}"));
    }
    line(&format!("Subject: {}", header(&issue.title)));
    line("MIME-Version: 1.0");
    line(&format!("Content-Type: multipart/mixed; boundary=\"{border}\""));
    line("");
    line(&format!("--{border}"));
    line(&text);
    line(&format!("--{border}"));
    line("Content-Type: application/zip");
    line(&format!("Content-Disposition: attachment; filename=\"{attachment}\""));
    line("Content-Transfer-Encoding: base64");
    line("");
    line(&digits(archive));
    line(&format!("--{border}--"));
    message.into_bytes()
}

/// The text as a part: as it is, if every server passes it on like that.
fn part(text: &str) -> String {
    let is_plain = text.is_ascii() && text.lines().all(|line| line.len() <= LONGEST_LINE);
    if is_plain {
        let lines: Vec<&str> = text.lines().collect();
        return format!("Content-Type: text/plain; charset=us-ascii\r\n\r\n{}", lines.join("\r\n"));
    }
    format!(
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
        digits(text.as_bytes())
    )
}

/// A border that is not in the text. Base64 has no underscore.
fn border(text: &str) -> String {
    let mut names = (0u32..).map(|number| format!("=_stunt_{number}"));
    names.find(|name| !text.contains(name.as_str())).unwrap_or_default()
}

fn digits(bytes: &[u8]) -> String {
    let all = STANDARD.encode(bytes);
    let lines = (0..all.len()).step_by(76).map(|at| &all[at..all.len().min(at + 76)]);
    lines.collect::<Vec<_>>().join("\r\n")
}

/// A header's text: as it is, or in encoded words (RFC 2047).
fn header(text: &str) -> String {
    if text.chars().all(|c| (' '..='~').contains(&c)) && !text.contains("=?") {
        return text.to_owned();
    }
    let mut words = vec![String::new()];
    for c in text.chars().filter(|c| !c.is_control()) {
        match words.last_mut() {
            Some(word) if word.len() + c.len_utf8() <= WORD => word.push(c),
            _ => words.push(c.to_string()),
        }
    }
    let encoded = words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word)));
    encoded.collect::<Vec<_>>().join("\r\n ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_one_line_whatever_is_in_them() {
        assert_eq!(header("a: b"), "a: b");
        let long = header(&"é".repeat(60));
        assert!(long.split("\r\n ").all(|word| word.len() <= 75 && word.starts_with("=?utf-8?B?")));
        assert!(!header("a\r\nBcc: b").contains("Bcc"));
    }
}
