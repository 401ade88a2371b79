//! `stunt anonymize` when something goes wrong inside: a mistake, no memory, no time, at every stage.
//!
//! Whatever it is, the job goes on in the next best way and says so in one sentence, within its time and
//! its memory; nothing of the input is told, and nothing is left behind.
#![allow(unsafe_code)] // How much memory ended processes had is asked of the kernel.

mod support;

use std::fs;
use std::mem::MaybeUninit;
use std::process::Output;
use std::time::{Duration, Instant};

use stunt_report::Report;
use support::{CANARY, NESTED, PARSER, Place, text};

/// The most memory that any process had that this test has waited for, in bytes.
fn most_memory() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills it; all of it are integers.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_maxrss as u64 * 1024
}

/// Makes a double while a stage fails on purpose.
fn with_fault(place: &Place, program: &str, fault: &str, flags: &[&str]) -> Output {
    let mut command = place.command(&["anonymize", "--seed", "1", "-i", "in", "-o", "r.zip"]);
    command.args(flags).args(["--", program, "@@"]).env("STUNT_FAULT", fault);
    command.output().expect("it starts")
}

/// What the command said about a fault: one sentence, and nothing of a message that a panic may carry.
fn one_sentence(place: &Place, output: &Output, what: &str) {
    let said = text(&output.stderr);
    let about = said.lines().filter(|line| line.starts_with("stunt: ") && line.contains(" while "));
    assert_eq!(about.clone().count(), 1, "{said}");
    assert!(about.clone().all(|line| line.contains(what)), "{said}");
    assert!(!said.contains("what a private input said"), "{said}");
    assert!(!said.contains("Wyczolkowska") && !text(&output.stdout).contains("Wyczolkowska"));
    place.nothing_is_left();
}

fn proved(place: &Place, output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let opened = Report::read(place.path("r.zip")).expect("a report");
    assert!(opened.report.verified.native && opened.doubles[0].starts_with(b"BUG"));
    fs::remove_file(place.path("r.zip")).expect("it was there");
}

#[test]
fn attack_mistakes_at_every_stage() {
    let place = Place::new("mistakes");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    let flags = ["--effort", "300"];
    for stage in ["Trace", "Compare", "Weaken"] {
        let output = with_fault(&place, &program, &format!("{stage}:panic"), &flags);
        one_sentence(&place, &output, "there was a mistake in stunt itself while ");
        proved(&place, &output);
    }
    // Out of stack, and killed.
    for fault in ["Trace:stack", "Compare:abort", "Weaken:abort"] {
        let output = with_fault(&place, &program, fault, &flags);
        one_sentence(&place, &output, "stunt's worker died while ");
        proved(&place, &output);
    }
    for algorithm in ["relaxed", "castro", "respa"] {
        let flags = ["--effort", "300", "--algorithm", algorithm];
        let output = with_fault(&place, &program, "Trace:panic", &flags);
        one_sentence(&place, &output, "the double is looked for by running the program alone");
        proved(&place, &output);
    }
}

/// Every stage that there is, with flags by which it is reached, and whether there is another way.
const STAGES: [(&str, &[&str], bool); 17] = [
    ("Original", &[], false),
    ("Plain", &[], false),
    ("Control", &[], false),
    ("CheckMemory", &["--check-memory"], false),
    ("Trace", &[], true),
    ("Compare", &[], true),
    ("Count", &["--algorithm", "relaxed"], true),
    ("Draw", &["--algorithm", "relaxed"], true),
    // What every way begins or ends with cannot be done without.
    ("Verify", &[], false),
    ("Blank", &["--algorithm", "blackbox", "--resize=never"], false),
    ("Pad", &["--algorithm", "respa"], true),
    ("Reduce", &[], true),
    ("Weaken", &[], true),
    ("Alone", &["--algorithm", "blackbox"], true),
    ("Paths", &["--algorithm", "respa"], true),
    ("Arguments", &[], true),
    ("Wait", &["--hide-time", "1"], true),
];

#[test]
fn attack_a_mistake_in_any_stage_ends_the_job_or_tells_the_input() {
    let place = Place::new("any-stage");
    let program = place.compile("nested", NESTED, &[]);
    place.write("in", b"[x[[y[[[!Qvistgaard-Wyczolkowska");
    for (stage, flags, another_way) in STAGES {
        let _ = fs::remove_file(place.path("r.zip"));
        let words = ["anonymize", "--effort", "300", "--seed", "1", "-o", "r.zip", "-i", "in"];
        // The last argument is hidden: whether it is needed has a stage of its own.
        let run = ["--", &program, "@@", "/home/nobody/Zwolle"];
        let mut command = place.command(&[&words[..], flags, &run].concat());
        let output =
            command.env("STUNT_FAULT", format!("{stage}:panic")).output().expect("it starts");
        let said = text(&output.stderr) + &text(&output.stdout);
        assert!(said.contains("a mistake in stunt itself (at "), "{stage} was not met: {said}");
        let code = output.status.code();
        assert_eq!(code, Some(if another_way { 0 } else { 4 }), "{stage}: {said}");
        assert_eq!(place.path("r.zip").exists(), another_way, "{stage}");
        assert!(!said.contains("what a private input said"), "{stage}: {said}");
        assert!(!text(&output.stderr).contains("Wyczolkowska"), "{stage}: {said}");
        place.nothing_is_left();
    }
}

#[test]
fn attack_a_stage_that_takes_all_memory() {
    let place = Place::new("all-memory");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    let flags = ["--effort", "300", "--memory", "600M"];
    for stage in ["Trace", "Compare", "Weaken"] {
        let output = with_fault(&place, &program, &format!("{stage}:memory"), &flags);
        one_sentence(&place, &output, "there was not enough memory (--memory) while ");
        proved(&place, &output);
    }
    assert!(most_memory() < 900 << 20, "{} MB", most_memory() >> 20);
}

#[test]
fn attack_a_stage_without_end() {
    let place = Place::new("no-end");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    let flags = ["--effort", "300", "--time", "2"];
    let begun = Instant::now();
    for stage in ["Trace", "Compare", "Weaken"] {
        let output = with_fault(&place, &program, &format!("{stage}:time"), &flags);
        one_sentence(&place, &output, "the time was over (--time) while ");
        proved(&place, &output);
    }
    // It would never end.
    assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", begun.elapsed());
}

/// Keeps a sum over all bytes, and compares it after each: every test is about all bytes before it.
const SUMS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static unsigned char in[1 << 16];
int main(int argc, char **argv) {
  unsigned sum = 1, hits = 0;
  size_t n = fread(in, 1, sizeof in, fopen(argv[1], "rb"));
  for (size_t i = 0; i < n; i++) {
    sum = sum * 33 ^ in[i];
    if ((sum >> 7) % 251 < 120) hits++;
    if ((sum ^ in[i / 2]) % 509 > 300) hits += 2;
  }
  if (in[0] == 'B' && in[1] == 'U' && in[2] == 'G' && hits > 3) abort();
  return 0;
}
"#;

#[test]
fn attack_tests_that_are_all_about_everything() {
    let place = Place::new("sums");
    let program = place.compile("sums", SUMS, &[]);
    let mut input: Vec<u8> = (0..30_000u32).map(|at| (at * at % 251) as u8).collect();
    input[..3].copy_from_slice(b"BUG");
    place.write("in", &input);
    let begun = Instant::now();
    let flags = ["--effort", "500", "--time", "5", "--timeout", "2", "--memory", "1G"];
    let mut command = place.command(&["anonymize", "--seed", "1", "-i", "in", "-o", "r.zip"]);
    let output = command.args(flags).args(["--", &program, "@@"]).output().expect("it starts");
    proved(&place, &output);
    place.nothing_is_left();
    assert!(begun.elapsed() < Duration::from_secs(180), "{:?}", begun.elapsed());
    assert!(most_memory() < 1536 << 20, "{} MB", most_memory() >> 20);
}
