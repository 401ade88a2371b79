//! Edits: each gives a new document, and shares with the old one what it does not touch.
//!
//! Paths always mean places in the document that is edited, also where several edits are made at once.

use std::collections::BTreeMap;

use crate::content::Content;
use crate::document::Document;
use crate::node::{Node, Shape};
use crate::path::Path;

/// What becomes of a node.
enum Edit {
    Gone,
    Instead(Node),
}

/// Edits, sorted by the tree that they are made on.
#[derive(Default)]
struct Plan {
    here: Option<Edit>,
    below: BTreeMap<usize, Plan>,
}

impl Plan {
    fn add(&mut self, path: &Path, edit: Edit) {
        let place = path.steps().fold(self, |plan, step| plan.below.entry(step).or_default());
        place.here = Some(edit);
    }

    /// What is left of the node.
    fn carry_out(self, node: &Node) -> Option<Node> {
        match self.here {
            Some(Edit::Gone) => return None,
            Some(Edit::Instead(other)) => return Some(other),
            None if self.below.is_empty() => return Some(node.clone()),
            None => {}
        }
        let mut below = self.below;
        let (mut children, mut kept) = (Vec::new(), Vec::new());
        let mut changed = false;
        for (at, child) in node.children().iter().enumerate() {
            let left = match below.remove(&at) {
                Some(plan) => plan.carry_out(child),
                None => Some(child.clone()),
            };
            changed |= left.as_ref().is_none_or(|left| !left.is(child));
            if let Some(left) = left {
                children.push(left);
                kept.push(at);
            }
        }
        if !changed {
            return Some(node.clone());
        }
        if kept.len() < node.children().len() {
            let smaller = node.keeping(&kept);
            return Some(if kept.is_empty() { smaller } else { smaller.with_children(children) });
        }
        Some(node.with_children(children))
    }
}

impl Document {
    fn edited(&self, edits: impl IntoIterator<Item = (Path, Edit)>) -> Document {
        let mut plan = Plan::default();
        for (path, edit) in edits {
            if self.node(&path).is_some() {
                plan.add(&path, edit);
            }
        }
        let empty = || Node::leaf(self.root().name(), Content::default());
        Document::of(plan.carry_out(self.root()).unwrap_or_else(empty))
    }

    /// The document with other bytes in a leaf. The bytes are not looked into: they are a leaf. If there is
    /// no leaf at that place, nothing changes.
    pub fn with_leaf(&self, path: &Path, bytes: impl Into<Content>) -> Document {
        self.with_leaves([(path.clone(), bytes.into())])
    }

    /// The same for several leaves at once.
    pub fn with_leaves(&self, leaves: impl IntoIterator<Item = (Path, Content)>) -> Document {
        let edits = leaves.into_iter().filter_map(|(path, bytes)| {
            let node = self.node(&path)?;
            let leaf = Node::leaf(node.name(), bytes);
            (node.shape() == Shape::Leaf).then_some((path, Edit::Instead(leaf)))
        });
        self.edited(edits)
    }

    /// The document without these nodes. Parts of a container vanish, and what the format computes
    /// follows; what was inside an encoding becomes empty, and so does the root.
    pub fn without<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> Document {
        self.edited(paths.into_iter().map(|path| (path.clone(), Edit::Gone)))
    }

    /// The document with another node in the place of one of its own.
    pub fn instead(&self, path: &Path, node: &Node) -> Document {
        self.edited([(path.clone(), Edit::Instead(node.clone()))])
    }
}
