//! How long it takes to go back: `cargo run --release -p stunt-debugger --example back -- PROGRAM SYMBOL…`
//!
//! Runs a program to its end, and from there back to its start, with a breakpoint that is never met, then
//! with a watchpoint on each of some addresses. Times are those of the processor, not of the clock.

use std::os::unix::ffi::OsStringExt;

use stunt_debugger::TimeTravel;
use stunt_machine::{
    Machine,
    linux::{
        Setup,
        fs::{Allow, Config},
    },
    stepping::{Touch, Watch},
};

/// Seconds of the processor that this process has used.
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let used = text.split(' ').next().and_then(|text| text.parse::<u64>().ok());
    used.unwrap_or_default() as f64 / 1e9
}

fn measured(what: &str, work: impl FnOnce() -> String) {
    let before = seconds();
    let outcome = work();
    println!("{what:32} {:6.3} s   {outcome}", seconds() - before);
}

fn main() {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().expect("a program").into_vec();
    let addresses: Vec<u64> = words
        .filter_map(|word| u64::from_str_radix(word.to_str()?.trim_start_matches("0x"), 16).ok())
        .collect();
    let setup = Setup {
        files: Config { allow: Allow::Everything, ..Config::default() },
        program: program.clone(),
        arguments: vec![program],
        environment: Vec::new(),
        memory: 1 << 30,
    };
    let machine = Machine::new(setup).unwrap_or_else(|errno| panic!("{}", errno.text()));
    let mut travel = TimeTravel::new(machine, 1 << 30);
    let mut never = || false;
    measured("to the end", || {
        let halt = travel.goto_end(&mut never);
        format!("{halt:?} at {}, {} snapshots", travel.position(), travel.snapshots())
    });
    measured("a step back", || {
        let thread = travel.thread();
        let halt = travel.back_step(thread, &mut never);
        format!("{halt:?} at {}", travel.position())
    });
    measured("the next step back", || {
        let thread = travel.thread();
        let halt = travel.back_step(thread, &mut never);
        format!("{halt:?} at {}", travel.position())
    });
    travel.set_stops([1], Vec::new());
    measured("back, breakpoint never met", || {
        let halt = travel.back(&mut never);
        format!("{halt:?} at {}", travel.position())
    });
    for address in addresses {
        travel.set_stops([], Vec::new());
        travel.goto_end(&mut never);
        let watch = Watch { range: address..address + 4, touch: Touch::Change };
        travel.set_stops([], vec![watch]);
        measured(&format!("back, {address:#x} watched"), || {
            let halt = travel.back(&mut never);
            format!("{halt:?} at {}", travel.position())
        });
    }
}
