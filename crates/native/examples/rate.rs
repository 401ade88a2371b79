//! How many runs a second: `cargo run --release -p stunt-native --example rate -- PROGRAM ARGUMENTS`.

use std::time::Instant;

use stunt_native::{Command, Native};

fn main() {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else { return eprintln!("which program?") };
    let mut command = Command::new(program);
    command.arguments = words.collect();
    let native = Native::new();
    match native.run(&command) {
        Ok(run) => println!("{}; {:?}", run.ending, run.failure.map(|it| it.to_string())),
        Err(error) => return eprintln!("{error}"),
    }
    const RUNS: u32 = 500;
    let start = Instant::now();
    let failed = (0..RUNS).filter_map(|_| native.run(&command).ok()?.failure).count();
    let each = start.elapsed() / RUNS;
    println!("{failed} of {RUNS} failed; {each:?} each");
}
