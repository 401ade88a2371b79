//! A document: a tree, how it is read and written, and how its nodes are found.

use std::fmt;

use crate::content::Content;
use crate::limits::Limits;
use crate::node::{Node, Shape};
use crate::out::{Out, Rendered, Style};
use crate::parse;
use crate::path::Path;

/// A document as a tree. A clone costs a counter; edits give new documents that share what they do not
/// touch.
#[derive(Clone)]
pub struct Document(Node);

impl Document {
    /// The tree that these bytes are. What is not recognised, broken or beyond the limits is a leaf.
    pub fn parse(bytes: impl Into<Content>, limits: &Limits) -> Document {
        Document(parse::parse(bytes.into(), limits))
    }

    /// A document that has this node as its root.
    pub fn of(root: Node) -> Document {
        Document(root)
    }

    /// The root.
    pub fn root(&self) -> &Node {
        &self.0
    }

    /// The bytes, as the ordinary writers of the formats write them.
    pub fn render(&self) -> Vec<u8> {
        let mut out = Out::new(false);
        self.0.write(Style::Packed, None, &mut out);
        out.into_bytes()
    }

    /// The bytes with streams stored instead of compressed, and which of them are copies of leaves.
    pub fn render_stored(&self) -> Rendered {
        self.render_as(Style::Stored)
    }

    /// The bytes in some style, and which of them are copies of leaves. Packed streams are no copies.
    pub fn render_as(&self, style: Style) -> Rendered {
        let mut out = Out::new(true);
        self.0.write(style, Some(&Path::root()), &mut out);
        out.finish()
    }

    /// The node at this place.
    pub fn node(&self, path: &Path) -> Option<&Node> {
        path.steps().try_fold(&self.0, |node, step| node.children().get(step))
    }

    /// All nodes, a parent before its children, from the front.
    pub fn nodes(&self) -> impl Iterator<Item = (Path, &Node)> {
        let mut waiting = vec![(Path::root(), &self.0)];
        std::iter::from_fn(move || {
            let (path, node) = waiting.pop()?;
            let children = node.children().iter().enumerate().rev();
            waiting.extend(children.map(|(at, child)| (path.child(at), child)));
            Some((path, node))
        })
    }

    /// All leaves, from the front.
    pub fn leaves(&self) -> impl Iterator<Item = (Path, &Content)> {
        self.nodes().filter_map(|(path, node)| Some((path, node.content()?)))
    }

    /// Whether there is nothing but one leaf: nothing was recognised.
    pub fn is_flat(&self) -> bool {
        self.0.shape() == Shape::Leaf
    }

    /// Whether two documents are the same tree: kinds, parts and leaves.
    pub fn same_tree(&self, other: &Document) -> bool {
        let mut waiting = vec![(&self.0, &other.0)];
        while let Some((one, two)) = waiting.pop() {
            let (mine, theirs) = (one.children(), two.children());
            if one.is(two) {
                continue;
            }
            let same = one.kind() == two.kind() && one.content() == two.content();
            if !same || mine.len() != theirs.len() {
                return false;
            }
            waiting.extend(mine.iter().zip(theirs));
        }
        true
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
