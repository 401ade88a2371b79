//! What a snapshot costs: of a process that has touched 50 MB, by the pages written since the last
//! one; and what a live node of a search costs, a fork before every test of an input, with its terms.
//! Prints tables for BENCHMARKS.md.

use std::{fs, hint::black_box, sync::Arc, time::Instant};

use stunt_machine::{
    Following, Machine, Options, Snapshot,
    linux::{
        Ending, Input, LimitReached, Limits, Setup,
        fs::{Allow, Config},
    },
};
use stunt_path::{Execution, Source, Stop};
use stunt_terms::{Assignment, Pool};
use stunt_unwind::stack::Symbols;

/// Fills 50 MB, then writes to one page after the other, forever.
const PROGRAM: &str = "
    my $text = 'x' x (50 << 20);
    my $at = 0;
    while (1) { substr($text, $at, 1) = 'y'; $at = ($at + 4096) % (50 << 20); }
";

/// Makes a few tests of every letter that it is given.
const LETTERS: &str = "my $n = 0; for my $c (split //, $ARGV[0]) { $n++ if $c =~ /[aeiou]/; }";
/// How many nodes a search may have at once.
const NODES: usize = 10_000;

fn perl(arguments: &[&[u8]]) -> Machine {
    let setup = Setup {
        files: Config { allow: Allow::Everything, ..Config::default() },
        program: b"/usr/bin/perl".to_vec(),
        arguments: arguments.iter().map(|argument| argument.to_vec()).collect(),
        environment: vec![],
        memory: 1 << 30,
    };
    Machine::new(setup).expect("perl is installed")
}

fn main() {
    snapshots();
    nodes();
}

/// Forks a run of perl before each of its tests, and keeps all of them.
fn nodes() {
    let text: Vec<u8> = (0..4_000u32).map(|at| b'a' + (at * 7 % 26) as u8).collect();
    let machine = perl(&[b"perl", b"-e", LETTERS.as_bytes(), &text]);
    let inputs = [Input { place: Source::Argument(3), public: Vec::new() }];
    let (mut pool, input) = (Pool::new(), Assignment::from_bytes(text));
    let (symbols, options) = (Arc::new(Symbols::of_host()), Options::default());
    let mut run = Following::start(machine, &inputs, &input, symbols, options, &mut pool)
        .expect("the argument is there");
    let before = resident();
    let mut live = Vec::new();
    while live.len() < NODES && matches!(run.stop(), Stop::Test(_)) {
        live.push(run.fork());
        run.advance(&mut pool);
    }
    let taken = resident().saturating_sub(before);
    println!(
        "\n{} live nodes of a run of perl, with their terms, take {} MB: {:.1} KB each.",
        live.len(),
        taken >> 20,
        taken as f64 / 1024.0 / live.len().max(1) as f64,
    );
}

/// The memory that this process has, in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let number = line.trim().trim_end_matches(" kB").parse::<u64>();
    number.unwrap_or(0) * 1024
}

fn snapshots() {
    let mut machine = perl(&[b"perl", b"-e", PROGRAM.as_bytes()]);
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
