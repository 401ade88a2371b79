//! `stunt serve` as its users see it: from a crash to a ticket, and to a replay in a closed worker
//! that says whether a build still fails.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stunt_parcel::{Digest, Recipient};
use stunt_report::{Opened, Report};
use support::{Place, text};

/// Fails on files that begin with `BUG`; what it prints and tries first is seen in a replay.
const PARSER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static void check(const char *d) { if (d[0] == 'B' && d[1] == 'U' && d[2] == 'G') abort(); }
int main(int argc, char **argv) {
  char data[4096] = "";
  FILE *f = argc > 1 ? fopen(argv[1], "rb") : stdin;
  if (!f) return 2;
  fread(data, 1, sizeof data, f);
  printf("looking at %s\n", argv[1] ? "a file" : "nothing");
  fflush(stdout);
  check(data);
  return 0;
}
"#;

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
    recipient: Recipient,
}

impl Server {
    fn start(place: &Place) -> Server {
        let mut child = place
            .command(&[
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--data",
                "server",
                "--replay-timeout",
                "10",
            ])
            .stderr(Stdio::piped())
            .spawn()
            .expect("a server");
        let mut lines = BufReader::new(child.stderr.take().expect("its messages")).lines();
        let mut said = |prefix: &str| loop {
            let line = lines.next().expect("the server says it").expect("text");
            if let Some(rest) = line.strip_prefix(prefix) {
                return rest.to_owned();
            }
        };
        let address = said("stunt: listening on http://");
        let recipient = said("stunt: reports are sealed to ").parse().expect("a key");
        // Whoever logs must be read.
        std::thread::spawn(move || lines.for_each(drop));
        Server { child, address, recipient }
    }

    /// A request; the status, and the body.
    fn send(
        &self,
        method: &str,
        path: &str,
        token: &str,
        kind: &str,
        body: &[u8],
    ) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{token}\
             Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("the head");
        stream.write_all(body).expect("the body");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer.windows(4).position(|part| part == b"\r\n\r\n").expect("a head");
        let status = text(&answer[9..12]).parse().expect("a status");
        (status, answer[end + 4..].to_vec())
    }

    fn json(&self, method: &str, path: &str, token: &str, body: &Value) -> Value {
        let token = format!("Authorization: Bearer {token}\r\n");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, answer) = self.send(method, path, &token, "application/json", body.as_bytes());
        assert!(status < 300, "{method} {path}: {status} {}", text(&answer));
        serde_json::from_slice(&answer).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_crash_becomes_a_ticket_that_is_replayed() {
    let place = Place::new("serve");
    let program = place.compile("parser", PARSER, &["-Wl,--build-id=sha1"]);
    place.write("private.txt", b"BUG;Qvistgaard-Wyczolkowska;Xhosa-Zwolle\n");
    let made = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "private.txt",
        "--",
        &program,
        "@@",
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));

    let server = Server::start(&place);
    let token = place.stunt(&["serve", "token", "ci", "--role", "maintainer", "--data", "server"]);
    let token = text(&token.stdout).trim().to_owned();
    assert!(token.starts_with("stunt_"), "{token}");
    let report = fs::read(place.path("stunt-report.zip")).expect("the report");
    let parcel = stunt_parcel::seal(&report, &server.recipient, None, None).expect("sealed");
    let path = format!("/api/v1/reports/{}", Digest::of(&parcel));
    let (status, answer) = server.send("PUT", &path, "", "application/age", &parcel);
    assert_eq!(status, 201, "{}", text(&answer));

    // The build that failed still fails, at the same place; what it printed is there.
    let result = replay(&server, &token, &fs::read(&program).expect("the program"));
    assert_eq!(result["outcome"], "same", "{result:#}");
    assert!(result["failure"].as_str().expect("words").starts_with("abort in check"), "{result:#}");
    assert_eq!(result["stdout"], "looking at a file");
    let frames = result["frames"].as_array().expect("a stack");
    let check = frames.iter().find(|frame| frame["symbol"] == "check").expect("the frame");
    assert!(check["location"].as_str().expect("a line").starts_with("parser.c:4"), "{check}");
    let ticket = server.json("GET", "/api/v1/tickets/T-1", &token, &Value::Null);
    assert_eq!(ticket["doubles"][0]["confirmed"], true);

    a_maintainer_replays_it_by_its_address(&place, &server, &token, &program);

    // A build with the fix does not, which proposes that it is fixed.
    let fixed = PARSER.replace("abort();", "puts(\"refused\");");
    let program = place.compile("fixed", &fixed, &["-Wl,--build-id=sha1"]);
    let result = replay(&server, &token, &fs::read(&program).expect("the program"));
    assert_eq!(result["outcome"], "no-failure", "{result:#}");
    assert_eq!(result["stdout"], "looking at a file\nrefused");
    let ticket = server.json("GET", "/api/v1/tickets/T-1", &token, &Value::Null);
    assert!(ticket["proposed_build"].is_string(), "{ticket:#}");

    // A build that never ends is ended.
    let endless = PARSER.replace("check(data);", "for (;;) check(\"\");");
    let program = place.compile("endless", &endless, &["-Wl,--build-id=sha1"]);
    let result = replay(&server, &token, &fs::read(&program).expect("the program"));
    assert_eq!(result["outcome"], "untried", "{result:#}");
    // No folder of a replay is left.
    assert_eq!(fs::read_dir(place.path("server/scratch")).expect("a folder").count(), 0);
}

/// The same on the maintainer's own machine, by what stands in the browser.
fn a_maintainer_replays_it_by_its_address(
    place: &Place,
    server: &Server,
    token: &str,
    program: &str,
) {
    let page = |ticket: &str| format!("http://{}/tickets/{ticket}", server.address);
    let replay = |words: &[&str], token: &str| {
        let mut command = place.command(&[&["replay"], words].concat());
        command.env("XDG_CONFIG_HOME", place.path("config")).env("STUNT_TOKEN", token);
        command.env("STUNT_SERVER", format!("http://{}", server.address));
        command.output().expect("the command starts")
    };
    let same = "The double fails as the report says: abort in check (parser.c:4).\n";
    // Nobody can be asked whether the program that the report names may run: so it does not.
    refused(&replay(&[&page("T-1")], token), "nothing was run: the report chose the program");
    let output = replay(&[&page("T-1"), "--machine"], token);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (same, Some(0)));
    assert_eq!(text(&output.stderr), "");
    let output = replay(&[&page("T-1?from=list#double"), "--", program, "@@"], token);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (same, Some(0)));
    let output = replay(&[&page("T-1"), "--yes"], token);
    assert!(text(&output.stderr).contains("about to run, contained: ./parser @@"));
    assert_eq!(text(&output.stdout), same);
    let output = replay(&[&page("T-1"), "--until", "check"], token);
    let said = text(&output.stdout);
    assert!(said.lines().next().is_some_and(|line| line.contains("check (parser.c:4)")), "{said}");
    assert!(said.ends_with(same), "{said}");

    for (ticket, token, sentence) in [
        ("T-1", "", "shows tickets to maintainers only"),
        ("T-1", "stunt_0", "shows tickets to maintainers only"),
        ("T-1", "a b", "STUNT_TOKEN does not hold a token"),
        ("T-99", token, "has no double of T-99"),
        ("first", token, "an address such as"),
    ] {
        refused(&replay(&[&page(ticket)], token), sentence);
    }
    // A token that is for another server, or for none that is known, stays here.
    for given_for in ["", "http://localhost:1"] {
        let mut command = place.command(&["replay", &page("T-1")]);
        command.env("XDG_CONFIG_HOME", place.path("config")).env("STUNT_TOKEN", token);
        command.env("STUNT_SERVER", given_for);
        refused(&command.output().expect("the command starts"), "STUNT_TOKEN was not sent to it");
    }
    // The token that is configured for this server does, and goes to no other.
    fs::create_dir_all(place.path("config/stunt")).expect("a folder");
    let destination =
        format!("[destination]\nserver = \"http://{}\"\ntoken = \"{token}\"\n", server.address);
    place.write("config/stunt/config.toml", destination.as_bytes());
    place.mode("config/stunt/config.toml", 0o600);
    assert_eq!(text(&replay(&[&page("T-1"), "--machine"], "").stdout), same);
    let destination = destination.replace("127.0.0.1", "localhost");
    place.write("config/stunt/config.toml", destination.as_bytes());
    refused(&replay(&[&page("T-1")], ""), "shows tickets to maintainers only");
}

/// A program, a server, a maintainer's token, and a report that a stranger can change.
struct Stage {
    program: String,
    server: Server,
    token: String,
    opened: Opened,
    // Behind the server, which ends before its folder goes.
    _place: Place,
}

impl Stage {
    fn new(name: &str) -> Stage {
        let place = Place::new(name);
        let program = place.compile("parser", PARSER, &["-Wl,--build-id=sha1"]);
        place.write("private.txt", b"BUG;Qvistgaard-Wyczolkowska;Xhosa-Zwolle\n");
        let words = ["anonymize", "--algorithm", "relaxed", "-i", "private.txt", "--"];
        let made = place.stunt(&[&words[..], &[&program, "@@"]].concat());
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
        let server = Server::start(&place);
        let token = ["serve", "token", "ci", "--role", "maintainer", "--data", "server"];
        let token = text(&place.stunt(&token).stdout).trim().to_owned();
        let opened = Report::read(place.path("stunt-report.zip")).expect("a report");
        Stage { _place: place, program, server, token, opened }
    }

    /// Hands in the report as it is now, replays it with its build, and gives result and double.
    fn replayed(&self) -> (Value, Value) {
        let doubles: Vec<&[u8]> = self.opened.doubles.iter().map(Vec::as_slice).collect();
        let file = self.opened.report.to_bytes(&doubles).expect("a report");
        let parcel = stunt_parcel::seal(&file, &self.server.recipient, None, None).expect("sealed");
        let path = format!("/api/v1/reports/{}", Digest::of(&parcel));
        let (status, answer) = self.server.send("PUT", &path, "", "application/age", &parcel);
        assert_eq!(status, 201, "{}", text(&answer));
        let program = fs::read(&self.program).expect("the program");
        let result = replay(&self.server, &self.token, &program);
        let ticket = self.server.json("GET", "/api/v1/tickets/T-1", &self.token, &Value::Null);
        (result, ticket)
    }
}

/// A report whose double fails in truth says that it reveals nothing: the worker counts anew.
#[test]
fn attack_lie_about_bits_is_counted_anew() {
    let mut stage = Stage::new("lie");
    let leak = &mut stage.opened.report.leak;
    assert!((23.9..25.0).contains(&leak.bits), "three bytes of it: {}", leak.bits);
    (leak.bits, leak.percent) = (0.0, 0.0);
    let (result, ticket) = stage.replayed();
    assert_eq!(result["outcome"], "same", "{result:#}");
    let double = &ticket["doubles"][0];
    assert_eq!((&double["leak_bits"], &double["confirmed"]), (&json!(0.0), &json!(true)));
    let counted = double["measured_bits"].as_f64().expect("a count");
    assert!((23.9..25.0).contains(&counted), "{counted}");
    assert_eq!(ticket["leak_bits"], double["measured_bits"], "what the list shows");
    assert_eq!(ticket["described_here"], true);
}

/// A report brings a condition of its own, which holds for every run: that proves nothing about the
/// failure that it claims.
#[test]
fn attack_own_condition_as_proof() {
    let mut stage = Stage::new("condition");
    stage.opened.report.replay.fails_if = Some("exit=0".to_owned());
    for double in &mut stage.opened.doubles {
        double.fill(b'x');
    }
    let (result, ticket) = stage.replayed();
    assert_eq!(result["outcome"], "no-failure", "{result:#}");
    assert_eq!(ticket["doubles"][0]["confirmed"], false, "{ticket:#}");
    assert_eq!(ticket["doubles"][0]["measured_bits"], Value::Null);
    assert_eq!(ticket["described_here"], false);
}

#[track_caller]
fn refused(output: &Output, sentence: &str) {
    let said = text(&output.stderr);
    assert!(said.contains(sentence) && output.stdout.is_empty(), "{sentence:?} in {said:?}");
    assert_eq!(output.status.code(), Some(2));
}

/// Brings a build, replays the ticket with it, and waits for the result.
fn replay(server: &Server, token: &str, program: &[u8]) -> Value {
    let header = format!("Authorization: Bearer {token}\r\n");
    let (status, build) =
        server.send("PUT", "/api/v1/builds/parser", &header, "application/octet-stream", program);
    assert_eq!(status, 201, "{}", text(&build));
    let build: Value = serde_json::from_slice(&build).expect("a build");
    let ask = json!({ "build_id": build["build_id"] });
    let replay = server.json("POST", "/api/v1/tickets/T-1/replays", token, &ask);
    let path = format!("/api/v1/replays/{}", replay["id"]);
    let begun = Instant::now();
    loop {
        let replay = server.json("GET", &path, token, &Value::Null);
        if replay["state"] == "done" {
            return replay["result"].clone();
        }
        assert!(begun.elapsed() < Duration::from_secs(400), "{replay:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn upkeep_from_the_command_line() {
    let place = Place::new("upkeep");
    let drawn = place.stunt(&["serve", "admin", "add", "anna", "--data", "server"]);
    assert_eq!(drawn.status.code(), Some(0), "{}", text(&drawn.stderr));
    assert_eq!(text(&drawn.stdout).trim().len(), 24);
    let again = place.stunt(&["serve", "admin", "add", "anna", "--data", "server"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("there is a user of that name"));
    let copied = place.stunt(&["serve", "backup", "copy.db", "--data", "server"]);
    assert_eq!(copied.status.code(), Some(0), "{}", text(&copied.stderr));
    // Neither is for others to read, whatever the folder allows.
    for file in ["copy.db", "server/stunt.db"] {
        let mode = fs::metadata(place.path(file)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    // The copy is a database of its own, with the user in it.
    fs::create_dir(place.path("other")).expect("a folder");
    fs::copy(place.path("copy.db"), place.path("other/stunt.db")).expect("a copy");
    let again = place.stunt(&["serve", "admin", "add", "anna", "--data", "other"]);
    assert!(text(&again.stderr).contains("there is a user of that name"));
    let twice = place.stunt(&["serve", "backup", "copy.db", "--data", "server"]);
    assert!(text(&twice.stderr).contains("is there already"), "{}", text(&twice.stderr));
    // A folder that is not a server's is not made one.
    for words in [&["backup", "none.db"][..], &["migrate-down", "0"]] {
        let output = place.stunt(&[&["serve"], words, &["--data", "nowhere"]].concat());
        refused(&output, "there is no database of a server in nowhere");
    }
    assert!(!place.path("nowhere").exists() && !place.path("none.db").exists());
    let down = place.stunt(&["serve", "migrate-down", "0", "--data", "other"]);
    assert_eq!(down.status.code(), Some(0), "{}", text(&down.stderr));
    let anew = place.stunt(&["serve", "admin", "add", "anna", "--data", "other"]);
    assert_eq!(anew.status.code(), Some(0), "{}", text(&anew.stderr));
}

/// The unit with this program in it.
fn unit() -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/stunt.service");
    let unit = fs::read_to_string(file).expect("the unit");
    let program = env!("CARGO_BIN_EXE_stunt");
    assert_eq!(unit.matches("ExecStart=/usr/local/bin/stunt ").count(), 1);
    unit.replace("ExecStart=/usr/local/bin/stunt ", &format!("ExecStart={program} "))
}

#[test]
fn the_unit_of_systemd_starts_a_server() {
    let place = Place::new("unit");
    let unit = unit();
    // The flags are ones that there are, and the folder is the one that systemd makes.
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
    assert!(line.contains("--data /var/lib/stunt ") && unit.contains("\nStateDirectory=stunt\n"));
    let line = line.replace("/var/lib/stunt", "server").replace("127.0.0.1:8080", "127.0.0.1:0");
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let start = |url: &str| {
        let words: Vec<&str> =
            words.iter().map(|&word| if word == "${STUNT_URL}" { url } else { word }).collect();
        let mut child =
            place.command(&words).stderr(Stdio::piped()).spawn().expect("a server that starts");
        let mut lines = BufReader::new(child.stderr.take().expect("its messages")).lines();
        let first: Vec<String> = lines
            .by_ref()
            .map_while(Result::ok)
            .filter(|line| line.starts_with("stunt: ") || line.starts_with("error"))
            .take(1)
            .collect();
        let _ = child.kill();
        let _ = child.wait();
        first.concat()
    };
    let said = start("https://crashes.example");
    assert!(said.starts_with("stunt: listening on "), "{said}");
    // What the file does not say is an empty word.
    let said = start("");
    assert!(said.starts_with("error"), "{said}");
    // The user stays: a folder of a user that comes and goes is out of reach for others.
    assert!(unit.contains("\nUser=stunt\n") && !unit.contains("DynamicUser"));
    let users = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/stunt.sysusers");
    assert!(fs::read_to_string(users).expect("the user").contains("\nu stunt - "));
}

#[test]
fn systemd_finds_no_fault_in_the_unit() {
    let place = Place::new("verify");
    place.write("stunt.service", unit().as_bytes());
    let verified = std::process::Command::new("systemd-analyze")
        .args(["verify", "--man=no", "--recursive-errors=no"])
        .arg(place.path("stunt.service"))
        .output();
    // Where there is no systemd, nobody uses the unit.
    let Ok(verified) = verified else { return };
    let said = text(&verified.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("stunt.service")).collect();
    assert!(ours.is_empty(), "{said}");
}
