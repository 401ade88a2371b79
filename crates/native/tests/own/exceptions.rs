//! C++ exceptions: those that nobody catches count, by who threw.

use stunt_native::Native;
use stunt_path::{Ending, FailureKind, Role};

use crate::build::{build, failure, run};

const VARIANTS: [&[&str]; 3] = [&["-O1"], &["-O0"], &["-O1", "-static"]];

#[test]
fn an_exception_that_nobody_catches_is_known_by_who_threw() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("throws.cpp", flags);
        for (way, place) in [
            ("uncaught", "thrower("),
            ("other", "other()"),
            ("noexcept", "thrower("),
            ("at", "main"),
            ("rethrow", "thrower("),
            ("often", "thrower("),
            ("thread", "thrower("),
            ("threads", "thrower("),
        ] {
            let found = failure(&native, &program, &[way, "a text"]);
            assert_eq!(found.kind, FailureKind::Exception, "{flags:?} {way} {found:#?}");
            let first = found.frames.iter().find(|frame| frame.role == Role::Counts);
            let name = first.and_then(|frame| frame.symbol.as_deref()).unwrap_or_default();
            assert!(name.starts_with(place), "{flags:?} {way} {found:#?}");
            // Another text is another message, not another failure.
            let again = failure(&native, &program, &[way, "another, much longer text"]);
            assert_eq!(again, found, "{flags:?} {way}\n{again:#?}\n{found:#?}");
        }
    }
}

#[test]
fn a_stripped_program_is_known_by_its_libraries() {
    let native = Native::new();
    let program = build("throws.cpp", &["-O1", "-stripped"]);
    for way in ["uncaught", "other", "noexcept", "rethrow"] {
        let found = failure(&native, &program, &[way, "a text"]);
        assert_eq!(found.kind, FailureKind::Exception, "{way} {found:#?}");
    }
}

#[test]
fn caught_exceptions_are_no_failures() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("throws.cpp", flags);
        for (way, status) in [("caught", 0), ("caught-101", 101), ("forked", 7)] {
            let run = run(&native, &program, &[way, "a text"]);
            assert_eq!((run.ending, run.failure), (Ending::Exit(status), None), "{flags:?} {way}");
        }
    }
}

#[test]
fn an_abort_after_a_caught_exception_is_an_abort() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("throws.cpp", flags);
        for way in ["abort", "terminate"] {
            let found = failure(&native, &program, &[way]);
            assert_eq!(found.kind, FailureKind::Abort, "{flags:?} {way} {found:#?}");
            assert!(found.to_string().contains("in main"), "{flags:?} {way} {found}");
        }
    }
}
