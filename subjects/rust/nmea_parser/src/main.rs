//! Reads a document with a release of `nmea-parser` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    let mut p = nmea_parser::NmeaParser::new();
    let (mut good, mut bad) = (0, 0);
    for line in text.lines() {
        if line.is_empty() { continue; }
        match p.parse_sentence(line) { Ok(_) => good += 1, Err(_) => bad += 1 }
    }
    println!("ok good={} bad={}", good, bad);
}
