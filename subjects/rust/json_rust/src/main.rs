//! Reads a document with a release of `json` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    match json::parse(&text) {
        Ok(v) => println!("ok {}", json::stringify(v).len()),
        Err(e) => println!("error {}", e),
    }
}
