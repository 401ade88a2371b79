//! Reads a document with a release of `gettext` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match gettext::Catalog::parse(std::io::Cursor::new(data)) {
        Ok(catalog) => println!("ok {}", catalog.ngettext("one letter", "letters", 3)),
        Err(error) => println!("error {error}"),
    }
}
