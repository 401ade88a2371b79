//! What a snapshot costs: of a process that has touched 50 MB, by the pages written since the last
//! one. Prints a table for BENCHMARKS.md.

use std::{hint::black_box, time::Instant};

use stunt_machine::{
    Machine, Snapshot,
    linux::{
        Ending, LimitReached, Limits, Setup,
        fs::{Allow, Config},
    },
};

/// Fills 50 MB, then writes to one page after the other, forever.
const PROGRAM: &str = "
    my $text = 'x' x (50 << 20);
    my $at = 0;
    while (1) { substr($text, $at, 1) = 'y'; $at = ($at + 4096) % (50 << 20); }
";

fn main() {
    let setup = Setup {
        files: Config { allow: Allow::Everything, ..Config::default() },
        program: b"/usr/bin/perl".to_vec(),
        arguments: vec![b"perl".to_vec(), b"-e".to_vec(), PROGRAM.as_bytes().to_vec()],
        environment: vec![],
        memory: 1 << 30,
    };
    let mut machine = Machine::new(setup).expect("perl is installed");
    // Far enough for all pages to be touched.
    let mut done = 0;
    advance(&mut machine, &mut done, 60_000_000);
    println!("| instructions between snapshots | snapshot | restore |");
    println!("|---:|---:|---:|");
    let mut kept: Vec<Snapshot> = Vec::new();
    for between in [0, 1_000, 10_000, 100_000] {
        let (mut taking, mut restoring) = (f64::MAX, f64::MAX);
        for _ in 0..50 {
            advance(&mut machine, &mut done, between);
            let begun = Instant::now();
            let mut snapshot = black_box(machine.snapshot());
            taking = taking.min(begun.elapsed().as_secs_f64());
            let begun = Instant::now();
            machine.restore(&mut snapshot);
            restoring = restoring.min(begun.elapsed().as_secs_f64());
            kept.push(snapshot);
        }
        println!("| {between} | {:.1} µs | {:.1} µs |", taking * 1e6, restoring * 1e6);
    }
    println!("\n{} snapshots were alive at the end.", kept.len());
}

fn advance(machine: &mut Machine, done: &mut u64, by: u64) {
    if by > 0 {
        *done += by;
        let ending = machine.run(Limits { instructions: *done });
        assert_eq!(ending, Ending::Limit(LimitReached::Instructions));
    }
}
