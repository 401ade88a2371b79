//! What is thrown again is known by where it was thrown first, in whichever thread.

use std::path::Path;

use stunt_native::Native;
use stunt_path::{Failure, FailureKind};

use crate::build::{build, command, failure};
use crate::inside::{in_machine, symbols};

/// Two reasons that meet at one rethrow are two failures; one reason with other texts is one.
fn told_apart(source: &str, flags: &[&str], ways: &[&str], kind: &FailureKind) {
    let native = Native::new();
    let program = build(source, flags);
    for way in ways {
        let of = |reason: &str, text: &str| failure(&native, &program, &[way, reason, text]);
        let (short, index) = (of("short", "first"), of("index", "first"));
        assert_eq!(short.kind, *kind, "{flags:?} {way} {short:#?}");
        assert_ne!(short, index, "{flags:?} {way} {short:#?}");
        assert_ne!(short.signature(), index.signature(), "{flags:?} {way}");
        assert_eq!(short, of("short", "another, longer text"), "{flags:?} {way}");
        assert_eq!(index, of("index", "another, longer text"), "{flags:?} {way}");
        if !flags.contains(&"-stripped") {
            // The first throw is what a reader is shown.
            assert!(short.to_string().contains("month"), "{flags:?} {way} {short}");
            assert!(index.to_string().contains("days"), "{flags:?} {way} {index}");
        }
    }
}

const OF_RUST: [&str; 6] = ["join", "resume", "caught", "here", "scope", "poison"];
const OF_CPP: [&str; 4] = ["async", "pointer", "nested", "between"];

#[test]
fn attack_panics_that_meet_at_a_rethrow_are_told_apart() {
    for flags in [
        &["-Copt-level=0"][..],
        &["-Copt-level=3"],
        &["-Copt-level=2", "-stripped"],
        &["-Copt-level=2", "-Ctarget-feature=+crt-static"],
    ] {
        told_apart("rethrows.rs", flags, &OF_RUST, &FailureKind::Panic);
    }
}

#[test]
fn attack_exceptions_that_meet_at_a_rethrow_are_told_apart() {
    for flags in [&["-O0"][..], &["-O2"], &["-O1", "-static"]] {
        told_apart("rethrows.cpp", flags, &OF_CPP, &FailureKind::Exception);
    }
    // Without names, an exception that is thrown again is known by the same places.
    let native = Native::new();
    let program = build("rethrows.cpp", &["-O2", "-stripped"]);
    for way in OF_CPP {
        let of = |reason: &str| failure(&native, &program, &[way, reason, "a text"]);
        assert_ne!(of("short"), of("index"), "{way}");
    }
}

#[test]
fn a_rethrow_is_the_same_in_the_machine() {
    let (native, symbols) = (Native::new(), symbols());
    let mut differences = Vec::new();
    for (source, flags, ways) in [
        ("rethrows.rs", &["-Copt-level=3"][..], &OF_RUST[..]),
        ("rethrows.rs", &["-Copt-level=2", "-stripped"], &OF_RUST),
        ("rethrows.cpp", &["-O2"], &OF_CPP),
    ] {
        let program = build(source, flags);
        for way in ways {
            for reason in ["short", "index"] {
                let command = command(&program, &[way, reason, "a text"]);
                let on_host: Option<Failure> = native.run(&command).expect("it runs").failure;
                let inside = in_machine(&command, &symbols);
                if on_host.is_none() || on_host != inside {
                    differences.push(format!(
                        "{flags:?} {way} {reason}\nhost {on_host:#?}\nmachine {inside:#?}"
                    ));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_thread_that_is_all_inlined_is_known_by_its_own_code() {
    let native = Native::new();
    let program = build("inlined.rs", &["-Copt-level=3"]);
    let found = failure(&native, &program, &["77"]);
    assert!(found.to_string().starts_with("panic in inlined"), "{found} {found:#?}");
}

/// The ways in which people start a program from another one.
const WRAPPERS: [&str; 3] = [
    r#""$@"; exit $?"#,
    r#"env X=1 "$@" | cat; exit ${PIPESTATUS[0]}"#,
    r#"(cd . && "$@") || exit $?"#,
];

#[test]
fn what_a_shell_tells_as_its_status_is_how_its_child_failed() {
    let (native, symbols) = (Native::new(), symbols());
    let mut differences = Vec::new();
    for (source, flags, ways) in [
        ("rethrows.rs", &["-Copt-level=3"][..], &["join", "here"][..]),
        ("rethrows.cpp", &["-O2"], &["async", "nested"]),
    ] {
        let program = build(source, flags);
        let path = program.to_str().expect("a plain path");
        for (way, wrapper) in ways.iter().flat_map(|way| WRAPPERS.map(|it| (way, it))) {
            let own = failure(&native, &program, &[way, "short", "a text"]);
            let words = ["-c", wrapper, "sh", path, way, "short", "another text"];
            let command = command(Path::new("/bin/bash"), &words);
            let on_host = native.run(&command).expect("it runs").failure;
            let inside = in_machine(&command, &symbols);
            for (place, seen) in [("host", on_host), ("machine", inside)] {
                if seen.as_ref() != Some(&own) {
                    differences.push(format!("{place}: {wrapper} {way}\n{own:#?}\n{seen:#?}"));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    // A wrapper that has a status of its own says nothing of its child.
    let program = build("rethrows.rs", &["-Copt-level=3"]);
    let path = program.to_str().expect("a plain path");
    let words = ["-c", r#""$@"; exit 3"#, "sh", path, "join", "short", "a text"];
    let run = native.run(&command(Path::new("/bin/bash"), &words)).expect("it runs");
    assert_eq!(run.failure, None);
}
