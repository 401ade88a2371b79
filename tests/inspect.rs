//! `stunt inspect` as its users see it, on reports that are made here.
//!
//! Each golden file holds what one call prints or writes. `STUNT_BLESS=1` rewrites them (`cargo
//! xtask bless` does that).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use stunt_report::{
    Algorithm, ByteKind, ByteRuns, Draw, Failure, Frame, Kind, Leak, Module, Program, Replay,
    Report, Schema, Source, SourceName, Verified,
};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A folder of a test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inspect").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn stunt(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stunt"))
        .arg("inspect")
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUST_BACKTRACE")
        .output()
        .expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// What a call says on both streams, and its exit code.
fn account(folder: &Path, arguments: &[&str]) -> String {
    let output = stunt(folder, arguments);
    let mut account = format!("$ stunt inspect {}\n{}", arguments.join(" "), text(&output.stdout));
    if !output.stderr.is_empty() {
        account += &format!("--- standard error\n{}", text(&output.stderr));
    }
    account + &format!("--- exit code {}\n", output.status.code().expect("an exit code"))
}

/// Compares with the golden file.
#[track_caller]
fn golden(file: &str, actual: &str) {
    let path = root().join("tests/golden").join(file);
    if std::env::var_os("STUNT_BLESS").is_some() {
        fs::write(&path, actual).expect("the golden file can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        actual,
        expected,
        "{} differs. If the new text is right: STUNT_BLESS=1 cargo test --test inspect",
        path.display()
    );
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

fn exact(figures: &[(usize, f64)]) -> impl Iterator<Item = (f64, ByteKind)> {
    figures.iter().flat_map(|&(bytes, bits)| vec![(bits, ByteKind::Exact); bytes])
}

/// A web server fails on a file of 440 bytes: 4 of them must be `GET `, 21 are no line end and no
/// space.
fn server() -> (Report, Vec<Vec<u8>>) {
    let mut double = noise(440);
    double[..4].copy_from_slice(b"GET ");
    let build_id = Some("8c2b9f0f6b4d4e1c0a7fd6e1b3c5a49d2e8f7061".to_owned());
    let frame = |offset, symbol: &str, location: &str| Frame {
        module: "webserver".to_owned(),
        build_id: build_id.clone(),
        offset,
        symbol: Some(symbol.to_owned()),
        location: Some(location.to_owned()),
    };
    let report = Report {
        schema: Schema,
        stunt: "0.1.0".to_owned(),
        program: Program {
            name: "webserver".to_owned(),
            build_id: build_id.clone(),
            modules: vec![Module { name: "webserver".to_owned(), build_id: build_id.clone() }],
        },
        arguments: vec!["--request".to_owned(), "@@".to_owned()],
        sources: vec![Source::new(SourceName::File, 440, Some("txt"))],
        failure: Failure {
            kind: "invalid-access".to_owned(),
            signature: "b1946ac92492".to_owned(),
            words: "a write past the end of an array in process_message (webserver.c:31)"
                .to_owned(),
            frames: vec![
                frame(0x11d6, "process_message", "webserver.c:31"),
                frame(0x1290, "main", "webserver.c:58"),
            ],
        },
        replay: Replay { native: false, check_memory: true, fails_if: None },
        tells: None,
        leak: Leak::new(32.237_583_6, 3520, Kind::Exact, "exactly 32.24 bits"),
        per_byte: vec![ByteRuns::new(SourceName::File, exact(&[(4, 8.0), (21, 0.011_315)]))],
        algorithm: Algorithm { name: "relaxed".to_owned(), parameters: BTreeMap::new() },
        draw: Draw::Uniform,
        verified: Verified { native: false, runs: 1 },
        notes: Vec::new(),
        comment: None,
    };
    (report, vec![double])
}

/// A program that reads an argument, a variable and standard input; bounds, public bytes, a draw
/// that is not uniform, a stack without symbols, and text that tries to do harm.
fn several() -> (Report, Vec<Vec<u8>>) {
    let (mut report, _) = server();
    let variable = SourceName::Environment("LC_ALL".to_owned());
    let doubles = vec![noise(200), b"C.UTF-8".to_vec(), b"-".to_vec()];
    report.program = Program { name: "my tool".to_owned(), build_id: None, modules: Vec::new() };
    report.arguments = vec![
        "it's <b>bold</b>".to_owned(),
        SourceName::Argument(2).placeholder(),
        "\u{1b}[2J\u{202e}".to_owned(),
    ];
    report.sources = vec![
        Source::new(SourceName::Stdin, 200, None),
        Source::new(variable.clone(), 7, None),
        Source::new(SourceName::Argument(2), 1, None),
    ];
    let stdin =
        [(10, 0.0, ByteKind::Public), (2, 3.2, ByteKind::Exact), (180, 2.7, ByteKind::AtMost)];
    let stdin = stdin.iter().flat_map(|&(bytes, bits, kind)| vec![(bits, kind); bytes]);
    let estimate = [(6.5, ByteKind::Estimate); 7];
    report.per_byte = vec![
        ByteRuns::new(SourceName::Stdin, stdin),
        ByteRuns::new(variable, estimate),
        ByteRuns::new(SourceName::Argument(2), exact(&[(1, 8.0)])),
    ];
    report.failure = Failure {
        kind: "stated".to_owned(),
        signature: "0123456789ab".to_owned(),
        words: "it exits with code 3 <script>alert(1)</script>".to_owned(),
        frames: vec![Frame { module: "my tool".to_owned(), offset: 0x4f0, ..Frame::default() }],
    };
    report.replay =
        Replay { native: false, check_memory: false, fails_if: Some("exit=3".to_owned()) };
    report.leak = Leak::new(
        541.25,
        8 * 198,
        Kind::Estimate,
        "about 541.25 bits (99 % confident of at most 560.00)",
    );
    report.algorithm = Algorithm {
        name: "weaken".to_owned(),
        parameters: BTreeMap::from([("samples".to_owned(), "1000".to_owned())]),
    };
    report.draw = Draw::NotUniform { why: "a checksum could not be counted".to_owned() };
    report.verified = Verified { native: false, runs: 1 };
    report.notes = vec!["The program reads the time; it was fixed.".to_owned()];
    (report, doubles)
}

/// A double that is as random as can be.
fn free() -> (Report, Vec<Vec<u8>>) {
    let (mut report, _) = server();
    report.sources = vec![Source::new(SourceName::Stdin, 5, None)];
    report.per_byte = vec![ByteRuns::new(SourceName::Stdin, exact(&[]))];
    report.leak = Leak::new(0.0, 40, Kind::Exact, "exactly 0.00 bits");
    report.failure.frames.clear();
    report.failure.words = "it is aborted".to_owned();
    report.failure.kind = "abort".to_owned();
    report.replay = Replay { native: true, check_memory: false, fails_if: None };
    report.verified = Verified { native: true, runs: 3 };
    report.arguments.clear();
    (report, vec![noise(5)])
}

/// A report under this name in the folder.
fn written(folder: &Path, name: &str, (report, doubles): &(Report, Vec<Vec<u8>>)) {
    report.write(doubles, folder.join(name)).expect("the report is written");
}

#[test]
fn terminal() {
    let folder = folder("terminal");
    written(&folder, "server.stunt", &server());
    written(&folder, "several.stunt", &several());
    written(&folder, "free.stunt", &free());
    golden("inspect-server.txt", &account(&folder, &["server.stunt"]));
    golden("inspect-several.txt", &account(&folder, &["several.stunt"]));
    golden("inspect-free.txt", &account(&folder, &["free.stunt"]));
}

#[test]
fn json() {
    let folder = folder("json");
    written(&folder, "server.stunt", &server());
    written(&folder, "free.stunt", &free());
    let output = stunt(&folder, &["server.stunt", "--json"]);
    golden("inspect-server.json", &text(&output.stdout));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["schema"], "stunt-report-2");
    assert_eq!(value["input"]["bytes"], 440);
    assert!(value.get("doubles").is_none(), "not without --hex");
    let value: Value =
        serde_json::from_slice(&stunt(&folder, &["free.stunt", "--json", "--hex"]).stdout).unwrap();
    let expected: String = noise(5).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(value["doubles"][0]["hex"], expected);
    assert_eq!(value["doubles"][0]["source"], "stdin");
}

#[test]
fn the_documentation_shows_a_real_report() {
    // The report of the golden file, however the lines are broken.
    let document = fs::read_to_string(root().join("docs/report.md")).unwrap();
    let example = document.split("```json\n").nth(1).and_then(|rest| rest.split("```").next());
    let example: Value = serde_json::from_str(example.expect("an example in JSON")).unwrap();
    let (report, _) = server();
    let expected: Value = serde_json::from_str(&report.tidied().to_json()).unwrap();
    assert_eq!(example, expected, "docs/report.md has another report");
}

#[test]
fn the_documentation_names_every_field() {
    let document = fs::read_to_string(root().join("docs/report.md")).unwrap();
    fn keys(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                found.push(key.clone());
                keys(value, found);
            }),
            Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (report, _) in [server(), several()] {
        keys(&serde_json::from_str(&report.to_json()).unwrap(), &mut found);
    }
    // Values of maps are not fields.
    let own = ["samples", "floating point", "store address"];
    for key in found.iter().filter(|key| !own.contains(&key.as_str())) {
        let named = [format!("`{key}`"), format!(".{key}`"), format!("`{key}.")];
        assert!(named.iter().any(|name| document.contains(name)), "docs/report.md lacks {key}");
    }
}

#[test]
fn svg_and_html() {
    let folder = folder("pictures");
    for (name, report) in [("server", server()), ("several", several())] {
        let (file, svg, html) =
            (format!("{name}.stunt"), format!("{name}.svg"), format!("{name}.html"));
        written(&folder, &file, &report);
        let output = stunt(&folder, &[&file, "--svg", &svg, "--html", &html]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
        golden(&format!("inspect-{svg}"), &read(&svg));
        golden(&format!("inspect-{html}"), &read(&html));
        for page in [read(&svg), read(&html)] {
            assert!(!page.contains("<script"), "no scripts, nor text that becomes one");
            assert!(!page.contains("<b>") && !page.contains('\u{1b}'));
            assert!(!page.contains("src=") && !page.contains("href="), "nothing from elsewhere");
            assert!(page.contains("<title"));
        }
    }
}

#[test]
fn pictures_are_well_formed() {
    let folder = folder("well-formed");
    written(&folder, "several.stunt", &several());
    let output = stunt(&folder, &["several.stunt", "--hex", "--svg", "a.svg", "--html", "a.html"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // Python's parsers know nothing of ours.
    let script = "import html.parser, xml.dom.minidom\n\
        xml.dom.minidom.parse('a.svg')\n\
        class Checker(html.parser.HTMLParser):\n\
        \x20   open = []\n\
        \x20   def handle_starttag(self, tag, attributes):\n\
        \x20       if tag != 'meta': self.open.append(tag)\n\
        \x20   def handle_endtag(self, tag):\n\
        \x20       assert self.open.pop() == tag, tag\n\
        checker = Checker()\n\
        checker.feed(open('a.html', encoding='utf-8').read())\n\
        checker.close()\n\
        assert checker.open == [], checker.open\n";
    let output =
        Command::new("python3").args(["-c", script]).current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn colours_are_for_terminals() {
    let folder = folder("colours");
    written(&folder, "server.stunt", &server());
    // `script` gives the command a terminal.
    let shown = |no_color: &str| {
        let call = format!("'{}' inspect server.stunt", env!("CARGO_BIN_EXE_stunt"));
        let output = Command::new("script")
            .args(["-qec", &call, "/dev/null"])
            .env("NO_COLOR", no_color)
            .current_dir(&folder)
            .output()
            .expect("script is there");
        text(&output.stdout).replace("\r\n", "\n")
    };
    let coloured = shown("");
    assert!(coloured.contains("\x1b[97;48;5;160m47 45 54 20\x1b[0m"), "{coloured:?}");
    assert!(coloured.contains("bytes that reveal nothing …"), "{coloured:?}");
    assert!(!shown("1").contains('\x1b'), "NO_COLOR is obeyed");
    assert_eq!(shown("1"), text(&stunt(&folder, &["server.stunt"]).stdout));
}

#[test]
fn doubles_are_extracted_and_nothing_is_overwritten() {
    let folder = folder("extract");
    let (report, doubles) = several();
    written(&folder, "several.stunt", &(report, doubles.clone()));
    let output = stunt(&folder, &["several.stunt", "--extract", "out/here"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let expected = "stunt: the double of standard input is in out/here/stdin\n\
                    stunt: the double of the environment variable LC_ALL is in out/here/env-LC_ALL\n\
                    stunt: the double of argument 2 is in out/here/arg2\n";
    assert_eq!(text(&output.stderr), expected);
    for (name, double) in ["stdin", "env-LC_ALL", "arg2"].iter().zip(&doubles) {
        assert_eq!(&fs::read(folder.join("out/here").join(name)).unwrap(), double);
    }
    let again = stunt(&folder, &["several.stunt", "--extract", "out/here"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(
        text(&again.stderr),
        "stunt: out/here/stdin is there already; give another folder\n"
    );
}

#[test]
fn every_byte_is_shown_on_request() {
    let folder = folder("hex");
    let server = server();
    written(&folder, "server.stunt", &server);
    let shown = text(&stunt(&folder, &["server.stunt", "--hex"]).stdout);
    assert!(!shown.contains('…'));
    let last: Vec<String> = server.1[0][432..].iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(shown.contains(&format!("432  {}", last.join(" "))), "{shown}");
}

#[test]
fn sentences_for_what_does_not_work() {
    let folder = folder("sentences");
    written(&folder, "server.stunt", &server());
    fs::write(folder.join("photo.stunt"), b"GIF89a").unwrap();
    let whole = fs::read(folder.join("server.stunt")).unwrap();
    fs::write(folder.join("short.stunt"), &whole[..whole.len() / 2]).unwrap();
    let calls: [&[&str]; 6] = [
        &["absent.stunt"],
        &["."],
        &["photo.stunt"],
        &["short.stunt"],
        &["server.stunt", "--svg", "absent/a.svg"],
        &["server.stunt", "--extract", "photo.stunt"],
    ];
    let accounts: String = calls.iter().map(|arguments| account(&folder, arguments)).collect();
    golden("inspect-sentences.txt", &accounts);
}

#[test]
fn help() {
    golden("help-inspect.txt", &account(&folder("help"), &["--help"]));
}
