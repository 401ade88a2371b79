//! Reads a document with a release of `calamine` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    use calamine::Reader;
    let mut book: calamine::Xls<_> = match calamine::Xls::new(std::io::Cursor::new(data)) {
        Ok(book) => book,
        Err(error) => {
            println!("error {error}");
            return;
        }
    };
    let mut cells = 0;
    for name in book.sheet_names().to_owned() {
        if let Some(Ok(range)) = book.worksheet_range(&name) {
            cells += range.used_cells().count();
        }
    }
    println!("ok cells={cells}");
}
