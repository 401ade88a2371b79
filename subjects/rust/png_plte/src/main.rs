//! Reads a document with a release of `png` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let mut dec = png::Decoder::new(std::io::Cursor::new(data));
    dec.set_transformations(png::Transformations::EXPAND);
    let mut reader = match dec.read_info() { Ok(r) => r, Err(e) => { println!("error {}", e); return; } };
    let size = match reader.output_buffer_size() { Some(s) if s < 50_000_000 => s, _ => { println!("too big"); return; } };
    let mut buf = vec![0u8; size];
    match reader.next_frame(&mut buf) {
        Ok(i) => println!("ok {}x{}", i.width, i.height),
        Err(e) => println!("error {}", e),
    }
}
