//! Files as writers of PDF lay them out, with a table of text, with a table in a stream, and in revisions.

use crate::formats::testing::{document, leaf, path, python};
use crate::node::Kind;
use crate::{Document, Style};

/// A writer in a page of Python, and a reader that believes the tables alone.
const WRITE: &str = include_str!("../../../tests/pdf.py");

fn made(mode: &str) -> Vec<u8> {
    python(WRITE, &["write", mode], b"")
}

/// What the reader finds, object by object.
fn objects(bytes: &[u8]) -> String {
    String::from_utf8(python(WRITE, &["read"], bytes)).unwrap()
}

const MODES: [&str; 4] = ["table", "stream", "revision", "indirect"];

#[test]
fn files_are_written_as_they_were() {
    for mode in MODES {
        let bytes = made(mode);
        let doc = document(&bytes);
        assert_eq!(doc.root().kind(), Kind::Pdf, "{mode}");
        assert!(doc.render() == bytes, "{mode}");
        assert!(leaf(&doc, b"BT (Anneliese").is_some(), "{mode}: {doc:?}");
    }
}

fn edited(doc: &Document) -> Document {
    let page = leaf(doc, b"BT (Anneliese").unwrap();
    let gone = path(doc, "object 6");
    doc.with_leaf(&page, b"BT (x) Tj ET".to_vec()).without([&gone])
}

#[test]
fn edited_files_are_read_by_their_tables() {
    for mode in MODES {
        let bytes = made(mode);
        let before = objects(&bytes);
        assert!(before.contains("\n6: b"), "{mode}: {before}");
        let doc = edited(&document(&bytes));
        for rendered in [
            doc.render(),
            doc.render_stored().bytes.to_vec(),
            doc.render_as(Style::Blocks).bytes.to_vec(),
        ] {
            let after = objects(&rendered);
            assert!(after.contains("BT (x) Tj ET") && !after.contains("\n6: b"), "{mode}: {after}");
            // Filters go where streams are stored.
            let bare = |text: &str| text.replace("/Filter /FlateDecode", "").replace(' ', "");
            let strip = |text: &str| {
                let kept = |line: &&str| {
                    !line.starts_with("6: ")
                        && !line.starts_with("7: ")
                        && !line.contains("Tj ET")
                        && !line.contains("XRef")
                };
                text.lines().filter(kept).map(bare).collect::<Vec<_>>()
            };
            assert_eq!(strip(&before), strip(&after), "{mode}");
        }
        assert!(document(&doc.render()).same_tree(&doc), "{mode}");
    }
}

#[test]
fn a_long_file_needs_wider_tables() {
    let doc = document(&made("stream"));
    let page = leaf(&doc, b"BT (Anneliese").unwrap();
    let longer = doc.with_leaf(&page, vec![b' '; 200_000]);
    let before = objects(&doc.render());
    let after = objects(&longer.render_stored().bytes);
    assert_eq!(before.lines().count(), after.lines().count());
}

#[test]
fn a_wrong_length_stays_wrong() {
    let bytes = made("table");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let at = text.find("/Length ").unwrap();
    let mut wrong = bytes.clone();
    let at = bytes.windows(8).position(|w| w == b"/Length ").unwrap_or(at) + 8;
    wrong[at] = b'9';
    let doc = document(&wrong);
    assert_eq!(doc.root().kind(), Kind::Pdf);
    assert!(doc.render() == wrong);
}
