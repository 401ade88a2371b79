//! Many runs at once: results in order, files without clash, and an end when it is asked for.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stunt_native::{Command, Containment, Error, InputFile, Native, Stdin, find};
use stunt_path::Ending;

use crate::build::{build, command};

fn never() -> AtomicBool {
    AtomicBool::new(false)
}

#[test]
fn results_are_in_order() {
    let native = Native::new();
    let program = build("ways.c", &["-O1"]);
    let commands: Vec<Command> =
        (0..40).map(|status| command(&program, &["exit", &status.to_string()])).collect();
    let results = native.run_all(&commands, &never());
    for (status, result) in results.into_iter().enumerate() {
        let ending = result.expect("it runs").ending;
        assert_eq!(ending, Ending::Exit(u8::try_from(status).expect("small")));
    }
    assert!(native.run_all(&[], &never()).is_empty());
}

#[test]
fn an_error_is_one_of_the_results() {
    let program = build("ways.c", &["-O1"]);
    let commands = [
        command(&program, &["null"]),
        Command::new("/nowhere/at/all"),
        command(&program, &["exit", "3"]),
    ];
    let results = Native::new().run_all(&commands, &never());
    assert!(results[0].as_ref().is_ok_and(|run| run.failure.is_some()));
    assert!(matches!(results[1], Err(Error::NotFound { .. })));
    assert!(results[2].as_ref().is_ok_and(|run| run.ending == Ending::Exit(3)));
}

/// Every run has its own bytes under one name, in a folder of its own.
#[test]
fn files_do_not_clash() {
    let native = Native::new();
    let cat = find("cat".as_ref(), "/usr/bin:/bin".as_ref()).expect("installed");
    for containment in [Containment::Free, Containment::Contained] {
        let commands: Vec<Command> = (0..60)
            .map(|index| {
                let mut command = Command::new(&cat);
                let bytes: Arc<[u8]> = format!("{index} ").repeat(index * 50).into_bytes().into();
                command.files =
                    vec![InputFile { name: "a b.csv".into(), bytes: Arc::clone(&bytes) }];
                command.arguments = vec![Command::place(0), "-".into(), Command::place(0)];
                command.stdin = Stdin::Bytes(bytes);
                command.containment = containment;
                command
            })
            .collect();
        let results = native.run_all(&commands, &never());
        for (index, result) in results.into_iter().enumerate() {
            let expected = format!("{index} ").repeat(index * 150);
            assert!(result.expect("it runs").stdout.reveal() == expected.as_bytes(), "{index}");
        }
    }
}

#[test]
fn a_file_keeps_its_name_and_its_folder_is_new_each_time() {
    let native = Native::new();
    let sh = find("sh".as_ref(), "/usr/bin:/bin".as_ref()).expect("installed");
    let mut paths = BTreeSet::new();
    for _ in 0..3 {
        let mut command = Command::new(&sh);
        // Names the file, says what else is there, and leaves something.
        let script =
            "echo \"$1\"; ls -a \"${1%/*}\"; echo \"$PWD\" \"$OWN\"; echo x > \"${1%/*}/left\"";
        command.arguments = ["-c", script, "sh"].iter().map(Into::into).collect();
        command.arguments.push(Command::place(0));
        command.environment = vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("OWN".into(), Command::own_folder().into_os_string()),
        ];
        command.files = vec![InputFile { name: "report.2.pdf".into(), bytes: b"%PDF"[..].into() }];
        command.folder = Some(Command::own_folder());
        let run = native.run(&command).expect("it runs");
        let text = String::from_utf8(run.stdout.reveal().to_vec()).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("/report.2.pdf"), "{text}");
        assert_eq!(lines[1..4], [".", "..", "report.2.pdf"], "{text}");
        let own = lines[0].trim_end_matches("/report.2.pdf");
        assert_eq!(lines[4], format!("{own} {own}"));
        paths.insert(own.to_owned());
    }
    // The same place each time, gone in the end.
    let own = paths.pop_first().expect("a path");
    assert!(paths.is_empty() && std::path::Path::new(&own).exists());
    drop(native);
    assert!(!std::path::Path::new(&own).exists());
}

#[test]
fn a_place_without_a_file_is_refused() {
    let mut command = command(&build("ways.c", &["-O1"]), &["exit"]);
    command.arguments.push(Command::place(1));
    assert!(matches!(Native::new().run(&command), Err(Error::Start { .. })));
    command.arguments = vec![OsString::from("exit")];
    command.files = vec![InputFile { name: "../x".into(), bytes: b""[..].into() }];
    assert!(matches!(Native::new().run(&command), Err(Error::Files { .. })));
}

#[test]
fn a_wish_to_stop_is_heard() {
    let native = Native::new();
    let program = build("ways.c", &["-O1"]);
    let mut commands = vec![command(&program, &["exit", "0"])];
    commands.extend((0..20).map(|_| {
        let mut command = command(&program, &["sleep"]);
        command.time = Duration::from_secs(600);
        command
    }));
    let stop = never();
    let (mut finished, mut stopped) = (0, BTreeSet::new());
    native.run_each(&commands, &stop, &mut |index, result| match result {
        Ok(run) => {
            assert_eq!((index, run.ending), (0, Ending::Exit(0)));
            finished += 1;
            // From here on, nobody waits for the sleepers.
            stop.store(true, Ordering::Relaxed);
        }
        Err(Error::Stopped) => drop(stopped.insert(index)),
        Err(error) => panic!("{error}"),
    });
    assert_eq!(finished, 1);
    assert_eq!(stopped.len(), 20);
}

#[test]
fn one_that_hangs_does_not_hold_up_the_others() {
    let native = Native::new();
    let program = build("ways.c", &["-O1"]);
    let commands: Vec<Command> = ["hang", "null", "sleep", "flood", "null"]
        .iter()
        .map(|way| {
            let mut command = command(&program, &[way]);
            command.output = 1000;
            if ["hang", "sleep"].contains(way) {
                command.time = Duration::from_millis(300);
            }
            command
        })
        .collect();
    let mut order = Vec::new();
    native.run_on(2, &commands, &never(), &mut |index, result| {
        order.push((index, result.expect("it runs").ending));
    });
    order.sort_by_key(|(index, _)| *index);
    let endings: Vec<Ending> = order.into_iter().map(|(_, ending)| ending).collect();
    let segv = Ending::Signal(11);
    assert_eq!(endings, [Ending::TimedOut, segv, Ending::TimedOut, Ending::Exit(0), segv]);
}
