//! Reads a document with a release of `wav` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match wav::read(&mut std::io::Cursor::new(data)) {
        Ok((header, _)) => println!("ok channels={}", header.channel_count),
        Err(error) => println!("error {error}"),
    }
}
