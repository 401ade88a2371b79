//! Programs in C that die of signals, linked and compiled in all ways.

use stunt_native::Native;
use stunt_path::{Ending, FailureKind, Role};

use crate::build::{build, failure, run};

const VARIANTS: [&[&str]; 6] = [
    &["-O0"],
    &["-O2"],
    &["-O1", "-static"],
    &["-O1", "-static-pie"],
    &["-O1", "-stripped"],
    &["-O1", "-static", "-stripped"],
];

fn has_names(flags: &[&str]) -> bool {
    !flags.contains(&"-stripped")
}

#[test]
fn each_way_is_told_as_what_it_is() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("ways.c", flags);
        for (words, kind, place) in [
            (&["null"][..], FailureKind::Signal(11), "reads_null (ways.c:21)"),
            (&["assert"], FailureKind::Abort, "main"),
            (&["abort"], FailureKind::Abort, "main"),
            (&["divide", "0"], FailureKind::Signal(8), "main"),
            (&["trap"], FailureKind::Signal(5), "main"),
            (&["strlen"], FailureKind::Signal(11), "main"),
            (&["free"], FailureKind::Abort, "main"),
            (&["qsort"], FailureKind::Signal(11), "reads_null (ways.c:21)"),
            (&["thread"], FailureKind::Signal(11), "reads_null (ways.c:21)"),
            (&["term"], FailureKind::Signal(15), "main"),
            (&["top"], FailureKind::Signal(11), "beyond_top (ways.c:"),
            (&["exec", "null"], FailureKind::Signal(11), "reads_null (ways.c:21)"),
        ] {
            let found = failure(&native, &program, words);
            assert_eq!(found.kind, kind, "{flags:?} {words:?} {found:?}");
            if has_names(flags) {
                let text = found.to_string();
                assert!(text.contains(&format!(" in {place}")), "{flags:?} {words:?} {text}");
            }
            assert_eq!(found, failure(&native, &program, words), "{flags:?} {words:?}");
            assert!(!found.identity().is_empty());
        }
    }
}

#[test]
fn neighbouring_instructions_are_different_places() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("ways.c", flags);
        let [a, b] = ["0", "1"].map(|which| failure(&native, &program, &["neighbour", which]));
        assert!(a != b && !a.same_place(&b), "{flags:?}");
    }
}

#[test]
fn how_deep_and_in_what_the_input_is_nested_does_not_matter() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("ways.c", flags);
        let flat = failure(&native, &program, &["nested", "1", "0"]);
        assert_eq!(flat.kind, FailureKind::Signal(11));
        // The last is deeper than what is kept of a stack.
        for (depth, shape) in [("2", "0"), ("2", "1"), ("7", "2"), ("30", "2"), ("5000", "2")] {
            let nested = failure(&native, &program, &["nested", depth, shape]);
            assert_eq!(nested, flat, "{flags:?} {depth} {shape}\n{nested:#?}");
        }
    }
}

#[test]
fn a_stack_overflow_is_the_same_wherever_the_stack_ends() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("ways.c", flags);
        let mut before = None;
        for way in ["endless", "pingpong"] {
            let first = failure(&native, &program, &[way, "0"]);
            assert_eq!(first.kind, FailureKind::StackOverflow, "{flags:?} {way} {first:#?}");
            // A few bytes more or less before the recursion: it ends elsewhere.
            for skew in ["64", "500", "3000", "77777"] {
                let other = failure(&native, &program, &[way, skew]);
                assert_eq!(other, first, "{flags:?} {way} {skew}\n{other:#?}\n{first:#?}");
            }
            assert_ne!(before.as_ref(), Some(&first), "{flags:?}");
            before = Some(first);
        }
    }
}

#[test]
fn a_frame_that_is_too_large_is_a_fault_at_its_place() {
    let native = Native::new();
    let program = build("ways.c", &["-O0"]);
    let found = failure(&native, &program, &["large"]);
    assert_eq!(found.kind, FailureKind::Signal(11));
    assert!(found.to_string().contains("in large (ways.c:"), "{found}");
}

#[test]
fn a_smashed_stack() {
    let native = Native::new();
    let protected = build("ways.c", &["-O0", "-fstack-protector-all"]);
    let found = failure(&native, &protected, &["smash"]);
    assert_eq!(found.kind, FailureKind::Abort);
    assert!(found.to_string().contains("in smashes (ways.c:"), "{found}");
    let plain = build("ways.c", &["-O0", "-fno-stack-protector"]);
    let found = failure(&native, &plain, &["smash"]);
    assert_eq!(found.kind, FailureKind::Signal(11));
    let text = format!("{found} {found:?}");
    assert!(!text.contains("4141"), "an address that is input: {text}");
}

#[test]
fn a_call_to_nowhere_counts_its_caller() {
    let native = Native::new();
    let program = build("ways.c", &["-O0"]);
    let null = failure(&native, &program, &["nowhere", "0"]);
    let wild = failure(&native, &program, &["nowhere", "4242"]);
    assert_eq!(null.kind, FailureKind::Signal(11));
    assert_eq!(null, wild, "the address may be private, and is no part of it");
    let names: Vec<_> = null.frames.iter().filter(|frame| frame.role == Role::Counts).collect();
    assert_eq!(names[1].symbol.as_deref(), Some("main"), "{null:#?}");
}

#[test]
fn what_a_handler_does_counts() {
    let native = Native::new();
    let program = build("ways.c", &["-O1"]);
    let handled = run(&native, &program, &["handled"]);
    assert_eq!((handled.ending, handled.failure), (Ending::Exit(7), None));
    let found = failure(&native, &program, &["handler"]);
    assert_eq!(found.kind, FailureKind::Abort);
    let names: Vec<_> = found
        .frames
        .iter()
        .filter(|frame| frame.role == Role::Counts)
        .filter_map(|frame| frame.symbol.as_deref())
        .collect();
    assert_eq!(names, ["on_fault_abort", "reads_null", "main"], "{found:#?}");
}

#[test]
fn exits_are_no_failures() {
    let native = Native::new();
    let program = build("ways.c", &["-O1"]);
    for (words, status) in
        [(&["exit", "0"][..], 0), (&["exit", "101"], 101), (&["child"], 3), (&["stop"], 4)]
    {
        let run = run(&native, &program, words);
        assert_eq!((run.ending, run.failure), (Ending::Exit(status), None), "{words:?}");
    }
}

#[test]
fn aborts_are_told_apart_by_who_asked_for_them() {
    let native = Native::new();
    for flags in VARIANTS {
        let program = build("ways.c", flags);
        let ways = ["assert", "abort", "free"];
        let found = ways.map(|way| failure(&native, &program, &[way]));
        for (way, failure) in ways.iter().zip(&found) {
            let same = found.iter().filter(|other| *other == failure).count();
            assert_eq!(same, 1, "{flags:?} {way} {failure:#?}");
        }
    }
}

#[test]
fn a_killed_program_has_no_stack_and_still_failed() {
    let run = run(&Native::new(), &build("ways.c", &["-O1"]), &["kill"]);
    assert_eq!(run.ending, Ending::Signal(9));
    assert_eq!(run.failure.map(|failure| failure.kind), Some(FailureKind::Signal(9)));
}

#[test]
fn a_stripped_copy_fails_alike() {
    let native = Native::new();
    let [named, stripped] =
        [&["-O1"][..], &["-O1", "-stripped"]].map(|flags| build("ways.c", flags));
    for words in [
        &["null"][..],
        &["assert"],
        &["strlen"],
        &["qsort"],
        &["nested", "9", "2"],
        &["pingpong"],
        &["handler"],
    ] {
        let [a, b] = [&named, &stripped].map(|program| failure(&native, program, words));
        assert_eq!(a, b, "{words:?}\n{a:#?}\n{b:#?}");
        assert_eq!(a.signature(), b.signature());
    }
}
