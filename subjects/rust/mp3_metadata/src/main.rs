//! Reads a document with a release of `mp3-metadata` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match mp3_metadata::read_from_slice(&data) {
        Ok(m) => println!("ok frames={}", m.frames.len()),
        Err(e) => println!("error {:?}", e),
    }
}
