//! Random edits of documents by ordinary writers: what is written parses back to the tree that was edited.

use proptest::prelude::*;
use stunt_document::{Content, Document, Kind, Limits, Path, Shape};

#[path = "../../../fuzz/checks/mutate.rs"]
#[allow(dead_code)] // Only the seeds are of use here.
mod mutate;

/// Whether parts of it can vanish and leave a document of the same kind.
fn removable(document: &Document, path: &Path) -> bool {
    let Some((parent, _)) = path.parent() else { return false };
    let (Some(node), Some(around)) = (document.node(path), document.node(&parent)) else {
        return false;
    };
    match around.kind() {
        Kind::Zip | Kind::Tar | Kind::Mailbox => {
            around.children().len() > 1 && node.shape() == Shape::Container
        }
        Kind::Multipart => node.kind() == Kind::Mail,
        Kind::Png => node.name() == "tEXt",
        Kind::Pdf => node.kind() == Kind::PdfObject && !node.name().contains("table"),
        // A few bytes are not believed to be DER.
        Kind::DerElement => around.children().len() > 1 && document.render().len() > 16,
        _ => false,
    }
}

/// Whether a leaf can hold any text and stay a leaf: contents do, names and fields do not.
fn free(document: &Document, path: &Path) -> bool {
    let Some((parent, _)) = path.parent() else { return false };
    let around = document.node(&parent).expect("a parent is there");
    let name = document.node(path).expect("it is there").name();
    match around.kind() {
        Kind::Deflate
        | Kind::Zlib
        | Kind::Bzip2
        | Kind::Xz
        | Kind::Base64
        | Kind::QuotedPrintable => true,
        Kind::Predictor | Kind::Utf16 => true,
        Kind::TarMember => {
            !["name", "time", "mode and owner", "link", "prefix"].contains(&name)
                && name != "names of the owner"
        }
        Kind::ZipMember => !["time", "time in the directory", "name"].contains(&name),
        Kind::PngChunk => name == "content",
        _ => false,
    }
}

/// Text that no reader takes for something else.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[a-z ]{0,40}".prop_map(String::into_bytes),
        "(<a>[a-z]{1,9}</a>\n){1,30}".prop_map(String::into_bytes),
        "[ -~äöü]{1,200}\n".prop_map(|s| s.replace('%', "").into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_parses_back_to_the_edited_tree(
        seed in 0..100_usize,
        edits in proptest::collection::vec((any::<bool>(), 0..1000_usize, text()), 1..5),
    ) {
        let seeds = mutate::seeds("document");
        let limits = Limits::default();
        let original = Document::parse(&seeds[seed % seeds.len()][..], &limits);
        let mut document = original.clone();
        for (remove, pick, bytes) in edits {
            let paths: Vec<Path> = document.nodes().map(|(path, _)| path).collect();
            let fits = |path: &&Path| if remove { removable(&document, path) } else { free(&document, path) };
            let fitting: Vec<&Path> = paths.iter().filter(fits).collect();
            if fitting.is_empty() {
                continue;
            }
            let path = fitting[pick % fitting.len()];
            document = match remove {
                true => document.without([path]),
                false if document.node(path).is_some_and(|node| node.shape() == Shape::Leaf) => {
                    document.with_leaf(path, bytes)
                }
                false => continue,
            };
        }
        let written = document.render();
        let again = Document::parse(&written[..], &limits);
        prop_assert!(again.render() == written);
        // An empty content has no node in formats that leave it out; all else is the same tree.
        let empty = document.leaves().any(|(_, leaf)| leaf.is_empty());
        prop_assert!(empty || again.same_tree(&document), "{document:?}\n{again:?}");
        // Stored, what was in a stream is still there; headers and dictionaries say that it is stored.
        let stored = Document::parse(document.render_stored().bytes, &limits);
        let leaves: Vec<&Content> = stored.leaves().map(|(_, leaf)| leaf).collect();
        for (path, leaf) in document.leaves().filter(|(_, leaf)| leaf.len() > 8) {
            let around = path.parent().and_then(|(parent, _)| document.node(&parent));
            if around.is_some_and(|node| node.shape() == Shape::Encoding) {
                prop_assert!(leaves.contains(&leaf), "{document:?}\n{stored:?}");
            }
        }
    }
}

#[test]
fn a_clone_is_cheap_and_edits_share() {
    let zip = mutate::seeds("document").into_iter().find(|seed| seed.starts_with(b"PK")).unwrap();
    let document = Document::parse(zip, &Limits::default());
    let leaf = document.leaves().last().unwrap().0;
    let edited = document.with_leaf(&leaf, b"other".to_vec());
    let (one, two) = (document.root().children(), edited.root().children());
    assert!(one[0].is(&two[0]));
    assert!(document.with_leaf(&Path::root(), b"no leaf".to_vec()).root().is(document.root()));
}

#[test]
fn bombs_stay_leaves() {
    let bomb = {
        use std::io::Write as _;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        for _ in 0..64 {
            encoder.write_all(&vec![0; 1 << 20]).unwrap();
        }
        encoder.finish().unwrap()
    };
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    let document = Document::parse(&bomb[..], &limits);
    assert!(document.is_flat() && document.render() == bomb);
    // Many of them together take no more.
    let many = bomb.repeat(20);
    assert!(Document::parse(&many[..], &limits).is_flat());
    // Nested beyond the depth: what is too deep is a leaf.
    let mut nested = b"text that is at the bottom".to_vec();
    for _ in 0..100 {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::none());
        std::io::Write::write_all(&mut encoder, &nested).unwrap();
        nested = encoder.finish().unwrap();
    }
    let document = Document::parse(&nested[..], &Limits::default());
    assert_eq!(document.nodes().count(), Limits::default().depth + 1);
    assert!(document.render() == nested);
}

#[test]
fn nothing_prints_content() {
    let document =
        Document::parse(&b"Subject: secret\nFrom: me\n\nsecret body\n"[..], &Limits::default());
    assert_eq!(document.root().kind(), Kind::Mail);
    let shown = format!(
        "{document:?} {:?} {:?}",
        document.render_stored(),
        document.leaves().collect::<Vec<_>>()
    );
    assert!(!shown.contains("secret") && !shown.contains("115"), "{shown}");
}
