//! A person's desk: a home with a configuration, reports to send, and a terminal to sit at.
//!
//! The terminal is a real one: `script` gives the command a pseudo-terminal of its own, and what is
//! typed goes through its line discipline, Ctrl-C and Ctrl-D included.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use stunt_report::{
    Algorithm, ByteKind, ByteRuns, Draw, Failure, Frame, Kind, Leak, Module, Program, Replay,
    Report, Schema, Source, SourceName, Verified,
};

use crate::receiver::Receiver;
use crate::support::{Place, text};

/// Variables that decide about connections; whoever runs the tests may have them.
const NETWORK: [&str; 10] = [
    "ALL_PROXY",
    "all_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// A desk of a test's own.
pub struct Desk {
    /// Its folder.
    pub place: Place,
}

/// What is typed when something is read on the terminal.
pub type Line<'a> = (&'a str, &'a str);

impl Desk {
    /// A desk without a configuration; the name must be the test's own.
    pub fn new(name: &str) -> Desk {
        let place = Place::new(&format!("submit-{name}"));
        fs::create_dir_all(place.path("home/config/stunt")).expect("a folder");
        Desk { place }
    }

    /// A desk whose configuration names the receiver, and `more`.
    pub fn at(name: &str, receiver: &Receiver, more: &str) -> Desk {
        let desk = Desk::new(name);
        desk.configure(&desk.destination(receiver, more));
        desk
    }

    /// The text of a configuration for a receiver.
    pub fn destination(&self, receiver: &Receiver, more: &str) -> String {
        let mut text = more.to_owned();
        if !text.contains("[network]") {
            text += "[network]\nattempts = 2\n";
        }
        text += &format!(
            "[destination]\nserver = \"{}\"\nrecipient = \"{}\"\n",
            receiver.url(),
            receiver.identity.recipient()
        );
        if let Some(pem) = &receiver.certificate {
            self.place.write("server.pem", pem.as_bytes());
            text += &format!("certificate = {:?}\n", self.place.path("server.pem"));
        }
        text
    }

    /// Writes the user's configuration.
    pub fn configure(&self, text: &str) {
        let path = self.place.path("home/config/stunt/config.toml");
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its mode");
    }

    /// Where the queue is.
    pub fn queue(&self) -> PathBuf {
        self.place.path("home/state/stunt/queue")
    }

    fn at_home(&self, mut command: Command) -> Command {
        for variable in NETWORK {
            command.env_remove(variable);
        }
        command
            .env("HOME", self.place.path("home"))
            .env("XDG_CONFIG_HOME", self.place.path("home/config"))
            .env("XDG_STATE_HOME", self.place.path("home/state"))
            .env("NO_COLOR", "1")
            .env("PAGER", "cat")
            .env("SHELL", "/bin/sh");
        command
    }

    /// The command, about to run without a terminal.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.at_home(self.place.command(arguments))
    }

    /// Runs the command without a terminal.
    pub fn stunt(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the command starts")
    }

    /// Runs the command at a terminal; gives what was seen there, and the exit code.
    pub fn terminal(&self, arguments: &[&str], lines: &[Line<'_>]) -> (String, i32) {
        let quoted = |word: &&str| format!("'{}'", word.replace('\'', "'\\''"));
        let words: Vec<String> =
            [env!("CARGO_BIN_EXE_stunt")].iter().chain(arguments).map(quoted).collect();
        let mut script = self.at_home(self.place.program("script"));
        // In the shell's place: Ctrl-C would end the shell, too, and its code be the one that is seen.
        script
            .args(["-q", "-e", "-c", &format!("exec {}", words.join(" ")), "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut child = script.spawn().expect("script is there");
        let (mut keyboard, mut screen) =
            (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut seen = Vec::new();
        let mut from = 0;
        for (wait, typed) in lines {
            let mut byte = [0];
            while !text(&seen[from..]).contains(wait) {
                let more = screen.read(&mut byte).expect("the screen");
                assert_eq!(more, 1, "{wait:?} did not come: {}", text(&seen));
                seen.push(byte[0]);
            }
            from = seen.len();
            keyboard.write_all(typed.as_bytes()).expect("the keyboard");
        }
        screen.read_to_end(&mut seen).expect("the screen");
        // Only now: the end of its input would be the end of the terminal.
        drop(keyboard);
        let status = child.wait().expect("an end");
        (text(&seen).replace("\r\n", "\n"), status.code().expect("a code"))
    }

    /// Writes a report, and gives its name.
    pub fn report(&self, name: &str) -> String {
        let (report, doubles) = sample();
        report.write(&doubles, self.place.path(name)).expect("a report");
        name.to_owned()
    }
}

/// Bytes that look random and are always the same.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// A web server fails on a request of 440 bytes: 4 of them must be `GET `, 21 are no line end and
/// no space, and 3 are public.
pub fn sample() -> (Report, Vec<Vec<u8>>) {
    let mut double = noise(440);
    double[..4].copy_from_slice(b"GET ");
    double[437..].copy_from_slice(b"\r\n\n");
    let build_id = Some("8c2b9f0f6b4d4e1c0a7fd6e1b3c5a49d2e8f7061".to_owned());
    let frame = |offset, symbol: &str, location: &str| Frame {
        module: "no-such-webserver".to_owned(),
        build_id: build_id.clone(),
        offset,
        symbol: Some(symbol.to_owned()),
        location: Some(location.to_owned()),
    };
    let exact = |bits, bytes| vec![(bits, ByteKind::Exact); bytes];
    let mut figures = [exact(8.0, 4), exact(0.011_315, 21), exact(0.0, 412)].concat();
    figures.extend([(8.0, ByteKind::Public); 3]);
    let name = "no-such-webserver".to_owned();
    let report = Report {
        schema: Schema,
        stunt: "0.1.0".to_owned(),
        program: Program {
            name: name.clone(),
            build_id: build_id.clone(),
            modules: vec![Module { name, build_id: build_id.clone() }],
        },
        arguments: vec!["--request".to_owned(), "@@".to_owned()],
        sources: vec![Source::new(SourceName::File, 440, Some("txt"))],
        failure: Failure {
            kind: "signal 11".to_owned(),
            signature: "b1946ac92492".to_owned(),
            words: "SIGSEGV in process_message (webserver.c:31)".to_owned(),
            frames: vec![
                frame(0x11d6, "process_message", "webserver.c:31"),
                frame(0x1290, "main", "webserver.c:58"),
            ],
        },
        replay: Replay { native: true, check_memory: false, fails_if: None },
        tells: None,
        leak: Leak::new(32.237_583_6, 3496, Kind::Exact, "exactly 32.24 bits"),
        per_byte: vec![ByteRuns::new(SourceName::File, figures)],
        algorithm: Algorithm { name: "weaken".to_owned(), parameters: BTreeMap::new() },
        draw: Draw::Uniform,
        verified: Verified { native: true, runs: 3 },
        notes: Vec::new(),
        comment: None,
    };
    (report, vec![double])
}
