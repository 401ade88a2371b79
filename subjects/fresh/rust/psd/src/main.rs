//! Reads a document with a release of `psd` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match psd::Psd::from_bytes(&data) {
        Ok(psd) => println!("ok pixels={} layers={}", psd.rgba().len(), psd.layers().len()),
        Err(_) => println!("error"),
    }
}
