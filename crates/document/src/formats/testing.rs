//! What the tests of the formats share: documents by ordinary writers, and ordinary readers for what
//! becomes of them.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::{Document, Limits, Path};

pub(crate) fn document(bytes: &[u8]) -> Document {
    Document::parse(bytes, &Limits::default())
}

/// What a script writes, given some words and some input.
pub(crate) fn python(script: &str, words: &[&str], input: &[u8]) -> Vec<u8> {
    let mut arguments = vec!["-c", script];
    arguments.extend(words);
    run("python3", &arguments, input)
}

/// What a script prints about a document.
pub(crate) fn python_reads(script: &str, document: &[u8]) -> String {
    String::from_utf8(python(script, &[], document)).expect("it prints text")
}

/// What a program writes; it must succeed.
pub(crate) fn run(program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program is there");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it writes");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The leaf that begins like this.
pub(crate) fn leaf(doc: &Document, beginning: &[u8]) -> Option<Path> {
    doc.leaves().find(|(_, content)| content.starts_with(beginning)).map(|(path, _)| path)
}

/// The first node of that name.
pub(crate) fn path(doc: &Document, name: &str) -> Path {
    doc.nodes().find(|(_, node)| node.name() == name).expect("there is one").0
}
