//! Reads the file that the second word names, and panics where its first byte says, or before.

use std::collections::HashMap;
use std::hint::black_box;

#[inline(never)]
fn picks(list: &[u8], index: usize) -> u8 {
    list[index]
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    // Its keys are random.
    let map: HashMap<u32, u32> = (0..1000).map(|key| (key, key)).collect();
    let caught = words[1] == "caught";
    if caught {
        drop(std::panic::catch_unwind(|| picks(&[], 1)));
    }
    let bytes = std::fs::read(&words[2]).unwrap();
    eprint!("{:?}", map.keys().next());
    println!("{} {}", bytes.len(), std::process::id() == own_number());
    match bytes.first() {
        Some(b'i') => drop(black_box(picks(&[1, 2], bytes.len()))),
        Some(b't') => panic!("no good: {}", bytes.len()),
        Some(b'a') => std::process::abort(),
        Some(b'o') => drop(black_box(endless(0))),
        Some(b'e') => std::process::exit(101),
        Some(b'j') => drop(std::thread::spawn(|| picks(&[], 1)).join().unwrap()),
        _ => {}
    }
}

fn own_number() -> u32 {
    let link = std::fs::read_link("/proc/self").unwrap();
    link.to_str().unwrap().parse().unwrap()
}

#[inline(never)]
fn endless(n: u64) -> u64 {
    let local = black_box([n; 16]);
    endless(n + 1) + local[3]
}
