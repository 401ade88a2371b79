//! A program that panics on the file that its argument names, with the hook of this crate and one
//! of its own before that.

fn main() {
    std::panic::set_hook(Box::new(|_| eprintln!("the hook that was there before")));
    stunt_hook::install();
    let path = std::env::args_os().nth(1).expect("a file");
    let text = std::fs::read_to_string(path).expect("a text");
    let number: Option<u32> = text.trim().parse().ok();
    assert!(number.is_some(), "{text} is not a number");
}
