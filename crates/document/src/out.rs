//! What a document is written to: bytes, and where they come from.
//!
//! What always holds: a span is a verbatim copy of a stretch of a leaf, spans are in order and do not
//! overlap, and every byte outside of them is fixed by the format or computed by its writer.

use std::ops::Range;

use crate::content::Content;
use crate::path::Path;

/// How streams are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As the ordinary writer of the format does: compressed. Streams that were not edited keep the
    /// bytes that they had.
    Packed,
    /// Uncompressed wherever the format has a way to say so: a program that reads it copies.
    Stored,
    /// Uncompressed, in the stored blocks of the same compression: for programs that refuse members
    /// without one.
    Blocks,
}

/// A document as bytes, and which of them are copies of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The document.
    pub bytes: Content,
    /// Copies of stretches of leaves, in the order of the bytes. All else is fixed or computed.
    pub spans: Vec<Span>,
}

/// A stretch of the rendered bytes that is a copy of a stretch of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where the copy is in the rendered bytes.
    pub at: Range<usize>,
    /// The leaf.
    pub leaf: Path,
    /// Where the stretch begins in the leaf.
    pub from: usize,
}

/// Bytes that are being written. Spans are kept only where somebody asked for them.
pub(crate) struct Out {
    bytes: Vec<u8>,
    spans: Option<Vec<Span>>,
}

impl Out {
    pub fn new(spans: bool) -> Out {
        Out { bytes: Vec::new(), spans: spans.then(Vec::new) }
    }

    /// Another one of the same sort, for something that is written before it has its place.
    pub fn fresh(&self) -> Out {
        Out::new(self.spans.is_some())
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes a leaf.
    pub fn leaf(&mut self, content: &[u8], path: &Path) {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(content);
        if let Some(spans) = &mut self.spans
            && !content.is_empty()
        {
            spans.push(Span { at: at..at + content.len(), leaf: path.clone(), from: 0 });
        }
    }

    /// Writes over what is there: a length or a checksum that is known only now.
    pub fn patch(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.forget(at..at + bytes.len());
    }

    /// Appends something that was written before.
    pub fn append(&mut self, other: &Out) {
        self.append_range(other, 0..other.len());
    }

    /// Appends a stretch of something that was written before.
    pub fn append_range(&mut self, other: &Out, range: Range<usize>) {
        let base = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes[range.clone()]);
        let (Some(mine), Some(theirs)) = (&mut self.spans, &other.spans) else { return };
        let first = theirs.partition_point(|span| span.at.end <= range.start);
        for span in &theirs[first..] {
            let (from, to) = (span.at.start.max(range.start), span.at.end.min(range.end));
            if from >= to {
                break;
            }
            let moved = base + from - range.start..base + to - range.start;
            let start = span.from + (from - span.at.start);
            mine.push(Span { at: moved, leaf: span.leaf.clone(), from: start });
        }
    }

    /// What was written in this range is a copy no longer.
    fn forget(&mut self, range: Range<usize>) {
        let Some(spans) = &mut self.spans else { return };
        let mut at = spans.partition_point(|span| span.at.end <= range.start);
        while at < spans.len() && spans[at].at.start < range.end {
            let span = spans.remove(at);
            if span.at.start < range.start {
                let before = span.at.start..range.start;
                spans.insert(at, Span { at: before, ..span.clone() });
                at += 1;
            }
            if range.end < span.at.end {
                let from = span.from + (range.end - span.at.start);
                spans.insert(at, Span { at: range.end..span.at.end, leaf: span.leaf, from });
                at += 1;
            }
        }
    }

    pub fn finish(self) -> Rendered {
        Rendered { bytes: self.bytes.into(), spans: self.spans.unwrap_or_default() }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_patched_is_a_copy_no_longer() {
        let mut out = Out::new(true);
        out.push(b"ab");
        out.leaf(b"0123456789", &Path::root());
        out.patch(5, b"xy");
        let spans: Vec<_> =
            out.finish().spans.into_iter().map(|span| (span.at, span.from)).collect();
        assert_eq!(spans, [(2..5, 0), (7..12, 5)]);
    }

    #[test]
    fn a_stretch_keeps_its_spans() {
        let mut inner = Out::new(true);
        inner.leaf(b"0123456789", &Path::root());
        inner.push(b"--");
        let mut out = inner.fresh();
        out.push(b"a");
        out.append_range(&inner, 3..11);
        let rendered = out.finish();
        assert_eq!(&rendered.bytes[..], b"a3456789-");
        assert_eq!(rendered.spans, [Span { at: 1..8, leaf: Path::root(), from: 3 }]);
    }
}
