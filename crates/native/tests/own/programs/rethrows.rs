//! Two reasons to panic, and many ways to learn of it elsewhere. Words: the way, the reason, a text.

use std::any::Any;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

#[inline(never)]
fn month(text: &str) -> usize {
    assert!(text.len() > 3, "too short: {text}");
    text.len()
}

#[inline(never)]
fn days(month: usize) -> u32 {
    [31, 28, 31][month]
}

#[inline(never)]
fn work(reason: &str, text: &str) -> u32 {
    match reason {
        "short" => month(&text[..2]) as u32,
        "index" => days(month(text)),
        "literal" => panic!("no good"),
        _ => 7,
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (way, reason, text) = (words[1].as_str(), words[2].clone(), words[3].clone());
    std::panic::set_hook(Box::new(|_| {}));
    match way {
        "join" => {
            let worker = thread::spawn(move || work(&reason, &text));
            println!("{}", worker.join().unwrap());
        }
        "resume" => {
            let worker = thread::spawn(move || work(&reason, &text));
            match worker.join() {
                Ok(value) => println!("{value}"),
                Err(payload) => resume_unwind(payload),
            }
        }
        "caught" => {
            // As pools do it: the worker lives on, and whoever asked is told.
            let (send, receive) = mpsc::channel::<Box<dyn Any + Send>>();
            thread::spawn(move || {
                for _ in 0..2 {
                    if let Err(payload) = catch_unwind(|| work(&reason, &text)) {
                        send.send(payload).ok();
                    }
                }
            });
            resume_unwind(receive.recv().expect("a payload"));
        }
        "here" => {
            let outcome = catch_unwind(|| work(&reason, &text));
            drop(catch_unwind(|| days(77)));
            if let Err(payload) = outcome {
                resume_unwind(payload);
            }
        }
        "scope" => thread::scope(|scope| {
            scope.spawn(|| work(&reason, &text));
        }),
        "poison" => {
            let lock = Arc::new(Mutex::new(0));
            let other = Arc::clone(&lock);
            let worker = thread::spawn(move || {
                let mut sum = other.lock().unwrap();
                *sum += work(&reason, &text);
            });
            drop(worker.join());
            println!("{}", lock.lock().unwrap());
        }
        _ => {}
    }
}
