//! Trees: what tree-based reducers do, without a grammar. For text that nests: markup, data, code, outlines.
//!
//! After C. Sun et al., "Perses" (2018), and R. Hodován et al. on hierarchical delta debugging: a subtree takes the
//! place of one that it stands in, and elements of a list go one by one. Where subtrees are is seen from brackets,
//! tags and indentation.

use std::ops::Range;

use super::brackets::{Nested, bracketed, tagged};
use super::units::lines;
use crate::edit::Edit;
use crate::pass::{Pass, in_order};

/// A part takes the place of the one that it stands in, or of the one around that.
pub(crate) struct Hoist;

impl Pass for Hoist {
    fn family(&self) -> &'static str {
        "hoist"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        let mut edits = Vec::new();
        for parts in [bracketed(bytes), tagged(bytes)] {
            edits.extend(hoisted(&parts));
        }
        edits.extend(outdented(bytes));
        in_order(edits)
    }
}

/// Each part in the place of those directly around it, up to the grandparent.
fn hoisted(parts: &[Nested]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut around: Vec<&Nested> = Vec::new();
    for part in parts {
        while around.last().is_some_and(|it| it.whole.end < part.whole.end) {
            around.pop();
        }
        for outer in around.iter().rev().take(2) {
            let (outer, own) = (&outer.whole, &part.whole);
            edits.push(Edit::both(outer.start..own.start, own.end..outer.end));
        }
        around.push(part);
    }
    edits
}

/// A line with its deeper lines, and how deep it is.
struct Block {
    place: Range<usize>,
    depth: usize,
}

/// The blocks of an outline, in order.
fn blocks(bytes: &[u8]) -> Vec<Block> {
    let starts = lines(bytes);
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for line in starts.windows(2) {
        let text = &bytes[line[0]..line[1]];
        let depth = text.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
        // An empty line belongs to what it stands in.
        if !text[depth..].trim_ascii().is_empty() {
            while let Some(&last) = open.last().filter(|&&at| blocks[at].depth >= depth) {
                blocks[last].place.end = line[0];
                open.pop();
            }
            open.push(blocks.len());
            blocks.push(Block { place: line[0]..bytes.len(), depth });
        }
    }
    blocks
}

/// Blocks that go as a whole, and blocks that take the place of the one they stand in.
fn outdented(bytes: &[u8]) -> Vec<Edit> {
    let blocks = blocks(bytes);
    if blocks.iter().all(|block| block.depth == 0) {
        return Vec::new();
    }
    let mut edits = Vec::new();
    let mut around: Vec<&Block> = Vec::new();
    for block in &blocks {
        while around.last().is_some_and(|it| it.place.end <= block.place.start) {
            around.pop();
        }
        edits.push(Edit::cut(block.place.clone()));
        if let Some(outer) = around.last() {
            let less = block.depth - outer.depth;
            let starts = lines(&bytes[block.place.clone()]);
            let mut text = Vec::with_capacity(block.place.len());
            for line in starts.windows(2) {
                let line = &bytes[block.place.start + line[0]..block.place.start + line[1]];
                let depth = line.iter().take_while(|&&it| it == b' ' || it == b'\t').count();
                text.extend_from_slice(&line[less.min(depth)..]);
            }
            edits.push(Edit::instead(outer.place.clone(), &text));
        }
        around.push(block);
    }
    edits
}

/// An item of a list, with its comma.
pub(crate) struct Items;

impl Pass for Items {
    fn family(&self) -> &'static str {
        "items"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        let mut edits = Vec::new();
        // For each list that is open, where its last comma was, or its bracket.
        let mut open: Vec<(usize, bool)> = vec![(0, false)];
        let mut quoted = false;
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'(' | b'[' | b'{' => open.push((at + 1, false)),
                b')' | b']' | b'}' if open.len() > 1 => {
                    if let Some((from, true)) = open.pop() {
                        // The last item goes with the comma before it.
                        edits.push(Edit::cut(from - 1..at));
                    }
                }
                b',' => {
                    if let Some(last) = open.last_mut() {
                        edits.push(Edit::cut(last.0..at + 1));
                        *last = (at + 1, true);
                    }
                }
                _ => {}
            }
        }
        in_order(edits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::tests::after;

    #[test]
    fn a_part_takes_the_place_of_what_it_stands_in() {
        let left = after(&Hoist, b"[1,{\"a\":[2]}]");
        for wanted in ["{\"a\":[2]}", "[1,\"a\"]", "[1,[2]]", "[2]"] {
            assert!(left.contains(&wanted.to_owned()), "{wanted}: {left:?}");
        }
        assert!(after(&Hoist, b"<r><a>x<b>y</b></a></r>").contains(&"<r><b>y</b></r>".to_owned()));
        assert!(after(&Hoist, b"<r><a>x<b>y</b></a></r>").contains(&"<b>y</b>".to_owned()));
    }

    #[test]
    fn deeper_lines_go_with_theirs_or_take_its_place() {
        let text = b"a:\n  b:\n    c: 1\n  d: 2\ne: 3\n";
        let left = after(&Hoist, text);
        for wanted in
            ["e: 3\n", "a:\n  d: 2\ne: 3\n", "b:\n  c: 1\ne: 3\n", "a:\n  c: 1\n  d: 2\ne: 3\n"]
        {
            assert!(left.contains(&wanted.to_owned()), "{wanted}: {left:?}");
        }
        assert!(after(&Hoist, b"a\nb\n").is_empty(), "no line is deeper");
    }

    #[test]
    fn items_go_with_a_comma() {
        assert_eq!(after(&Items, b"[1,\"a,b\",3]"), ["[\"a,b\",3]", "[1,3]", "[1,\"a,b\"]"]);
        assert_eq!(after(&Items, b"f(x)"), Vec::<String>::new());
        assert_eq!(after(&Items, b"a,b"), ["b"]);
    }
}
