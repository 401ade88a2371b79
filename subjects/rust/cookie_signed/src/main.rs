//! Reads a document with a release of `cookie` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    // an HTTP request head; each cookie of each Cookie header is verified against the session key
    let key = cookie::Key::from(&[7u8; 64]);
    let mut jar = cookie::CookieJar::new();
    let (mut good, mut bad) = (0, 0);
    for line in text.lines() {
        if line.is_empty() { break; }
        if !line.to_ascii_lowercase().starts_with("cookie:") { continue; }
        for part in line["cookie:".len()..].split(';') {
            match cookie::Cookie::parse(part.trim().to_string()) {
                Ok(c) => match jar.signed_mut(&key).verify(c) { Some(_) => good += 1, None => bad += 1 },
                Err(_) => bad += 1,
            }
        }
    }
    println!("ok good={} bad={}", good, bad);
}
