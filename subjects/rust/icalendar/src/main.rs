//! Reads a document with a release of `icalendar` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    match text.parse::<icalendar::Calendar>() {
        Ok(c) => println!("ok components={}", c.components.len()),
        Err(e) => println!("error {}", e.lines().next().unwrap_or("")),
    }
}
