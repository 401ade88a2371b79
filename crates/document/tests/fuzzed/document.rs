//! Any bytes as a document: parsed within limits, written as they were, edited without a panic, and what is
//! said to be copied is copied. The fuzz target for documents is this, too.

use stunt_document::{Document, Limits, Path, Structure, Style, apply};

const LIMITS: Limits = Limits { bytes: 1 << 20, nodes: 3_000, depth: 12 };

/// Panics if that does not hold.
pub fn check(data: &[u8]) {
    let document = Document::parse(data, &LIMITS);
    assert!(document.render() == data, "it is written in another way than it was");
    let nodes: Vec<Path> = document.nodes().map(|(path, _)| path).collect();
    assert!(nodes.len() <= LIMITS.nodes);
    assert!(nodes.iter().all(|path| path.depth() <= LIMITS.depth));
    let shown = format!("{document:?}");
    let allowed = |c: char| c.is_ascii_alphanumeric() || "()[], ".contains(c);
    assert!(shown.chars().all(allowed), "only shapes and lengths are shown");
    copied(&document);

    // Which nodes are edited depends on the data alone.
    let number = data.iter().fold(7_usize, |n, &b| n.wrapping_mul(31).wrapping_add(b.into()));
    for step in 0..3 {
        let path = &nodes[number.wrapping_mul(step + 1) % nodes.len()];
        let other = &nodes[(number / 7).wrapping_mul(step + 1) % nodes.len()];
        for edited in [
            document.without([path]),
            document.without([path, other]),
            document.instead(path, document.node(other).expect("it is there")),
            document.with_leaf(path, data[..data.len() / 2].to_vec()),
        ] {
            copied(&edited);
            let bytes = edited.render();
            assert!(edited.render() == bytes, "it is written alike every time");
            assert!(Document::parse(&bytes[..], &LIMITS).render() == bytes);
        }
    }
    for (_, leaf) in document.leaves().take(50) {
        let structure = Structure::of(leaf);
        let count = structure.elements().len();
        if count > 0 {
            let gone = [number % count, number / 3 % count];
            let left = apply(leaf, &structure.without(leaf, &gone));
            let _ = apply(&left, &Structure::of(&left).without(&left, &[]));
            let _ =
                apply(leaf, &structure.hoisting(leaf, gone[0].min(gone[1]), gone[0].max(gone[1])));
        }
    }
}

/// What is said to be a copy of a leaf is one.
fn copied(document: &Document) {
    for style in [Style::Stored, Style::Blocks, Style::Packed] {
        let rendered = document.render_as(style);
        let mut end = 0;
        for span in &rendered.spans {
            let leaf = document.node(&span.leaf).and_then(|node| node.content()).expect("a leaf");
            assert!(span.at.start >= end && span.at.end > span.at.start);
            end = span.at.end;
            let copy = &leaf[span.from..span.from + span.at.len()];
            assert!(rendered.bytes[span.at.clone()] == *copy, "a span is no copy");
        }
        assert!(end <= rendered.bytes.len());
    }
}
