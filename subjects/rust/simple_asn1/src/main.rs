//! Reads a document with a release of `simple_asn1` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match simple_asn1::from_der(&data) {
        Ok(b) => println!("ok blocks={}", b.len()),
        Err(e) => println!("error {}", e),
    }
}
