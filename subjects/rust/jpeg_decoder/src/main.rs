//! Reads a document with a release of `jpeg-decoder` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let mut d = jpeg_decoder::Decoder::new(std::io::Cursor::new(data));
    match d.read_info().and_then(|_| d.decode()) {
        Ok(p) => println!("ok bytes={}", p.len()),
        Err(e) => println!("error {}", e),
    }
}
