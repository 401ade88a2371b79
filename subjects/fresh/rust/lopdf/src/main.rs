//! Reads a document with a release of `lopdf` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let document = match lopdf::Document::load_mem(&data) {
        Ok(document) => document,
        Err(error) => {
            println!("error {error}");
            return;
        }
    };
    let mut letters = 0;
    for (number, _) in document.get_pages() {
        letters += document.extract_text(&[number]).map_or(0, |text| text.len());
    }
    println!("ok letters={letters}");
}
