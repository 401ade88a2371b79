//! What people forget: `--`, `@@`, the input, an end. Each is told what was understood, and what to type.

// The desk has more than is needed here.
#[allow(dead_code)]
#[path = "submit/desk.rs"]
mod desk;
#[path = "../crates/client/tests/receiver/mod.rs"]
mod receiver;
mod support;

use std::fs;
use std::process::{Output, Stdio};

use desk::Desk;
use stunt_report::{Limits, Opened, Report};
use support::{CANARY, PARSER, text};

fn desk(name: &str) -> Desk {
    let desk = Desk::new(&format!("friction-{name}"));
    desk.place.compile("parse", PARSER, &[]);
    desk.place.write("private.txt", CANARY);
    desk
}

fn words_of(output: &Output) -> String {
    text(&output.stderr) + &text(&output.stdout)
}

#[track_caller]
fn stunt(desk: &Desk, words: &[&str], exit: i32) -> String {
    let output = desk.stunt(words);
    assert_eq!(output.status.code(), Some(exit), "{}", words_of(&output));
    words_of(&output)
}

fn read(desk: &Desk, name: &str) -> Opened {
    let file = fs::read(desk.place.path(name)).expect("a report");
    Report::from_bytes(&file, Limits::default()).expect("a report")
}

const QUICK: [&str; 5] = ["anonymize", "--algorithm", "relaxed", "--seed", "1"];

#[test]
fn dashes_that_were_forgotten() {
    let desk = desk("dashes");
    let typed = "stunt anonymize -i private.txt -- ./parse @@";
    assert!(stunt(&desk, &["anonymize", "./parse", "private.txt"], 2).contains(typed));
    let line = ":\n    stunt anonymize -- ./parse\n";
    assert!(stunt(&desk, &["anonymize", "./parse"], 2).contains(line));
    let line = "stunt anonymize -i private.txt -- ./parse";
    assert!(stunt(&desk, &["anonymize", "-i", "private.txt", "./parse"], 2).contains(line));
    assert!(stunt(&desk, &["record", "./parse", "x"], 2).contains("stunt record -- ./parse x"));
    assert!(stunt(&desk, &["run", "./parse", "-x"], 2).contains("stunt run -- ./parse -x"));
    let said = stunt(&desk, &["replay", "r.zip", "./parse", "@@"], 2);
    assert!(said.contains("stunt replay r.zip -- ./parse @@"), "{said}");
    // Where nothing is known the usual words stand.
    let said = stunt(&desk, &["anonymize", "no-such", "thing"], 2);
    assert!(said.contains("unexpected argument") && !said.contains(" -- "), "{said}");
}

#[test]
fn places_that_were_forgotten() {
    let desk = desk("places");
    // The input is named, and the program would have read it, whatever it was given.
    let words = [&QUICK[..], &["-i", "private.txt", "--", "./parse", "./private.txt"]].concat();
    let said = stunt(&desk, &words, 0);
    assert!(said.contains("argument 1 is the input, so @@ stands for it: ./parse @@"), "{said}");
    assert_eq!(read(&desk, "stunt-report.zip").report.sources[0].name.to_string(), "file");
    // It is named nowhere but in the arguments.
    let said = stunt(&desk, &[&QUICK[..], &["--", "./parse", "private.txt"]].concat(), 0);
    assert!(said.contains("stunt anonymize -i private.txt -- ./parse @@"), "{said}");
    assert!(said.contains("Report: stunt-report-2.zip"), "{said}");
    assert_eq!(read(&desk, "stunt-report-2.zip").report.arguments, ["@@"]);
    // Nobody can know which.
    desk.place.write("other.txt", b"other");
    let said = stunt(&desk, &["anonymize", "--", "./parse", "private.txt", "other.txt"], 2);
    assert!(said.contains("which of these files is the input?"), "{said}");
    assert!(
        said.contains("\n    stunt anonymize -i other.txt -- ./parse private.txt @@\n"),
        "{said}"
    );
    assert!(said.contains("stunt report -- ./parse private.txt other.txt"), "{said}");
    // What comes from standard input is the input, whatever files are named.
    let mut command = desk.command(&[&QUICK[..], &["-o", "in.zip", "--", "./parse"]].concat());
    let file = fs::File::open(desk.place.path("private.txt")).expect("the input");
    let output = command.stdin(Stdio::from(file)).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", words_of(&output));
    assert_eq!(read(&desk, "in.zip").report.sources[0].name.to_string(), "stdin");
}

#[test]
fn a_terminal_is_told_what_is_waited_for() {
    let desk = desk("terminal");
    let words = [&QUICK[..], &["--", "./parse"]].concat();
    let waits = "stunt anonymize -- ./parse < FILE";
    let (seen, exit) = desk.terminal(&words, &[(waits, "BUG and more\r\u{4}")]);
    assert_eq!(exit, 0, "{seen}");
    assert!(seen.contains("the input is what you type now"), "{seen}");
    // A file that is there is asked about before it is replaced.
    let words =
        [&QUICK[..], &["-i", "private.txt", "-o", "stunt-report.zip", "--", "./parse"]].concat();
    let before = fs::read(desk.place.path("stunt-report.zip")).expect("a report");
    let question = "stunt-report.zip is there already. Replace it? [y/N] ";
    let (seen, exit) = desk.terminal(&words, &[(question, "\r")]);
    assert_eq!(exit, 2, "{seen}");
    assert_eq!(fs::read(desk.place.path("stunt-report.zip")).expect("a report"), before);
    let said = stunt(&desk, &words, 0);
    assert!(said.contains("stunt-report.zip is there already, and is replaced"), "{said}");
}

/// Needs three quarters of its input, and looks at the rest for nothing, which a search finds out slowly.
const SLOW: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {
  unsigned char data[64] = {0};
  FILE *file = fopen(argv[1], "rb");
  if (!file || fread(data, 1, 64, file) < 64) return 2;
  struct timespec pause = {0, 5000000};
  nanosleep(&pause, 0);
  unsigned all = 0, more = 0;
  for (int at = 48; at < 64; at++) if (data[at] == 'x') more += at;
  if (more == 7) return 1;
  for (int at = 0; at < 48; at++) all += data[at] == (unsigned char)(at * 37 + 11);
  if (all == 48) abort();
  return 0;
}
"#;

#[test]
fn what_is_cut_short_and_not_worth_having_is_not_written() {
    let desk = desk("cut");
    desk.place.compile("slow", SLOW, &[]);
    let mut input: Vec<u8> = (0..48u8).map(|at| at.wrapping_mul(37).wrapping_add(11)).collect();
    input.extend([b'x'; 16]);
    desk.place.write("in", &input);
    let words = ["anonymize", "--resize=never", "-i", "in", "--", "./slow", "@@"];
    let blanks = "blanking the input";
    // All of it is needed: there is nothing that could be worth having.
    let (seen, exit) = desk.terminal(&words, &[(blanks, ""), (blanks, "\u{3}")]);
    assert_eq!(exit, 5, "{seen}");
    assert!(seen.contains("the search was cut short"), "{seen}");
    assert!(!desk.place.path("stunt-report.zip").exists(), "{seen}");
    // Before there is anything, what was going on is said.
    let (seen, exit) = desk.terminal(&words, &[("running the program on", "\u{3}")]);
    assert_eq!(exit, 130, "{seen}");
    assert!(
        seen.contains("stunt: interrupted after ") && seen.contains("; nothing was written"),
        "{seen}"
    );
}

#[test]
fn what_is_public_lies_in_the_input() {
    let desk = desk("public");
    let words = ["-i", "private.txt", "--public", "file:60-69", "--", "./parse", "@@"];
    let said = stunt(&desk, &[&QUICK[..], &words].concat(), 2);
    assert!(said.contains("--public file:60-69: the file has 69 bytes"), "{said}");
}

#[test]
fn a_limit_in_percent_is_of_the_original() {
    let desk = desk("limit");
    let words = ["anonymize", "--seed", "1", "--resize", "-i", "private.txt", "-o", "r.zip"];
    stunt(&desk, &[&words[..], &["--", "./parse", "@@"]].concat(), 0);
    let bits = read(&desk, "r.zip").report.tells.expect("a figure").bits;
    let recipient = stunt_parcel::Identity::generate().recipient().to_string();
    let limit = |percent: f64| {
        let limit = format!("{percent}%");
        let to = ["--server", "https://127.0.0.1:9", "--recipient", &recipient];
        let words = ["submit", "r.zip", "--no-ask", "--dry-run", "--max-leak", &limit];
        desk.stunt(&[&words[..], &to].concat())
    };
    // The double is a few bytes; of them the figure is most, of the original's 69 bytes little.
    let percent = 100.0 * bits / (69.0 * 8.0);
    assert!(percent < 20.0, "{percent}");
    assert_eq!(
        limit(percent.ceil()).status.code(),
        Some(0),
        "{}",
        words_of(&limit(percent.ceil()))
    );
    let above = limit(percent.floor());
    assert_eq!(above.status.code(), Some(6), "{}", words_of(&above));
    assert!(words_of(&above).contains(" of 552 ("), "{}", words_of(&above));
    // Who has not made it cannot know how long the original was.
    fs::remove_dir_all(desk.place.path("home/state/stunt/owned")).expect("the notes");
    let unknown = limit(100.0);
    assert_eq!(unknown.status.code(), Some(6), "{}", words_of(&unknown));
    assert!(words_of(&unknown).contains("a limit in bits"), "{}", words_of(&unknown));
}
