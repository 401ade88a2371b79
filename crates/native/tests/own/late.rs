//! Copies from just before the input on: each is like a fresh run on its input, whatever the program did
//! before it looked at that, and what it did before was done once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use stunt_native::{Command, Containment, Copied, InputFile, Native, Stdin};
use stunt_path::{Ending, Failure, Run};

use crate::build::{build, command};
use crate::copies::{in_turn, text};

/// How the input reaches a program.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// The path of a file is an argument.
    Path,
    /// The file is in the folder that it is run in.
    Folder,
    Stdin,
}

/// Inputs of different lengths that fail in different ways, or do not.
const INPUTS: [&str; 8] = ["abc", "n", "e!", "plain and long", "f 12", "n 4", "", "e#"];

fn on(program: &Path, way: &str, by: By, input: &str) -> Command {
    let mut command = command(program, &[way]);
    let file = InputFile { name: "input".into(), bytes: input.as_bytes().into() };
    match by {
        By::Path => {
            command.files = vec![file];
            command.arguments.push(Command::place(0));
        }
        By::Folder => {
            command.files = vec![file];
            command.folder = Some(Command::own_folder());
        }
        By::Stdin => command.stdin = Stdin::Bytes(input.as_bytes().into()),
    }
    command
}

/// What starts drew, each once. After it there may be a message of the C library.
fn drawn(runs: &[Run]) -> BTreeSet<Vec<u8>> {
    runs.iter().map(|run| run.stderr.reveal().iter().copied().take(16).collect()).collect()
}

/// Runs a program on all inputs, afresh and as copies, which must do the same. How many starts there were
/// among the copies is the answer.
fn compare(program: &Path, way: &str, by: By, containment: Containment, inputs: &[&str]) -> usize {
    let mut commands: Vec<Command> = inputs.iter().map(|it| on(program, way, by, it)).collect();
    commands.iter_mut().for_each(|command| command.containment = containment);
    let fresh = in_turn(&commands);
    commands.iter_mut().for_each(|command| command.copied = Copied::FromInput);
    let copies = in_turn(&commands);
    for ((copy, fresh), input) in copies.iter().zip(&fresh).zip(inputs) {
        assert_eq!(copy.ending, fresh.ending, "{way} {input}");
        assert_eq!(copy.failure, fresh.failure, "{way} {input}");
        let signature = |run: &Run| run.failure.as_ref().map(Failure::signature);
        assert_eq!(signature(copy), signature(fresh), "{way} {input}");
        assert_eq!(text(copy), text(fresh), "{way} {input}");
    }
    drawn(&copies).len()
}

const BOTH: [Containment; 2] = [Containment::Free, Containment::Contained];
const KINDS: [&[&str]; 3] = [&["-O1"], &["-O1", "-static"], &["-O1", "-static-pie"]];

#[test]
fn the_start_is_made_once() {
    for flags in KINDS {
        let program = build("late.c", flags);
        let fresh = vec![on(&program, "plain", By::Path, "x"); 4];
        assert_eq!(drawn(&in_turn(&fresh)).len(), 4, "{flags:?}");
        let count = if flags.len() == 1 { 30 } else { 10 };
        let inputs: Vec<&str> = INPUTS.into_iter().cycle().take(count).collect();
        for containment in BOTH {
            for by in [By::Path, By::Stdin] {
                // The first run is made as ever: there may be no second.
                assert_eq!(compare(&program, "plain", by, containment, &inputs), 2, "{flags:?}");
            }
        }
    }
}

#[test]
fn what_is_loaded_stays_for_the_next_list() {
    let native = Native::new();
    let mut command = on(&build("late.c", &["-O1"]), "plain", By::Path, "x");
    command.copied = Copied::FromInput;
    let starts = |count: usize| {
        let mut runs = Vec::new();
        let commands = vec![command.clone(); count];
        native.run_on(1, &commands, &AtomicBool::new(false), &mut |_, result| {
            runs.push(result.expect("it runs"));
        });
        drawn(&runs)
    };
    let (first, second, third) = (starts(4), starts(4), starts(1));
    assert_eq!((first.len(), second.len()), (2, 1), "the first run of all is fresh");
    assert!(first.is_superset(&second) && second == third);
}

/// Whether what is done before the input is done once.
#[derive(PartialEq, Debug)]
enum Start {
    Once,
    /// It cannot be copied so, or the input is looked at before: every run begins afresh.
    EveryTime,
    /// It is not told, or not always.
    Either,
}

fn all_alike(flags: &[&str], ways: &[(&str, By, Start)]) {
    let program = build("late.c", flags);
    for containment in BOTH {
        for (way, by, start) in ways {
            let starts = compare(&program, way, *by, containment, &INPUTS);
            match start {
                Start::Once => assert_eq!(starts, 2, "{way} {flags:?}"),
                Start::EveryTime => assert_eq!(starts, INPUTS.len(), "{way} {flags:?}"),
                Start::Either => {}
            }
        }
    }
}

#[test]
fn whatever_looks_at_the_input_is_done_by_every_copy() {
    // What the start draws is drawn before, and so once.
    let ways = [
        ("fstat", By::Stdin, Start::Once),
        ("statx", By::Stdin, Start::Once),
        ("seek", By::Stdin, Start::Once),
        // Nothing can be mapped of an empty file.
        ("maps-input", By::Stdin, Start::Either),
        ("stat", By::Path, Start::Once),
        ("link", By::Folder, Start::Once),
        ("relative", By::Folder, Start::Once),
        ("roundabout", By::Folder, Start::Once),
        ("folder", By::Folder, Start::Once),
    ];
    for flags in KINDS {
        all_alike(flags, &ways);
    }
}

#[test]
fn whatever_copies_would_share_is_made_by_every_copy() {
    let ways = [
        ("banner", By::Path, Start::Once),
        // Who begins others is not copied a second time.
        ("thread-before", By::Path, Start::EveryTime),
        ("thread-beside", By::Path, Start::EveryTime),
        ("fork", By::Path, Start::EveryTime),
        ("shared", By::Path, Start::Once),
        ("dontfork", By::Path, Start::Once),
        ("wipe", By::Path, Start::Once),
        ("clock", By::Path, Start::Once),
        ("timer", By::Path, Start::Once),
        ("chdir", By::Path, Start::Once),
        ("flags", By::Stdin, Start::Once),
        ("signal", By::Path, Start::Once),
    ];
    for flags in KINDS {
        all_alike(flags, &ways);
    }
}

#[test]
fn what_the_start_left_behind_is_there() {
    let ways = [
        ("handler", By::Path, Start::Once),
        ("handler", By::Stdin, Start::Once),
        ("closes", By::Path, Start::Once),
        ("mutex", By::Path, Start::Once),
        ("number", By::Path, Start::Once),
        ("number", By::Stdin, Start::Once),
    ];
    for flags in KINDS {
        all_alike(flags, &ways);
    }
    all_alike(&["-O1"], &[("loads", By::Path, Start::Either)]);
}

#[test]
fn what_cannot_be_copied_late_is_copied_early() {
    let ways = [
        ("keeps-open", By::Path, Start::EveryTime),
        ("number-as-text", By::Path, Start::EveryTime),
        ("own-folder-of-proc", By::Path, Start::EveryTime),
    ];
    for flags in KINDS {
        all_alike(flags, &ways);
    }
    // It fails before, and asks too often.
    let program = build("late.c", &["-O1"]);
    for way in ["fails-before", "often"] {
        compare(&program, way, By::Path, Containment::Free, &INPUTS[..4]);
    }
}

#[test]
fn panics() {
    let inputs = ["i", "t", "a", "o", "e", "j", "", "i2", "t2", "none"];
    for flags in [
        &["-Copt-level=3"][..],
        &["-Copt-level=2", "-Cpanic=abort"],
        &["-Copt-level=2", "-Ctarget-feature=+crt-static"],
    ] {
        let program = build("late.rs", flags);
        for containment in BOTH {
            let mut first = inputs.map(|it| on(&program, "plain", By::Path, it));
            first.iter_mut().for_each(|command| command.containment = containment);
            let fresh = in_turn(&first);
            first.iter_mut().for_each(|command| command.copied = Copied::FromInput);
            for ((copy, fresh), input) in in_turn(&first).iter().zip(&fresh).zip(inputs) {
                assert_eq!(copy.ending, fresh.ending, "{input} {flags:?}");
                assert_eq!(copy.failure, fresh.failure, "{input} {flags:?}");
                assert_eq!(text(copy), text(fresh), "{input} {flags:?}");
            }
            if flags.contains(&"-Cpanic=abort") {
                continue;
            }
            // A throw before the input may be why the program exits after it.
            let mut command = on(&program, "caught", By::Path, "e");
            command.containment = containment;
            let fresh = in_turn(std::slice::from_ref(&command)).remove(0);
            command.copied = Copied::FromInput;
            for copy in in_turn(&vec![command; 4]) {
                assert_eq!((copy.ending, copy.failure), (fresh.ending, fresh.failure.clone()));
            }
        }
    }
}

/// A program that never looks at its input is ended in time, as ever.
#[test]
fn who_computes_for_ever_is_ended() {
    let program = build("ways.c", &["-O1"]);
    for way in ["hang", "sleep"] {
        let mut command = command(&program, &[way]);
        command.time = std::time::Duration::from_millis(200);
        command.copied = Copied::FromInput;
        for run in in_turn(&vec![command; 4]) {
            assert_eq!((run.ending, run.failure), (Ending::TimedOut, None), "{way}");
        }
    }
}
