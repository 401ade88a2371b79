//! The machine and the host tell one failure of the same run.

use stunt_native::Native;

use crate::build::{build, command};
use crate::inside::{in_machine, symbols};

fn compare(source: &str, flags: &[&str], ways: &[&[&str]]) {
    let native = Native::new();
    let symbols = symbols();
    let program = build(source, flags);
    let mut differences = Vec::new();
    for words in ways {
        let command = command(&program, words);
        let on_host = native.run(&command).expect("it runs").failure;
        let inside = in_machine(&command, &symbols);
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
    let ways = ["uncaught", "other", "at", "terminate", "caught", "abort", "often"];
    let ways = ways.map(|way| [way, "a text"]);
    let ways: Vec<&[&str]> = ways.iter().map(|way| &way[..]).collect();
    for flags in [&["-O1"][..], &["-O1", "-static"]] {
        compare("throws.cpp", flags, &ways);
    }
}

#[test]
fn panics() {
    // A panic during a panic prints a stack with names, which takes the machine too long.
    let ways = [
        "index",
        "merged",
        "text",
        "unwrap",
        "caught",
        "twice",
        "thread",
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
