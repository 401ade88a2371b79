//! Reads a document with a release of `pulldown-cmark` that panics on some documents.

use pulldown_cmark::{Options, Parser};

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    let mut opts = Options::empty();
    opts.insert(Options::ENABLE_TASKLISTS);
    opts.insert(Options::ENABLE_TABLES);
    opts.insert(Options::ENABLE_HEADING_ATTRIBUTES);
    let n = Parser::new_ext(&text, opts).count();
    println!("ok events={}", n);
}
