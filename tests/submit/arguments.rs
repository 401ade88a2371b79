//! Command lines as a way out for secrets: what a report, the screen and the wire have of them.

use std::fs;
use std::path::Path;
use std::process::Command;

use stunt_report::Report;

use crate::desk::Desk;
use crate::receiver::Receiver;
use crate::support::{PARSER, text};
use crate::{ASK, NOT_SENT, SEND, code};

/// The name of the user and of the folder below the home; no English word has it in it.
const USER: &str = "wyczolkowska";

/// Parts of arguments that must be nowhere.
const CANARIES: [&str; 9] = [
    "Zq7hunterVx",
    "Kxwvtoken",
    USER,
    "divorce",
    "qvistgaard",
    "4111111111111111",
    "Xhosa",
    "AKIAZQVWKXJQZQVWKXJQ",
    "DE89370400440532013000",
];

/// Reads the last argument, and fails as the parser does, but only if it has all the others.
fn demanding(count: usize) -> String {
    let needs = format!("if (argc != {count} || !argv[1][15]) return 0; FILE *f = ");
    PARSER.replace(
        "FILE *f = argc > 1 ? fopen(argv[1], \"rb\") : stdin",
        &(needs + "fopen(argv[argc - 1], \"rb\")"),
    )
}

fn arguments(home: &Path) -> Vec<String> {
    let path = home.join("divorce/letter.txt").display().to_string();
    [
        "--password=Zq7hunterVx",
        "--auth-header",
        "Kxwvtoken",
        &path,
        &format!("--work-dir={}", home.display()),
        "-uqvistgaard:Zq7hunterVx",
        "https://qvistgaard:Zq7hunterVx@example.org/",
        "qvistgaard@example.org",
        "4111111111111111",
        "--name=Xhosa",
        &format!("--{USER}"),
        "AKIAZQVWKXJQZQVWKXJQ",
        "DE89370400440532013000",
        "--verbose",
        "-n",
        "3",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Every byte of the archive, unpacked.
fn unpacked(desk: &Desk, report: &str) -> String {
    let folder = desk.place.path("unpacked");
    let _ = fs::remove_dir_all(&folder);
    let python = Command::new("python3")
        .args(["-m", "zipfile", "-e"])
        .args([desk.place.path(report), folder.clone()])
        .status();
    assert!(python.expect("python3 is there").success());
    let mut all = String::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            all += &format!("{}\n", path.file_name().unwrap().to_string_lossy());
            if path.is_dir() {
                folders.push(path);
            } else {
                all += &text(&fs::read(path).expect("a file"));
            }
        }
    }
    all
}

/// What looks like a secret is asked about, without showing it; only a yes tells it.
#[test]
fn what_looks_like_a_secret_is_asked_about() {
    let receiver = Receiver::start();
    let desk = Desk::at("asked-about", &receiver, "");
    desk.place.compile("parser", &demanding(3), &[]);
    desk.place.write("in", b"BUG;Xhosa");
    let words = ["anonymize", "--algorithm", "relaxed", "-i", "in", "-o", "a.zip"];
    let words = [&words[..], &["--", "./parser", "--password=Zq7hunterVx", "@@"]].concat();
    for (typed, told) in [("\r", false), ("no\r", false), ("y\r", true)] {
        let _ = fs::remove_file(desk.place.path("a.zip"));
        let asked = "Argument 1 looks like a password";
        let (seen, exit) = desk.terminal(&words, &[(asked, ""), ("Tell it? [y/N]", typed)]);
        assert_eq!(exit, 0, "{seen}");
        let before = seen.split("Tell it?").next().unwrap_or_default();
        assert!(!before.contains("Zq7hunterVx"), "{before}");
        assert_eq!(unpacked(&desk, "a.zip").contains("Zq7hunterVx"), told, "{typed:?}");
    }
    receiver.finish();
}

#[track_caller]
fn has_no_canary(what: &str, all: &str) {
    let all = all.to_lowercase();
    for canary in CANARIES {
        assert!(!all.contains(&canary.to_lowercase()), "{canary} in {what}: {all}");
    }
}

#[test]
fn attack_secrets_in_arguments_leave_with_the_report() {
    let receiver = Receiver::start();
    let desk = Desk::at("argument-secrets", &receiver, "");
    let home = desk.place.path(&format!("home/{USER}"));
    fs::create_dir_all(home.join("divorce")).expect("a folder");
    desk.place.write("private.txt", b"BUG and more");
    let words = arguments(&home);
    desk.place.compile("lenient", &PARSER.replace("argv[1]", "argv[argc - 1]"), &[]);
    desk.place.compile("demanding", &demanding(words.len() + 2), &[]);
    for program in ["./lenient", "./demanding"] {
        for recorded in [false, true] {
            let mut made = if recorded {
                let mut record = desk.command(&["record", "--", program]);
                let output = record.args(&words).arg("private.txt").env("USER", USER).output();
                assert_eq!(code(&output.expect("it starts")), 128 + 6);
                desk.command(&["anonymize", "--algorithm", "castro", "-o", "r.zip", "last"])
            } else {
                let flags =
                    ["anonymize", "--algorithm", "castro", "-i", "private.txt", "-o", "r.zip"];
                let mut command = desk.command(&flags);
                command.args(["--", program]).args(&words).arg("@@");
                command
            };
            let output = made.env("USER", USER).output().expect("it starts");
            assert_eq!(code(&output), 0, "{}", text(&output.stderr));
            has_no_canary("what is printed", &(text(&output.stdout) + &text(&output.stderr)));
            has_no_canary("the archive", &unpacked(&desk, "r.zip"));
            let report = Report::read(desk.place.path("r.zip")).expect("a report").report;
            if program == "./lenient" {
                // None of them is needed: so none is told, and a replay needs nothing more.
                assert_eq!(report.arguments.last().map(String::as_str), Some("@@"));
                assert!(report.hidden_arguments().is_empty(), "{:?}", report.arguments);
                assert_eq!(code(&desk.stunt(&["replay", "r.zip", "--yes"])), 0);
            } else {
                assert_eq!(report.arguments.len(), words.len() + 1);
                assert_eq!(report.arguments[13..], ["--verbose", "-n", "3", "@@"]);
                assert_eq!(report.hidden_arguments().len(), 12, "{:?}", report.arguments);
                // Who replays it is told, and brings the command.
                let output = desk.stunt(&["replay", "r.zip", "--yes"]);
                let said = text(&output.stderr);
                assert!(said.contains("are hidden in the report") && code(&output) == 2, "{said}");
                assert!(said.contains("Give the whole command after --"), "{said}");
                let mut replay = desk.command(&["replay", "r.zip", "--", program]);
                let output = replay.args(&words).arg("@@").output().expect("it starts");
                assert_eq!(code(&output), 0, "{}", text(&output.stderr));
            }
            let (seen, exit) = desk.terminal(&["submit", "r.zip"], &[(ASK, "n\r"), (SEND, "y\r")]);
            assert_eq!(exit, 0, "{seen}");
            has_no_canary("the screen", &seen);
        }
    }
    let state = receiver.state();
    assert!(!state.reports.is_empty());
    for (file, _) in state.reports.values() {
        fs::write(desk.place.path("arrived.zip"), file).expect("a file");
        has_no_canary("what arrived", &unpacked(&desk, "arrived.zip"));
    }
    has_no_canary("the wire", &text(&state.raw));
    has_no_canary("the requests", &text(&state.plain));
}

#[test]
fn what_the_user_names_is_told_and_no_more() {
    let desk = Desk::new("argument-wishes");
    desk.place.write("private.txt", b"BUG and more");
    desk.place.compile("demanding", &demanding(5), &[]);
    let words = ["--password=Zq7hunterVx", "notes-of-a-day.txt", "--who=somebody"];
    let told = |flags: &[&str]| {
        let base = ["anonymize", "--algorithm", "castro", "-i", "private.txt", "-o", "r.zip"];
        let mut command = desk.command(&[&base, flags].concat());
        let output = command.args(["--", "./demanding"]).args(words).arg("@@").output();
        let output = output.expect("it starts");
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        let report = Report::read(desk.place.path("r.zip")).expect("a report").report;
        (report.arguments, text(&output.stdout))
    };
    let (arguments, said) = told(&[]);
    assert_eq!(arguments, ["--password=<hidden>", "<hidden>", "--who=<hidden>", "@@"]);
    assert!(
        said.contains(
            "Argument 1 is hidden in the report: it looks like a password; --public-arg 1"
        ),
        "{said}"
    );
    let (arguments, _) = told(&["--keep-arguments"]);
    assert_eq!(arguments, ["--password=<hidden>", "notes-of-a-day.txt", "--who=somebody", "@@"]);
    let (arguments, _) = told(&["--public-arg", "1"]);
    assert_eq!(arguments, ["--password=Zq7hunterVx", "<hidden>", "--who=<hidden>", "@@"]);
    let wrong = desk.stunt(&[
        "anonymize",
        "-i",
        "private.txt",
        "--public-arg",
        "2",
        "--",
        "./demanding",
        "@@",
    ]);
    assert!(text(&wrong.stderr).contains("there is no argument 2 that could be told"));
}

#[test]
fn attack_a_command_line_is_agreed_to_unseen() {
    let receiver = Receiver::start();
    let desk = Desk::at("argument-screen", &receiver, "ask = false\n");
    let (mut report, doubles) = crate::desk::sample();
    report.arguments =
        vec!["--password=Zq7hunterVx".to_owned(), "<hidden>".to_owned(), "@@".to_owned()];
    report.write(&doubles, desk.place.path("r.zip")).expect("a report");
    let (seen, exit) = desk.terminal(&["submit", "r.zip"], &[(SEND, "n\r")]);
    assert_eq!(exit, NOT_SENT, "{seen}");
    let lines: Vec<&str> = seen.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(
        lines[..2],
        [
            "  Command line  no-such-webserver --password=Zq7hunterVx '<hidden>' @@",
            "                (argument 2 is hidden)"
        ]
    );
    // However long it is.
    report.arguments[0] = format!("--password={}Zq7hunterVx", "x".repeat(2000));
    report.write(&doubles, desk.place.path("r.zip")).expect("a report");
    let (seen, _) = desk.terminal(&["submit", "r.zip"], &[(SEND, "n\r")]);
    let all: String = seen.split_whitespace().collect();
    assert!(all.contains("xxxZq7hunterVx'<hidden>'@@"), "{seen}");
    assert!(receiver.state().reports.is_empty());
}
