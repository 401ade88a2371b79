//! Reads a document with a release of `mail-parser` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match mail_parser::Message::parse(&data) {
        Some(m) => println!("ok subject={:?}", m.get_subject()),
        None => println!("no message"),
    }
}
