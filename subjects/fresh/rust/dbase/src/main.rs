//! Reads a document with a release of `dbase` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match dbase::Reader::new(std::io::Cursor::new(data)).and_then(|mut reader| reader.read()) {
        Ok(records) => println!("ok records={}", records.len()),
        Err(error) => println!("error {error:?}"),
    }
}
