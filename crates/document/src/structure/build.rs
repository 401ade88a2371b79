//! How readers note elements: opened and closed in order, on a stack of their own.
//!
//! A document may have more elements than anyone wants to hold. What is too much is counted only; then the
//! reader is asked again, and elements that lie too deep are left out.

use std::ops::Range;

use super::lengths::Length;
use super::{Element, Layout, MOST, Role, Structure};

/// An element that is not held.
const NONE: usize = usize::MAX;

pub(super) struct Builder {
    layout: Layout,
    elements: Vec<Element>,
    /// What is open; also what is not held.
    open: Vec<usize>,
    /// How deep elements may lie to be held.
    deepest: usize,
    /// How many elements there are at each depth.
    counts: Vec<usize>,
    /// Whether there were too many.
    overflown: bool,
}

impl Builder {
    pub fn new(layout: Layout, deepest: usize) -> Builder {
        let (elements, open, counts) = (Vec::new(), Vec::new(), Vec::new());
        Builder { layout, elements, open, deepest, counts, overflown: false }
    }

    /// The depth at which there are not too many elements, if there are too many in all.
    pub fn too_deep(&self) -> Option<usize> {
        if !self.overflown {
            return None;
        }
        let mut sum = 0;
        let fits = |count: &&usize| {
            sum += **count;
            sum <= MOST
        };
        Some(self.counts.iter().take_while(fits).count().max(1))
    }

    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Opens an element that begins here.
    pub fn open(&mut self, role: Role, start: usize) -> usize {
        let depth = self.open.len();
        if self.counts.len() == depth {
            self.counts.push(0);
        }
        self.counts[depth] += 1;
        let full = self.elements.len() >= MOST;
        self.overflown |= full && depth < self.deepest;
        if full || depth >= self.deepest {
            self.open.push(NONE);
            return NONE;
        }
        let number = self.elements.len();
        self.elements.push(Element {
            range: start..start,
            role,
            parent: self.open.last().copied().filter(|&parent| parent != NONE),
            end: 0,
            separated: false,
            rest: b"",
            length: None,
        });
        self.open.push(number);
        number
    }

    /// Closes the element that was opened last.
    pub fn close(&mut self, end: usize) {
        if let Some(number) = self.open.pop() {
            let next = self.elements.len();
            if let Some(element) = self.elements.get_mut(number) {
                element.range.end = end.max(element.range.start);
                element.end = next;
            }
        }
    }

    /// Closes all elements but so many.
    pub fn close_to(&mut self, depth: usize, end: usize) {
        while self.open.len() > depth {
            self.close(end);
        }
    }

    /// Forgets all elements from this one on; it and those inside must be closed.
    pub fn forget(&mut self, number: usize) {
        self.elements.truncate(number);
    }

    /// An element without others inside.
    pub fn add(&mut self, role: Role, range: Range<usize>) -> usize {
        let number = self.open(role, range.start);
        self.close(range.end);
        number
    }

    /// The element has separators between it and its siblings.
    pub fn separated(&mut self, number: usize) {
        if let Some(element) = self.elements.get_mut(number) {
            element.separated = true;
        }
    }

    /// What stays in the place of the element.
    pub fn rest(&mut self, number: usize, rest: &'static [u8]) {
        if let Some(element) = self.elements.get_mut(number) {
            element.rest = rest;
        }
    }

    /// What states the length of the element.
    pub fn length(&mut self, number: usize, length: Length) {
        if let Some(element) = self.elements.get_mut(number) {
            element.length = Some(Box::new(length));
        }
    }

    pub fn finish(mut self) -> Structure {
        let end = self.elements.iter().map(|element| element.range.end).max().unwrap_or(0);
        self.close_to(0, end);
        let has_lengths = self.elements.iter().any(|element| element.length.is_some());
        Structure { layout: self.layout, elements: self.elements, has_lengths }
    }
}
