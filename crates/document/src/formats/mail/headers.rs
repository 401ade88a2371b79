//! The headers of a mail, as far as they say what the body is.

use crate::formats::text::{lines, trimmed};

/// Headers longer than this are none.
const LONGEST: usize = 256 << 10;
/// Two of these, and it is a mail.
const KNOWN: &[&str] = &[
    "from",
    "to",
    "cc",
    "subject",
    "date",
    "received",
    "message-id",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "content-disposition",
    "return-path",
    "delivered-to",
    "reply-to",
    "in-reply-to",
    "references",
    "dkim-signature",
    "sender",
];

pub(super) struct Headers {
    /// With the empty line that ends them.
    pub length: usize,
    pub encoding: Option<String>,
    pub boundary: Option<Vec<u8>>,
    /// The name of the file that the body is.
    pub name: Option<String>,
    known: usize,
}

impl Headers {
    pub fn at(bytes: &[u8]) -> Option<Headers> {
        let mut headers =
            Headers { length: 0, encoding: None, boundary: None, name: None, known: 0 };
        let mut field: Vec<u8> = Vec::new();
        for line in lines(&bytes[..bytes.len().min(LONGEST)]) {
            let body = trimmed(line);
            let folded = matches!(body.first(), Some(b' ' | b'\t')) && !field.is_empty();
            if !folded {
                headers.note(&field);
                field.clear();
                let first = headers.length == 0 && body.starts_with(b"From ");
                if !body.is_empty() && !first && !is_field(body) {
                    return None;
                }
            }
            headers.length += line.len();
            if body.is_empty() {
                return Some(headers);
            }
            field.extend_from_slice(body);
        }
        // A mail may end with its headers.
        headers.note(&field);
        (headers.length == bytes.len() && bytes.ends_with(b"\n")).then_some(headers)
    }

    pub fn is_mail(&self) -> bool {
        self.known >= 2
    }

    fn note(&mut self, field: &[u8]) {
        let Some(colon) = memchr::memchr(b':', field) else { return };
        let name = String::from_utf8_lossy(&field[..colon]).to_ascii_lowercase();
        let value = &field[colon + 1..];
        self.known += usize::from(KNOWN.contains(&name.as_str()));
        match name.as_str() {
            "content-transfer-encoding" => {
                let value = String::from_utf8_lossy(value.trim_ascii());
                self.encoding = Some(value.to_ascii_lowercase());
            }
            "content-type" => {
                let multipart = value.trim_ascii().to_ascii_lowercase().starts_with(b"multipart/");
                self.boundary = parameter(value, b"boundary").filter(|_| multipart);
                self.name = self.name.take().or_else(|| name_in(value, b"name"));
            }
            "content-disposition" => {
                self.name = name_in(value, b"filename").or_else(|| self.name.take());
            }
            _ => {}
        }
    }
}

fn name_in(value: &[u8], key: &[u8]) -> Option<String> {
    parameter(value, key).map(|name| String::from_utf8_lossy(&name).into_owned())
}

/// Whether a line begins a field: a name of visible characters, and a colon.
fn is_field(line: &[u8]) -> bool {
    let colon = memchr::memchr(b':', line).unwrap_or(0);
    colon > 0 && line[..colon].iter().all(|b| (33..=126).contains(b))
}

/// A parameter of a value: `; key=word` or `; key="words"`.
fn parameter(value: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    for part in split_outside_quotes(value) {
        let part = part.trim_ascii();
        let Some(equals) = memchr::memchr(b'=', part) else { continue };
        if !part[..equals].trim_ascii().eq_ignore_ascii_case(key) {
            continue;
        }
        let text = part[equals + 1..].trim_ascii();
        let text =
            text.strip_prefix(b"\"").map_or(text, |rest| rest.strip_suffix(b"\"").unwrap_or(rest));
        return (!text.is_empty()).then(|| text.to_vec());
    }
    None
}

fn split_outside_quotes(value: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, &byte) in value.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b';' if !quoted => {
                parts.push(&value[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&value[start..]);
    parts
}
