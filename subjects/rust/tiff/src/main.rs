//! Reads a document with a release of `tiff` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let mut d = match tiff::decoder::Decoder::new(std::io::Cursor::new(data)) { Ok(d) => d, Err(e) => { println!("error {}", e); return; } };
    match d.read_image() {
        Ok(_) => println!("ok"),
        Err(e) => println!("error {}", e),
    }
}
