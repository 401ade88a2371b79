//! `stunt anonymize` by the searches for other paths, on the examples of the papers: what they get
//! around, and what they cannot.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use stunt_report::Report;
use support::{Place, text};

/// An example, compiled, and its private input.
fn example(place: &Place, name: &str) -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("subjects/c").join(name);
    let source = std::fs::read_to_string(folder.join("main.c")).expect("the example is there");
    let include = format!("-I{}", folder.display());
    let input = folder.join("inputs/private.txt").to_str().expect("a plain path").to_owned();
    (place.compile(name, &source, &[&include]), input)
}

fn anonymized(place: &Place, program: &str, input: &str, flags: &[&str]) -> (Report, String) {
    told(place, program, input, flags);
    let opened = Report::read(place.path("r.zip")).expect("a report");
    assert!(opened.report.verified.native);
    (opened.report, String::from_utf8_lossy(&opened.doubles[0]).into_owned())
}

/// What the command says to programs.
fn told(place: &Place, program: &str, input: &str, flags: &[&str]) -> Value {
    let mut words = vec!["anonymize", "--seed", "5", "-i", input, "-o", "r.zip", "--json"];
    words.extend_from_slice(flags);
    words.extend_from_slice(&["--", program, "@@"]);
    let output = place.stunt(&words);
    assert_eq!(output.status.code(), Some(0), "{flags:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Whether one of the notes has these words.
fn has_note(told: &Value, words: &str) -> bool {
    let notes = told["notes"].as_array().expect("notes");
    notes.iter().any(|note| note.as_str().is_some_and(|note| note.contains(words)))
}

#[test]
fn respa_gets_around_the_comparison_with_used_cards() {
    let place = Place::new("cards");
    let (program, input) = example(&place, "small-processcard");
    const USED: [&str; 3] = ["4929118840273365", "5105105105105100", "371449635398431"];
    let (castro, double) = anonymized(&place, &program, &input, &["--algorithm", "castro"]);
    for card in USED {
        assert!(double.contains(card), "its path is one on which {card} was compared and found");
    }
    for start in [&["--as-is"][..], &[]] {
        let flags = [&["--algorithm", "respa"], start].concat();
        let (respa, double) = anonymized(&place, &program, &input, &flags);
        for card in USED {
            assert!(!double.contains(card), "{card} is not needed");
        }
        assert!(respa.leak.bits < castro.leak.bits / 3.0, "{} bits", respa.leak.bits);
    }
}

#[test]
fn respa_keeps_the_commands_that_the_failure_needs() {
    let place = Place::new("cruise");
    let (program, input) = example(&place, "small-cruise");
    let (castro, _) = anonymized(&place, &program, &input, &["--algorithm", "castro"]);
    for start in [&["--as-is"][..], &[]] {
        let flags = [&["--algorithm", "respa"], start].concat();
        let (respa, double) = anonymized(&place, &program, &input, &flags);
        // In this order somewhere, with nothing that sets a speed between them.
        let words: Vec<&str> = double.split([' ', '\t', '\r', '\n']).collect();
        let mut from_engine_on = words.split(|word| *word == "engineOn").skip(1);
        let on = from_engine_on.any(|behind| {
            behind.iter().take_while(|word| **word != "accelerator").any(|word| *word == "on")
        });
        assert!(on, "{start:?}: {double:?}");
        // How far the search gets from the original itself depends on where the program's texts lie.
        let part = if start.is_empty() { 3.0 } else { 1.0 };
        assert!(respa.leak.bits < castro.leak.bits / part, "{start:?}: {} bits", respa.leak.bits);
    }
}

#[test]
fn a_search_says_what_it_did() {
    let place = Place::new("facts");
    let (program, input) = example(&place, "small-cruise");
    let told = |flags: &[&str]| told(&place, &program, &input, flags);
    // From the original itself, it is known whether the path leads to itself.
    let own = told(&["--algorithm", "respa", "--as-is", "--nodes", "100000"]);
    let search = &own["search"];
    for number in ["nodes", "paths", "spa", "hybrid", "suspected"] {
        assert!(search[number].as_u64().is_some_and(|number| number > 0), "{number}: {search}");
    }
    assert!(search["complete"].is_boolean(), "{search}");
    assert_eq!(search["fixed_point"].is_boolean(), search["by_path"] == true, "{search}");
    // From another one it is not. If nothing better is found, that is said, and what was done is, too.
    let mut words =
        vec!["anonymize", "--seed", "5", "-i", &input, "-o", "r.zip", "--json", "--stats"];
    words.extend(["--algorithm", "respa", "--nodes", "2000", "--", &program, "@@"]);
    let output = place.stunt(&words);
    let blank: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let search = &blank["search"];
    assert!(search["nodes"].as_u64().is_some_and(|nodes| nodes > 0), "{search}");
    assert_eq!(search["fixed_point"], Value::Null, "{search}");
    let better = search["paths"].as_u64().is_some_and(|paths| paths > 1);
    let none = has_note(&blank, "found no path that reveals less");
    assert!(none || better, "{}", blank["notes"]);
    let said = text(&output.stderr);
    for words in ["tests made", "SPA invoked", "HYBRID", "suspected", "leads to itself: unknown"] {
        assert!(said.contains(words), "{words:?} in {said}");
    }
}

#[test]
fn long_paths_are_left_for_better_ones() {
    let place = Place::new("long");
    const BRACKETS: &str = r#"
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            FILE *file = fopen(argv[1], "r");
            int byte, open = 0, digits = 0;
            while ((byte = getc(file)) != EOF) {
                if (byte >= '0' && byte <= '9') digits++;
                else if (byte == '(') open++;
                else if (byte == ')' && --open < 0) abort();
            }
            return digits & 1;
        }"#;
    let program = place.compile("brackets", BRACKETS, &["-O1"]);
    let mut private = "of 1956 (a name), 27 (another)\n".repeat(200);
    private.push_str("too many))\n");
    place.write("private", private.as_bytes());
    for algorithm in ["mpp", "reap-brw", "reap-bag", "reap-rm"] {
        // Bounded by tests, and not by how busy the machine is.
        let flags = ["--algorithm", algorithm, "--time", "120", "--nodes", "20000"];
        let told = told(&place, &program, "private", &flags);
        let bits = |name: &str| told[name]["bits"].as_f64().expect("a number");
        let (own, double) = (bits("original_path_leak"), bits("leak"));
        // That some byte closes what was not opened tells less than a byte.
        assert!(own > 5_000.0 && double < 100.0, "{algorithm}: {double} of {own} bits");
    }
}

#[test]
fn the_same_seed_gives_the_same_double() {
    let place = Place::new("again");
    let (program, input) = example(&place, "small-cruise");
    for algorithm in ["mpp", "reap-brw", "reap-bag", "reap-rm", "respa"] {
        let flags = ["--algorithm", algorithm, "--nodes", "3000", "--as-is"];
        let (one, double) = anonymized(&place, &program, &input, &flags);
        let (two, again) = anonymized(&place, &program, &input, &flags);
        assert_eq!((one.leak.bits, double), (two.leak.bits, again), "{algorithm}");
    }
}

/// Has a path for every way in which its bytes can be large or small: more than anyone could walk.
const MANY: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  unsigned char data[64] = "";
  int large = 0;
  FILE *file = fopen(argv[1], "rb");
  if (!file || fread(data, 1, 64, file) != 64) return 2;
  for (int i = 0; i < 64; i++) if (data[i] > 100) large++;
  if (large > 64) return 3;
  abort();
}
"#;

#[test]
fn an_interrupted_search_gives_what_it_has() {
    let place = Place::new("enough");
    let program = place.compile("many", MANY, &[]);
    place.write("in", &[7; 64]);
    // One search never ends, the other one waits for days.
    let cases = [
        &["--algorithm", "mpp"][..],
        &["--algorithm", "respa", "--as-is", "--hide-time", "100000000"],
    ];
    for flags in cases {
        let _ = std::fs::remove_file(place.path("r.zip"));
        let mut child = place
            .program("env")
            .args(["--default-signal=INT", env!("CARGO_BIN_EXE_stunt"), "-v", "anonymize"])
            .args(["--seed", "5", "--time", "1000000", "-i", "in", "-o", "r.zip"])
            .args(["--max-share", "100"])
            .args(flags)
            .args(["--", &program, "@@"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut said = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        while !line.contains("an interrupt ends the search") {
            line.clear();
            assert!(said.read_line(&mut line).expect("text") > 0, "{flags:?}: it ended by itself");
        }
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.expect("kill is there").success());
        let mut rest = String::new();
        said.read_to_string(&mut rest).expect("text");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{flags:?}: {rest}");
        let opened = Report::read(place.path("r.zip")).expect("a report");
        assert!(opened.report.verified.native, "{flags:?}");
        place.nothing_is_left();
    }
}

#[test]
fn without_time_nothing_is_blanked() {
    let place = Place::new("no-time");
    let program = place.compile("many", MANY, &[]);
    place.write("in", &[7; 64]);
    for (time, blanked) in [("0", false), ("600", true)] {
        let words = ["-v", "anonymize", "--seed", "5", "--algorithm", "respa", "--nodes", "100"];
        let run = ["--time", time, "-i", "in", "-o", "r.zip", "--", &program, "@@"];
        let output = place.stunt(&[&words[..], &run[..]].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(said.contains("blanking the input"), blanked, "{said}");
    }
}

/// Fails on two arguments that begin with the same letter.
const ALIKE: &str = r#"
#include <stdlib.h>
int main(int argc, char **argv) {
  if (argc > 2 && argv[1][0] == argv[2][0]) abort();
  return 0;
}
"#;

#[test]
fn that_a_text_has_no_zeros_counts() {
    let place = Place::new("texts");
    let program = place.compile("alike", ALIKE, &[]);
    for algorithm in ["castro", "mpp", "reap-bag", "respa"] {
        let words = ["anonymize", "--seed", "5", "-o", "r.zip", "--algorithm", algorithm];
        let run = ["--symbolic-arg", "1", "--symbolic-arg", "2", "--", &program, "abcd", "aefg"];
        let output = place.stunt(&[&words[..], &run[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{algorithm}: {}", text(&output.stderr));
        let report = Report::read(place.path("r.zip")).expect("a report").report;
        // One letter of eight is that of another, and none of the others is a zero.
        let least = 64.0 - 7.0 * 255.0f64.log2();
        assert!((report.leak.bits - least).abs() < 1e-4, "{algorithm}: {}", report.leak.bits);
    }
}

/// The score of REAP's example, on three bytes.
const SCORE: &str = r#"
#include <stdio.h>
static int score(int age, int is_male, int is_married) {
  int risk = 0;
  if (age < 18 || age > 120) return -1;
  if (is_male) risk += age < 25 ? 4 : 2; else risk += age < 25 ? 2 : 1;
  if (is_married) risk -= 1;
  if (age > 60) risk -= 1;
  return (age > 40 ? 900 : 600) / risk;
}
int main(int argc, char **argv) {
  unsigned char person[3] = "";
  FILE *file = fopen(argv[1], "rb");
  if (!file || fread(person, 1, 3, file) != 3) return 2;
  printf("%d\n", score(person[0], person[1] == 'm', person[2] == 'y'));
  return 0;
}
"#;

#[test]
fn weaken_comes_near_the_lower_bound_that_mpp_finds() {
    let place = Place::new("score");
    let program = place.compile("score", SCORE, &[]);
    place.write("person", b"\x26fy");
    let said = told(&place, &program, "person", &["--algorithm", "mpp"]);
    assert_eq!(said["search"]["complete"], true, "{}", said["search"]);
    assert_eq!(said["leak"]["kind"], "exact");
    let paths = said["search"]["paths"].as_u64().expect("a number");
    assert!(has_note(&said, &format!("All {paths} paths to the failure")), "{}", said["notes"]);
    let few = told(&place, &program, "person", &["--algorithm", "mpp", "--nodes", "1"]);
    assert_eq!(few["search"]["complete"], false);
    assert!(has_note(&few, "Not all paths"), "{}", few["notes"]);
    let (mpp, _) = anonymized(&place, &program, "person", &["--algorithm", "mpp"]);
    // All that fail: no man over 60 who is not married, a man over 60 who is, others over 24.
    let fails = |age: u32, male: bool, married: bool| {
        let risk = match (male, age < 25) {
            (true, true) => 4,
            (true, false) | (false, true) => 2,
            (false, false) => 1,
        };
        (18..=120).contains(&age) && risk - i32::from(married) - i32::from(age > 60) == 0
    };
    let ways = |is: bool| if is { 1 } else { 255 };
    let mut failing = 0;
    for (male, married) in [(false, false), (false, true), (true, false), (true, true)] {
        let ages = (0..256).filter(|&age| fails(age, male, married)).count();
        failing += ages * ways(male) * ways(married);
    }
    let least = 24.0 - (failing as f64).log2();
    assert!((mpp.leak.bits - least).abs() < 1e-3, "{} and not {least}", mpp.leak.bits);
    let weaken = ["--algorithm", "weaken", "--resize=never"];
    let (weakened, _) = anonymized(&place, &program, "person", &weaken);
    assert!(weakened.leak.bits < least + 0.5, "{} bits, and {least}", weakened.leak.bits);
}

/// What any double of so many bytes reveals at least on *small-score*, counted from its text: in some line
/// a name, an age from 61 to 120, and two fields, behind which it does not matter what comes. (A married
/// man, or a married woman of 25 to 60, takes 2^-56 of that: the words.)
fn least_of_score(length: usize) -> f64 {
    let value = |values: f64| values / 256.0;
    // No comma, no end of the line or of the text.
    let plain = value(253.0);
    // Spaces, a sign, zeros, and the number: how likely, by length.
    let mut ages = [0.0; 16];
    for (spaces, signs, zeros) in
        (0..4).flat_map(|a| (0..2).flat_map(move |b| (0..4).map(move |c| (a, b, c))))
    {
        let before = value(5.0).powi(spaces) * value(1.0).powi(signs) * value(1.0).powi(zeros);
        let size = (spaces + signs + zeros) as usize;
        ages[size + 2] += before * 39.0 * value(1.0).powi(2);
        ages[size + 3] += before * 21.0 * value(1.0).powi(3);
    }
    let fails = |left: usize| -> f64 {
        let mut sum = 0.0;
        for (name, sex) in (1..64).flat_map(|name| (1..16).map(move |sex| (name, sex))) {
            let fields = plain.powi(name + sex + 1) * value(1.0).powi(3);
            let room = left.saturating_sub((name + sex) as usize + 4);
            sum += fields * ages[..ages.len().min(room + 1)].iter().sum::<f64>();
        }
        sum
    };
    // A line begins at the start, and behind each end of one, as long as there was no end of the text.
    let later =
        (1..length).map(|at| value(255.0).powi(at as i32 - 1) * value(1.0) * fails(length - at));
    -(fails(length) + later.sum::<f64>()).log2()
}

#[test]
fn weaken_comes_near_the_least_where_fields_may_move() {
    let place = Place::new("people");
    let (program, input) = example(&place, "small-score");
    let length = std::fs::read(&input).expect("the example is there").len();
    // Bounded by runs, and not by how busy the machine is.
    let told = told(&place, &program, &input, &["--time", "120"]);
    let (bits, least) = (told["leak"]["bits"].as_f64().expect("a number"), least_of_score(length));
    assert!((24.0..26.0).contains(&least), "{least}");
    // With everything at its place it would be ten more, and only on the first line one more.
    assert!(bits > least - 0.3 && bits < least + 0.5, "{bits} bits, and {least}");
    assert!(told["search"]["gaps"].as_u64().expect("a number") > 1, "{}", told["search"]);
}
