//! Reads a document with a release of `dtparse` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let text = match String::from_utf8(data) { Ok(t) => t, Err(_) => { println!("not utf-8"); std::process::exit(2) } };
    // CSV without quoting: id,name,birth,last_visit,...  -- the two date columns are parsed
    let (mut good, mut bad) = (0, 0);
    for line in text.lines().skip(1) {
        let cols: Vec<&str> = line.split(',').collect();
        for i in [2usize, 3] {
            if let Some(c) = cols.get(i) {
                match dtparse::parse(c) { Ok(_) => good += 1, Err(_) => bad += 1 }
            }
        }
    }
    println!("ok good={} bad={}", good, bad);
}
