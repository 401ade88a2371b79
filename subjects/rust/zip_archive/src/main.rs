//! Reads a document with a release of `zip` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let mut z = match zip::ZipArchive::new(std::io::Cursor::new(data)) { Ok(z) => z, Err(e) => { println!("error {}", e); return; } };
    let mut total = 0;
    for i in 0..z.len() {
        if let Ok(mut f) = z.by_index(i) { total += std::io::copy(&mut f, &mut std::io::sink()).unwrap_or(0); }
    }
    println!("ok entries={} bytes={}", z.len(), total);
}
