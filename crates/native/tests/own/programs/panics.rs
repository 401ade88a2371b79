//! One way to panic for each word.

use std::hint::black_box;

#[inline(never)]
fn picks(list: &[u8], index: usize) -> u8 {
    list[index]
}

#[inline(never)]
fn merged(list: &[u8], index: usize, which: usize) -> u8 {
    // A compiler may let these share one call that panics.
    match which {
        0 => list[index] + 1,
        1 => list[index + 1] * 2,
        2 => list[index + 2] ^ 3,
        _ => list[index + 3] & 4,
    }
}

#[inline(never)]
fn endless(n: u64) -> u64 {
    let local = black_box([n; 16]);
    endless(n + 1) + local[3]
}

struct PanicsAgain;

impl Drop for PanicsAgain {
    fn drop(&mut self) {
        picks(&[], 1);
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let way = words.get(1).map_or("", String::as_str);
    let number: usize = words.get(2).and_then(|word| word.parse().ok()).unwrap_or(0);
    match way {
        "index" => drop(black_box(picks(&[1, 2], number))),
        "merged" => drop(black_box(merged(&[], number, number))),
        "text" => panic!("no good: {}", words[2]),
        "unwrap" => drop(words.get(7).unwrap().len()),
        "caught" => drop(std::panic::catch_unwind(|| picks(&[], 1))),
        "caught-101" => {
            drop(std::panic::catch_unwind(|| picks(&[], 1)));
            std::process::exit(101);
        }
        "twice" => {
            drop(std::panic::catch_unwind(|| picks(&[], 1)));
            panic!("the second");
        }
        "thread" => drop(std::thread::spawn(|| picks(&[], 1)).join()),
        "joined" => drop(std::thread::spawn(|| picks(&[], 1)).join().unwrap()),
        "again" => {
            let _again = PanicsAgain;
            picks(&[], 1);
        }
        "endless" => drop(endless(number as u64)),
        "endless-thread" => drop(std::thread::spawn(move || endless(number as u64)).join()),
        "abort" => std::process::abort(),
        "exit" => std::process::exit(number as i32),
        "resume" => std::panic::resume_unwind(Box::new(1)),
        _ => {}
    }
}
