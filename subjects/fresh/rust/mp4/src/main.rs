//! Reads a document with a release of `mp4` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let size = data.len() as u64;
    let mut film = match mp4::Mp4Reader::read_header(std::io::Cursor::new(data), size) {
        Ok(film) => film,
        Err(error) => {
            println!("error {error}");
            return;
        }
    };
    let mut bytes = 0;
    for track in 1..=film.tracks().len() as u32 {
        for sample in 1..=film.sample_count(track).unwrap_or(0).min(1000) {
            if let Ok(Some(sample)) = film.read_sample(track, sample) {
                bytes += sample.bytes.len();
            }
        }
    }
    println!("ok tracks={} bytes={bytes}", film.tracks().len());
}
