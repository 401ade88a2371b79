//! Reads a document with a release of `roxmltree` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    let opt = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    match roxmltree::Document::parse_with_options(&text, opt) {
        Ok(d) => println!("ok nodes={}", d.descendants().count()),
        Err(e) => println!("error {}", e),
    }
}
