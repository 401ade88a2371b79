//! Reads a document with a release of `matroska` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let file = std::fs::File::open(&path).expect("cannot open input");
    match matroska::Matroska::open(file) {
        Ok(clip) => println!("ok tracks={} of {}", clip.tracks.len(), data.len()),
        Err(_) => println!("error"),
    }
}
