//! Attacks on the proof of a double: failures that are none, or that are not the same.

mod support;

use std::fs;
use std::process::Output;

use support::{CANARY, PARSER, Place, text};

/// A second-year student's parser: month 13 to 99 reads behind a table on the heap.
const MONTHS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int days(int month) {
  int *table = malloc(12 * sizeof(int));
  for (int i = 0; i < 12; i++) table[i] = 30 + i % 2;
  int result = table[month - 1];
  free(table);
  return result;
}
static int late(int day) {
  char *text = malloc(31);
  free(text);
  return text[day];
}
int main(int argc, char **argv) {
  FILE *f = fopen(argv[1], "r");
  int year, month, day;
  if (!f || fscanf(f, "%d-%d-%d", &year, &month, &day) != 3) return 0;
  if (day > 31) return late(day % 31);
  if (month > 0 && month < 100) return days(month) == 31;
  return 0;
}
"#;

/// Runs the command on a file, by its path.
fn anonymize(place: &Place, program: &str, input: &[u8], flags: &[&str]) -> Output {
    place.write("input", input);
    let mut words =
        vec!["anonymize", "--json", "--seed", "1", "-i", "input", "-o", "stunt-report.zip"];
    // As little as is needed: runs of programs with sanitizers are slow.
    if !flags.contains(&"--effort") {
        words.extend(["--effort", "100"]);
    }
    words.extend(flags);
    words.extend(["--", program, "@@"]);
    place.stunt(&words)
}

/// What the command says about a double that was made.
#[track_caller]
fn made(output: &Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The double of the report that was written.
fn double(place: &Place) -> Vec<u8> {
    let _ = fs::remove_dir_all(place.path("double"));
    let output = place.stunt(&["inspect", "--extract", "double", "stunt-report.zip"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut files = fs::read_dir(place.path("double")).expect("a folder");
    fs::read(files.next().expect("a double").expect("an entry").path()).expect("its bytes")
}

#[test]
fn attack_a_sanitizer_that_cannot_start_is_no_failure() {
    let place = Place::new("sanitizer-starts");
    let program = place.compile("none", "int main() { return 0; }", &["-fsanitize=address"]);
    let output = anonymize(&place, &program, CANARY, &[]);
    place.refused(&output, 3, "the program does not fail on this input");
    // Leaks are looked for at the end, by a program that finds itself followed.
    let leaks =
        "#include <stdlib.h>\nint main() { char *volatile p = malloc(40); p = 0; return 0; }";
    let program = place.compile("leaks", leaks, &["-fsanitize=address"]);
    let output = anonymize(&place, &program, CANARY, &[]);
    place.refused(&output, 5, "the program fails only while nobody watches it");
    let output = place.stunt(&["record", "--forget", "--", &program]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn attack_two_reports_of_a_sanitizer_are_two_failures() {
    let place = Place::new("sanitizer-reports");
    let program = place.compile("months", MONTHS, &["-fsanitize=address"]);
    let overflow = made(&anonymize(&place, &program, b"1984-23-07 Qvistgaard\n", &[]));
    let words = overflow["failure"]["words"].as_str().expect("words");
    assert!(words.starts_with("AddressSanitizer: heap-buffer-overflow in days"), "{words}");
    // As its maintainer would see it.
    place.write("seen", &double(&place));
    let output = place.in_bash(&format!("{program} seen"));
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("heap-buffer-overflow"), "{}", text(&output.stderr));
    let freed = made(&anonymize(&place, &program, b"1984-03-77 Qvistgaard\n", &[]));
    assert!(
        freed["failure"]["words"].as_str().expect("words").contains("heap-use-after-free in late")
    );
    assert_ne!(overflow["failure"]["signature"], freed["failure"]["signature"]);
}

#[test]
fn attack_a_failure_of_a_sanitizer_is_recorded() {
    let place = Place::new("sanitizer-recorded");
    let program = place.compile("months", MONTHS, &["-fsanitize=address,undefined"]);
    place.write("input", b"1984-23-07 Qvistgaard\n");
    let store = place.path("state");
    let run = |words: &[&str]| {
        place.command(words).env("XDG_STATE_HOME", &store).output().expect("the command starts")
    };
    let output = run(&["record", "--", &program, "input"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("stunt: AddressSanitizer: heap-buffer-overflow in days"), "{said}");
    let output = run(&["anonymize", "--json", "--effort", "100", "last"]);
    assert!(made(&output)["failure"]["kind"] == "sanitizer");
}

#[test]
fn attack_a_failure_that_any_input_has_is_not_proved() {
    let place = Place::new("any-input");
    let program =
        place.compile("always", "#include <stdlib.h>\nint main(int c, char **v) { abort(); }", &[]);
    let output = anonymize(&place, &program, CANARY, &[]);
    place.refused(&output, 5, "on any input: on an empty one as well");
    // Who insists is told in the report.
    let output = anonymize(&place, &program, CANARY, &["--even-if-any-input-fails"]);
    let notes = made(&output)["notes"].to_string();
    assert!(notes.contains("on harmless inputs as well"), "{notes}");
}

#[test]
fn an_empty_input_that_fails_is_no_reason_to_refuse() {
    let place = Place::new("empty-input");
    // Whatever is shorter than four bytes, and whatever begins with a B.
    let program = place.compile(
        "short",
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) {\n\
         char d[4]; FILE *f = fopen(v[1], \"r\");\n\
         if (fread(d, 1, 4, f) < 4 || d[0] == 'B') abort();\nreturn 0; }",
        &[],
    );
    made(&anonymize(&place, &program, CANARY, &["--resize=never"]));
}

#[test]
fn attack_a_failure_that_comes_of_being_watched_is_none() {
    let place = Place::new("only-watched");
    let watched = "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void traced(char first) { if (first == 'B') abort(); }
int main(int c, char **v) {
  char line[256]; char first = 0; int tracer = 0;
  FILE *input = fopen(v[1], \"r\"), *f = fopen(\"/proc/self/status\", \"r\");
  fread(&first, 1, 1, input);
  while (fgets(line, sizeof line, f)) sscanf(line, \"TracerPid: %d\", &tracer);
  if (tracer) traced(first);
  return 0;
}";
    let program = place.compile("watched", watched, &[]);
    let output = anonymize(&place, &program, CANARY, &[]);
    place.refused(&output, 3, "only while stunt watches it");
}

#[test]
fn attack_a_double_that_fails_only_when_watched_is_not_handed_out() {
    let place = Place::new("double-watched");
    // The original fails for everybody, whatever resembles it only for those who are followed.
    let program = place.compile(
        "mostly",
        "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c, char **v) {
  char line[256], data[64] = \"\"; int tracer = 0;
  FILE *input = fopen(v[1], \"r\"), *f = fopen(\"/proc/self/status\", \"r\");
  fread(data, 1, 63, input);
  while (fgets(line, sizeof line, f)) sscanf(line, \"TracerPid: %d\", &tracer);
  if (data[0] == 'B' && (tracer || strstr(data, \"Qvistgaard\"))) abort();
  return 0;
}",
        &[],
    );
    let output = anonymize(&place, &program, b"B Qvistgaard\n", &["--algorithm", "blackbox"]);
    place.refused(&output, 5, "no double could be proved");
    let said = text(&output.stderr);
    assert!(said.contains("failed only while they were watched"), "{said}");
}

#[test]
fn attack_the_plain_run_has_no_limits_and_no_follower() {
    let place = Place::new("plain-run");
    // Fails if it finds no reason to believe that it is watched, or has less than the caller.
    let program = place.compile(
        "free",
        "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
int main(int c, char **v) {
  char line[256], first = 0; int tracer = 0;
  FILE *input = fopen(v[1], \"r\"), *f = fopen(\"/proc/self/status\", \"r\");
  fread(&first, 1, 1, input);
  while (fgets(line, sizeof line, f)) sscanf(line, \"TracerPid: %d\", &tracer);
  if (first != 'B') return 0;
  if (!tracer) {
    int all[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_STACK, RLIMIT_NOFILE};
    for (int i = 0; i < 6; i++) {
      struct rlimit limit; getrlimit(all[i], &limit);
      char name[32]; sprintf(name, \"LIMIT%d\", i);
      if (strtoull(getenv(name), 0, 10) != limit.rlim_cur) return 7;
    }
    if (getenv(\"RUST_BACKTRACE\")) return 8;
  }
  abort();
}",
        &[],
    );
    place.write("input", b"B Qvistgaard\n");
    let script = format!(
        "show() {{ ulimit -S $1 | sed s/unlimited/18446744073709551615/; }}\n\
         kilo() {{ v=$(show $1); [ $v = 18446744073709551615 ] && echo $v || echo $((v * $2)); }}\n\
         export LIMIT0=$(kilo -v 1024) LIMIT1=$(kilo -d 1024) LIMIT2=$(show -t) LIMIT3=$(kilo -f 1024)\n\
         export LIMIT4=$(kilo -s 1024) LIMIT5=$(show -n)\n\
         {} anonymize --seed 1 --effort 500 -i input -- {program} @@",
        env!("CARGO_BIN_EXE_stunt")
    );
    let output = place.in_bash(&script);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn attack_a_plain_run_leaves_no_process_behind() {
    let place = Place::new("plain-children");
    let program = place.compile(
        "forks",
        "
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void stay(void) {
  FILE *f = fopen(\"PIDS\", \"a\"); fprintf(f, \"%d\\n\", getpid()); fclose(f);
  for (;;) pause();
}
int main(int c, char **v) {
  char first = 0; FILE *input = fopen(v[1], \"r\");
  fread(&first, 1, 1, input);
  if (first != 'B') return 0;
  if (!fork()) stay();
  // As daemons do: another session, another group, no parent.
  if (!fork()) { setsid(); if (!fork()) stay(); _exit(0); }
  usleep(50000);
  abort();
}",
        &[],
    );
    made(&anonymize(&place, &program, b"B Qvistgaard\n", &[]));
    let pids = fs::read_to_string(place.path("PIDS")).expect("the children's numbers");
    assert!(pids.lines().count() >= 8, "{pids}");
    pids.lines().for_each(support::is_gone);
}

#[test]
fn a_program_that_fails_on_its_input_alone_is_proved_as_ever() {
    let place = Place::new("as-ever");
    let program = place.compile("parser", PARSER, &[]);
    let all = made(&anonymize(&place, &program, CANARY, &[]));
    assert_eq!(all["verified"]["runs"], 3);
    assert!(!double(&place).windows(10).any(|part| CANARY.windows(10).any(|it| it == part)));
}

/// Two reasons to panic in a thread, and one place where that is learned.
const JOINED: &str = r#"
fn month(line: &str) -> usize {
    let fields: Vec<&str> = line.split(',').collect();
    fields[1].split('-').nth(1).unwrap().parse().unwrap()
}
fn days(month: usize) -> u32 {
    [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
}
fn main() {
    let all = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let lines: Vec<String> = all.lines().map(str::to_owned).collect();
    let worker = std::thread::spawn(move || lines.iter().map(|line| days(month(line))).sum::<u32>());
    println!("{}", worker.join().unwrap());
}
"#;

/// Runs a program plainly on a file; what it says.
fn said(place: &Place, command: &str, bytes: &[u8]) -> String {
    place.write("seen", bytes);
    text(&place.in_bash(&format!("{command} seen")).stderr)
}

#[test]
fn attack_a_double_panics_where_the_original_does_first() {
    let place = Place::new("first-panic");
    place.write("joined.rs", JOINED.as_bytes());
    let mut compiler = place.program("rustc");
    compiler.args(["-g", "-O", "--edition=2024", "-o", "joined", "joined.rs"]);
    assert!(compiler.status().expect("rustc is there").success());
    let program = place.path("joined").to_str().expect("a plain path").to_owned();
    let input = b"Wyczolkowska,1984-11-07\nQvistgaard,1984-23-07,Xhosa-Zwolle\n";
    let output = anonymize(&place, &program, input, &["--effort", "300"]);
    let words = made(&output)["failure"]["words"].to_string();
    assert!(words.contains("days"), "{words}");
    let places = |bytes: &[u8]| {
        let said = said(&place, &program, bytes);
        let lines = said.lines().filter_map(|line| line.split_once(" panicked at "));
        lines.map(|(_, at)| at.to_owned()).collect::<Vec<_>>()
    };
    let original = places(input);
    assert_eq!(original.len(), 2, "{original:?}");
    assert_eq!(places(&double(&place)), original);
}

#[test]
fn attack_another_cause_at_the_same_line_is_another_failure() {
    let place = Place::new("causes");
    let script = "#!/usr/bin/env python3
import datetime, sys
class ImportFailed(Exception): pass
def born(line): return datetime.date.fromisoformat(line.split(',')[1])
def load(line):
    try: return born(line)
    except Exception as e: raise ImportFailed('cannot import') from e
for line in open(sys.argv[1], errors='replace').read().splitlines(): load(line)
";
    place.executable("load.py", script.as_bytes());
    let program = place.path("load.py").to_str().expect("a plain path").to_owned();
    let input = b"Wyczolkowska,1984-11-07,x\nQvistgaard,1984-23-07,Xhosa-Zwolle kwaszywona\n";
    made(&anonymize(&place, &program, input, &["--effort", "60"]));
    let cause = |bytes: &[u8]| {
        let said = said(&place, &program, bytes);
        let line = said.lines().find(|line| line.starts_with("ValueError: "));
        // Without the text that is not a date, if that is the reason.
        line.map(|line| line.split('\'').next().unwrap_or(line).to_owned())
    };
    assert!(cause(input).is_some_and(|it| it.contains("month")));
    assert_eq!(cause(&double(&place)), cause(input));
}

#[test]
fn attack_a_double_that_is_the_original_is_not_handed_out() {
    let place = Place::new("nearly-original");
    let source = |bytes: usize| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) {{\n\
             char d[64] = {{0}}; const char *w = \"Qvistgaard-Zwolle-Xhosa\";\n\
             if (fread(d, 1, 20, fopen(v[1], \"r\")) < 20) return 0;\n\
             for (int i = 0; i < {bytes}; i++) if (d[i] != w[i]) return 0;\nabort(); }}"
        )
    };
    let input = b"Qvistgaard-Zwolle-Xh";
    let all = place.compile("all", &source(20), &[]);
    let most = place.compile("most", &source(19), &[]);
    for algorithm in ["relaxed", "weaken", "blackbox"] {
        let flags = ["--algorithm", algorithm, "--effort", "200"];
        let output = anonymize(&place, &all, input, &flags);
        place.refused(&output, 5, "a double would be the original itself. Nothing is handed out");
    }
    // Nearly is not enough either; the user can say what is.
    let output = anonymize(&place, &most, input, &["--algorithm", "relaxed"]);
    place.refused(
        &output,
        5,
        "the double would tell 95.0 % of the original, and above 90 % it is none",
    );
    made(&anonymize(&place, &most, input, &["--algorithm", "relaxed", "--max-share", "95"]));
    made(&anonymize(&place, &all, input, &["--algorithm", "relaxed", "--max-share", "100"]));
    assert_eq!(double(&place), input);
}
