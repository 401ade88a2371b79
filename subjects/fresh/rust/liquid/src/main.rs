//! Reads a document with a release of `liquid` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let Ok(text) = String::from_utf8(data) else {
        println!("not utf-8");
        std::process::exit(2)
    };
    let parser = liquid::ParserBuilder::with_stdlib().build().expect("the standard filters");
    match parser.parse(&text) {
        Ok(_) => println!("ok"),
        Err(error) => println!("error {error}"),
    }
}
