//! Reads a document with a release of `html2text` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match html2text::from_read(&data[..], 80) {
        Ok(t) => println!("ok chars={}", t.len()),
        Err(e) => println!("error {}", e),
    }
}
