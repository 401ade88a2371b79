//! Reads a document with a release of `phonenumber` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    // every TEL property of a vCard file is parsed as a phone number
    let (mut good, mut bad) = (0, 0);
    for line in text.lines() {
        if !(line.starts_with("TEL:") || line.starts_with("TEL;")) { continue; }
        let value = line.splitn(2, ':').nth(1).unwrap_or("").trim();
        match phonenumber::parse(None, value) { Ok(_) => good += 1, Err(_) => bad += 1 }
    }
    println!("ok good={} bad={}", good, bad);
}
