//! Runs that are copies of one loaded process are like fresh ones, whatever the run before did.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stunt_native::{Command, Containment, Copied, InputFile, Native, Stdin};
use stunt_path::{Ending, Failure, Run};

use crate::build::{build, command};

/// Runs commands one after the other, in one thread.
pub fn in_turn(commands: &[Command]) -> Vec<Run> {
    let mut results = Vec::new();
    Native::new().run_on(1, commands, &AtomicBool::new(false), &mut |index, result| {
        assert_eq!(results.len(), index);
        results.push(result.expect("it runs"));
    });
    results
}

pub fn text(run: &Run) -> String {
    String::from_utf8(run.stdout.reveal().to_vec()).expect("text")
}

#[test]
fn copies_have_one_address_and_fresh_runs_do_not() {
    let random = std::fs::read_to_string("/proc/sys/kernel/randomize_va_space");
    if random.is_ok_and(|it| it.trim() != "2") {
        return eprintln!("this host has no random addresses: not tested");
    }
    for flags in [&["-O1"][..], &["-O1", "-static-pie"]] {
        let mut command = command(&build("ways.c", flags), &["address"]);
        let addresses = |command: &Command| {
            let runs = in_turn(&vec![command.clone(); 6]);
            runs.iter().map(text).collect::<BTreeSet<String>>().len()
        };
        assert_eq!(addresses(&command), 6, "{flags:?}");
        command.copied = Copied::FromEntry;
        // The first is run as ever: there may be no second.
        assert_eq!(addresses(&command), 2, "{flags:?}");
        command.containment = Containment::Contained;
        assert_eq!(addresses(&command), 2, "{flags:?}");
    }
}

/// Each way three times with copies, and as ever.
fn compare(source: &str, flags: &[&str], ways: &[&[&str]]) {
    let program = build(source, flags);
    for containment in [Containment::Free, Containment::Contained] {
        for words in ways {
            let mut command = command(&program, words);
            command.containment = containment;
            command.stdin = Stdin::Bytes(b"a line\nand another\n"[..].into());
            command.environment = vec![("ONLY".into(), "this".into())];
            let fresh = in_turn(std::slice::from_ref(&command)).remove(0);
            let copies = [Copied::FromEntry, Copied::FromInput].map(|copied| {
                command.copied = copied;
                in_turn(&vec![command.clone(); 4])
            });
            for copy in copies.into_iter().flatten() {
                assert_eq!(copy.ending, fresh.ending, "{flags:?} {words:?}");
                assert_eq!(copy.failure, fresh.failure, "{flags:?} {words:?}");
                let signature = |run: &Run| run.failure.as_ref().map(Failure::signature);
                assert_eq!(signature(&copy), signature(&fresh), "{flags:?} {words:?}");
                assert_eq!(text(&copy), text(&fresh), "{flags:?} {words:?}");
                // Messages of the C library and of panics name the process.
                let (said, expected) = (copy.stderr.reveal().len(), fresh.stderr.reveal().len());
                assert!(said.abs_diff(expected) < 8, "{flags:?} {words:?}");
            }
        }
    }
}

#[test]
fn signals() {
    let ways: [&[&str]; 30] = [
        &["exit", "3"],
        &["null"],
        &["neighbour", "1"],
        &["assert"],
        &["abort"],
        &["nested", "9", "2"],
        &["nested", "2000", "2"],
        &["endless"],
        &["pingpong", "500"],
        &["large"],
        &["smash"],
        &["top"],
        &["strlen"],
        &["free"],
        &["nowhere", "4242"],
        &["qsort"],
        &["divide", "0"],
        &["trap"],
        &["term"],
        &["kill"],
        &["stop"],
        &["handled"],
        &["handler"],
        &["thread"],
        &["child"],
        &["exec", "null"],
        &["echo"],
        &["surroundings"],
        &["identity"],
        &["careless"],
    ];
    for flags in [&["-O1"][..], &["-O1", "-static"], &["-O1", "-static-pie"], &["-O2", "-stripped"]]
    {
        compare("ways.c", flags, &ways);
    }
}

#[test]
fn exceptions() {
    let ways = [
        "uncaught",
        "other",
        "noexcept",
        "at",
        "rethrow",
        "often",
        "thread",
        "threads",
        "caught",
        "caught-101",
        "forked",
        "abort",
        "terminate",
    ];
    let ways = ways.map(|way| [way, "a text"]);
    let ways: Vec<&[&str]> = ways.iter().map(|way| &way[..]).collect();
    compare("throws.cpp", &["-O1"], &ways);
    compare("throws.cpp", &["-O1", "-static"], &ways);
}

#[test]
fn panics() {
    let ways = [
        "index",
        "merged",
        "text",
        "unwrap",
        "caught",
        "caught-101",
        "twice",
        "thread",
        "joined",
        "again",
        "endless",
        "endless-thread",
        "abort",
        "exit",
        "resume",
    ];
    let ways = ways.map(|way| [way, "2"]);
    let ways: Vec<&[&str]> = ways.iter().map(|way| &way[..]).collect();
    compare("panics.rs", &["-Copt-level=3"], &ways);
    compare("panics.rs", &["-Copt-level=2", "-Cpanic=abort"], &ways);
}

#[test]
fn every_copy_has_its_own_input() {
    let program = build("ways.c", &["-O1"]);
    let all = [Containment::Free, Containment::Contained]
        .map(|it| [(it, Copied::FromEntry), (it, Copied::FromInput)]);
    for (containment, copied) in all.into_iter().flatten() {
        let commands: Vec<Command> = (0..30_usize)
            .map(|index| {
                let mut command = command(&program, &["echo"]);
                // Longer and shorter in turn, and beyond what a pipe holds.
                let size = index * 7919 % 30 * 5000;
                command.stdin = Stdin::Bytes(vec![b'a' + (index % 26) as u8; size].into());
                command.containment = containment;
                command.copied = copied;
                command
            })
            .collect();
        for (command, run) in commands.iter().zip(in_turn(&commands)) {
            let Stdin::Bytes(bytes) = &command.stdin else { unreachable!("bytes") };
            assert!(run.stdout.reveal() == &**bytes);
            assert_eq!(run.stderr.reveal(), b"to standard error");
        }
    }
    let cat = stunt_native::find("cat".as_ref(), "/usr/bin:/bin".as_ref()).expect("installed");
    let commands: Vec<Command> = (0..20_usize)
        .map(|index| {
            let mut command = Command::new(&cat);
            command.files =
                vec![InputFile { name: "in".into(), bytes: vec![7; index * 100].into() }];
            command.arguments = vec![Command::place(0)];
            command.copied = Copied::FromInput;
            command
        })
        .collect();
    for (index, run) in in_turn(&commands).iter().enumerate() {
        assert!(run.stdout.reveal() == vec![7; index * 100]);
    }
}

#[test]
fn a_copy_finds_nothing_of_the_one_before() {
    let program = build("ways.c", &["-O1"]);
    let with = |way: &str| {
        let mut command = command(&program, &["exec", way]);
        command.stdin = Stdin::Bytes(b"0123456789"[..].into());
        command.copied = Copied::FromEntry;
        command
    };
    // One command for both ways: which it is stands in its input.
    let sh = stunt_native::find("sh".as_ref(), "/usr/bin:/bin".as_ref()).expect("installed");
    let says = |script: &str| {
        let mut command = Command::new(&sh);
        command.stdin = Stdin::Bytes(script.as_bytes().into());
        command.environment = vec![("PROGRAM".into(), program.clone().into())];
        command.copied = Copied::FromEntry;
        command
    };
    let (careless, identity) = ("exec \"$PROGRAM\" careless", "exec \"$PROGRAM\" identity");
    let fresh = text(&in_turn(&[says(identity)])[0]);
    let runs =
        in_turn(&[says(careless), says(careless), says(identity), says(careless), says(identity)]);
    for run in [&runs[2], &runs[4]] {
        assert_eq!(text(run), fresh);
    }
    let runs = in_turn(&[with("careless"), with("careless"), with("careless")]);
    assert!(runs.iter().all(|run| run.ending == Ending::Exit(0)));
}

#[test]
fn limits_hold_and_nothing_is_left() {
    let program = build("ways.c", &["-O1"]);
    for way in ["hang", "sleep", "hangs-with-child"] {
        let mut command = command(&program, &[way]);
        command.time = Duration::from_millis(200);
        command.copied = Copied::FromEntry;
        for run in in_turn(&vec![command; 4]) {
            assert_eq!((run.ending, run.failure), (Ending::TimedOut, None), "{way}");
        }
    }
    let mut command = command(&program, &["leaves-child"]);
    command.copied = Copied::FromEntry;
    for run in in_turn(&vec![command.clone(); 4]) {
        let printed = text(&run);
        let child: u32 = printed.lines().last().and_then(|it| it.parse().ok()).expect("a number");
        let status = std::fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
        assert!(status.is_empty() || status.contains("State:\tZ"), "{status}");
    }
    command.arguments = vec!["bomb".into()];
    command.tasks = 20;
    for run in in_turn(&vec![command; 3]) {
        assert_eq!(run.ending, Ending::TooManyTasks);
    }
}
