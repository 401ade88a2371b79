//! A failing path that a search looks around: the papers' `φ`.
//!
//! Positions count tests: at position 0 none was made, at position `len` all were. A node of the
//! path has the position after its test. Points along the path are walked again from marks, of which
//! there are at most some dozens, whatever the length.

use rustc_hash::FxHashMap;
use stunt_path::{Execution, Node};

use super::trail::Step;
use super::tree::{Point, Search};

/// The most marks on a path.
const MARKS: usize = 64;

/// A failing path.
pub(crate) struct Source<E> {
    steps: Vec<Step>,
    index: FxHashMap<Node, usize>,
    root: Point<E>,
    marks: Vec<Point<E>>,
    /// Its failing end.
    pub end: Point<E>,
}

impl<E: Execution> Source<E> {
    /// The path from the start of the program to a failing end.
    pub fn new(root: &Point<E>, end: Point<E>) -> Source<E> {
        let steps = end.trail.steps();
        let index = steps.iter().map(|step| step.node).zip(1..).collect();
        Source { steps, index, root: root.clone(), marks: vec![root.clone()], end }
    }

    /// A path that is the same up to a position: points before it are still known.
    pub fn replaced(self, end: Point<E>, from: usize) -> Source<E> {
        let mut marks = self.marks;
        marks.retain(|mark| mark.trail.len() <= from);
        Source { marks, ..Source::new(&self.root, end) }
    }

    /// How many tests it has.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Its tests, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The position of a node, if it is on the path.
    pub fn position(&self, node: Node) -> Option<usize> {
        self.index.get(&node).copied()
    }

    /// Whether a node is on the path.
    pub fn has(&self, node: Node) -> bool {
        self.index.contains_key(&node)
    }

    /// The point at a position.
    pub fn at(&mut self, search: &mut Search<'_>, position: usize) -> Point<E> {
        let before = self.marks.partition_point(|mark| mark.trail.len() <= position) - 1;
        let mut from = self.marks[before].clone();
        from.input = self.end.input.clone();
        if from.trail.len() == position {
            return from;
        }
        let stride = self.len().div_ceil(MARKS).max(1);
        let mut state = search.resume(&from);
        let mut made = Vec::new();
        while state.point.trail.len() < position {
            let Some(junction) = state.junction() else { break };
            search.pass(&mut state, junction);
            if state.point.trail.len().is_multiple_of(stride) {
                search.hold(&mut state);
                made.push(state.point.clone());
            }
        }
        self.marks.splice(before + 1..before + 1, made);
        search.anchor(&mut state);
        state.point
    }
}
