//! Reads a document with a release of `url` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    let mut n = 0;
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') { continue; }
        if let Ok(u) = url::Url::parse(line) {
            println!("{} {} {:?}", u.scheme(), u.username().len(), u.host_str().map(|h| h.len()));
            n += 1;
        }
    }
    println!("ok urls={}", n);
}
