//! Reads a document with a release of `metaflac` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match metaflac::Tag::read_from(&mut std::io::Cursor::new(data)) {
        Ok(tag) => println!("ok blocks={}", tag.blocks().count()),
        Err(error) => println!("error {error}"),
    }
}
