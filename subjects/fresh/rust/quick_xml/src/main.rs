//! Reads a document with a release of `quick-xml` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let Ok(text) = String::from_utf8(data) else {
        println!("not utf-8");
        std::process::exit(2)
    };
    let mut reader = quick_xml::Reader::from_reader(text.as_bytes());
    let mut buffer = Vec::new();
    let (mut tags, mut values) = (0, 0);
    loop {
        match reader.read_event_into(&mut buffer) {
            Ok(quick_xml::events::Event::Eof) => break,
            Ok(quick_xml::events::Event::Start(tag)) | Ok(quick_xml::events::Event::Empty(tag)) => {
                tags += 1;
                for value in tag.attributes() {
                    values += value.map_or(0, |it| it.unescape_value().map_or(0, |it| it.len()));
                }
            }
            Ok(quick_xml::events::Event::Text(it)) => values += it.unescape().map_or(0, |it| it.len()),
            Ok(_) => {}
            Err(error) => {
                println!("error {error}");
                return;
            }
        }
    }
    println!("ok tags={tags} values={values}");
}
