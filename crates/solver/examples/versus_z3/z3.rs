//! z3 on a class of questions, the faster of two ways.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::corpus::Class;

/// The longest that z3 may think about one question, in milliseconds; it does not always stop then.
const PATIENCE: u32 = 5000;
/// The longest that z3 may take for a class, in seconds.
const LIMIT: u32 = 30;

/// What z3 said, and how long it took.
pub struct Answers {
    /// True for sat, false for unsat, none for unknown or not reached.
    pub verdicts: Vec<Option<bool>>,
    /// Wall-clock time of the faster way.
    pub time: Duration,
}

impl Answers {
    /// Questions answered in a second.
    pub fn rate(&self) -> f64 {
        self.verdicts.iter().flatten().count() as f64 / self.time.as_secs_f64()
    }
}

/// z3's answers to every `check-sat` of the class, in order.
pub fn answers(class: &Class) -> Answers {
    let options = format!("(set-option :timeout {PATIENCE})\n");
    let questions = class.script.matches("(check-sat)").count();
    let scoped = run(&format!("{options}{}", class.script), questions);
    if class.separate.is_empty() {
        return scoped;
    }
    let separate = class.separate.iter().map(|text| format!("{options}{text}\n(reset)\n"));
    let separate = run(&separate.collect::<String>(), questions);
    if separate.rate() > scoped.rate() { separate } else { scoped }
}

fn run(text: &str, questions: usize) -> Answers {
    let start = Instant::now();
    let mut z3 = Command::new("z3")
        .args(["-in", &format!("-T:{LIMIT}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed (`cargo xtask test` installs it)");
    let mut input = z3.stdin.take().expect("piped");
    let sent = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(sent.as_bytes()));
    let output = z3.wait_with_output().expect("z3 runs");
    // z3 may have ended before it read everything.
    let _ = writer.join().expect("the writer does not panic");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("error"), "z3 reads the same text: {said}");
    let verdict = |line: &str| match line {
        "sat" => Some(true),
        "unsat" => Some(false),
        _ => None,
    };
    let mut verdicts: Vec<Option<bool>> = said.lines().map(verdict).collect();
    verdicts.resize(questions, None);
    Answers { verdicts, time: start.elapsed() }
}
