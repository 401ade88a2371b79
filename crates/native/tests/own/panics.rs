//! Rust panics: those that end the program count, by where they are.

use stunt_native::Native;
use stunt_path::{Ending, FailureKind, Role};

use crate::build::{build, failure, run};

const VARIANTS: [&[&str]; 6] = [
    &["-Copt-level=0"],
    &["-Copt-level=3"],
    &["-Copt-level=2", "-stripped"],
    &["-Copt-level=2", "-Cpanic=abort"],
    &["-Copt-level=2", "-Cpanic=abort", "-stripped"],
    &["-Copt-level=2", "-Ctarget-feature=+crt-static"],
];

#[test]
fn a_panic_is_known_by_its_place_and_not_by_its_message() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("panics.rs", flags);
        for (words, other, line) in [
            (["index", "2"], ["index", "777"], 7),
            (["text", "first-word"], ["text", "other"], 42),
            (["unwrap", ""], ["unwrap", "x"], 43),
        ] {
            let found = failure(&native, &program, &words);
            assert_eq!(found.kind, FailureKind::Panic, "{flags:?} {words:?} {found:#?}");
            assert_eq!(found, failure(&native, &program, &other), "{flags:?} {words:?}");
            let site = found.frames.iter().find(|frame| frame.role == Role::Site);
            let location = site.and_then(|site| site.location.as_ref()).expect("a location");
            assert_eq!(
                (&*location.file, location.line),
                ("panics.rs", line),
                "{flags:?} {words:?}"
            );
            let text = format!("{found} {found:?}");
            assert!(!text.contains("no good") && !text.contains("first-word"), "{text}");
        }
    }
}

#[test]
fn panics_that_share_a_call_are_told_apart() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("panics.rs", flags);
        let found =
            ["0", "1", "2", "3"].map(|which| failure(&native, &program, &["merged", which]));
        for (index, failure) in found.iter().enumerate() {
            let same = found.iter().filter(|other| *other == failure).count();
            assert_eq!(same, 1, "{flags:?} {index} {failure:#?}");
        }
    }
}

#[test]
fn panics_that_are_caught_or_of_other_threads_are_no_failures() {
    let native = Native::new();
    for flags in VARIANTS.into_iter().filter(|flags| !flags.contains(&"-Cpanic=abort")) {
        let program = build("panics.rs", flags);
        for way in ["caught", "thread", ""] {
            let run = run(&native, &program, &[way]);
            assert_eq!((run.ending, run.failure), (Ending::Exit(0), None), "{flags:?} {way}");
        }
        let run = run(&native, &program, &["exit", "101"]);
        assert_eq!((run.ending, run.failure), (Ending::Exit(101), None), "{flags:?}");
    }
}

#[test]
fn the_last_throw_counts_and_what_led_to_it() {
    let native = Native::new();
    for flags in VARIANTS.into_iter().filter(|flags| !flags.contains(&"-Cpanic=abort")) {
        let program = build("panics.rs", flags);
        // A thread that panicked led to the panic of whoever waited for it.
        for (way, line) in [("twice", 51), ("joined", 7)] {
            let found = failure(&native, &program, &[way]);
            assert_eq!(found.kind, FailureKind::Panic, "{flags:?} {way}");
            let line_found = found.frames[0].location.as_ref().map(|location| location.line);
            assert_eq!(line_found, Some(line), "{flags:?} {way} {found:#?}");
        }
    }
}

#[test]
fn a_panic_during_a_panic_and_an_abort() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("panics.rs", flags);
        for way in ["again", "abort"] {
            let run = run(&native, &program, &[way]);
            assert_eq!(run.ending, Ending::Signal(6), "{flags:?} {way}");
            let found = run.failure.expect("a failure");
            assert_eq!(found, failure(&native, &program, &[way]), "{flags:?} {way}");
        }
        if !flags.contains(&"-stripped") {
            let found = failure(&native, &program, &["abort"]);
            assert_eq!(found.kind, FailureKind::Abort, "{flags:?}");
            assert!(found.to_string().contains("panics::main"), "{flags:?} {found}");
        }
    }
}

#[test]
fn endless_recursion_in_any_thread() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("panics.rs", flags);
        for way in ["endless", "endless-thread"] {
            let first = failure(&native, &program, &[way, "0"]);
            assert_eq!(first.kind, FailureKind::StackOverflow, "{flags:?} {way} {first:#?}");
            let second = failure(&native, &program, &[way, "5"]);
            assert_eq!(first, second, "{flags:?} {way}");
        }
    }
}
