//! Reads a document with a release of `delharc` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let Ok(mut archive) = delharc::LhaDecodeReader::new(std::io::Cursor::new(data)) else {
        println!("error");
        return;
    };
    let (mut files, mut bytes) = (0, 0);
    loop {
        files += 1;
        let header = archive.header();
        let _ = (header.parse_pathname(), header.parse_last_modified());
        if archive.is_decoder_supported() {
            bytes += std::io::copy(&mut archive, &mut std::io::sink()).unwrap_or(0);
        }
        match archive.next_file() {
            Ok(true) => {}
            _ => break,
        }
    }
    println!("ok files={files} bytes={bytes}");
}
