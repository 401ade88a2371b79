//! The whole walk, with nothing made up: a recorded crash, its incident, a double, a question to
//! the real server, consent at a terminal, a report that arrives; and a second crash of the same
//! kind, of which nothing leaves but a count.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::desk::Desk;
use crate::support::text;
use crate::{ASK, PROGRAM, SEND, code};

/// A server of its own, ended with the test.
struct Served {
    child: Child,
    url: String,
    recipient: String,
}

impl Served {
    fn start(desk: &Desk) -> Served {
        let mut command = desk.command(&["serve", "--listen", "127.0.0.1:0", "--data", "server"]);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the server starts");
        let mut lines = BufReader::new(child.stderr.take().expect("its words")).lines();
        let mut said = |start: &str| loop {
            let line = lines.next().expect("the server says it").expect("text");
            if let Some((_, rest)) = line.split_once(start) {
                return rest.trim().to_owned();
            }
        };
        let (url, recipient) = (said("listening on "), said("sealed to "));
        // Nobody listens to its log any more; it must not stop for that.
        std::thread::spawn(move || lines.for_each(drop));
        Served { child, url, recipient }
    }

    /// A request to its interface; the body of the answer.
    fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> String {
        let address = self.url.strip_prefix("http://").expect("a plain address");
        let mut stream = TcpStream::connect(address).expect("a connection");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("the request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer.split_once("\r\n\r\n").expect("a body").1.to_owned()
    }

    /// As an admin: doubles are handed out to whoever knows a signature.
    fn hand_out_doubles(&self, desk: &Desk) {
        let words = ["serve", "token", "desk", "--role", "admin", "--data", "server"];
        let token = text(&desk.stunt(&words).stdout).trim().to_owned();
        let mut settings: Value =
            serde_json::from_str(&self.ask("GET", "/api/v1/settings", &token, "")).expect("JSON");
        settings["share_doubles"] = Value::Bool(true);
        self.ask("PUT", "/api/v1/settings", &token, &settings.to_string());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Records a crash on this input, and makes a report of its incident, which is the last one then.
fn crash(desk: &Desk, input: &str) {
    desk.place.write("private.txt", input.as_bytes());
    let recorded = desk.stunt(&["record", "--", "./parse", "private.txt"]);
    assert_eq!(code(&recorded), 128 + 6, "{}", text(&recorded.stderr));
    let listed: Value =
        serde_json::from_slice(&desk.stunt(&["incidents", "--json"]).stdout).expect("a list");
    let id = listed[0]["id"].as_str().expect("the newest").to_owned();
    let early = desk.stunt(&["submit", "last"]);
    assert_eq!(code(&early), 2);
    assert!(text(&early.stderr).contains(&format!("incident {id} has no double yet")));
    let made = desk.stunt(&["anonymize", "--algorithm", "castro", &id]);
    assert_eq!(code(&made), 0, "{}", text(&made.stderr));
    let report = desk.place.path(&format!("home/state/stunt/incidents/{id}/report.stunt"));
    let mode = report.metadata().expect("the report").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn from_a_crash_to_a_ticket() {
    let desk = Desk::new("walk");
    desk.place.compile("parse", PROGRAM, &[]);
    let served = Served::start(&desk);
    served.hand_out_doubles(&desk);
    desk.configure(&format!(
        "[destination]\nserver = \"{}\"\nrecipient = \"{}\"\n[network]\nproxy = \"none\"\n",
        served.url, served.recipient
    ));
    crash(&desk, "BOOM the first secret");
    let (seen, exit) = desk.terminal(&["submit", "last"], &[(ASK, "y\r"), (SEND, "y\r")]);
    assert_eq!(exit, 0, "{seen}");
    assert!(seen.contains("The server does not know this failure yet."), "{seen}");
    assert!(seen.contains("sent: ticket "), "{seen}");
    assert!(!seen.contains("first secret"), "{seen}");

    crash(&desk, "BOOM somebody else's, longer");
    let (seen, exit) = desk.terminal(&["submit", "last"], &[(ASK, "y\r")]);
    assert_eq!(exit, 0, "{seen}");
    assert!(seen.contains("fails here in the same way"), "{seen}");
    assert!(seen.contains("counted: ticket "), "{seen}");
}
