//! `stunt anonymize` with the flags that change what a double may tell: `--canonical`, `--resize`,
//! `--hide-time`, and the bound on detours; and what names of functions are worth; on small programs
//! compiled here.

mod support;

use std::fs;

use stunt_report::{Draw, Report};
use support::{Place, text};

/// Fails on files with a `#` before a digit, whatever else is there; letters take other branches.
const PARSER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  unsigned char data[64] = "";
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 2;
  int n = fread(data, 1, sizeof data - 1, f), vowels = 0;
  if (data[0] < 'a') vowels++;
  for (int i = 0; i + 1 < n; i++)
    if (data[i] == '#' && data[i + 1] >= '0' && data[i + 1] <= '9') abort();
  return vowels;
}
"#;

fn anonymize(place: &Place, program: &str, input: &str, flags: &[&str], report: &str) -> String {
    let mut words = vec!["anonymize", "-i", input, "-o", report];
    words.extend_from_slice(flags);
    words.extend_from_slice(&["--", program, "@@"]);
    let output = place.stunt(&words);
    assert_eq!(output.status.code(), Some(0), "{flags:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn equal_paths_give_equal_doubles() {
    let place = Place::new("canonical");
    let program = place.compile("parser", PARSER, &[]);
    // The first two take one path, the third another one.
    place.write("one.txt", b"quvxyz#7 Wyczolkowska");
    place.write("other-name.txt", b"zzyxwv#2_Qvistgaard-X");
    place.write("short.txt", b"QQ#7 kwaszywona 12345");
    for algorithm in ["castro", "weaken"] {
        let double = |input: &str| {
            let flags = ["--canonical", "--algorithm", algorithm];
            let said = anonymize(&place, &program, input, &flags, "r.zip");
            assert!(said.contains("The double is canonical"), "{said}");
            let opened = Report::read(place.path("r.zip")).expect("a report");
            assert!(matches!(opened.report.draw, Draw::NotUniform { .. }));
            // What is told is the path, whatever the algorithm.
            let path = said.split("path of the original would reveal ").nth(1).expect("a figure");
            assert!(path.starts_with(&opened.report.leak.sentence()), "{said}");
            opened.doubles[0].clone()
        };
        let (first, second) = (double("one.txt"), double("other-name.txt"));
        // Weakening may end by its time; what is canonical does not depend on the original.
        if algorithm == "castro" {
            assert_eq!(first, second);
            assert_eq!(first, double("one.txt"), "a second report adds nothing");
            assert_ne!(first, double("short.txt"));
        }
        assert_ne!(first, fs::read(place.path("one.txt")).expect("it is there"));
    }
    place.nothing_is_left();
}

#[test]
fn canonical_doubles_need_a_path() {
    let place = Place::new("canonical-script");
    place.executable("script", b"#!/bin/sh\ngrep -q BUG \"$1\" && exit 3\nexit 0\n");
    place.write("private.txt", b"a BUG here");
    let program = place.path("script");
    let program = program.to_str().expect("a plain path");
    let words = ["--canonical", "-i", "private.txt", "--fails-if", "exit=3", "--", program, "@@"];
    let alone = ["anonymize", "--algorithm", "blackbox"];
    let output = place.stunt(&[&alone[..], &words].concat());
    assert_ne!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("--canonical is for programs that can be followed"));
}

#[test]
fn a_double_can_be_shorter_and_says_what_that_costs() {
    let place = Place::new("resize");
    let program = place.compile("parser", PARSER, &[]);
    place.write("private.txt", b"Qvistgaard-Wyczolkowska;#7Jx!vQ;");
    for algorithm in ["weaken", "blackbox"] {
        let flags = ["--resize", "--algorithm", algorithm, "--seed", "3", "--effort", "900"];
        let said = anonymize(&place, &program, "private.txt", &flags, "r.zip");
        let note = "3.58 bits of the figure are for the length that it has";
        assert!(
            said.contains(" of 256 bits ("),
            "for its owner in percent of the original: {said}"
        );
        assert!(said.contains(note), "{said}");
        let opened = Report::read(place.path("r.zip")).expect("a report");
        let (report, double) = (&opened.report, &opened.doubles[0]);
        assert_eq!(double.len(), 2, "{algorithm}: a # and a digit are enough");
        // The report does not say how long the original was.
        assert_eq!((report.sources[0].bytes, report.leak.of), (2, 16));
        assert!(report.is_shorter() && !report.summary().contains('%'), "{}", report.summary());
        // A # is 8 bits, a digit 4.68, a length of 2 is 3.58.
        assert!((16.0..17.5).contains(&report.leak.bits), "{algorithm}: {}", report.leak.bits);
        let output = place.stunt(&["replay", "r.zip", "--yes"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let words = ["anonymize", "--resize", "--algorithm", "castro", "-i", "private.txt", "--"];
    let output = place.stunt(&[&words[..], &[program.as_str(), "@@"]].concat());
    assert!(text(&output.stderr).contains("--resize is for --algorithm weaken and blackbox"));
}

/// The same, but only of text: every byte that is none ends it before.
const TEXT: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  static unsigned char data[4096];
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 2;
  int n = fread(data, 1, sizeof data - 1, f);
  for (int i = 0; i < n; i++)
    if (data[i] < ' ' || data[i] > '~') return 3;
  for (int i = 0; i + 1 < n; i++)
    if (data[i] == '#' && data[i + 1] >= '0' && data[i + 1] <= '9') abort();
  return 0;
}
"#;

#[test]
fn a_double_is_shorter_where_its_length_would_tell_much() {
    let place = Place::new("any-length");
    let text_only = place.compile("text", TEXT, &[]);
    let anything = place.compile("parser", PARSER, &[]);
    let private = [&[b'k'; 300][..], b"#7", &[b'v'; 98]].concat();
    place.write("long.txt", &private);
    place.write("short.txt", b"Qvistgaard-Wyczolkowska;#7Jx!vQ;");
    let double = |program: &str, input: &str, flags: &[&str]| {
        let flags = [flags, &["--seed", "3", "--effort", "1500"]].concat();
        anonymize(&place, program, input, &flags, "r.zip");
        let opened = Report::read(place.path("r.zip")).expect("a report");
        (opened.report, opened.doubles[0].clone())
    };
    let percent = |report: &Report| 100.0 * report.leak.bits / (8.0 * 400.0);
    // That 400 bytes are text is worth more than 500 bits; a # and a digit are enough.
    let (report, shorter) = double(&text_only, "long.txt", &[]);
    assert!(shorter.len() < 10, "{} bytes", shorter.len());
    assert!(report.is_shorter() && percent(&report) < 2.0, "{} bits", report.leak.bits);
    let (report, same) = double(&text_only, "long.txt", &["--resize=never"]);
    assert_eq!((same.len(), report.is_shorter()), (400, false));
    assert!(percent(&report) > 10.0, "{} bits", report.leak.bits);
    // Where the rest is free, a shorter double has nothing to offer.
    let (report, same) = double(&anything, "short.txt", &[]);
    assert_eq!((same.len(), report.is_shorter()), (32, false));
}

#[test]
fn the_same_seed_gives_the_same_report_by_the_default_algorithm() {
    let place = Place::new("same-seed");
    let program = place.compile("parser", PARSER, &[]);
    place.write("private.txt", b"Qvistgaard-Wyczolkowska;#7Jx!vQ;");
    let words = ["anonymize", "--seed", "7", "--effort", "600", "-i", "private.txt", "-o"];
    let report = |name: &str, before: &[&str]| {
        let stunt = env!("CARGO_BIN_EXE_stunt");
        let own = [&words[..], &[name, "--", &program, "@@"]].concat();
        let all = [before, &[stunt], &own].concat();
        let output = place.program(all[0]).args(&all[1..]).output().expect("it starts");
        assert!(output.status.success(), "{}", text(&output.stderr));
        fs::read(place.path(name)).expect("a report")
    };
    let first = report("first.zip", &[]);
    assert!(first == report("again.zip", &[]), "the reports differ");
    // As on a host with one processor.
    assert!(
        first == report("alone.zip", &["taskset", "-c", "0"]),
        "the processors make a difference"
    );
}

#[test]
fn the_time_that_a_run_took_can_be_hidden() {
    let place = Place::new("hidden-time");
    let program = place.compile("parser", PARSER, &[]);
    place.write("private.txt", b"Qvistgaard-Wyczolkowska;#7Jx!vQ;");
    let flags = ["--hide-time", "1", "--algorithm", "relaxed", "--seed", "3"];
    anonymize(&place, &program, "private.txt", &flags, "r.zip");
    let report = Report::read(place.path("r.zip")).expect("a report").report;
    assert_eq!(report.algorithm.parameters["hide-time"], "yes");
    // The same seed gives the same file, however long it took.
    anonymize(&place, &program, "private.txt", &flags, "again.zip");
    let read = |name: &str| fs::read(place.path(name)).expect("a file");
    assert!(read("r.zip") == read("again.zip"), "the files differ");
}

#[test]
fn detours_have_a_bound() {
    let place = Place::new("detours");
    let program = place.compile("parser", PARSER, &[]);
    place.write("private.txt", b"Qvist;#7Jx!vQ;");
    for algorithm in ["reap-brw", "reap-bag", "reap-rm"] {
        let flags = ["--detours", "1", "--algorithm", algorithm, "--seed", "3"];
        anonymize(&place, &program, "private.txt", &flags, "r.zip");
        let opened = Report::read(place.path("r.zip")).expect("a report");
        let fails =
            opened.doubles[0].windows(2).any(|two| two[0] == b'#' && two[1].is_ascii_digit());
        assert!(fails, "{algorithm}");
    }
}

/// Fails unless its input is one of some words, which it compares in every way.
const WORDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
int main(int argc, char **argv) {
  char word[64] = "", key[64] = "";
  FILE *f = fopen(argv[1], "r");
  if (!f || fscanf(f, "%63s %63s", word, key) != 2) return 2;
  if (!strcmp(word, "administrator")) return 3;
  if (!strncmp(word, "administrative-", 15)) return 4;
  if (!strcasecmp(word, "ADMINISTERED")) return 5;
  if (!memcmp(key, "0123456789abcdef", 16)) return 6;
  abort();
}
"#;

#[test]
fn comparisons_without_names_are_known_by_what_they_do() {
    let place = Place::new("nameless");
    // Near misses: byte by byte, most of the input would be told.
    place.write("private.txt", b"administrators 0123456789abcdeg");
    let bits = |program: &str, flags: &[&str]| {
        let flags = [&["--algorithm", "relaxed", "--seed", "1"], flags].concat();
        anonymize(&place, program, "private.txt", &flags, "r.zip");
        Report::read(place.path("r.zip")).expect("a report").report.leak.bits
    };
    let named = bits(&place.compile("named", WORDS, &[]), &[]);
    for link in [&["-static", "-s"], &["-static-pie", "-s"]] {
        let program = place.compile("nameless", WORDS, link);
        let nameless = bits(&program, &[]);
        let plain = bits(&program, &["--no-relax=comparisons"]);
        assert!((nameless - named).abs() < 0.01, "{link:?}: {nameless} and {named} bits");
        assert!(plain > nameless + 100.0, "{link:?}: {plain} and {nameless} bits");
    }
}

#[test]
fn a_double_that_would_be_the_original_is_not_handed_out() {
    let place = Place::new("whole");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char word[8] = "";
  fread(word, 1, 7, fopen(argv[1], "rb"));
  unsigned long long all = 0;
  for (int i = 0; i < 7; i++) all = all << 8 | (unsigned char)word[i];
  if (all == (0x4b6574747931ULL << 8 | '!')) abort();
  return 0;
}
"#;
    let program = place.compile("exact", source, &[]);
    place.write("private.txt", b"Ketty1!");
    for flags in [&["--algorithm", "castro"][..], &[]] {
        let words = [&["anonymize", "-i", "private.txt"], flags, &["--", &program, "@@"]].concat();
        let output = place.stunt(&words);
        assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
        let said = text(&output.stderr);
        assert!(said.contains("a double would be the original itself"), "{said}");
        assert!(!place.path("stunt-report.zip").exists());
    }
}

#[test]
fn a_shorter_double_is_not_compared_with_how_long_the_original_is() {
    let place = Place::new("nearly");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char data[64] = "";
  fread(data, 1, 63, fopen(argv[1], "rb"));
  if (!memcmp(data, "QvistgaardZwolle", 16)) abort();
  return 0;
}
"#;
    let program = place.compile("nearly", source, &[]);
    place.write("in", b"QvistgaardZwolle;");
    for (flag, says) in [("--resize=always", false), ("--resize=never", true)] {
        let flags = [flag, "--seed", "1", "--effort", "300", "--max-share", "100"];
        anonymize(&place, &program, "in", &flags, "r.zip");
        let report = Report::read(place.path("r.zip")).expect("a report").report;
        // All but one byte is needed; that is told of a double as long as the original alone.
        assert!(report.leak.bits > 127.0, "{flag}: {}", report.leak.bits);
        let notes = report.notes.join(" ");
        assert_eq!(notes.contains("nearly all of the original"), says, "{flag}: {notes}");
    }
}
