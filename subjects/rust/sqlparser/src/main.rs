//! Reads a document with a release of `sqlparser` that panics on some documents.

use sqlparser::{dialect::GenericDialect, parser::Parser};

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    match Parser::parse_sql(&GenericDialect {}, &text) {
        Ok(s) => println!("ok statements={}", s.len()),
        Err(e) => println!("error {}", e),
    }
}
