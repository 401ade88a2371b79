//! The finer view: where the elements inside a leaf are.
//!
//! A structure is a tree of byte ranges. Text is read by its format where one is recognised, and by
//! brackets, quotes and indentation otherwise; binary data by the lengths that stand in front of as many
//! bytes. Readers are tolerant: what they do not understand is part of the element around it.
//!
//! What always holds: a child lies inside its parent, siblings are in order and do not overlap. Changes
//! that a structure gives are in order, do not overlap, and keep what the format needs: separators between
//! what is left, and the lengths around it.
//!
//! Nothing here recurses over the input.

mod brackets;
mod build;
mod change;
mod indent;
mod json;
mod lengths;
mod pdf;
mod records;
mod table;
mod tlv;
mod xml;

use std::ops::Range;

pub use change::{Change, apply};

use build::Builder;
use lengths::Length;

/// By which rules a leaf was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names are those of the formats.
pub enum Layout {
    /// XML, HTML and what looks like it.
    Markup,
    Json,
    /// A value of PDF.
    Pdf,
    /// Rows of cells.
    Table,
    /// Lines, and lines that belong to them because they are indented or in their section.
    Indented,
    /// Groups in brackets, and quotes.
    Brackets,
    /// DER and BER.
    Der,
    /// Protocol buffers.
    Protobuf,
    MessagePack,
    Cbor,
    /// Lengths in front of as many bytes, found by trying.
    Records,
    /// Nothing was found.
    Flat,
}

/// What an element is in its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names are those of the formats.
pub enum Role {
    /// A tag with all that it encloses.
    Tag,
    /// With the white space in front of it.
    Attribute,
    /// Between its quotes.
    AttributeValue,
    Text,
    /// A comment, a declaration, a processing instruction.
    Remark,
    /// A key with its value.
    Member,
    /// A value, or all of an object or list.
    Value,
    Row,
    Cell,
    /// A line with all that belongs to it.
    Block,
    /// All between two brackets, with them.
    Group,
    /// All between two quotes, without them.
    Quote,
    /// What stands between separators in a group.
    Item,
    /// Something with its length.
    Record,
    /// What the length of a record is the length of.
    Payload,
}

/// An element of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Where it is.
    pub range: Range<usize>,
    /// What it is.
    pub role: Role,
    /// The element around it.
    pub parent: Option<usize>,
    /// The number behind the last element inside it.
    end: usize,
    /// Separators stand between it and its siblings.
    separated: bool,
    /// What must stay in its place.
    rest: &'static [u8],
    /// What states its length.
    length: Option<Box<Length>>,
}

/// The elements of a leaf, a parent before its children, from the front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    layout: Layout,
    elements: Vec<Element>,
    /// Some element states its length.
    has_lengths: bool,
}

/// How many elements a structure has at most. If there are more, the deepest are left out.
const MOST: usize = 1_000_000;

impl Structure {
    /// The elements of these bytes.
    pub fn of(bytes: &[u8]) -> Structure {
        type Reader = fn(&[u8], usize) -> Option<Builder>;
        const TEXT: &[Reader] =
            &[xml::read, json::read, indent::sections, table::read, brackets::read, indent::read];
        const BINARY: &[Reader] = &[tlv::der, tlv::message_pack, tlv::cbor, tlv::protobuf];
        // Binary data may be text for the most part, but then it is hardly ever UTF-8.
        let text = is_text(bytes);
        let binary = !text || std::str::from_utf8(bytes).is_err();
        const FIRST: &[Reader] = &[pdf::read];
        const LAST: &[Reader] = &[records::read];
        let readers = [FIRST, if binary { BINARY } else { &[] }, if text { TEXT } else { LAST }];
        for &read in readers.into_iter().flatten() {
            let Some(found) = read(bytes, usize::MAX) else { continue };
            let found = match found.too_deep() {
                Some(depth) => read(bytes, depth).unwrap_or(found),
                None => found,
            };
            return found.finish();
        }
        Structure { layout: Layout::Flat, elements: Vec::new(), has_lengths: false }
    }

    /// By which rules the bytes were read.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// All elements, a parent before its children, from the front.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// The elements that lie in no other.
    pub fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        self.siblings(0, self.elements.len())
    }

    /// The elements directly inside one.
    pub fn children(&self, element: usize) -> impl Iterator<Item = usize> + '_ {
        self.siblings(element + 1, self.elements[element].end)
    }

    /// All elements inside one, at any depth.
    pub fn inside(&self, element: usize) -> Range<usize> {
        element + 1..self.elements[element].end
    }

    fn siblings(&self, first: usize, end: usize) -> impl Iterator<Item = usize> + '_ {
        let at = Some(first).filter(|&at| at < end);
        std::iter::successors(at, move |&at| Some(self.elements[at].end).filter(|&next| next < end))
    }
}

fn is_text(bytes: &[u8]) -> bool {
    crate::formats::is_text(bytes)
}

#[cfg(test)]
mod tests;
