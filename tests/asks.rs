//! What counts as asked of an input, as users of `stunt anonymize` and `stunt trace` see it: not its public
//! parts, nor what is only printed; and values that had to be fixed, with the place.

mod support;

use stunt_report::{ByteKind, Report};
use support::{CANARY, PARSER, Place, text};

#[test]
fn public_parts_stay_and_do_not_count() {
    let place = Place::new("public");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "--seed",
        "1",
        "-i",
        "in",
        "-o",
        "r.zip",
        "--public",
        "file:0-2",
        "--",
        &program,
        "@@",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let opened = Report::read(place.path("r.zip")).expect("a report");
    assert_eq!(opened.doubles[0][..3], CANARY[..3]);
    assert_ne!(opened.doubles[0][3..], CANARY[3..]);
    // What the failure needs is public: the rest is as random as can be.
    assert_eq!(opened.report.leak.of, 8 * CANARY.len() as u64 - 24);
    assert_eq!(opened.report.leak.bits, 0.0);
    for at in 0..CANARY.len() as u64 {
        let public = (at < 3).then_some((8.0, ByteKind::Public));
        assert_eq!(opened.report.per_byte[0].at(at), public, "byte {at}");
    }
    for how in ["--yes", "--machine"] {
        let output = place.stunt(&["replay", "r.zip", how]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
}

#[test]
fn statistics_say_where_values_were_fixed() {
    let place = Place::new("statistics");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
static volatile char table[65536];
static void keep(unsigned at) { table[at] = 1; }
int main(int argc, char **argv) {
  unsigned char in[8] = {0};
  fread(in, 1, 8, fopen(argv[1], "rb"));
  keep(in[1] << 8 | in[2]);
  keep(in[3] << 8 | in[4]);
  if (in[0] == 'B') abort();
  return 0;
}
"#;
    let program = place.compile("fixer", source, &[]);
    place.write("in", b"Bprivate");
    let flags =
        ["anonymize", "--algorithm", "relaxed", "--stats", "-i", "in", "--", &program, "@@"];
    let output = place.stunt(&flags);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("\npins: 2 (store address 2)\n"), "{said}");
    assert!(
        said.contains("\npin: store address at keep+0x") && said.contains(", fixer+0x"),
        "{said}"
    );
    assert!(said.trim_end().ends_with(": 2"), "{said}");
}

#[test]
fn output_asks_nothing_of_the_input() {
    let place = Place::new("loud");
    let silent = r#"
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char in[33] = {0};
  fread(in, 1, 32, fopen(argv[1], "rb"));
  if (in[0] != 'B') return 0;
  int number = in[5] + 256 * in[6];
  TELL
  if (in[1] == 'U') abort();
  return 0;
}
"#;
    place.write("in", b"BUG, a private text of 32 bytes.");
    let tests = |name: &str, tell: &str| {
        let program = place.compile(name, silent, &[&format!("-DTELL={tell}")]);
        let output = place.stunt(&["trace", "-i", "in", "--", &program, "@@"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let line = said.lines().rfind(|line| line.contains(" tests, then abort"));
        let line = line.unwrap_or_else(|| panic!("{name}: {said}"));
        let count = line.trim_start_matches("stunt: ").split(' ').next().map(str::to_owned);
        count.expect("a number of tests")
    };
    let wanted = tests("silent", "");
    for (name, tell) in [
        ("printf", r#"printf("%s %d\n", in, number);"#),
        ("fputs", "fputs(in, stdout); puts(in);"),
        ("fwrite", "fwrite(in, 1, 32, stderr);"),
        ("unlocked", "fputs_unlocked(in, stderr); putc_unlocked(in[2], stderr);"),
        ("dprintf", r#"dprintf(2, "%s %d\n", in, number);"#),
        ("write", "write(1, in, 32);"),
        ("warn", r#"warnx("%s %d", in, number);"#),
    ] {
        assert_eq!(tests(name, tell), wanted, "{name}");
    }
}

#[test]
fn output_of_cpp_asks_nothing_of_the_input() {
    let place = Place::new("loud-cpp");
    let source = r#"
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
int main(int argc, char **argv) {
  char in[33] = {0};
  fread(in, 1, 32, fopen(argv[1], "rb"));
  std::string text(in, 32);
  long number = in[5] + 256 * in[6];
  if (in[0] != 'B') return 0;
  TELL
  if (in[1] == 'U') abort();
  return 0;
}
"#;
    place.write("loud.cc", source.as_bytes());
    place.write("in", b"BUG, a private text of 32 bytes.");
    let tests = |tell: &str| {
        let mut compiler = place.program("g++");
        compiler.args(["-O1", "-w", "-o", "loud", &format!("-DTELL={tell}"), "loud.cc"]);
        assert!(compiler.status().expect("g++ is there").success());
        let output = place.stunt(&["trace", "-i", "in", "--", "./loud", "@@"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let line = said.lines().rfind(|line| line.contains(" tests, then abort"));
        let count = line.expect("it fails").trim_start_matches("stunt: ").split(' ').next();
        count.expect("a number").parse::<u32>().expect("a number of tests")
    };
    let wanted = tests("");
    for tell in [
        "std::cout << in << text << number << in[3] << std::endl;",
        "std::cerr.write(in, 32); std::clog << number;",
    ] {
        assert_eq!(tests(tell), wanted, "{tell}");
    }
    // Where the program reads it again, it does ask.
    let read = "std::ostringstream o; std::cout.rdbuf(o.rdbuf()); std::cout << in; if (o.str()[2] == \
                71) number++;";
    assert!(tests(read) > wanted);
}

#[test]
fn a_search_for_a_word_asks_whether_it_is_there() {
    let place = Place::new("word");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char in[65] = {0};
  fread(in, 1, 64, fopen(argv[1], "rb"));
  if (strstr(in, "token")) return 0;
  if (in[0] == 'B') abort();
  return 0;
}
"#;
    let program = place.compile("word", source, &[]);
    place.write("in", b"Both private words, some of them too long, and tokes of others..");
    let bits = |flags: &[&str]| {
        let mut words = vec!["anonymize", "--algorithm", "relaxed", "--seed", "1", "-i", "in"];
        words.extend(flags);
        words.extend(["-o", "r.zip", "--", &program, "@@"]);
        let output = place.stunt(&words);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        Report::read(place.path("r.zip")).expect("a report").report.leak.bits
    };
    // One letter; that some other letters do not make up the word is next to nothing.
    let whole = bits(&[]);
    assert!((8.0..8.01).contains(&whole), "{whole}");
    // Step by step, it is also known where words began that were not the one.
    let steps = bits(&["--no-relax", "comparisons"]);
    assert!(steps > 16.0, "{steps}");
}
