//! Rust: threads, channels, locks, panics that are caught, and one that is not.

use std::collections::{BTreeMap, HashMap};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
use std::{fs, process, thread};

struct Noisy(&'static str);
impl Drop for Noisy {
    fn drop(&mut self) {
        println!("drop {} {}", self.0, thread::panicking());
    }
}

fn deep(n: usize, table: &[u32]) -> u32 {
    let _noisy = if n % 3 == 0 { Some(Noisy("frame")) } else { None };
    if n == 0 { table[table.len() + n] } else { deep(n - 1, table) + 1 }
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    let caught = panic::catch_unwind(|| deep(6, &[1, 2, 3]));
    println!("caught {}", caught.unwrap_err().downcast_ref::<String>().unwrap());

    let (sender, receiver) = mpsc::channel();
    let counter = Arc::new(Mutex::new(0u64));
    let barrier = Arc::new(Barrier::new(4));
    let workers: Vec<_> = (0..4u64)
        .map(|id| {
            let (sender, counter, barrier) = (sender.clone(), counter.clone(), barrier.clone());
            thread::spawn(move || {
                barrier.wait();
                for step in 0..250 {
                    *counter.lock().unwrap() += id * step;
                }
                sender.send((id, (0..1000).map(|x| x ^ id).sum::<u64>())).unwrap();
                id * 10
            })
        })
        .collect();
    drop(sender);
    let results: BTreeMap<u64, u64> = receiver.iter().collect();
    let joined: u64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    println!("{results:?} {} {joined}", counter.lock().unwrap());

    let poisoned = Arc::new(Mutex::new(1));
    let inside = poisoned.clone();
    let result = thread::Builder::new()
        .name("doomed".to_string())
        .spawn(move || {
            let _guard = inside.lock().unwrap();
            panic!("in a thread: {}", 7);
        })
        .unwrap()
        .join();
    println!("join {} poisoned {}", result.is_err(), poisoned.is_poisoned());

    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let waker = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_all();
    });
    let mut ready = pair.0.lock().unwrap();
    while !*ready {
        ready = pair.1.wait(ready).unwrap();
    }
    waker.join().unwrap();
    let lock = RwLock::new(5);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| *lock.write().unwrap() += 1);
        }
    });
    println!("ready {ready} lock {}", lock.read().unwrap());

    let mut words: HashMap<String, usize> = HashMap::new();
    for word in fs::read_to_string("words.text").unwrap().lines() {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    let mut words: Vec<_> = words.into_iter().collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    println!("{:?}", &words[..3]);
    println!("{:?} {:?}", fs::read("absent").map_err(|e| e.kind()), "1x".parse::<i32>());
    println!("{:.3e} {:>8.2} {:#x} {:?}", 12345.678f64, 1.0 / 3.0, 255u8, f64::NAN);
    fs::create_dir_all("made/deep").unwrap();
    fs::write("made/deep/file", b"written").unwrap();
    let run = process::Command::new("/bin/cat").arg("made/deep/file").output().unwrap();
    println!("{} {}", run.status, String::from_utf8_lossy(&run.stdout));
    match way.as_str() {
        "panic" => panic!("at the end of {}", words.len()),
        "unwrap" => panic::catch_unwind(AssertUnwindSafe(|| ())).and(Err(Box::new(1))).unwrap(),
        "abort" => process::abort(),
        "overflow" => println!("{}", overflow(1)),
        _ => process::exit(3),
    }
}

fn overflow(n: u64) -> u64 {
    let frame = std::hint::black_box([n; 64]);
    overflow(n + 1) + frame[(n % 64) as usize]
}
