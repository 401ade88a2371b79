//! An object: its value, and its stream.
//!
//! Numbers in the dictionary that follow from the stream (`Length`, and for streams of objects `N` and
//! `First`) are written as they must be; in the leaf they are zero, so that it says nothing that is computed.

use std::ops::Range;
use std::sync::Arc;

use super::lexer::{integer, value};
use super::object_stream::ObjectStream;
use crate::content::Content;
use crate::formats::roles::Roles;
use crate::node::{Form, Kind, Parts, Shape};
use crate::out::{Out, Style};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Value,
    Stream,
}

#[derive(Clone)]
pub(super) struct Object {
    pub roles: Roles<Role>,
    /// `5 0 obj` with what follows it.
    pub head: Content,
    /// `stream` with the white space around it.
    pub keyword: Content,
    /// `endstream`, `endobj` and white space.
    pub end: Content,
    /// Which numbers of the dictionary are computed, and how many digits they have at least.
    pub computed: Vec<(&'static str, usize)>,
    /// In how many layers the stream lies, if it can be written without them: then its filters go, too.
    pub bare: Option<usize>,
}

/// A value in a dictionary that is written in another way than it stands in the leaf.
pub(super) struct Hole {
    pub key: &'static str,
    /// Nothing: the key goes, too.
    pub text: Option<String>,
}

impl Hole {
    pub fn number(key: &'static str, width: usize, number: usize) -> Hole {
        Hole { key, text: Some(format!("{number:0width$}")) }
    }
}

/// Writes a dictionary with the values of some keys replaced.
pub(super) fn fill(dictionary: &Out, holes: &[Hole], out: &mut Out) {
    let mut places: Vec<(Range<usize>, &str)> = Vec::new();
    for hole in holes {
        if let Some(range) = value(dictionary.bytes(), hole.key) {
            match &hole.text {
                Some(text) => places.push((range, text)),
                None => places.push((key_before(dictionary.bytes(), hole.key, range), "")),
            }
        }
    }
    places.sort_by_key(|(range, _)| range.start);
    let mut at = 0;
    for (range, text) in places {
        out.append_range(dictionary, at..range.start);
        out.push(text.as_bytes());
        at = range.end;
    }
    out.append_range(dictionary, at..dictionary.len());
}

/// The range of a value together with its key.
fn key_before(dictionary: &[u8], key: &str, value: Range<usize>) -> Range<usize> {
    let sign = format!("/{key}");
    let start = memchr::memmem::rfind(&dictionary[..value.start], sign.as_bytes());
    start.unwrap_or(value.start)..value.end
}

/// The dictionary with the number of a key made zero, and how many digits it had at least; nothing if the
/// number is not the right one.
pub(super) fn blank(dictionary: &mut Vec<u8>, key: &'static str, right: u64) -> Option<usize> {
    let range = value(dictionary, key)?;
    if integer(dictionary, key)? != right {
        return None;
    }
    let padded = dictionary[range.start] == b'0' && range.len() > 1;
    let width = if padded { range.len() } else { 1 };
    dictionary.splice(range, *b"0");
    Some(width)
}

impl Form for Object {
    fn kind(&self) -> Kind {
        Kind::PdfObject
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let (stream, holes) = self.stream(parts, out);
        self.write_with(parts, stream.as_ref(), holes, out);
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        Arc::new(Object { roles: self.roles.keep(kept), ..self.clone() })
    }
}

impl Object {
    /// The stream, and what changes in the dictionary because of how it is written.
    pub fn stream(&self, parts: &Parts<'_>, out: &Out) -> (Option<Out>, Vec<Hole>) {
        let Some(at) = self.roles.place(Role::Stream, parts) else { return (None, Vec::new()) };
        let mut stream = out.fresh();
        if let Some(depth) = self.bare.filter(|_| parts.style() == Style::Stored) {
            let mut inner = parts.inside(at);
            let mut encoded = parts.node(at).shape() == Shape::Encoding;
            for _ in 1..depth {
                encoded = encoded && inner.node(0).shape() == Shape::Encoding;
                if encoded {
                    inner = inner.inside(0);
                }
            }
            if encoded {
                inner.write(0, &mut stream);
                let gone = ["Filter", "DecodeParms"];
                let holes = gone.map(|key| Hole { key, text: None }).into();
                return (Some(stream), holes);
            }
        }
        parts.write(at, &mut stream);
        (Some(stream), Vec::new())
    }

    /// Writes the object with this stream, and with more values filled in.
    pub fn write_with(
        &self,
        parts: &Parts<'_>,
        stream: Option<&Out>,
        mut holes: Vec<Hole>,
        out: &mut Out,
    ) {
        let node = self.roles.place(Role::Stream, parts).map(|at| parts.node(at));
        let inside = node.and_then(|node| ObjectStream::inside(node, parts.style()));
        for &(key, width) in &self.computed {
            let number = match key {
                "Length" => stream.map_or(0, Out::len),
                "N" => inside.map_or(0, |(count, ..)| count),
                _ => inside.map_or(0, |(_, first, _)| first),
            };
            holes.push(Hole::number(key, width, number));
        }
        out.push(&self.head);
        let mut dictionary = out.fresh();
        self.roles.write(Role::Value, parts, &mut dictionary);
        fill(&dictionary, &holes, out);
        if let Some(stream) = stream {
            out.push(&self.keyword);
            out.append(stream);
        } else if !self.keyword.is_empty() {
            // Without its stream the object is its dictionary.
            return out.push(b"\nendobj\n");
        }
        out.push(&self.end);
    }
}
