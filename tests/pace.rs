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
fn a_script_has_a_double_in_little_time() {
    let place = Place::new("interpreter");
    let source = r#"
import sys
if open(sys.argv[1], "rb").read(1) == b"K":
    raise KeyError
"#;
    place.write("keys.py", source.as_bytes());
    place.write("in", b"Ketty 4 private");
    // Hardly time for anything: even then there is a double of the one byte that is needed.
    let arguments = ["anonymize", "--seed", "1", "--time", "1", "--json", "-i", "in", "--"];
    let program = ["/usr/bin/python3", "-SE", "keys.py", "@@"];
    let json = anonymized(&place, &arguments, &program);
    assert!(json["failure"]["words"].to_string().contains("KeyError"), "{}", json["failure"]);
    let bits = json["leak"]["bits"].as_f64().expect("a figure");
    assert!((8.0..32.0).contains(&bits), "{}", json["leak"]);
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

#[test]
fn arguments_and_variables_are_weakened_without_zeros() {
    let place = Place::new("texts");
    let source = r#"
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char *key = getenv("KEY");
  int digits = 0;
  for (char *c = argv[1]; *c; c++) digits += *c >= '0' && *c <= '9';
  if (key && key[0] == 'K' && argv[1][2] == '-') abort();
  return digits;
}
"#;
    let program = place.compile("texts", source, &[]);
    let arguments = ["anonymize", "--seed", "1", "--effort", "400", "--json"];
    let hidden = ["--symbolic-arg", "1", "--symbolic-env", "KEY", "--"];
    let command = [&arguments[..], &hidden, &[&program, "19-Kaltenbrunner"]].concat();
    let output = place.command(&command).env("KEY", "Ketty").output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    // Two bytes, and a little for each of the others, which is not zero.
    let bits = json["leak"]["bits"].as_f64().expect("a figure");
    assert!((16.0..18.0).contains(&bits), "{bits}");
}

#[test]
fn a_checksum_by_conditional_moves_is_solved() {
    let place = Place::new("moves");
    let source = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  static uint8_t data[256];
  size_t size = fread(data, 1, sizeof data, fopen(argv[1], "rb"));
  uint32_t sum = ~0u;
  for (size_t i = 0; i + 4 < size; i++) {
    sum ^= data[i];
    for (int k = 0; k < 8; k++) {
      uint32_t half = sum >> 1, turned = half ^ 0xEDB88320u;
      __asm__("testb $1, %b2\n\tcmovnel %1, %0" : "+r"(half) : "r"(turned), "q"(sum) : "cc");
      sum = half;
    }
  }
  uint8_t *end = data + size - 4;
  uint32_t wanted = end[0] | end[1] << 8 | end[2] << 16 | (uint32_t)end[3] << 24;
  if (~sum == wanted && data[0] == 'L') abort();
  return 0;
}
"#;
    let program = place.compile("moves", source, &[]);
    let letter = b"L is for a letter to Frau Hollenstein, which nobody else should read.";
    let mut crc = !0u32;
    for &byte in letter {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    place.write("in", &[&letter[..], &(!crc).to_le_bytes()].concat());
    let arguments =
        ["anonymize", "--seed", "1", "--algorithm", "castro", "--json", "-i", "in", "--"];
    let json = anonymized(&place, &arguments, &[&program, "@@"]);
    // The first byte, and the sum: 40 bits of 584.
    let leak = &json["leak"];
    assert_eq!((leak["bits"].as_f64(), leak["kind"].as_str()), (Some(40.0), Some("exact")));
}
