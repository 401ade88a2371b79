//! PEM: base64 between two lines with a label.

use crate::content::Content;
use crate::formats::base64::Base64;
use crate::formats::sequence::Sequence;
use crate::node::Kind;
use crate::parse::{Budget, Found, Piece};

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    let mut parts = Vec::new();
    let mut at = 0;
    let mut found = false;
    while let Some(begin) = memchr::memmem::find(&content[at..], BEGIN) {
        let line = at + begin;
        let Some(length) = memchr::memchr(b'\n', &content[line..]) else { break };
        let from = line + length + 1;
        let Some(end) = memchr::memmem::find(&content[from..], END) else { break };
        let body = content.slice(from..from + end);
        if parts.len() > budget.nodes() / 4 {
            return None;
        }
        // Headers of an encrypted key stand in front of an empty line.
        let head = memchr::memmem::find(&body, b"\n\n").map_or(0, |n| n + 2);
        if let Some((codec, inner)) = Base64::find(&body.slice(head..), budget) {
            parts.push(Piece::leaf("label", content.slice(at..from + head)));
            let encoded = body.slice(head..);
            parts.push(Piece::known("content", encoded, Found::encoding(codec, inner)));
            found = true;
        } else {
            parts.push(Piece::leaf("text", content.slice(at..from + end)));
        }
        at = from + end;
    }
    if !found {
        return None;
    }
    if at < content.len() {
        parts.push(Piece::leaf("label", content.slice(at..)));
    }
    Some(Sequence::found(Kind::Pem, parts))
}
