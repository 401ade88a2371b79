//! Mail: headers and a body, which may be several mails again.
//!
//! A mail is a sequence of its headers, one leaf, and its body: base64 and quoted-printable as the headers
//! say, parts between the lines of a boundary, or whatever it looks like. A mailbox is a sequence of mails.

mod entity;
mod headers;
mod multipart;

use crate::content::Content;
use crate::formats::base64::Base64;
use crate::formats::quoted;
use crate::formats::sequence::Sequence;
use crate::node::Kind;
use crate::parse::{Budget, Found, Piece};
use entity::Entity;
use headers::Headers;

/// A mail, or a part of one.
fn entity(bytes: &Content, levels: usize, budget: &mut Budget) -> Option<Found> {
    let headers = Headers::at(bytes)?;
    let mut parts = vec![Piece::leaf("headers", bytes.slice(..headers.length))];
    if headers.length < bytes.len() {
        parts.push(body(bytes.slice(headers.length..), &headers, levels, budget));
    }
    Some(Found::container(Entity, parts))
}

fn body(bytes: Content, headers: &Headers, levels: usize, budget: &mut Budget) -> Piece {
    let name = headers.name.clone().unwrap_or_else(|| "body".to_owned());
    let encoding = headers.encoding.as_deref().unwrap_or("");
    let found = match &headers.boundary {
        Some(boundary) => multipart::find(&bytes, boundary, levels, budget),
        None if encoding == "base64" => Base64::find(&bytes, budget)
            .map(|(base64, inner)| Found::encoding(base64, inner).named(&name)),
        None if encoding == "quoted-printable" => {
            quoted::whole(&bytes, budget).map(|found| found.named(&name))
        }
        None => None,
    };
    match found {
        Some(found) => Piece::known(name, bytes, found),
        None => Piece::new(name, bytes),
    }
}

pub(crate) fn read(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    if bytes.starts_with(b"From ") {
        return mailbox(bytes, budget);
    }
    if !Headers::at(bytes)?.is_mail() {
        return None;
    }
    entity(bytes, budget.depth(), budget)
}

/// Mails one after the other, each behind a line that begins with `From `.
fn mailbox(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    if !Headers::at(bytes)?.is_mail() {
        return None;
    }
    let mut starts = vec![0];
    starts.extend(memchr::memmem::find_iter(bytes, b"\nFrom ").map(|at| at + 1));
    starts.retain(|&at| at == 0 || Headers::at(&bytes.slice(at..)).is_some_and(|h| h.is_mail()));
    if starts.len() > budget.nodes() / 4 {
        return None;
    }
    let mut parts = Vec::new();
    let levels = budget.depth().checked_sub(1)?;
    for (at, &start) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(bytes.len());
        let mail = bytes.slice(start..end);
        let found = entity(&mail, levels, budget)?;
        parts.push(Piece::known(format!("mail {}", at + 1), mail, found));
    }
    Some(Sequence::found(Kind::Mailbox, parts))
}

#[cfg(test)]
mod tests;
