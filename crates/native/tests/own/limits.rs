//! Runs that do not end by themselves, and what reaches a program and what it leaves.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stunt_native::{Command, Manner, Native, Stdin};
use stunt_path::Ending;

use crate::build::{build, command, run};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn time_is_limited() {
    let native = Native::new();
    let program = build("ways.c", &["-O1"]);
    for way in ["hang", "sleep", "hangs-with-child"] {
        let mut command = command(&program, &[way]);
        command.time = Duration::from_millis(300);
        let run = native.run(&command).expect("it runs");
        assert_eq!((run.ending, run.failure), (Ending::TimedOut, None), "{way}");
        assert!(run.duration >= command.time, "{way}");
    }
}

#[test]
fn processes_are_limited() {
    let native = Native::new();
    let mut command = command(&build("ways.c", &["-O1"]), &["bomb"]);
    command.tasks = 20;
    let run = native.run(&command).expect("it runs");
    assert_eq!((run.ending, run.failure), (Ending::TooManyTasks, None));
}

#[test]
fn nothing_is_left_of_a_run() {
    let run = run(&Native::new(), &build("ways.c", &["-O1"]), &["leaves-child"]);
    assert_eq!(run.ending, Ending::Exit(0));
    // The parent buffers the line before it forks or after: the last one is complete.
    let printed = text(run.stdout.reveal());
    let child: u32 = printed.lines().last().and_then(|line| line.parse().ok()).expect("a number");
    // Its new parent may not have waited for it yet.
    let status = std::fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
    let dead = status.is_empty() || status.contains("State:\tZ");
    assert!(dead, "{status}");
}

#[test]
fn output_is_kept_up_to_a_limit_and_read_beyond() {
    let native = Native::new();
    let mut command = command(&build("ways.c", &["-O1"]), &["flood"]);
    command.output = 1000;
    let run = native.run(&command).expect("it runs");
    assert_eq!(run.ending, Ending::Exit(0));
    assert_eq!(run.stdout.reveal().len(), 1000);
    assert!(text(run.stdout.reveal()).starts_with("a line that nobody reads\n"));
}

#[test]
fn input_and_output_are_passed_on_and_do_not_print_themselves() {
    let native = Native::new();
    let program = build("ways.c", &["-O1"]);
    let private: Arc<[u8]> = b"a private word\0\xff".repeat(10_000).into();
    let mut command = command(&program, &["echo"]);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-own/input");
    std::fs::write(&file, &private).expect("an input");
    for stdin in [Stdin::Bytes(Arc::clone(&private)), Stdin::File(file)] {
        command.stdin = stdin;
        let run = native.run(&command).expect("it runs");
        assert!(run.stdout.reveal() == &*private);
        assert_eq!(run.stderr.reveal(), b"to standard error");
        let shown = format!("{run:?} {command:?}");
        assert!(!shown.contains("private word") && !shown.contains("to standard"), "{shown}");
    }
    command.stdin = Stdin::Empty;
    assert!(native.run(&command).expect("it runs").stdout.reveal().is_empty());
}

#[test]
fn nothing_of_the_surroundings_reaches_a_program() {
    let mut command = command(&build("ways.c", &["-O1"]), &["surroundings"]);
    command.environment = vec![("ONLY".into(), "this".into())];
    command.folder = Some("/usr".into());
    command.name = Some("called".into());
    let run = Native::new().run(&command).expect("it runs");
    let expected = "ONLY=this\n/usr\ncalled\nfd 0\nfd 1\nfd 2\ngroup 1\n";
    assert_eq!(text(run.stdout.reveal()), expected);
}

#[test]
fn many_threads_share_one_runner() {
    let native = Native::new();
    let program = build("ways.c", &["-O1"]);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let found: Vec<String> = (0..8)
                        .map(|_| run(&native, &program, &["nested", "4", "2"]))
                        .map(|run| run.failure.expect("a failure").signature())
                        .collect();
                    found
                })
            })
            .collect();
        let mut all: Vec<String> =
            all.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect();
        assert_eq!(all.len(), 32);
        all.dedup();
        assert_eq!(all.len(), 1);
    });
}

#[test]
fn children_of_the_caller_are_left_alone() {
    let mut mine = std::process::Command::new("/bin/true").spawn().expect("it starts");
    let run = run(&Native::new(), &build("ways.c", &["-O1"]), &["null"]);
    assert!(run.failure.is_some());
    assert!(mine.wait().expect("still ours").success());
}

#[test]
fn time_without_a_processor_is_not_the_programs_own() {
    let native = Native::new();
    let run = |script: &str, own_time: bool, manner: Manner| {
        let mut command = Command::new("/bin/sh");
        command.arguments = vec!["-c".into(), script.into()];
        (command.time, command.own_time, command.manner) =
            (Duration::from_millis(200), own_time, manner);
        native.run(&command).expect("it runs").ending
    };
    // Who works on and who sleeps take their own time, by themselves or in a process of their own.
    for manner in [Manner::Followed, Manner::Plain] {
        for script in ["while :; do :; done", "(while :; do :; done); true", "sleep 600; true"] {
            assert_eq!(run(script, true, manner), Ending::TimedOut, "{script} {manner:?}");
        }
        assert_eq!(run("exit 3", true, manner), Ending::Exit(3));
    }
    // One that could go on, and is not let: nothing is known of how long it takes.
    assert_eq!(run("kill -STOP $$", true, Manner::Plain), Ending::Unsupported);
    assert_eq!(run("kill -STOP $$", false, Manner::Plain), Ending::TimedOut);
}
