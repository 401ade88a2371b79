//! Asking first, against a server that means harm: its double tries to read what is private here, and it
//! watches what comes when.

use std::fs;

use stunt_report::{Limits, Opened, Report};

use crate::desk::Desk;
use crate::receiver::Receiver;
use crate::{NOT_SENT, SEND};

/// Fails on `B…`, and on `R` and a path if the file there begins with an `s`, in the same place; runs on
/// and on with `L`, and fails elsewhere with `C`.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int asked(const char *text) {
  if (text[0] != 'R') return text[0] == 'B';
  FILE *file = fopen(text + 1, "r");
  return file && fgetc(file) == 's';
}
int main(int argc, char **argv) {
  char text[401] = {0};
  fread(text, 1, 400, fopen(argv[1], "r"));
  if (text[0] == 'C') *(volatile int *)0 = 1;
  while (text[0] == 'L') ;
  if (asked(text)) abort();
  return 0;
}
"#;

/// A desk with the program, and the report of a failure whose double has 400 bytes.
fn desk(name: &str, receiver: &Receiver) -> (Desk, Opened) {
    let desk = Desk::at(name, receiver, "ask = true\n");
    desk.place.compile("parse", PROGRAM, &[]);
    desk.place.write("input", format!("B{}", "x".repeat(399)).as_bytes());
    let words = ["anonymize", "--algorithm", "castro", "-i", "input", "-o", "own.zip"];
    let output = desk.stunt(&[&words[..], &["--", "./parse", "@@"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let file = fs::read(desk.place.path("own.zip")).expect("a report");
    let opened = Report::from_bytes(&file, Limits::default()).expect("a report");
    assert_eq!(opened.doubles[0].len(), 400);
    (desk, opened)
}

/// The server has this double for the failure.
fn has(receiver: &Receiver, opened: &Opened, text: &[u8]) {
    let mut double = text.to_vec();
    double.resize(400, 0);
    let file = opened.report.to_bytes(&[double]).expect("a report");
    receiver.state().doubles.insert(opened.report.failure.signature.clone(), file);
}

const SUBMIT: [&str; 4] = ["submit", "own.zip", "--timeout", "1"];

#[test]
fn attack_servers_double_reads_a_private_file() {
    let receiver = Receiver::start();
    let (desk, mut opened) = desk("reads", &receiver);
    let places = ["home/secret", "secret"].map(|name| desk.place.path(name));
    for native in [true, false] {
        opened.report.replay.native = native;
        opened.report.write(&opened.doubles, desk.place.path("own.zip")).expect("a report");
        for path in &places {
            fs::write(path, "secret").expect("a private file");
            let text = format!("R{}", path.display());
            has(&receiver, &opened, text.as_bytes());
            let (seen, exit) = desk.terminal(&SUBMIT, &[(SEND, "n\r")]);
            assert_eq!(exit, NOT_SENT, "{seen}");
            assert!(seen.contains("but its double does not fail here"), "native {native}: {seen}");
        }
        // A double that asks for nothing is tried as before.
        has(&receiver, &opened, b"B and whatever");
        let (seen, exit) = desk.terminal(&SUBMIT, &[]);
        assert_eq!(exit, 0, "{seen}");
        assert!(seen.contains("fails here in the same way"), "native {native}: {seen}");
    }
    assert!(receiver.state().reports.is_empty());
    receiver.finish();
}

#[test]
fn attack_server_tells_outcomes_apart_by_requests() {
    let outcomes: [(&str, &[u8]); 4] = [
        ("fails", b"B the same"),
        ("runs", b"b does not fail"),
        ("crashes", b"C in another way"),
        ("loops", b"L without an end"),
    ];
    let receiver = Receiver::start();
    let (desk, opened) = desk("outcomes", &receiver);
    let mut seen = Vec::new();
    for (name, double) in outcomes {
        has(&receiver, &opened, double);
        let typed: &[(&str, &str)] = if name == "fails" { &[] } else { &[(SEND, "n\r")] };
        let (screen, exit) = desk.terminal(&SUBMIT, typed);
        assert_eq!(exit, if name == "fails" { 0 } else { NOT_SENT }, "{name}: {screen}");
        let came = std::mem::take(&mut receiver.state().seen);
        seen.push(came.into_iter().map(|it| (it.head, it.body)).collect::<Vec<_>>());
    }
    receiver.finish();
    let first = |at: usize, line: &str| seen[0][at].0.starts_with(line);
    assert_eq!(seen[0].len(), 3, "{:?}", seen[0]);
    assert!(first(0, "POST /api/v1/ask "), "{:?}", seen[0]);
    assert!(first(1, "GET /api/v1/doubles/"), "{:?}", seen[0]);
    assert!(first(2, "POST /api/v1/counts "), "{:?}", seen[0]);
    // Byte for byte: the report is the same, and so is the number under which it is counted.
    for other in &seen[1..] {
        assert_eq!(*other, seen[0]);
    }
}
