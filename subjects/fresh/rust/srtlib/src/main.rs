//! Reads a document with a release of `srtlib` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let Ok(text) = String::from_utf8(data) else {
        println!("not utf-8");
        std::process::exit(2)
    };
    match srtlib::Subtitles::parse_from_str(text) {
        Ok(mut all) => {
            let mut count = 0;
            for one in &mut all {
                one.add_seconds(10);
                count += 1;
            }
            println!("ok count={count}");
        }
        Err(error) => println!("error {error}"),
    }
}
