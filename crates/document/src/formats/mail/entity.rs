//! A mail, or a part of one: its headers and its body.
//!
//! Stored, a body of text is written plainly, and the header that says how it is encoded says so.

use std::ops::Range;
use std::sync::Arc;

use crate::formats::text::{is_text, lines, trimmed};
use crate::node::{Form, Kind, Node, Parts};
use crate::out::{Out, Style};

const ENCODING: &[u8] = b"content-transfer-encoding:";

pub(super) struct Entity;

impl Form for Entity {
    fn kind(&self) -> Kind {
        Kind::Mail
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        if parts.style() == Style::Stored && parts.len() == 2 && plain(parts.node(1)) {
            let mut headers = out.fresh();
            parts.write(0, &mut headers);
            if let Some(value) = encoding(headers.bytes()) {
                out.append_range(&headers, 0..value.start);
                out.push(b"8bit");
                out.append_range(&headers, value.end..headers.len());
                return parts.inside(1).write(0, out);
            }
        }
        for at in 0..parts.len() {
            parts.write(at, out);
        }
    }

    fn keep(&self, _: &[usize]) -> Arc<dyn Form> {
        Arc::new(Entity)
    }
}

/// Whether a body can be written without its encoding: it is text, and no line looks like a boundary or like
/// the beginning of another mail.
fn plain(body: &Node) -> bool {
    let encoded = matches!(body.kind(), Kind::Base64 | Kind::QuotedPrintable);
    let Some(content) = body.children().first().and_then(Node::content) else { return false };
    let harmless = |line: &[u8]| !line.starts_with(b"--") && !line.starts_with(b"From ");
    let whole = !content.contains(&0) && is_text(content);
    encoded && whole && lines(content).all(|line| harmless(line) && line.len() < 998)
}

/// Where the headers say how the body is encoded.
fn encoding(headers: &[u8]) -> Option<Range<usize>> {
    let mut at = 0;
    for line in lines(headers) {
        let name = line.get(..ENCODING.len());
        if name.is_some_and(|name| name.eq_ignore_ascii_case(ENCODING)) {
            let value = &line[ENCODING.len()..];
            let from = at + ENCODING.len() + (value.len() - value.trim_ascii_start().len());
            let to = at + trimmed(line).trim_ascii_end().len();
            return (from < to).then_some(from..to);
        }
        at += line.len();
    }
    None
}
