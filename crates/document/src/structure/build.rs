//! How readers note elements: opened and closed in order, on a stack of their own.

use std::ops::Range;

use super::lengths::Length;
use super::{Element, Layout, MOST, Role, Structure};

pub(super) struct Builder {
    layout: Layout,
    elements: Vec<Element>,
    open: Vec<usize>,
}

impl Builder {
    pub fn new(layout: Layout) -> Builder {
        Builder { layout, elements: Vec::new(), open: Vec::new() }
    }

    /// Whether there is no room for more.
    pub fn full(&self) -> bool {
        self.elements.len() >= MOST
    }

    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Opens an element that begins here.
    pub fn open(&mut self, role: Role, start: usize) -> usize {
        let number = self.elements.len();
        self.elements.push(Element {
            range: start..start,
            role,
            parent: self.open.last().copied(),
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
            let element = &mut self.elements[number];
            element.range.end = end.max(element.range.start);
            element.end = next;
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

    pub fn start(&self, number: usize) -> usize {
        self.elements[number].range.start
    }

    /// The element has separators between it and its siblings.
    pub fn separated(&mut self, number: usize) {
        self.elements[number].separated = true;
    }

    /// What stays in the place of the element.
    pub fn rest(&mut self, number: usize, rest: &'static [u8]) {
        self.elements[number].rest = rest;
    }

    /// What states the length of the element.
    pub fn length(&mut self, number: usize, length: Length) {
        self.elements[number].length = Some(length);
    }

    pub fn finish(mut self) -> Structure {
        let end = self.elements.iter().map(|element| element.range.end).max().unwrap_or(0);
        self.close_to(0, end);
        Structure { layout: self.layout, elements: self.elements }
    }
}
