//! z3 on a class of questions, the faster of two ways.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::corpus::Class;

/// The longest that z3 may think about one question, in milliseconds.
const PATIENCE: u32 = 5000;

/// What z3 said, and how long it took.
pub struct Answers {
    /// True for sat, false for unsat, none for unknown.
    pub verdicts: Vec<Option<bool>>,
    /// Wall-clock time of the faster way.
    pub time: Duration,
}

/// z3's answers to every `check-sat` of the class, in order.
pub fn answers(class: &Class) -> Answers {
    let options = format!("(set-option :timeout {PATIENCE})\n");
    let scoped = run(&format!("{options}{}", class.script));
    if class.separate.is_empty() {
        return scoped;
    }
    let separate = class.separate.iter().map(|text| format!("{options}{text}\n(reset)\n"));
    let separate = run(&separate.collect::<String>());
    if separate.time < scoped.time { separate } else { scoped }
}

fn run(text: &str) -> Answers {
    let start = Instant::now();
    let mut z3 = Command::new("z3")
        .arg("-in")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed (`cargo xtask test` installs it)");
    let mut input = z3.stdin.take().expect("piped");
    let sent = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(sent.as_bytes()));
    let output = z3.wait_with_output().expect("z3 runs");
    writer.join().expect("the writer does not panic").expect("z3 reads its input");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("error"), "z3 reads the same text: {said}");
    let verdicts = said
        .lines()
        .map(|line| match line {
            "sat" => Some(true),
            "unsat" => Some(false),
            _ => None,
        })
        .collect();
    Answers { verdicts, time: start.elapsed() }
}
