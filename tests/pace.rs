//! `stunt anonymize` on programs that are slow, that leave files behind, or that are run by another
//! program: each gets a double by whatever way is left.

mod support;

use serde_json::Value;
use support::{Place, text};

/// What `stunt anonymize --json` prints about a program that gets a double.
fn anonymized(place: &Place, arguments: &[&str], program: &[&str]) -> Value {
    let output = place.stunt(&[arguments, program].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn an_interpreter_is_not_followed() {
    let place = Place::new("interpreter");
    let source = r#"
import sys
if open(sys.argv[1], "rb").read(1) == b"K":
    raise KeyError
"#;
    place.write("keys.py", source.as_bytes());
    place.write("in", b"Ketty 4 private");
    // No time for anything: even then there is a double, and the machine is not asked.
    let arguments = ["anonymize", "--seed", "1", "--time", "1", "--json", "-i", "in", "--"];
    let program = ["/usr/bin/python3", "-SE", "keys.py", "@@"];
    let json = anonymized(&place, &arguments, &program);
    assert!(json["notes"].to_string().contains("a script cannot be followed"), "{}", json["notes"]);
}

#[test]
fn a_slow_program_that_the_machine_cannot_follow_gets_a_double() {
    let place = Place::new("slow-fallback");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>
int main(int argc, char **argv) {
  if (inotify_init1(0) < 0) return 1;
  usleep(20000);
  if (getc(fopen(argv[1], "rb")) == 'K') abort();
  return 0;
}
"#;
    let program = place.compile("watcher", source, &[]);
    place.write("in", b"Ketty 4 private");
    let arguments = ["anonymize", "--seed", "1", "--time", "1", "--json", "-i", "in", "--"];
    let json = anonymized(&place, &arguments, &[&program, "@@"]);
    assert!(json["notes"].to_string().contains("inotify_init1"), "{}", json["notes"]);
}

#[test]
fn a_program_that_leaves_files_behind_is_weakened() {
    let place = Place::new("litter");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char data[32] = {0};
  FILE *log = fopen("progress.log", "w");
  if (!log) return 3;
  fread(data, 1, 31, fopen(argv[1], "rb"));
  for (int i = 0; i < 16; i++) if (data[i] < 'a') fputc('.', log); else fputc('-', log);
  if (data[20] == '!') abort();
  return 0;
}
"#;
    let program = place.compile("litter", source, &[]);
    place.write("in", b"oh what a private tx!tual document");
    let arguments = ["anonymize", "--seed", "1", "--effort", "400", "--json", "-i", "in", "--"];
    let json = anonymized(&place, &arguments, &[&program, "@@"]);
    // One byte; the path has something to say about sixteen others.
    let bits = json["leak"]["bits"].as_f64().expect("a figure");
    assert!((8.0..9.0).contains(&bits), "{bits}");
}

#[test]
fn a_slow_first_run_does_not_keep_a_condition_from_being_weakened() {
    let place = Place::new("cold");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char data[32] = {0};
  // The first run finds nothing in the caches.
  if (access(MARK, F_OK)) { fclose(fopen(MARK, "w")); sleep(2); }
  fread(data, 1, 31, fopen(argv[1], "rb"));
  for (int i = 0; i < 16; i++) if (data[i] < 'a') putchar('.'); else putchar('-');
  if (data[20] == '!') abort();
  return 0;
}
"#;
    let mark = format!("-DMARK=\"{}\"", place.path("warm").display());
    let program = place.compile("cold", source, &[&mark]);
    place.write("in", b"oh what a private tx!tual document");
    let arguments = ["anonymize", "--seed", "1", "--effort", "400", "--json", "-i", "in", "--"];
    let json = anonymized(&place, &arguments, &[&program, "@@"]);
    // One byte; the path has something to say about sixteen others.
    let bits = json["leak"]["bits"].as_f64().expect("a figure");
    assert!((8.0..9.0).contains(&bits), "{bits}");
}
