//! Files as a writer of compound files makes them, and what the reader in `tests/compound.py` finds in them.

use crate::formats::testing::{document, leaf, path, python};
use crate::node::Kind;

const SCRIPT: &str = include_str!("../../../tests/compound.py");

fn made() -> Vec<u8> {
    python(SCRIPT, &["write"], b"")
}

fn streams(bytes: &[u8]) -> String {
    String::from_utf8(python(SCRIPT, &["read"], bytes)).unwrap()
}

#[test]
fn files_are_written_as_they_were() {
    let bytes = made();
    let doc = document(&bytes);
    assert_eq!(doc.root().kind(), Kind::CompoundFile);
    assert!(doc.render() == bytes);
    assert!(leaf(&doc, b"Anneliese small").is_some() && leaf(&doc, b"Anneliese large").is_some());
    assert_eq!(streams(&bytes).lines().count(), 3);
}

#[test]
fn edited_files_are_read_by_others() {
    let doc = document(&made());
    let (small, large) =
        (leaf(&doc, b"Anneliese small").unwrap(), leaf(&doc, b"Anneliese large").unwrap());
    // As long as before: in its place.
    let length = doc.node(&large).unwrap().content().unwrap().len();
    let same = doc.with_leaf(&large, vec![b'x'; length]);
    assert_eq!(same.render().len(), doc.render().len());
    assert!(streams(&same.render()).contains(&format!("Large {length} b'xxxxx'")));
    // Longer, shorter, small to large and back, and gone.
    for (one, two) in [(10, 5_000), (70_000, 0), (4_095, 4_096), (9_000_000, 1)] {
        let edited = doc.with_leaves([
            (small.clone(), vec![b's'; one].into()),
            (large.clone(), vec![b'l'; two].into()),
        ]);
        let list = streams(&edited.render());
        assert!(list.contains(&format!("Small {one} b's")), "{list}");
        assert!(list.contains(&format!("Large {two} ")), "{list}");
    }
    let gone = doc.without([&path(&doc, "Other")]);
    assert!(streams(&gone.render()).contains("Other 0 "));
}
