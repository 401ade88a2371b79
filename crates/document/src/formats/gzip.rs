//! gzip: a header with a time and a name, a deflate stream, and the checksum and length of what it holds.
//!
//! A file may be several of them, one after the other: then it is a sequence. The flags of the header
//! follow from which parts there are.

use std::sync::Arc;

use crate::content::Content;
use crate::formats::deflate::{self, Deflate, End};
use crate::formats::numbers::{le, le16, le32};
use crate::formats::roles::Roles;
use crate::formats::sequence::Sequence;
use crate::node::{Field, Form, Kind, Parts, Sum};
use crate::out::Out;
use crate::parse::{Budget, Found, Piece};

const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const TEXT: u8 = 1;
const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Time,
    Extra,
    Name,
    Comment,
    Body,
}

#[derive(Clone)]
struct Gzip {
    roles: Roles<Role>,
    /// The flags that do not follow from the parts.
    flags: u8,
    /// How hard the compressor tried, and the system.
    rest: [u8; 2],
    header_crc: Option<Field>,
    /// Checksum and length, unless the file ends before them.
    trailer: Option<(Field, Field)>,
}

impl Form for Gzip {
    fn kind(&self) -> Kind {
        Kind::Gzip
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let start = out.len();
        let has = |role, flag| if self.roles.place(role, parts).is_some() { flag } else { 0 };
        let flags = self.flags
            | has(Role::Extra, EXTRA)
            | has(Role::Name, NAME)
            | has(Role::Comment, COMMENT)
            | if self.header_crc.is_some() { HEADER_CRC } else { 0 };
        out.push(&MAGIC);
        out.push(&[flags]);
        self.roles.write_exactly(Role::Time, 4, parts, out);
        out.push(&self.rest);
        if flags & EXTRA != 0 {
            let at = out.len();
            out.push(&[0; 2]);
            let length = self.roles.write(Role::Extra, parts, out);
            out.patch(at, &le::<2>(length as u64));
        }
        for role in [Role::Name, Role::Comment] {
            if self.roles.place(role, parts).is_some() {
                self.roles.write(role, parts, out);
                out.push(&[0]);
            }
        }
        if let Some(crc) = self.header_crc {
            let computed = crc32fast::hash(&out.bytes()[start..]);
            out.push(&le::<2>(crc.or(u64::from(computed & 0xffff))));
        }
        self.roles.write(Role::Body, parts, out);
        let sum = match self.roles.place(Role::Body, parts).map(|at| parts.node(at)) {
            Some(body) if body.kind() == Kind::Deflate => body.children()[0].sum(parts.style()),
            _ => Sum::of(b""),
        };
        if let Some((crc, length)) = self.trailer {
            out.push(&le::<4>(crc.or(u64::from(sum.crc))));
            out.push(&le::<4>(length.or(sum.length & 0xffff_ffff)));
        }
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        Arc::new(Gzip { roles: self.roles.keep(kept), ..self.clone() })
    }
}

/// The member at a place, and where it ends.
fn member(content: &Content, start: usize, budget: &mut Budget) -> Option<(Found, usize)> {
    if !content[start..].starts_with(&MAGIC) {
        return None;
    }
    let flags = *content.get(start + 3)?;
    let rest = [*content.get(start + 8)?, *content.get(start + 9)?];
    let mut roles = vec![Role::Time];
    let mut parts = vec![Piece::leaf("time", content.get_slice(start + 4, 4)?)];
    let mut at = start + 10;
    if flags & EXTRA != 0 {
        let length = le16(content, at)? as usize;
        roles.push(Role::Extra);
        parts.push(Piece::leaf("extra", content.get_slice(at + 2, length)?));
        at += 2 + length;
    }
    let mut file = "content".to_owned();
    for (flag, role) in [(NAME, Role::Name), (COMMENT, Role::Comment)] {
        if flags & flag != 0 {
            let length = memchr::memchr(0, content.get(at..)?)?;
            let text = content.slice(at..at + length);
            let mut name = "comment";
            if role == Role::Name {
                (file, name) = (String::from_utf8_lossy(&text).into_owned(), "name");
            }
            roles.push(role);
            parts.push(Piece::leaf(name, text));
            at += length + 1;
        }
    }
    let mut header_crc = None;
    if flags & HEADER_CRC != 0 {
        let right = crc32fast::hash(&content[start..at]) & 0xffff;
        header_crc = Some(Field::of(le16(content, at)?, u64::from(right)));
        at += 2;
    }
    let found = deflate::inflate(content.get(at..)?, budget)?;
    let mut end = at + found.length;
    let sum = Sum::of(&found.content);
    let mut trailer = None;
    if found.end == End::Whole
        && let (Some(crc), Some(length)) = (le32(content, end), le32(content, end + 4))
    {
        let crc = Field::of(crc, u64::from(sum.crc));
        trailer = Some((crc, Field::of(length, sum.length & 0xffff_ffff)));
    }
    if trailer.is_none() && found.content.is_empty() {
        return None;
    }
    roles.push(Role::Body);
    let body = Found::around(Deflate(found.end), Piece::new(file, found.content));
    parts.push(Piece::known("body", content.slice(at..end), body));
    end += if trailer.is_some() { 8 } else { 0 };
    let form =
        Gzip { roles: Roles(roles), flags: flags & (TEXT | 0xe0), rest, header_crc, trailer };
    Some((Found::container(form, parts), end))
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    let (first, mut at) = member(content, 0, budget)?;
    if at == content.len() {
        return Some(first);
    }
    let mut parts = vec![Piece::known("member", content.slice(..at), first)];
    while at < content.len() && parts.len() < budget.nodes() {
        let Some((next, end)) = member(content, at, budget) else { break };
        parts.push(Piece::known("member", content.slice(at..end), next));
        at = end;
    }
    if at < content.len() {
        parts.push(Piece::new("rest", content.slice(at..)));
    }
    Some(Sequence::found(Kind::Sequence, parts))
}
