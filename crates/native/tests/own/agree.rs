//! The machine and the host tell one failure of the same run.

use std::path::Path;
use std::sync::Arc;

use stunt_machine::Machine;
use stunt_machine::linux::fs::{Allow, Config};
use stunt_machine::linux::{Limits, Setup};
use stunt_machine::stack::Symbols;
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_native::Native;
use stunt_path::Failure;

use crate::build::{build, run};

/// How a program fails in the machine.
fn in_machine(program: &Path, words: &[&str], symbols: &Symbols) -> Option<Failure> {
    let path = program.to_str().expect("text").as_bytes().to_vec();
    let mut arguments = vec![path.clone()];
    arguments.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    let files = Config { allow: Allow::Everything, ..Config::default() };
    let setup = Setup { files, program: path, arguments, environment: vec![], memory: 2 << 30 };
    let mut machine = Machine::new(setup).expect("it starts");
    machine.follow(&[], Symbolic::new(Relaxations::ALL)).expect("nothing to follow");
    let ending = machine.run(Limits { instructions: 200_000_000 });
    machine.failure(ending, symbols)
}

fn compare(source: &str, flags: &[&str], ways: &[&[&str]]) {
    let native = Native::new();
    let symbols = Symbols::new(Box::new(|path| std::fs::read(path).ok().map(Arc::from)));
    let program = build(source, flags);
    let mut differences = Vec::new();
    for words in ways {
        let on_host = run(&native, &program, words).failure;
        let inside = in_machine(&program, words, &symbols);
        if on_host != inside {
            differences
                .push(format!("{flags:?} {words:?}\nhost {on_host:#?}\nmachine {inside:#?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

const SIGNALS: [&[&str]; 17] = [
    &["exit", "3"],
    &["null"],
    &["assert"],
    &["abort"],
    &["nested", "9", "2"],
    &["nested", "2000", "2"],
    &["endless"],
    &["pingpong", "500"],
    &["strlen"],
    &["free"],
    &["nowhere", "4242"],
    &["qsort"],
    &["divide", "0"],
    &["term"],
    &["handled"],
    &["handler"],
    &["thread"],
];

#[test]
fn signals() {
    for flags in [&["-O1"][..], &["-O1", "-static"], &["-O1", "-stripped"]] {
        compare("ways.c", flags, &SIGNALS);
    }
}

#[test]
fn exceptions() {
    let ways = ["uncaught", "other", "noexcept", "at", "terminate", "rethrow", "caught", "abort"];
    let ways = ways.map(|way| [way, "a text"]);
    let ways: Vec<&[&str]> = ways.iter().map(|way| &way[..]).collect();
    for flags in [&["-O1"][..], &["-O1", "-static"]] {
        compare("throws.cpp", flags, &ways);
    }
}

#[test]
fn panics() {
    let ways = [
        "index",
        "merged",
        "text",
        "unwrap",
        "caught",
        "twice",
        "thread",
        "again",
        "endless",
        "endless-thread",
        "abort",
    ];
    let ways = ways.map(|way| [way, "2"]);
    let ways: Vec<&[&str]> = ways.iter().map(|way| &way[..]).collect();
    for flags in [
        &["-Copt-level=3"][..],
        &["-Copt-level=2", "-Cpanic=abort"],
        &["-Copt-level=2", "-stripped"],
    ] {
        compare("panics.rs", flags, &ways);
    }
}
