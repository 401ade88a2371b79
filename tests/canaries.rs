//! Programs whose call stack spells their input: recursive parsers, scripts, template engines, regular
//! expressions. Nothing of the original's stack is in a report, in a log, or on a server.
//!
//! A stack is compared as text: the names of the functions, innermost first. Chance cannot explain a
//! stretch of the original's stack in the run on a double that is drawn at random.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use stunt_parcel::{Digest, Recipient};
use stunt_report::Report;
use support::{NESTED, Place, text};

/// A regular expression, matched by a function for each operator.
const MATCHER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char re[256]; static int at;
int node(void);
int star(void) { return node() + 1; }
int plus(void) { return node() + 2; }
int group(void) { return node() + 3; }
int backreference(void) { int *none = 0; return *none; }
int node(void) {
  switch (re[at++]) {
  case '*': return star() + 1;
  case '+': return plus() + 1;
  case '(': return group() + 1;
  case '\\': return backreference() + 1;
  case 0: return 0;
  default: return node();
  }
}
int main(int n, char **v) { FILE *f = fopen(v[1], "r"); fread(re, 1, 255, f); return node() & 1; }
"#;

/// Blocks of a template become functions of the same name, each of which calls the next.
const TEMPLATES: &str = r#"#!/usr/bin/env python3
import sys
names = [line.strip() for line in open(sys.argv[1], errors="replace") if line.strip().isidentifier()]
text = ""
for name, inner in zip(names, names[1:] + [None]):
    body = inner + "()" if inner else "raise KeyError"
    text += "def " + name + "():\n    " + body + "\n"
space = {}
exec(compile(text, "<template>", "exec"), space)
if names:
    space[names[0]]()
"#;

/// The whole archive of a report, unpacked: `report.json` first, then the doubles.
fn unpacked(path: &Path) -> (String, Vec<Vec<u8>>) {
    let opened = Report::read(path).expect("a report");
    (opened.report.to_json(), opened.doubles)
}

/// The functions of a report's call stack, innermost first, each by its letter.
fn spelled(report: &str, letters: &[(&str, char)]) -> String {
    let value: serde_json::Value = serde_json::from_str(report).expect("JSON");
    let frames = value["failure"]["frames"].as_array().expect("frames").clone();
    let letter = |frame: &serde_json::Value| {
        let symbol = frame["symbol"].as_str()?.to_owned();
        letters.iter().find(|(name, _)| *name == symbol).map(|&(_, letter)| letter)
    };
    frames.iter().filter_map(letter).collect()
}

/// Interpreters take long to start: a few runs have to do.
fn anonymized(place: &Place, effort: &str, words: &[&str]) -> (String, String) {
    let flags = ["-vv", "anonymize", "--json", "--seed", "1", "--effort", effort];
    let output = place.stunt(&[&flags[..], words].concat());
    let (said, logged) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{logged}");
    (said, logged)
}

/// No stretch of the original's nesting is spelled by the frames of the report.
fn stack_is_the_doubles_own(name: &str, source: &str, original: &str, letters: &[(&str, char)]) {
    let place = Place::new(name);
    let program = place.compile("parser", source, &[]);
    place.write("private.txt", original.as_bytes());
    anonymized(&place, "600", &["-i", "private.txt", "--", &program, "@@"]);
    let (report, _) = unpacked(&place.path("stunt-report.zip"));
    let spelled = spelled(&report, letters);
    let outward: String = original.chars().rev().collect();
    let marks: Vec<char> = letters.iter().map(|&(_, letter)| letter).collect();
    let own: Vec<char> = outward.chars().filter(|letter| marks.contains(letter)).collect();
    for stretch in own.windows(10) {
        let stretch: String = stretch.iter().collect();
        assert!(!spelled.contains(&stretch), "{stretch} of the original in {spelled}");
    }
    assert!(!report.contains("original_path") && !report.contains("\"seconds\""), "{report}");
}

#[test]
fn attack_the_frames_of_a_recursive_parser_spell_the_original() {
    let letters = [("array", '['), ("object", '{')];
    stack_is_the_doubles_own("canary-nested", NESTED, "[{[[{{[{[[[{{{[{[{{[[{!x", &letters);
}

#[test]
fn attack_the_frames_of_a_matcher_spell_a_regular_expression() {
    let letters = [("star", '*'), ("plus", '+'), ("group", '(')];
    stack_is_the_doubles_own("canary-regex", MATCHER, "(+*((*+*+((*+(*+*(+\\1", &letters);
}

/// Names that are no part of any word of a program.
const NAMES: [&str; 3] = ["Qvistgaard_Wyczolkowska", "Xhosa_Zwolle", "kwaszywona_Jx"];

/// No name of the original is in a text, unless the failure needed it: then it is in the double, where it is
/// counted, and all that is told about the double may have it.
fn no_names(what: &str, text: &str, double: &[u8]) {
    let parts = NAMES.iter().flat_map(|name| name.split('_')).filter(|part| part.len() > 4);
    for part in parts {
        let needed = double.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(needed || !text.contains(part), "{part} in {what}:\n{text}");
    }
}

/// A script as input: its functions and its name are in the traceback, and so were in the frames.
#[test]
fn attack_the_frames_of_a_script_name_its_functions() {
    let place = Place::new("canary-script");
    let name = NAMES[0];
    let script = format!("def {name}():\n [][1]\n{name}()\n");
    place.write("private.py", script.as_bytes());
    // Its own name is not a part of how it fails: candidates and the double have others.
    let (said, logged) =
        anonymized(&place, "600", &["-i", "private.py", "--", "/usr/bin/python3", "@@"]);
    let (report, doubles) = unpacked(&place.path("stunt-report.zip"));
    for (what, text) in [("the report", &report), ("the output", &said), ("the log", &logged)] {
        no_names(what, text, &doubles[0]);
    }
}

/// A template: its blocks become functions.
#[test]
fn attack_the_frames_of_a_template_name_its_blocks() {
    let place = Place::new("canary-template");
    place.executable("tool.py", TEMPLATES.as_bytes());
    place.write("private.txt", (NAMES[..2].join("\n") + "\n").as_bytes());
    let (said, logged) = anonymized(&place, "300", &["-i", "private.txt", "--", "./tool.py", "@@"]);
    let (report, doubles) = unpacked(&place.path("stunt-report.zip"));
    for (what, text) in [("the report", &report), ("the output", &said), ("the log", &logged)] {
        no_names(what, text, &doubles[0]);
    }
    a_server_keeps_no_names(&place, &doubles[0]);
}

/// What a server keeps of the report: rows, files and its log.
fn a_server_keeps_no_names(place: &Place, double: &[u8]) {
    let words = ["serve", "--listen", "127.0.0.1:0", "--data", "server"];
    let mut server = place.command(&words).stderr(Stdio::piped()).spawn().expect("a server");
    let mut lines = BufReader::new(server.stderr.take().expect("its log")).lines();
    let mut said = |prefix: &str| loop {
        let line = lines.next().expect("the server says it").expect("text");
        if let Some(rest) = line.strip_prefix(prefix) {
            return rest.to_owned();
        }
    };
    let address = said("stunt: listening on http://");
    let recipient: Recipient = said("stunt: reports are sealed to ").parse().expect("a key");
    let log = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&log);
    let reader = std::thread::spawn(move || {
        lines.map_while(Result::ok).for_each(|line| kept.lock().unwrap().push_str(&line));
    });
    let report = fs::read(place.path("stunt-report.zip")).expect("the report");
    let parcel = stunt_parcel::seal(&report, &recipient, None, None).expect("a parcel");
    let digest = Digest::of(&parcel);
    let mut stream = TcpStream::connect(&address).expect("a connection");
    let head = format!(
        "PUT /api/v1/reports/{digest} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/age\r\nContent-Length: {}\r\n\r\n",
        parcel.len()
    );
    stream.write_all(head.as_bytes()).expect("the head");
    stream.write_all(&parcel).expect("the parcel");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    assert!(text(&answer).starts_with("HTTP/1.1 2"), "{}", text(&answer));
    server.kill().expect("it was running");
    server.wait().expect("it ends");
    reader.join().expect("all was read");
    no_names("the server's log", &log.lock().unwrap(), double);
    // Whatever it has stored: rows, write-ahead logs, files.
    let mut folders = vec![place.path("server")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files += 1;
                no_names("a file of the server", &text(&fs::read(&path).expect("a file")), double);
            }
        }
    }
    assert!(files > 0);
}
