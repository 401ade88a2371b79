//! `stunt anonymize` by the searches for other paths, on the examples of the papers: what they get
//! around, and what they cannot.

mod support;

use std::path::Path;

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
    let mut words = vec!["anonymize", "--seed", "5", "-i", input, "-o", "r.zip"];
    words.extend_from_slice(flags);
    words.extend_from_slice(&["--", program, "@@"]);
    let output = place.stunt(&words);
    assert_eq!(output.status.code(), Some(0), "{flags:?}: {}", text(&output.stderr));
    let opened = Report::read(place.path("r.zip")).expect("a report");
    assert!(opened.report.verified.native);
    (opened.report, String::from_utf8_lossy(&opened.doubles[0]).into_owned())
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
    let (respa, double) = anonymized(&place, &program, &input, &["--algorithm", "respa"]);
    // In this order, with nothing that sets a speed between them.
    let needed = double.find("engineOn").expect("the engine is on");
    let behind = &double[needed + "engineOn".len()..];
    let words = behind.split([' ', '\t', '\r', '\n']);
    assert!(words.take_while(|word| *word != "accelerator").any(|word| word == "on"), "{double:?}");
    assert!(respa.leak.bits < castro.leak.bits / 3.0, "{} bits", respa.leak.bits);
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
