//! `stunt report` as its users see it: from a program that fails to a report that is sent, or that can be pasted,
//! mailed or attached. Every run is real; the server is a receiver that takes nothing but what the wire allows.

// The desk has more than is needed here.
#[allow(dead_code)]
#[path = "submit/desk.rs"]
mod desk;
#[path = "../crates/client/tests/receiver/mod.rs"]
mod receiver;
mod support;

use std::fs;
use std::process::{Command, Output, Stdio};

use desk::Desk;
use receiver::Receiver;
use serde_json::Value;
use stunt_report::{Limits, Opened, Report};
use support::{CANARY, PARSER, text};

const ASK: &str = "Ask the server? [y/N] ";
const SEND: &str = "Send this report? [y/N, d for all details] ";

/// A desk with a program that fails on a private file.
fn desk(name: &str, receiver: Option<&Receiver>) -> Desk {
    let name = format!("report-{name}");
    let desk = match receiver {
        Some(receiver) => Desk::at(&name, receiver, ""),
        None => Desk::new(&name),
    };
    desk.place.compile("parse", PARSER, &[]);
    desk.place.write("private.txt", CANARY);
    desk
}

fn said(output: &Output) -> String {
    text(&output.stderr) + &text(&output.stdout)
}

#[track_caller]
fn report(desk: &Desk, words: &[&str], exit: i32) -> String {
    let output = desk.stunt(&[&["report", "--seed", "1"], words].concat());
    assert_eq!(output.status.code(), Some(exit), "{}", said(&output));
    assert!(!said(&output).contains("Qvistgaard"), "{}", said(&output));
    said(&output)
}

fn read(desk: &Desk, name: &str) -> Opened {
    let file = fs::read(desk.place.path(name)).expect("a report");
    Report::from_bytes(&file, Limits::default()).expect("a report")
}

fn incidents(desk: &Desk) -> Vec<Value> {
    let listed = desk.stunt(&["incidents", "--json"]).stdout;
    serde_json::from_slice(&listed).expect("a list")
}

#[test]
fn without_a_server_it_is_a_file_and_nothing_is_overwritten() {
    let desk = desk("file", None);
    let said = report(&desk, &["--", "./parse", "private.txt"], 0);
    for words in [
        "running ./parse private.txt to see it fail",
        "it fails: ",
        "private.txt, argument 1: 69 bytes",
        "Report: stunt-report.zip",
        "stunt replay stunt-report.zip -- parse @@",
    ] {
        assert!(said.contains(words), "{words:?} in {said}");
    }
    let opened = read(&desk, "stunt-report.zip");
    assert_eq!(opened.report.arguments, ["@@"]);
    assert!(opened.doubles[0].starts_with(b"BUG"), "{:?}", opened.doubles);
    let first = fs::read(desk.place.path("stunt-report.zip")).expect("a report");
    // What was made before is there still, and need not be made again.
    let said = report(&desk, &["last"], 0);
    assert!(said.contains("has a double already") && said.contains("stunt-report-2.zip"), "{said}");
    assert_eq!(fs::read(desk.place.path("stunt-report.zip")).expect("a report"), first);
    let said = report(&desk, &["last", "--to", "stunt-report.zip"], 2);
    assert!(said.contains("stunt-report.zip is there already"), "{said}");
    assert!(!said.contains("tries again"), "{said}");
    let replayed = desk.stunt(&["replay", "stunt-report.zip", "--", "./parse", "@@"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", self::said(&replayed));
    assert_eq!(incidents(&desk).len(), 1);
}

#[test]
fn an_issue_brings_all_that_it_takes() {
    let desk = desk("issue", None);
    let words = ["--to", "github:o/r", "-m", "since Tuesday", "--", "./parse", "private.txt"];
    let said = report(&desk, &words, 0);
    assert!(said.contains("Issue: stunt-issue.md"), "{said}");
    assert!(said.contains("https://github.com/o/r/issues/new?title=parse%3A%20"), "{said}");
    let body = fs::read_to_string(desk.place.path("stunt-issue.md")).expect("the text");
    assert!(body.contains("since Tuesday"), "{body}");
    // Whoever copies the lines sees the failure.
    let (_, lines) = body.split_once("```sh\n").expect("lines of a shell");
    let (lines, _) = lines.split_once("\n```").expect("their end");
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &format!("PATH=$PWD:$PATH; {lines}\nexit $?")])
        .current_dir(desk.place.path("."));
    let output = shell.output().expect("bash");
    assert_eq!(output.status.code(), Some(134), "{lines}: {}", self::said(&output));
    let said = report(&desk, &["last", "--to", "gitlab"], 0);
    assert!(said.contains("paste what is in stunt-issue-2.md"), "{said}");
    let said = report(&desk, &["last", "--to", "mail:bugs@example.org"], 0);
    assert!(said.contains("Mail: stunt-report.eml"), "{said}");
    let mail = fs::read_to_string(desk.place.path("stunt-report.eml")).expect("the mail");
    assert!(mail.starts_with("X-Unsent: 1\r\nTo: bugs@example.org\r\nSubject: parse: "), "{mail}");
    assert!(report(&desk, &["last", "--to", "github:o"], 2).contains("OWNER/NAME"));
}

#[test]
fn what_is_read_is_the_input_wherever_it_comes_from() {
    let desk = desk("inputs", None);
    // Standard input, by a redirection, and by name.
    let mut command = desk.command(&["report", "--seed", "1", "--to", "in.zip", "--", "./parse"]);
    let file = fs::File::open(desk.place.path("private.txt")).expect("the input");
    let output = command.stdin(Stdio::from(file)).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("standard input, from a file: 69 bytes"), "{}", said(&output));
    assert_eq!(read(&desk, "in.zip").report.sources[0].name.to_string(), "stdin");
    report(&desk, &["-i", "private.txt", "--to", "named.zip", "--", "./parse"], 0);
    assert_eq!(read(&desk, "named.zip").report.sources[0].name.to_string(), "stdin");
    report(&desk, &["-i", "private.txt", "--to", "at.zip", "--", "./parse", "@@"], 0);
    assert_eq!(read(&desk, "at.zip").report.sources[0].name.to_string(), "file");
    assert!(report(&desk, &["--", "./parse", "@@"], 2).contains("stands for the input"));
    // A script is the program, and not what is private.
    desk.place.write("s.py", b"import sys\nint(open(sys.argv[1]).read()[:3])\n");
    let words = ["--time", "5", "--to", "py.zip", "--", "/usr/bin/python3", "s.py", "private.txt"];
    let said = report(&desk, &words, 0);
    assert!(
        said.contains("private.txt, argument 2: 69 bytes") && !said.contains("s.py, argument"),
        "{said}"
    );
    let made = read(&desk, "py.zip").report;
    assert_eq!((made.sources.len(), &made.arguments[1][..]), (1, "@@"));
}

#[test]
fn a_run_that_does_not_fail_is_told_how_it_can() {
    let desk = desk("no-failure", None);
    desk.place.write("harmless.txt", b"nothing");
    let said = report(&desk, &["--", "./parse", "harmless.txt"], 3);
    assert!(said.contains("did not fail: it exited with status 0"), "{said}");
    let said = report(&desk, &["--", "./parse", "no-such-file"], 3);
    assert!(said.contains("stunt report --fails-if exit=2 -- ./parse no-such-file"), "{said}");
    assert!(report(&desk, &["--", "./no-such-program"], 2).contains("no-such-program"));
    assert!(
        report(&desk, &["./parse", "private.txt"], 2)
            .contains("stunt report --seed 1 -- ./parse private.txt")
    );
    assert!(report(&desk, &["private.txt"], 2).contains("a program stands after `--`"));
    assert!(incidents(&desk).is_empty());
}

#[test]
fn a_report_is_sent_and_its_incident_knows() {
    let receiver = Receiver::start();
    let desk = desk("sent", Some(&receiver));
    let words = ["report", "--seed", "1", "-m", "since Tuesday", "--", "./parse", "private.txt"];
    let (seen, exit) = desk.terminal(&words, &[(ASK, "y\r"), (SEND, "d\r"), (SEND, "y\r")]);
    assert_eq!(exit, 0, "{seen}");
    assert!(seen.contains("The server does not know this failure yet."), "{seen}");
    assert!(
        seen.contains("sent: ticket T-1") && seen.contains("Nothing more is needed."),
        "{seen}"
    );
    // The original is nowhere, and what is left of it is said.
    assert!(
        !seen.contains("Qvistgaard") && seen.contains("What is left of your input's content"),
        "{seen}"
    );
    assert!(seen.contains("\"since Tuesday\""), "{seen}");
    assert!(seen.contains(" % of your input's 552 bits."), "{seen}");
    let lines = receiver.lines();
    assert!(
        lines.len() == 2 && lines[0] == "POST /api/v1/ask" && lines[1].starts_with("PUT "),
        "{lines:?}"
    );
    {
        let state = receiver.state();
        let (file, _) = state.reports.values().next().expect("a report");
        let sent = Report::from_bytes(file, Limits::default()).expect("a report");
        assert_eq!(sent.report.comment.as_deref(), Some("since Tuesday"));
    }
    assert_eq!(incidents(&desk)[0]["state"], "sent");
    // The next time nothing is made, and a no is a no.
    let (seen, exit) = desk.terminal(&["report", "last"], &[(ASK, "n\r"), (SEND, "\r")]);
    assert_eq!(exit, 6, "{seen}");
    assert!(seen.contains("was sent before") && seen.contains("asks again"), "{seen}");
    receiver.finish();
}

#[test]
fn a_failure_that_is_known_costs_no_search() {
    let receiver = Receiver::start();
    let desk = desk("known", Some(&receiver));
    // Somebody else has reported it.
    let made =
        desk.stunt(&["report", "--seed", "1", "--to", "other.zip", "--", "./parse", "private.txt"]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    let theirs = read(&desk, "other.zip");
    let file = fs::read(desk.place.path("other.zip")).expect("a report");
    receiver.state().doubles.insert(theirs.report.failure.signature, file);
    let (seen, exit) = desk
        .terminal(&["report", "--timeout", "1", "--", "./parse", "private.txt"], &[(ASK, "y\r")]);
    assert_eq!(exit, 0, "{seen}");
    assert!(
        seen.contains("fails here in the same way") && seen.contains("counted: ticket"),
        "{seen}"
    );
    let newest = &incidents(&desk)[0];
    assert_eq!(newest["state"], "sent");
    let folder = newest["folder"].as_str().expect("a folder");
    assert!(
        !std::path::Path::new(folder).join("report.stunt").exists(),
        "nothing was searched for"
    );
    assert!(receiver.state().reports.is_empty(), "nothing but a count has left");
    receiver.finish();
}

#[test]
fn without_anybody_to_ask_nothing_is_sent_and_nothing_searched() {
    let receiver = Receiver::start();
    let desk = desk("nobody", Some(&receiver));
    let said = report(&desk, &["--", "./parse", "private.txt"], 6);
    assert!(said.contains("there is no terminal to ask on"), "{said}");
    assert!(receiver.state().raw.is_empty(), "not even a connection");
    assert_eq!(incidents(&desk)[0]["state"], "pending");
    // Nor to a server that a project's file suggests.
    let own = desk.place.path("home/config/stunt/config.toml");
    let suggested = desk.place.path(".stunt.toml");
    let text = fs::read_to_string(&own).expect("the configuration");
    fs::remove_file(&own).expect("the configuration");
    fs::write(&suggested, text.replace("[network]\nattempts = 2\n", "")).expect("a suggestion");
    let said = report(&desk, &["last", "--yes", "--max-leak", "20%"], 6);
    assert!(said.contains("a project cannot decide that"), "{said}");
    assert!(receiver.state().raw.is_empty(), "not even a connection");
    fs::remove_file(&suggested).expect("the suggestion");
    desk.configure(&text);
    let said = report(&desk, &["last", "--no-ask", "--yes", "--max-leak", "1bits"], 6);
    assert!(said.contains("--max-leak allows 1 bits"), "{said}");
    let said = report(&desk, &["last", "--no-ask", "--yes", "--max-leak", "20%"], 0);
    assert!(said.contains("sent: ticket T-1"), "{said}");
    receiver.finish();
}
