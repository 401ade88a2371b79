//! Crashes of servers and clients, and incidents: what came through connections becomes a double that
//! crashes the same program in the same way, and nothing of the original is told.

mod support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;
use stunt_native::{Command, Native};
use stunt_path::{Connection, Private};
use stunt_record::{
    Copied, Draft, FailedIn, Incident, Kept, Maker, NotedEnding, NotedFailure, NotedFile,
    NotedSocket, NotedStdin, Program, Schema, Source, State, StdinKind, Store, Transport, Way,
    Word,
};
use stunt_report::{Report, SourceName};
use support::{Place, text};

/// The server of the subjects, and a request that crashes it.
const HTTPD: &str = include_str!("../subjects/c/small-httpd/main.c");
const REQUEST: &[u8] = include_bytes!("../subjects/c/small-httpd/inputs/private.http");
const HEALTHY: &[u8] = include_bytes!("../subjects/c/small-httpd/inputs/healthy.http");

/// Parts of the request that nobody may see.
const CANARIES: [&str; 7] =
    ["Wyczolkowska", "Qvistgaard", "Nordost", "oncology", "a3dhc3p5", "9f8e7d6c", "kwaszywona"];

/// Reads two files that its arguments name and one that they do not, and standard input, and fails
/// if the first letters of all are those of `BUG!`.
const READER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int first(FILE *f) { int c = f ? getc(f) : -1; return c; }
static void check(int a, int b, int c, int d) { if (a == 'B' && b == 'U' && c == 'G' && d == '!') abort(); }
int main(int argc, char **argv) {
  int a = first(fopen(argv[1], "r")), b = first(fopen(argv[2] + 5, "r"));
  int c = first(fopen("settings.ini", "r")), d = first(stdin);
  check(a, b, c, d);
  return 0;
}
"#;

/// A server compiled as the subject is, so that the bug is found by the canary.
fn httpd(place: &Place) -> String {
    place.compile("small-httpd", HTTPD, &["-fstack-protector-all", "-U_FORTIFY_SOURCE"])
}

fn nothing_private(output: &Output, report: &Path) {
    let report = fs::read(report).expect("a report");
    let said = [&output.stdout[..], &output.stderr, &report].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    for canary in CANARIES {
        assert!(!said.contains(canary), "{canary} was told");
    }
}

#[track_caller]
fn succeeds(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_request_that_crashes_a_server_becomes_a_double() {
    for manner in ["fork", "single"] {
        let place = Place::new(&format!("network-{manner}"));
        let program = httpd(&place);
        place.write("private.http", REQUEST);
        let words =
            ["anonymize", "--algorithm", "castro", "--seed", "1", "--client", "private.http"];
        let output = place.stunt(&[&words[..], &["--", &program, "8080", manner]].concat());
        let said = succeeds(&output);
        assert!(said.starts_with("The program fails with abort in note"), "{said}");
        nothing_private(&output, &place.path("stunt-report.zip"));

        let opened = Report::read(place.path("stunt-report.zip")).expect("a report");
        assert_eq!(opened.report.arguments, ["8080", manner]);
        let [source] = &opened.report.sources[..] else { panic!("one source") };
        assert_eq!((&source.name, source.bytes), (&SourceName::Socket(0), REQUEST.len() as u64));
        assert!(source.connection.is_some_and(|it| it.closes && it.port.is_none()));
        assert!(opened.doubles[0].starts_with(b"GET /"));
        assert_ne!(opened.doubles[0], REQUEST);
        for how in [
            &["replay", "stunt-report.zip", "--yes"][..],
            &["replay", "stunt-report.zip", "--machine"],
        ] {
            let said = succeeds(&place.stunt(how));
            assert!(said.starts_with("The double fails as the report says: abort"), "{said}");
        }
        place.nothing_is_left();
    }
}

#[test]
fn less_is_left_of_a_request_when_the_program_is_asked() {
    let place = Place::new("network-weaken");
    let program = httpd(&place);
    place.write("private.http", REQUEST);
    place.write("healthy.http", HEALTHY);
    // The failure needs the second client alone; nothing need be left of the first.
    let words = ["anonymize", "--json", "--seed", "1", "--effort", "300", "--port", "8080"];
    let clients = ["--client", "healthy.http", "--client", "private.http"];
    let server = ["--", &program, "8080", "fork"];
    let output = place.stunt(&[&words[..], &clients, &server].concat());
    let json: Value = serde_json::from_str(&succeeds(&output)).expect("JSON");
    nothing_private(&output, &place.path("stunt-report.zip"));
    let report = Report::read(place.path("stunt-report.zip")).expect("a report").report;
    assert_eq!(report.algorithm.name, "weaken");
    assert_eq!(report.sources.len(), 2);
    let path = json["original_path_leak"]["bits"].as_f64().expect("a figure");
    assert!(report.leak.bits < path, "{json:#}");
    succeeds(&place.stunt(&["replay", "stunt-report.zip", "--yes"]));
    succeeds(&place.stunt(&["replay", "stunt-report.zip", "--machine"]));
}

#[test]
fn a_server_that_only_waits_does_not_fail() {
    let place = Place::new("network-healthy");
    let program = httpd(&place);
    place.write("healthy.http", HEALTHY);
    let words = ["anonymize", "--client", "healthy.http", "--", &program, "8080"];
    let output = place.stunt(&words);
    place.refused(&output, 3, "does not fail on this input: it waited for more input");
}

#[test]
fn a_replay_is_seen_test_by_test() {
    let place = Place::new("network-steps");
    let program = httpd(&place);
    place.write("private.http", REQUEST);
    let words = ["anonymize", "--algorithm", "castro", "--seed", "1", "--client", "private.http"];
    succeeds(&place.stunt(&[&words[..], &["--", &program, "8080", "single"]].concat()));

    // Two steps, then on to the end.
    let step = |answers: &str| {
        let mut command = place.command(&["replay", "stunt-report.zip", "--step"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(answers.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends")
    };
    let output = step("\n\nc\n");
    let said = succeeds(&output);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    assert!(lines[0].starts_with("1  ") && lines[0].contains("socket 0: "), "{said}");
    assert!(lines[3].starts_with("The double fails as the report says"), "{said}");
    assert_eq!(text(&output.stderr).matches("[Enter: next").count(), 3);
    let said = succeeds(&step("q\n"));
    assert_eq!(said.lines().count(), 1, "{said}");

    let until = |function: &str| place.stunt(&["replay", "stunt-report.zip", "--until", function]);
    let said = succeeds(&until("account"));
    let first = said.lines().next().unwrap_or_default();
    assert!(first.contains("account (small-httpd.c:"), "{said}");
    assert!(!said.starts_with("1  "), "{said}");
    // Pauses change nothing but the time: each is at least as long as it says.
    let begun = std::time::Instant::now();
    let words = ["replay", "stunt-report.zip", "--until", "account", "--delay", "15"];
    let slowly = succeeds(&place.stunt(&words));
    assert_eq!(slowly, said);
    let tests = u32::try_from(said.lines().count() - 1).expect("few");
    assert!(tests > 0 && begun.elapsed() >= std::time::Duration::from_millis(15) * tests);
    let output = until("nowhere");
    assert!(text(&output.stderr).contains("no test of the input is made in nowhere"));
    let output = place.stunt(&["replay", "stunt-report.zip", "--step", "--delay", "1"]);
    assert_eq!(output.status.code(), Some(2), "one of them is enough");
}

/// An incident of a program, without sources.
fn draft(place: &Place, program: &str, arguments: &[&str]) -> Draft {
    let incident = Incident {
        schema: Schema,
        id: String::new(),
        made: 1_700_000_000,
        maker: Maker::Record,
        program: Program { path: program.into(), build_id: None },
        name: program.into(),
        arguments: arguments.iter().map(|&word| Word::from(word)).collect(),
        folder: Word::from(place.path("")),
        environment: Vec::new(),
        sources: Vec::new(),
        ending: NotedEnding::Signal(6),
        failed_in: FailedIn::First,
        failure: None,
        fails_if: None,
        request: None,
        state: State::Pending,
        notes: Vec::new(),
    };
    Draft { incident, data: Vec::new() }
}

fn socket(draft: &mut Draft, ordinal: u32, bytes: &[u8]) -> Source {
    Source::Socket(NotedSocket {
        ordinal,
        way: Way::Accepted(8080),
        transport: Transport::Tcp,
        stored: Some(draft.store(Private::new(bytes.to_vec()))),
        pieces: vec![bytes.len() as u64],
        complete: true,
        ended: false,
        of_failed: true,
    })
}

/// Keeps an incident where the command looks for it.
fn keep(place: &Place, draft: &Draft) -> Kept {
    Store::at(place.path("state/stunt/incidents")).create(draft).expect("an incident")
}

fn with_state(place: &Place, arguments: &[&str]) -> Output {
    let mut command = place.command(arguments);
    command.env("XDG_STATE_HOME", place.path("state")).output().expect("the command starts")
}

#[test]
fn an_incident_of_a_server_is_enough() {
    let place = Place::new("network-incident");
    let program = httpd(&place);
    let mut draft = draft(&place, &program, &["8080", "fork"]);
    let (first, second) = (socket(&mut draft, 0, HEALTHY), socket(&mut draft, 1, REQUEST));
    draft.incident.sources = vec![first, second];
    draft.incident.failed_in = FailedIn::Fork;
    let mut command = Command::new(&program);
    command.arguments = vec!["8080".into(), "fork".into()];
    let connection = |bytes: &[u8]| Connection {
        way: stunt_path::Way::Accepted,
        port: None,
        bytes: bytes.into(),
        closes: false,
    };
    command.connections = vec![connection(HEALTHY), connection(REQUEST)];
    let failure = Native::new().run(&command).expect("it runs").failure.expect("it fails");
    draft.incident.failure = Some(NotedFailure::from(&failure));
    let kept = keep(&place, &draft);

    let id = kept.incident.id.as_str();
    let output = with_state(&place, &["anonymize", id, "--algorithm", "castro", "--seed", "1"]);
    let said = succeeds(&output);
    assert!(said.starts_with("The program fails with abort in note"), "{said}");
    nothing_private(&output, &kept.report_path());
    let opened = Report::read(kept.report_path()).expect("a report");
    assert_eq!(opened.report.sources.len(), 2);
    assert_eq!(opened.report.failure.signature, failure.signature());
    let ways: Vec<_> = opened.report.sources.iter().filter_map(|it| it.connection).collect();
    assert!(ways.iter().all(|it| it.port == Some(8080) && !it.closes), "{ways:?}");
    assert_eq!(Kept::load(&kept.folder).expect("it is there").incident.state, State::Anonymised);
    let report = kept.report_path().display().to_string();
    succeeds(&place.stunt(&["replay", &report, "--yes"]));
    succeeds(&place.stunt(&["replay", &report, "--machine"]));

    // Another failure than the recorded one is none.
    let mut other = failure;
    other.frames.truncate(1);
    draft.incident.failure = Some(NotedFailure::from(&other));
    let folder = keep(&place, &draft).folder.display().to_string();
    let output = with_state(&place, &["anonymize", &folder]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("not fail as it did when it was recorded"));
}

#[test]
fn an_incident_with_files_needs_none_of_them() {
    let place = Place::new("network-files");
    let program = place.compile("reader", READER, &[]);
    place.write("settings.ini", b"Glance=1\n");
    let mut draft = draft(&place, &program, &["first.csv", "--in=second.json"]);
    let stdin = Source::Stdin(NotedStdin {
        kind: StdinKind::Pipe,
        stored: Some(draft.store(Private::new(b"!Xhosa".to_vec()))),
        complete: true,
        ended: true,
    });
    let mut sources = vec![stdin];
    for (name, bytes) in [
        ("first.csv", &b"BXhosa\n"[..]),
        ("second.json", b"UXhosa\n"),
        ("settings.ini", b"Glance=1\n"),
    ] {
        sources.push(Source::File(NotedFile {
            path: Word::from(place.path(name)),
            bytes: bytes.len() as u64,
            modified: None,
            written: false,
            copied: Copied::AsOpened,
            stored: Some(draft.store(Private::new(bytes.to_vec()))),
        }));
    }
    draft.incident.sources = sources;
    let kept = keep(&place, &draft);
    // One has changed since, the other is gone.
    place.write("first.csv", b"something else");
    let output = with_state(
        &place,
        &["anonymize", "last", "--algorithm", "relaxed", "--seed", "1", "-o", "r.zip"],
    );
    let said = succeeds(&output);
    assert!(said.starts_with("The program fails with abort in check"), "{said}");
    let opened = Report::read(place.path("r.zip")).expect("a report");
    assert_eq!(opened.report.arguments, ["@@1", "--in=@@2"]);
    let names: Vec<String> = opened.report.sources.iter().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["stdin", "file 1", "file 2"]);
    assert_eq!(opened.report.sources[1].entry, "input/file1.csv");
    assert!(opened.report.notes.iter().any(|note| note.contains("no argument names")));
    let firsts: Vec<u8> = opened.doubles.iter().map(|it| it[0]).collect();
    assert_eq!(firsts, b"!BU");
    let report = fs::read(place.path("r.zip")).expect("the report");
    let folder = place.path("").display().to_string();
    for private in ["Xhosa", "Glance", folder.as_str()] {
        assert!(!String::from_utf8_lossy(&report).contains(private), "{private}");
    }
    succeeds(&place.stunt(&["replay", "r.zip", "--yes"]));
    succeeds(&place.stunt(&["replay", "r.zip", "--machine"]));
    drop(kept);
    place.nothing_is_left();
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let place = Place::new("network-refused");
    let program = place.compile("reader", READER, &[]);
    let output = with_state(&place, &["anonymize", "20990101-nothing"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let output = place.stunt(&["anonymize", "--server", "answer.http", "--", &program]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("80:answer.http"), "{}", text(&output.stderr));
    let output = place.stunt(&["anonymize", "--client", "none.http", "--", &program]);
    place.refused(&output, 2, "the input none.http cannot be read");
    let output = place.stunt(&["anonymize", "x", "-i", "y", "--", &program]);
    assert_eq!(output.status.code(), Some(2));
}
