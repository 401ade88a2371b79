//! `stunt submit`, `stunt queue`, `stunt config` and `stunt manual` as their users see them, at a
//! real pseudo-terminal and against a receiver that takes nothing but what the wire allows.
//!
//! The golden file holds the consent screen. `STUNT_BLESS=1` rewrites it (`cargo xtask bless` does
//! that).

#[path = "submit/arguments.rs"]
mod arguments;
#[path = "submit/desk.rs"]
mod desk;
#[path = "submit/first.rs"]
mod first;
#[path = "../crates/client/tests/receiver/mod.rs"]
mod receiver;
mod support;
#[path = "submit/walk.rs"]
mod walk;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use desk::{Desk, sample};
use receiver::{Fault, Receiver};
use serde_json::Value;
use stunt_parcel::Digest;
use stunt_report::{Draw, Limits, Report};
use support::text;

const ASK: &str = "Ask the server? [y/N] ";
const SEND: &str = "Send this report? [y/N, d for all details] ";

/// The exit code of a command that sent nothing, as its user wished.
const NOT_SENT: i32 = 6;
/// The exit code of a command that left something in the queue.
const QUEUED: i32 = 7;

#[track_caller]
fn code(output: &Output) -> i32 {
    output.status.code().expect("a code")
}

#[track_caller]
fn says(output: &Output, exit: i32, words: &str) {
    let said = text(&output.stderr) + &text(&output.stdout);
    assert!(said.contains(words), "{words:?} in {said}");
    assert_eq!(code(output), exit, "{said}");
}

/// What the receiver was sent: the sample, and nothing else.
#[track_caller]
fn has_the_sample(receiver: &Receiver) {
    let (report, doubles) = sample();
    let expected = report.to_bytes(&doubles).unwrap();
    let state = receiver.state();
    let stored: Vec<&Vec<u8>> = state.reports.values().map(|(file, _)| file).collect();
    assert_eq!(stored, [&expected]);
}

#[test]
fn a_yes_sends_the_report_and_nothing_else() {
    let receiver = Receiver::start();
    let desk = Desk::at("yes", &receiver, "");
    let report = desk.report("r.zip");
    let (seen, exit) = desk.terminal(&["submit", &report], &[(ASK, "y\r"), (SEND, "y\r")]);
    assert_eq!(exit, 0, "{seen}");
    assert!(seen.contains("The server does not know this failure yet."), "{seen}");
    assert!(seen.contains("sent: ticket T-1, https://crashes.example.org/t/T-1"), "{seen}");
    let lines = receiver.lines();
    assert!(lines.len() == 2 && lines[0] == "POST /api/v1/ask", "{lines:?}");
    has_the_sample(&receiver);
    receiver.finish();
    assert!(!desk.queue().exists());
}

#[test]
fn whatever_is_no_yes_is_a_no() {
    let receiver = Receiver::start();
    let desk = Desk::at("no", &receiver, "");
    let report = desk.report("r.zip");
    for typed in ["\r", "n\r", "yo\r", "\u{4}"] {
        let (seen, exit) = desk.terminal(&["submit", &report], &[(ASK, typed), (SEND, typed)]);
        assert_eq!(exit, NOT_SENT, "{typed:?}: {seen}");
        assert!(seen.contains("Nothing was sent."), "{seen}");
    }
    let (seen, exit) = desk.terminal(&["submit", &report], &[(ASK, "\u{3}")]);
    assert!(exit == 130 && seen.contains("interrupted"), "{exit} {seen}");
    let (seen, exit) = desk.terminal(&["submit", &report], &[(ASK, "n\r"), (SEND, "\u{3}")]);
    assert!(exit == 130 && seen.contains("interrupted"), "{exit} {seen}");
    assert!(receiver.state().raw.is_empty(), "not even a connection");
    assert!(!desk.queue().exists());
}

#[test]
fn every_byte_can_be_seen_before_the_answer() {
    let receiver = Receiver::start();
    let desk = Desk::at("all", &receiver, "ask = false\n");
    let report = desk.report("r.zip");
    let (seen, exit) = desk.terminal(&["submit", &report], &[(SEND, "d\r"), (SEND, "y\r")]);
    assert_eq!(exit, 0, "{seen}");
    let (first, whole) = seen.split_once("[y/N, d for all details]").unwrap();
    assert!(!first.contains("\n  256  "), "{first}");
    assert!(!whole.contains("bytes that reveal nothing") && whole.contains("\n  256  "), "{whole}");
    assert!(receiver.lines().iter().all(|line| line.starts_with("PUT ")), "nobody was asked");
    receiver.finish();
}

#[test]
fn the_consent_screen() {
    let desk = Desk::new("screen");
    let report = desk.report("r.zip");
    let recipient = stunt_parcel::Identity::generate().recipient().to_string();
    let server = ["--server", "https://crashes.example.org", "--recipient", &recipient];
    let arguments = [&["submit", &report, "--no-ask"], &server[..]].concat();
    let (seen, exit) = desk.terminal(&arguments, &[(SEND, "d\r"), (SEND, "\r")]);
    assert_eq!(exit, NOT_SENT, "{seen}");
    let first = seen.split_inclusive(SEND).next().unwrap();
    fits_a_terminal(first);
    // Sealing is random, and so is the length of what it gives.
    let mut seen = seen.replace(&recipient, "age1…");
    let at = seen.find(" bytes; there is no name").expect("the length");
    let start = seen[..at].rfind(|c: char| !c.is_ascii_digit() && c != ',').unwrap() + 1;
    seen.replace_range(start..at, "1,200");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/consent.txt");
    if std::env::var_os("STUNT_BLESS").is_some() {
        fs::write(&path, &seen).expect("the golden file can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(seen, expected, "consent.txt differs. If it is right: STUNT_BLESS=1 cargo test");
}

/// All that has to be seen before an answer is on one screen of 80 columns and 24 lines.
#[track_caller]
fn fits_a_terminal(screen: &str) {
    assert!(screen.lines().count() <= 24, "{screen}");
    let widest = screen.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}: {screen}");
}

/// Whatever a report says, and however much.
#[test]
fn the_first_screen_fits_whatever_a_report_says() {
    let desk = Desk::new("fits");
    let (mut report, doubles) = sample();
    let long = "some words and one-that-is-quite-a-bit-longer-than-the-others ".repeat(40);
    report.failure.words = long.clone();
    report.comment = Some(long[..2000].to_owned());
    report.notes = vec![long.clone(); 3];
    report.draw = Draw::NotUniform { why: long };
    report.write(&doubles, desk.place.path("r.zip")).unwrap();
    let recipient = stunt_parcel::Identity::generate().recipient().to_string();
    let server = format!("https://{}.example.org", "crashes-of-all-kinds".repeat(3));
    let arguments = ["submit", "r.zip", "--no-ask", "--server", &server, "--recipient", &recipient];
    let (seen, exit) = desk.terminal(&arguments, &[(SEND, "\r")]);
    assert_eq!(exit, NOT_SENT, "{seen}");
    let first = seen.split_inclusive(SEND).next().unwrap();
    fits_a_terminal(first);
    assert!(
        first.contains("What is left of your input's content") && first.contains(" …"),
        "{first}"
    );
}

#[test]
fn without_a_terminal_nothing_is_sent() {
    let receiver = Receiver::start();
    let desk = Desk::at("alone", &receiver, "ask = true\n");
    let report = desk.report("r.zip");
    says(&desk.stunt(&["submit", &report]), NOT_SENT, "there is no terminal");
    says(&desk.stunt(&["submit", &report, "--yes"]), 2, "--max-leak");
    says(&desk.stunt(&["submit", &report, "--max-leak", "5%"]), NOT_SENT, "there is no terminal");
    let low = desk.stunt(&["submit", &report, "--yes", "--max-leak", "0.9%"]);
    says(
        &low,
        NOT_SENT,
        "reveals exactly 32.24 bits of 3496 (0.92 %), and --max-leak allows 0.9 %",
    );
    let low = desk.stunt(&["submit", &report, "--yes", "--max-leak", "32bits"]);
    says(&low, NOT_SENT, "(0.92 %), and --max-leak allows 32 bits");
    // A yes in a pipe is nobody's.
    let script = format!("yes | {} submit {report}", env!("CARGO_BIN_EXE_stunt"));
    let mut piped = desk.command(&[]);
    piped = {
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(piped.get_current_dir().unwrap());
        shell.envs(piped.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell
    };
    says(&piped.output().unwrap(), NOT_SENT, "there is no terminal");
    assert!(receiver.state().raw.is_empty(), "not even a connection");

    let sent = desk.stunt(&["submit", &report, "--yes", "--max-leak", "1%"]);
    says(&sent, 0, "sent: ticket T-1");
    has_the_sample(&receiver);
    receiver.finish();
}

#[test]
fn the_ceiling_of_the_configuration_holds_for_everybody() {
    let receiver = Receiver::start();
    let desk = Desk::at("ceiling", &receiver, "ask = false\nmax-leak = \"0.5%\"\n");
    let report = desk.report("r.zip");
    let output = desk.stunt(&["submit", &report, "--yes", "--max-leak", "5%"]);
    says(&output, NOT_SENT, "max-leak in the configuration allows 0.5 %");
    let (seen, exit) = desk.terminal(&["submit", &report], &[("stunt: nothing was sent", "")]);
    assert_eq!(exit, NOT_SENT, "{seen}");
    let desk = Desk::at("ceiling-in-bits", &receiver, "ask = false\nmax-leak-bits = 32\n");
    let report = desk.report("r.zip");
    let output = desk.stunt(&["submit", &report, "--yes", "--max-leak", "33bits"]);
    says(&output, NOT_SENT, "max-leak-bits in the configuration allows 32 bits");
    assert!(receiver.state().raw.is_empty());
}

#[test]
fn a_draw_whose_figure_may_be_too_low_needs_a_person() {
    let receiver = Receiver::start();
    let desk = Desk::at("draw", &receiver, "ask = false\n");
    let (mut report, doubles) = sample();
    let submit = ["submit", "r.zip", "--yes", "--max-leak", "5%"];
    report.draw = Draw::NotUniform { why: "the condition could not be counted".to_owned() };
    report.write(&doubles, desk.place.path("r.zip")).unwrap();
    says(&desk.stunt(&submit), NOT_SENT, "may reveal more than its figure says");
    report.draw = Draw::NotUniform { why: "it was chosen; the figure counts that".to_owned() };
    report.write(&doubles, desk.place.path("r.zip")).unwrap();
    says(&desk.stunt(&submit), 0, "sent");
}

#[test]
fn a_project_names_a_server_only_before_a_persons_eyes() {
    let (receiver, own) = (Receiver::start(), Receiver::start());
    let desk = Desk::new("project");
    let report = desk.report("r.zip");
    desk.place.write(
        ".stunt.toml",
        desk.destination(&receiver, "").replace("[network]\nattempts = 2\n", "").as_bytes(),
    );
    let yes = ["submit", &report, "--yes", "--max-leak", "5%"];
    says(&desk.stunt(&yes), NOT_SENT, "a project cannot decide that");
    let (seen, exit) = desk.terminal(&["submit", &report], &[(ASK, "\r"), (SEND, "\r")]);
    assert_eq!(exit, NOT_SENT, "{seen}");
    assert!(seen.contains("a file of this project says so, and none of yours"), "{seen}");
    // What the user has chosen stays chosen.
    fs::create_dir_all(desk.place.path("sub")).unwrap();
    desk.place.write("own.pem", own.certificate.as_ref().unwrap().as_bytes());
    desk.configure(&format!(
        "ask = false\n[destination]\nserver = \"{}\"\nrecipient = \"{}\"\ncertificate = {:?}\n",
        own.url(),
        own.identity.recipient(),
        desk.place.path("own.pem")
    ));
    let mut below = desk.command(&["submit", "../r.zip", "--yes", "--max-leak", "5%"]);
    says(&below.current_dir(desk.place.path("sub")).output().unwrap(), 0, "sent");
    has_the_sample(&own);
    assert!(receiver.state().raw.is_empty(), "not even a connection");
}

#[test]
fn a_rehearsal_shows_what_is_sent_and_sends_nothing() {
    let receiver = Receiver::start();
    receiver.state().token = Some("s3cret".to_owned());
    let desk = Desk::at("rehearsal", &receiver, "ask = true\n");
    let more = desk.destination(&receiver, "ask = true\n") + "token = \"s3cret\"\n";
    desk.configure(&more);
    let report = desk.report("r.zip");
    let output = desk.stunt(&["submit", &report, "--dry-run", "-o", "parcel.age"]);
    let shown = text(&output.stdout);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(receiver.state().raw.is_empty(), "not even a connection");
    assert!(!shown.contains("s3cret"), "{shown}");
    let parcel = fs::read(desk.place.path("parcel.age")).unwrap();
    let file = fs::read(desk.place.path(&report)).unwrap();
    assert_eq!(unhexed(shown.split("What is sealed in it").nth(1).unwrap()), file);

    let yes = ["--yes", "--max-leak", "5%"];
    let send = [&["submit", &report, "--parcel", "parcel.age"], &yes[..]].concat();
    says(&desk.stunt(&send), 0, "sent");
    // The very bytes that were shown, in the very order.
    let state = receiver.state();
    for seen in &state.seen {
        let lines = seen.head.replace("s3cret", "(hidden)");
        let shown_as: String =
            lines.trim_end().split("\r\n").map(|l| format!("    {l}\n")).collect();
        assert!(shown.contains(&shown_as), "{shown_as} in {shown}");
    }
    assert!(shown.contains(&format!("    {}\n", text(&state.seen[0].body))), "{shown}");
    assert_eq!(state.seen[1].body, parcel);
    assert!(state.reports.contains_key(&Digest::of(&parcel)));
    drop(state);
    receiver.finish();

    // Without a file the body is shown, and it is another one each time.
    let bodies: Vec<Vec<u8>> = (0..2)
        .map(|_| {
            let shown = text(&desk.stunt(&["submit", &report, "--dry-run", "--no-ask"]).stdout);
            assert!(!shown.contains("/api/v1/ask"), "{shown}");
            let body = unhexed(shown.split("The body is sealed").next().unwrap());
            let opened = stunt_parcel::open(&body, &receiver.identity, 1 << 20).unwrap();
            assert_eq!(opened.report, file);
            body
        })
        .collect();
    assert_ne!(bodies[0], bodies[1]);
}

/// The bytes of a hexadecimal dump.
fn unhexed(dump: &str) -> Vec<u8> {
    let rows = dump.lines().filter_map(|line| line.strip_prefix("    ")?.split_once("  "));
    let rows = rows.filter(|(offset, _)| u32::from_str_radix(offset, 16).is_ok());
    rows.flat_map(|(_, row)| {
        let digits = row.get(..47).unwrap_or(row).split(' ').take_while(|pair| pair.len() == 2);
        digits.map(|pair| u8::from_str_radix(pair, 16).expect("a byte")).collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn a_parcel_is_sent_only_for_the_report_that_it_was_sealed_from() {
    let receiver = Receiver::start();
    let desk = Desk::at("parcel", &receiver, "ask = false\n");
    let report = desk.report("r.zip");
    let rehearse = ["submit", &report, "--dry-run", "-o", "p.age"];
    assert_eq!(code(&desk.stunt(&rehearse)), 0);
    let (mut other, doubles) = sample();
    other.verified.runs += 1;
    other.write(&doubles, desk.place.path("other.zip")).unwrap();
    let yes = ["--yes", "--max-leak", "5%", "--parcel"];
    let send = |report: &str, parcel: &str| {
        desk.stunt(&[&["submit", report], &yes[..], &[parcel]].concat())
    };
    says(&send("other.zip", "p.age"), 2, "does not hold this report");
    desk.place.write("foreign.age", b"age-encryption.org/v1\n");
    says(&send(&report, "foreign.age"), 2, "was not sealed on this machine");
    desk.configure(&desk.destination(&receiver, "ask = false\nsign = true\n"));
    says(&send(&report, "p.age"), 2, "not signed, which is not what the configuration says");
    assert!(receiver.state().raw.is_empty());
}

#[test]
fn reports_are_signed_with_one_key_if_the_user_wants_that() {
    let receiver = Receiver::start();
    let desk = Desk::at("signed", &receiver, "ask = false\nsign = true\n");
    let report = desk.report("r.zip");
    let yes = ["submit", &report, "--yes", "--max-leak", "5%"];
    for _ in 0..2 {
        says(&desk.stunt(&yes), 0, "sent");
    }
    let signers: Vec<_> = receiver.state().reports.values().map(|(_, signer)| *signer).collect();
    assert!(signers.len() == 2 && signers[0].is_some() && signers[0] == signers[1]);
    let key = desk.place.path("home/state/stunt/installation.key");
    assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let (seen, _) = desk.terminal(&["submit", &report], &[(SEND, "n\r")]);
    assert!(seen.contains("with this installation's key: it links your reports"), "{seen}");
}

#[test]
fn what_cannot_be_delivered_waits_and_goes_later() {
    let receiver = Receiver::start();
    let desk = Desk::at("queue", &receiver, "ask = false\n[network]\nattempts = 1\n");
    let report = desk.report("r.zip");
    let fault = Fault::problem(503, "Busy", "come back");
    receiver.state().faults.extend([fault.clone(), fault]);
    let yes = ["submit", &report, "--yes", "--max-leak", "5%"];
    says(&desk.stunt(&yes), QUEUED, "it waits in the queue");
    let mode = desk.queue().metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    // What waits is sealed: nothing of the report can be read there.
    for entry in fs::read_dir(desk.queue()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!contains(&bytes, b"report.json") && !contains(&bytes, b"GET "));
    }
    let list: Value =
        serde_json::from_slice(&desk.stunt(&["queue", "list", "--json"]).stdout).unwrap();
    let id = list[0]["id"].as_str().unwrap().to_owned();
    assert!(list[0]["what"].as_str().unwrap().contains("SIGSEGV in process_message"), "{list}");
    says(&desk.stunt(&["queue", "list"]), 0, &receiver.url());
    says(&desk.stunt(&["queue", "send"]), QUEUED, "still waits: the server has too much to do");
    says(&desk.stunt(&["queue", "send", &id[..8]]), 0, "sent: ticket T-1");
    has_the_sample(&receiver);
    says(&desk.stunt(&["queue", "send"]), 0, "Nothing waits.");
    says(&desk.stunt(&["queue", "drop", "abc"]), 2, "nothing waits as abc");
    let lines = receiver.lines();
    assert!(lines.len() == 3 && lines.iter().all(|line| *line == lines[0]), "{lines:?}");
    receiver.finish();
}

#[test]
fn what_is_damaged_in_the_queue_keeps_nothing_else_back() {
    let receiver = Receiver::start();
    let desk = Desk::at("damaged", &receiver, "ask = false\n[network]\nattempts = 1\n");
    let report = desk.report("r.zip");
    let fault = Fault::problem(503, "Busy", "come back");
    receiver.state().faults.extend([fault.clone(), fault.clone(), fault]);
    // Sealing is random, so each of them is another parcel.
    for _ in 0..3 {
        let yes = ["submit", &report, "--yes", "--max-leak", "5%"];
        says(&desk.stunt(&yes), QUEUED, "it waits in the queue");
    }
    let list: Value =
        serde_json::from_slice(&desk.stunt(&["queue", "list", "--json"]).stdout).unwrap();
    let ids: Vec<&str> =
        list.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    fs::write(desk.queue().join(format!("{}.json", ids[0])), "{}").unwrap();
    fs::write(desk.queue().join(format!("{}.payload", ids[1])), "other").unwrap();
    let sent = desk.stunt(&["queue", "send"]);
    says(&sent, 2, &format!("what waits as {} is damaged", &ids[0][..12]));
    says(&sent, 2, &format!("what waits under {} is damaged", ids[1]));
    says(&sent, 2, "sent: ticket T-1");
    has_the_sample(&receiver);
    for id in &ids[..2] {
        says(&desk.stunt(&["queue", "drop", &id[..12]]), 0, "dropped: ");
    }
    says(&desk.stunt(&["queue", "list"]), 0, "Nothing waits.");
    receiver.finish();
}

#[test]
fn what_the_server_refuses_does_not_wait() {
    let receiver = Receiver::start();
    let desk = Desk::at("refused", &receiver, "ask = false\n");
    let report = desk.report("r.zip");
    receiver.state().faults.push_back(Fault::problem(413, "Too large", "at most 100 bytes"));
    let yes = ["submit", &report, "--yes", "--max-leak", "5%"];
    says(&desk.stunt(&yes), 2, "the server refuses it (413): Too large: at most 100 bytes");
    assert!(!desk.queue().exists());
}

#[test]
fn an_answer_that_was_lost_makes_no_second_report() {
    let receiver = Receiver::start();
    let desk = Desk::at("lost", &receiver, "ask = false\n");
    let report = desk.report("r.zip");
    receiver.state().faults.push_back(Fault::CloseAfter);
    let yes = ["submit", &report, "--yes", "--max-leak", "5%"];
    says(&desk.stunt(&yes), 0, "sent");
    assert_eq!(receiver.lines().len(), 2);
    has_the_sample(&receiver);
    receiver.finish();
}

#[test]
fn a_server_that_nobody_vouches_for_gets_nothing() {
    let receiver = Receiver::start();
    let desk = Desk::new("unknown");
    let report = desk.report("r.zip");
    let (url, key) = (receiver.url(), receiver.identity.recipient().to_string());
    let to = ["--server", &url, "--recipient", &key, "--yes", "--max-leak", "5%"];
    let output = desk.stunt(&[&["submit", &report], &to[..]].concat());
    let said = text(&output.stderr);
    assert!(code(&output) == 2 && said.contains("is not safe, so nothing was sent"), "{said}");
    assert!(receiver.state().plain.is_empty() && !desk.queue().exists());
}

/// A program that fails on files that begin with `BOOM`, and what it prints in between.
const PROGRAM: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    int main(int argc, char **argv) {\n\
    char text[64] = {0};\n\
    FILE *file = fopen(argv[1], \"r\");\n\
    fread(text, 1, 63, file);\n\
    if (memcmp(text, \"BOOM\", 4) == 0) abort();\n\
    return 0;\n}\n";

/// The server hears of a double when the time of a run is over, and that is waited for each time.
const WAIT: &str = "--timeout=4";

/// A program at the desk, and reports of two inputs that it fails on.
fn two_reports(desk: &Desk) {
    desk.place.compile("parse", PROGRAM, &[]);
    for (name, input) in [("one", "BOOM the first secret"), ("two", "BOOM another one, longer")] {
        desk.place.write("input", input.as_bytes());
        let report = format!("{name}.zip");
        let arguments = [
            "anonymize",
            "--algorithm",
            "castro",
            "-i",
            "input",
            "-o",
            &report,
            "--",
            "./parse",
            "@@",
        ];
        let output = desk.stunt(&arguments);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    }
}

fn read(desk: &Desk, name: &str) -> Vec<u8> {
    fs::read(desk.place.path(name)).expect("a file")
}

#[test]
fn a_known_failure_is_counted_and_nothing_of_the_input_leaves() {
    let receiver = Receiver::start();
    let desk = Desk::at("known", &receiver, "");
    two_reports(&desk);
    let theirs = Report::from_bytes(&read(&desk, "one.zip"), Limits::default()).unwrap();
    let signature = theirs.report.failure.signature;
    receiver.state().doubles.insert(signature.clone(), read(&desk, "one.zip"));
    let (seen, exit) = desk.terminal(&["submit", "two.zip", WAIT], &[(ASK, "y\r")]);
    assert_eq!(exit, 0, "{seen}");
    assert!(seen.contains("fails here in the same way"), "{seen}");
    assert!(seen.contains("counted: ticket T-1, 1 times"), "{seen}");
    let fetch = format!("GET /api/v1/doubles/{signature}");
    assert_eq!(receiver.lines(), ["POST /api/v1/ask", &fetch, "POST /api/v1/counts"]);
    assert!(receiver.state().reports.is_empty());
    // The same report is the same event, however often it is submitted.
    let again = desk.stunt(&["submit", "two.zip", WAIT, "--yes", "--max-leak", "100%"]);
    says(&again, 0, "counted: ticket T-1, 1 times");
    receiver.finish();
}

#[test]
fn a_count_whose_answer_was_lost_waits_and_counts_once() {
    let receiver = Receiver::start();
    let desk = Desk::at("count", &receiver, "ask = true\n[network]\nattempts = 1\n");
    two_reports(&desk);
    let theirs = Report::from_bytes(&read(&desk, "one.zip"), Limits::default()).unwrap();
    receiver.state().doubles.insert(theirs.report.failure.signature, read(&desk, "one.zip"));
    receiver.state().faults.extend([Fault::Nothing, Fault::Nothing, Fault::CloseAfter]);
    let yes = ["submit", "two.zip", WAIT, "--yes", "--max-leak", "100%"];
    says(&desk.stunt(&yes), QUEUED, "it waits in the queue");
    assert_eq!(receiver.state().counts.len(), 1);
    says(&desk.stunt(&["queue", "list"]), 0, "count, ");
    says(&desk.stunt(&["queue", "send"]), 0, "counted: ticket T-1, 1 times");
    assert_eq!(receiver.state().counts.len(), 1);
    says(&desk.stunt(&["queue", "list"]), 0, "Nothing waits.");
    receiver.finish();
}

#[test]
fn a_double_that_does_not_fail_here_is_no_substitute() {
    let receiver = Receiver::start();
    let desk = Desk::at("other", &receiver, "ask = true\n");
    two_reports(&desk);
    let mut theirs = Report::from_bytes(&read(&desk, "one.zip"), Limits::default()).unwrap();
    let signature = theirs.report.failure.signature.clone();
    theirs.doubles[0][0] = b'b';
    let harmless = theirs.report.to_bytes(&theirs.doubles).unwrap();
    receiver.state().doubles.insert(signature.clone(), harmless);
    let (seen, exit) = desk.terminal(&["submit", "two.zip", WAIT], &[(SEND, "n\r")]);
    assert_eq!(exit, NOT_SENT, "{seen}");
    assert!(seen.contains("but its double does not fail here"), "{seen}");

    // A file that only pretends to be about this failure.
    theirs.report.failure.signature = "0000".to_owned();
    let foreign = theirs.report.to_bytes(&theirs.doubles).unwrap();
    receiver.state().doubles.insert(signature.clone(), foreign);
    let (seen, _) = desk.terminal(&["submit", "two.zip", WAIT], &[(SEND, "n\r")]);
    assert!(seen.contains("but its double is one of another failure"), "{seen}");

    // Nobody can tell without the program.
    receiver.state().doubles.insert(signature, read(&desk, "one.zip"));
    fs::rename(desk.place.path("parse"), desk.place.path("moved")).unwrap();
    let (seen, _) = desk.terminal(&["submit", "two.zip", WAIT], &[(SEND, "n\r")]);
    assert!(seen.contains("parse is not in this folder and not in PATH"), "{seen}");
    let given = ["submit", "two.zip", WAIT, "--", "./moved", "@@"];
    let (seen, exit) = desk.terminal(&given, &[("fails here in the same way", "")]);
    assert_eq!(exit, 0, "{seen}");
    assert_eq!(receiver.state().counts.len(), 1);
    assert!(receiver.state().reports.is_empty());
    receiver.finish();
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn nothing_that_leaves_tells_who_sent_it() {
    let receiver = Receiver::start();
    receiver.state().token = Some("project-token".to_owned());
    let desk = Desk::new("identity-qzxv-planted-folder");
    let planted = [
        ("HOSTNAME", "planted-host-qzxv1"),
        ("HOST", "planted-host-qzxv2"),
        ("USER", "planted-user-qzxv3"),
        ("LOGNAME", "planted-user-qzxv4"),
        ("PLANTED", "planted-value-qzxv5"),
        ("LANG", "qz_XV.planted6"),
        ("TZ", "Planted/Qzxv7"),
        ("EDITOR", "planted-editor-qzxv8"),
        ("GIT_AUTHOR_EMAIL", "planted9@qzxv.example"),
    ];
    desk.place.compile("parse", PROGRAM, &[]);
    let secret = "BOOM planted-input-qzxv10 in the private file";
    desk.place.write("planted-file-qzxv11.txt", secret.as_bytes());
    let mut anonymize = desk.command(&[
        "anonymize",
        "--algorithm",
        "castro",
        "-i",
        "planted-file-qzxv11.txt",
        "-o",
        "r.zip",
        "--",
        "./parse",
        "@@",
    ]);
    let made = anonymize.envs(planted).output().unwrap();
    assert_eq!(code(&made), 0, "{}", text(&made.stderr));
    let run = |more: &str| {
        let text = desk.destination(&receiver, more) + "token = \"project-token\"\n";
        desk.configure(&text);
        let mut submit = desk.command(&["submit", "r.zip", "--yes", "--max-leak", "100%"]);
        let sent = submit.envs(planted).output().unwrap();
        assert_eq!(code(&sent), 0, "{}", support::text(&sent.stderr));
    };
    run("ask = true\nsign = true\n");
    // The same with a double that the server has: a fetch and a count.
    let file = read(&desk, "r.zip");
    let opened = Report::from_bytes(&file, Limits::default()).unwrap();
    receiver.state().doubles.insert(opened.report.failure.signature, file);
    run("ask = true\n");

    let mut needles: Vec<String> = planted.iter().map(|(_, value)| (*value).to_owned()).collect();
    needles.extend(["qzxv", "planted", "Planted"].map(str::to_owned));
    needles.push(desk.place.path("").display().to_string());
    needles.push(env!("CARGO_MANIFEST_DIR").to_owned());
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().len() >= 6 {
        needles.push(name.trim().to_owned());
    }
    let state = receiver.state();
    let lines: Vec<&str> = state.seen.iter().map(|seen| seen.line.as_str()).collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    let mut places: Vec<(&str, Vec<u8>)> =
        vec![("the socket", state.raw.clone()), ("the requests", state.plain.clone())];
    for (file, _) in state.reports.values() {
        let opened = Report::from_bytes(file, Limits::default()).unwrap();
        places.push(("the parcel", file.clone()));
        places.push(("the report", opened.report.to_json().into_bytes()));
        places.extend(opened.doubles.into_iter().map(|double| ("the double", double)));
    }
    assert!(places.len() > 4 && places.iter().all(|(_, bytes)| !bytes.is_empty()));
    for (place, bytes) in &places {
        for needle in &needles {
            assert!(!contains(bytes, needle.as_bytes()), "{needle} is in {place}");
        }
    }
    // The search finds what is there.
    assert!(contains(&places[1].1, b"project-token") && !contains(&places[0].1, b"project-token"));
    drop(state);
    receiver.finish();
}

#[test]
fn a_report_is_written_anew_so_that_nothing_rides_along() {
    let receiver = Receiver::start();
    let desk = Desk::at("anew", &receiver, "ask = false\n");
    let (report, doubles) = sample();
    let mut file = report.to_bytes(&doubles).unwrap();
    // A comment at the end of the archive, whose length is in the last two bytes.
    let comment = b"planted by somebody";
    let end = file.len();
    file[end - 2] = comment.len() as u8;
    file.extend_from_slice(comment);
    desk.place.write("r.zip", &file);
    let yes = ["submit", "r.zip", "--yes", "--max-leak", "5%"];
    says(&desk.stunt(&yes), 0, "sent");
    has_the_sample(&receiver);
}

#[test]
fn the_environment_names_a_proxy() {
    let receiver = Receiver::start();
    let desk = Desk::at("proxy", &receiver, "ask = false\n[network]\nattempts = 1\n");
    let report = desk.report("r.zip");
    let mut submit = desk.command(&["submit", &report, "--yes", "--max-leak", "5%"]);
    // Nothing listens there.
    let output = submit.env("HTTPS_PROXY", "http://127.0.0.1:9").output().unwrap();
    assert_eq!(code(&output), QUEUED, "{}", text(&output.stderr));
    assert!(receiver.state().raw.is_empty());
    let mut submit = desk.command(&["submit", &report, "--yes", "--max-leak", "5%"]);
    let direct = submit.env("HTTPS_PROXY", "http://127.0.0.1:9").env("NO_PROXY", "127.0.0.1");
    says(&direct.output().unwrap(), 0, "sent");
}

#[test]
fn a_configuration_is_checked_and_shown() {
    let receiver = Receiver::start();
    let desk = Desk::new("config");
    says(&desk.stunt(&["config", "check"]), 0, "There is no configuration file");
    desk.configure(&(desk.destination(&receiver, "sign = true\n") + "token = \"s3cret\"\n"));
    says(&desk.stunt(&["config", "check"]), 0, "Nothing is wrong with");
    let shown = text(&desk.stunt(&["config", "show"]).stdout);
    let config = desk.place.path("home/config/stunt/config.toml");
    assert!(!shown.contains("s3cret") && shown.contains("token = (hidden)"), "{shown}");
    assert!(shown.contains(&format!("# user: {}:1\n", config.display())), "{shown}");
    assert!(shown.contains("attempts = 2") && shown.contains("keep = \"30d\""), "{shown}");
    let json: Value =
        serde_json::from_slice(&desk.stunt(&["config", "show", "--json"]).stdout).unwrap();
    assert_eq!(json["settings"][1]["value"], "true", "{json}");
    assert_eq!(json["settings"][1]["origin"]["layer"], "user", "{json}");
    assert!(!json.to_string().contains("s3cret"));

    desk.configure(
        "sing = true\n[destination]\ntoken = \"s3cret\"\nserver = \"http://a.example\"\n",
    );
    desk.place.write(".stunt.toml", b"sign = true\n");
    let output = desk.stunt(&["config", "check"]);
    let said = text(&output.stdout);
    assert_eq!(code(&output), 2);
    assert!(said.contains("config.toml:1: there is no key sing; is sign meant?"), "{said}");
    assert!(said.contains("config.toml:4: destination.server: http://a.example is not"), "{said}");
    assert!(
        said.contains(".stunt.toml:1: sign: only the user and the system may set it"),
        "{said}"
    );
    assert!(!said.contains("s3cret") && said.lines().count() == 3, "{said}");
    // Nothing is sent by a configuration that nobody understands.
    let report = desk.report("r.zip");
    let yes = ["submit", &report, "--yes", "--max-leak", "5%"];
    says(&desk.stunt(&yes), 2, "the configuration cannot be used");
    // A secret that others may read is a problem.
    desk.configure("[destination]\ntoken = \"s3cret\"\n");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(desk.place.path(".stunt.toml")).unwrap();
    says(&desk.stunt(&["config", "check"]), 2, "config.toml:2: destination.token is a secret");
}

#[test]
fn destinations_that_are_not_complete_get_a_sentence() {
    let desk = Desk::new("nowhere");
    let report = desk.report("r.zip");
    says(&desk.stunt(&["submit", &report]), 2, "nobody has said where reports go");
    let server = ["--server", "https://crashes.example.org"];
    let output = desk.stunt(&[&["submit", &report], &server[..]].concat());
    says(&output, 2, "nobody has said who may open a report");
    let output = desk.stunt(&["submit", &report, "--server", "http://crashes.example.org"]);
    says(&output, 2, "is not encrypted");
    says(&desk.stunt(&["submit", "absent.zip"]), 2, "absent.zip");
}

#[test]
fn manual_pages_render_and_completions_parse() {
    let desk = Desk::new("manual");
    assert_eq!(code(&desk.stunt(&["manual", "--to", "man"])), 0);
    let pages: Vec<_> = fs::read_dir(desk.place.path("man"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for page in ["stunt.1", "stunt-submit.1", "stunt-config-check.1", "stunt-queue-send.1"] {
        assert!(pages.iter().any(|name| name == page), "{page} in {pages:?}");
    }
    let printed = desk.stunt(&["manual", "submit"]).stdout;
    assert_eq!(text(&printed), text(&read(&desk, "man/stunt-submit.1")));
    let page = text(&printed);
    assert!(page.contains(".TH stunt-submit 1") && page.contains("dry"), "{page}");
    for name in &pages {
        // The formatter that `man` uses says what is wrong on its standard error.
        let formatted = desk
            .place
            .program("groff")
            .args(["-man", "-Tutf8", "-ww", "-z"])
            .arg(desk.place.path("man").join(name))
            .output();
        let Ok(formatted) = formatted else { break };
        assert!(formatted.stderr.is_empty(), "{name}: {}", text(&formatted.stderr));
    }
    let script = desk.stunt(&["completions", "bash"]).stdout;
    assert!(contains(&script, b"--dry-run"));
    desk.place.write("stunt.bash", &script);
    let checked =
        desk.place.in_bash("bash -n stunt.bash && source stunt.bash && complete -p stunt");
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(!desk.stunt(&["completions", shell]).stdout.is_empty(), "{shell}");
    }
    assert_eq!(code(&desk.stunt(&["manual", "no-such-command"])), 2);
}
