//! Reads a document with a release of `pcapng` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let mut blocks = 0;
    if let nom::IResult::Done(_, all) = pcapng::block::parse_blocks(&data) {
        for block in all {
            blocks += matches!(block.parse(), nom::IResult::Done(..)) as usize;
        }
    }
    println!("ok blocks={blocks}");
}
