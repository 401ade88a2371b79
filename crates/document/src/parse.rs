//! From bytes to a tree.
//!
//! A reader of a format proposes a view: a form and the pieces that it found. The view is used only if the
//! form's writer gives the same bytes back; otherwise the next reader is asked, and if none is left, the
//! bytes are a leaf. Every piece is then looked into in the same way, until a limit is reached.

use std::io::Read;
use std::sync::Arc;

use crate::content::Content;
use crate::formats;
use crate::limits::Limits;
use crate::node::{Codec, Form, Node};
use crate::out::{Out, Style};

/// What a reader saw in some bytes.
pub(crate) enum Found {
    Container { form: Arc<dyn Form>, parts: Vec<Piece> },
    Encoding { codec: Arc<dyn Codec>, inner: Box<Piece> },
}

/// A part of what was found.
pub(crate) struct Piece {
    name: String,
    content: Content,
    inside: Inside,
}

enum Inside {
    /// To be looked into.
    Unknown,
    /// A leaf, whatever it looks like.
    Leaf,
    /// This is what the reader of the whole saw in it. A container here is part of the form around it, and
    /// compared with the original together with that.
    Known(Box<Found>),
}

impl Piece {
    pub fn new(name: impl Into<String>, content: Content) -> Piece {
        Piece { name: name.into(), content, inside: Inside::Unknown }
    }

    pub fn leaf(name: impl Into<String>, content: Content) -> Piece {
        Piece { name: name.into(), content, inside: Inside::Leaf }
    }

    pub fn known(name: impl Into<String>, content: Content, found: Found) -> Piece {
        Piece { name: name.into(), content, inside: Inside::Known(Box::new(found)) }
    }
}

impl Found {
    pub fn container(form: impl Form, parts: Vec<Piece>) -> Found {
        Found::Container { form: Arc::new(form), parts }
    }

    pub fn encoding(codec: impl Codec + 'static, decoded: Content) -> Found {
        Found::Encoding { codec: Arc::new(codec), inner: Box::new(Piece::new("", decoded)) }
    }

    /// An encoding around something that is known as well.
    pub fn around(codec: impl Codec + 'static, inner: Piece) -> Found {
        Found::Encoding { codec: Arc::new(codec), inner: Box::new(inner) }
    }

    /// The same with a name for what an encoding holds.
    pub fn named(mut self, name: &str) -> Found {
        if let Found::Encoding { inner, .. } = &mut self {
            name.clone_into(&mut inner.name);
        }
        self
    }

    /// How many nodes it has that are known now.
    fn count(&self) -> usize {
        match self {
            Found::Container { parts, .. } => 1 + parts.iter().map(Piece::count).sum::<usize>(),
            Found::Encoding { inner, .. } => 1 + inner.count(),
        }
    }

    /// How many levels are known now.
    fn depth(&self) -> usize {
        let inside = match self {
            Found::Container { parts, .. } => parts.iter().map(Piece::depth).max(),
            Found::Encoding { inner, .. } => Some(inner.depth()),
        };
        1 + inside.unwrap_or(0)
    }
}

impl Piece {
    /// Whether there is a known container in it, inside encodings.
    pub fn holds_container(&self) -> bool {
        match &self.inside {
            Inside::Known(found) => match &**found {
                Found::Container { .. } => true,
                Found::Encoding { inner, .. } => inner.holds_container(),
            },
            _ => false,
        }
    }

    pub fn bytes(&self) -> &Content {
        &self.content
    }

    fn count(&self) -> usize {
        match &self.inside {
            Inside::Known(found) => found.count(),
            _ => 1,
        }
    }

    fn depth(&self) -> usize {
        match &self.inside {
            Inside::Known(found) => found.depth(),
            _ => 1,
        }
    }
}

/// What is left of the limits.
pub(crate) struct Budget {
    bytes: usize,
    nodes: usize,
    /// How deep the place is that is being looked at.
    depth: usize,
}

impl Budget {
    /// All that a decoder has to give, unless it fails or gives too much.
    pub fn read(&mut self, mut decoder: impl Read) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let limit = self.bytes as u64 + 1;
        let end = decoder.by_ref().take(limit).read_to_end(&mut bytes);
        let enough = bytes.len() <= self.bytes;
        self.bytes = self.bytes.saturating_sub(bytes.len());
        (end.is_ok() && enough).then_some(bytes)
    }

    /// Pays for something that was decoded without a reader. `None`: there is too little left.
    pub fn pay(&mut self, length: usize) -> Option<()> {
        let left = self.bytes.checked_sub(length);
        self.bytes = left.unwrap_or(0);
        left.map(drop)
    }

    /// How much may still be unpacked.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many parts a reader may still find. It need not look for more.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many levels a reader may still find.
    pub fn depth(&self) -> usize {
        self.depth
    }
}

pub(crate) fn parse(bytes: Content, limits: &Limits) -> Node {
    let nodes = limits.nodes.saturating_sub(1);
    let mut budget = Budget { bytes: limits.bytes, nodes, depth: limits.depth };
    let node = look(Piece::new("", bytes.clone()), &mut budget);
    // Every view was compared with its bytes; this is for mistakes in how views fit together.
    let mut out = Out::new(false);
    node.write(Style::Packed, None, &mut out);
    let same = out.bytes() == &bytes[..];
    debug_assert!(same, "a document is written in another way than it was");
    if same { node } else { Node::leaf("", bytes) }
}

/// The node that a piece is. What it holds is looked into as far as the budget goes.
fn look(piece: Piece, budget: &mut Budget) -> Node {
    let Piece { name, content, inside } = piece;
    let found = match inside {
        Inside::Leaf => None,
        Inside::Known(found) => Some(*found),
        Inside::Unknown => find(&content, budget),
    };
    match found {
        None => Node::leaf(&name, content),
        Some(Found::Container { form, parts }) => {
            budget.depth = budget.depth.saturating_sub(1);
            let parts = parts.into_iter().map(|part| look(part, budget)).collect();
            budget.depth += 1;
            Node::container(&name, form, parts)
        }
        Some(Found::Encoding { codec, inner }) => {
            budget.depth = budget.depth.saturating_sub(1);
            let inner = look(*inner, budget);
            budget.depth += 1;
            Node::encoding(&name, codec, inner, Some(content))
        }
    }
}

fn find(content: &Content, budget: &mut Budget) -> Option<Found> {
    if content.is_empty() || budget.depth == 0 || budget.nodes == 0 {
        return None;
    }
    for read in formats::READERS {
        let Some(found) = read(content, budget) else { continue };
        let count = found.count() - 1;
        if count > budget.nodes || found.depth() > budget.depth + 1 {
            continue;
        }
        if gives_back(&found, content) {
            budget.nodes -= count;
            return Some(found);
        }
    }
    None
}

/// Whether the writer gives the bytes back that the reader saw.
pub(crate) fn gives_back(found: &Found, content: &Content) -> bool {
    let mut out = Out::new(false);
    shallow(found, "", content).write(Style::Packed, None, &mut out);
    out.bytes() == &content[..]
}

/// The node with all that is known, and the rest as leaves.
fn shallow(found: &Found, name: &str, content: &Content) -> Node {
    let node = |piece: &Piece| match &piece.inside {
        Inside::Known(found) => shallow(found, &piece.name, &piece.content),
        _ => Node::leaf(&piece.name, piece.content.clone()),
    };
    match found {
        Found::Container { form, parts } => {
            Node::container(name, form.clone(), parts.iter().map(node).collect())
        }
        Found::Encoding { codec, inner } => {
            Node::encoding(name, codec.clone(), node(inner), Some(content.clone()))
        }
    }
}

/// A budget for tests of decoders.
#[cfg(test)]
pub(crate) fn parse_budget() -> Budget {
    Budget { bytes: 1 << 24, nodes: 1000, depth: 10 }
}
