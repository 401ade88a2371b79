//! Reads a document with a release of `Boa` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let Ok(text) = String::from_utf8(data) else {
        println!("not utf-8");
        std::process::exit(2)
    };
    match boa::parse(&text) {
        Ok(list) => println!("ok statements={}", list.statements().len()),
        Err(error) => println!("error {error}"),
    }
}
