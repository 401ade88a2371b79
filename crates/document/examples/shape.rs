//! The shape of documents: kinds, numbers and lengths, no content; and whether they are written as they
//! were. `cargo run -p stunt-document --example shape -- FILE...`

use std::time::Instant;

use stunt_document::{Document, Limits, Structure};

fn main() {
    for file in std::env::args().skip(1) {
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{file}: {error}");
                continue;
            }
        };
        let start = Instant::now();
        let document = Document::parse(&bytes[..], &Limits::default());
        let parsed = start.elapsed();
        let same = document.render() == bytes;
        let stored = document.render_stored();
        let copied: usize = stored.spans.iter().map(|span| span.at.len()).sum();
        println!(
            "{file}: {} bytes, {same}, {} nodes, parsed in {parsed:.1?}, stored {} of which {copied} are copies",
            bytes.len(),
            document.nodes().count(),
            stored.bytes.len()
        );
        for (path, node) in document.nodes().take(60) {
            let depth = path.depth();
            print!("{:1$}{path} {2:?}", "", 2 * depth + 2, node.kind());
            if let Some(content) = node.content() {
                let structure = Structure::of(content);
                let count = structure.elements().len();
                print!(" {} bytes, {:?} with {count} elements", content.len(), structure.layout());
            }
            println!();
        }
    }
}
