//! `stunt anonymize --check-memory` as its users see it: the first invalid access is the failure,
//! whether it does harm or not; what comes after it asks nothing of the input.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use stunt_report::Report;
use support::{Place, subject, text};

/// Runs the command with checked memory; the JSON that it prints.
fn checked(place: &Place, flags: &[&str], program: &str) -> Value {
    let mut words = vec!["anonymize", "--check-memory", "--json", "--seed", "1"];
    words.extend(["-i", "in", "-o", "r.zip"]);
    words.extend(flags);
    words.extend(["--", program, "@@"]);
    let output = place.stunt(&words);
    assert_eq!(output.status.code(), Some(0), "{flags:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The report says what is needed to see the failure again, and a replay needs nothing more.
#[track_caller]
fn replays(place: &Place, program: &str) {
    let report = Report::read(place.path("r.zip")).expect("a report").report;
    assert_eq!(report.failure.kind, "invalid-access");
    assert!(!report.replay.native && report.replay.check_memory && !report.verified.native);
    let notes = report.notes.join("\n");
    assert!(notes.contains("replayed in the machine, with the same check"), "{notes}");
    let output = place.stunt(&["replay", "r.zip", "--", program, "@@"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(
        said.starts_with("The double fails as the report says: invalid memory access"),
        "{said}"
    );
    let shown = text(&place.stunt(&["inspect", "r.zip"]).stdout);
    assert!(shown.contains("with checked memory, by itself"), "{shown}");
}

#[test]
fn the_web_server_reveals_its_method_and_what_urls_are_not() {
    let place = Place::new("checked-webserver");
    let (program, input) = subject("small-webserver-O1", "c/small-webserver/inputs/private.http");
    fs::copy(input, place.path("in")).expect("a copy");
    // The method is needed, all of it. Of each byte of the URL up to the canary behind an array of 20
    // bytes, it is that it does not end the URL: that it is none of four values.
    let (method, no_end) = (4.0 * 8.0, -(252.0_f64 / 256.0).log2());
    let mut totals = Vec::new();
    for algorithm in ["castro", "relaxed"] {
        let json = checked(&place, &["--algorithm", algorithm], &program);
        let bits = json["leak"]["bits"].as_f64().expect("a figure");
        assert_eq!(json["leak"]["kind"], "exact", "{algorithm}");
        let report = Report::read(place.path("r.zip")).expect("a report").report;
        let figure = |at| report.per_byte[0].at(at).map_or(0.0, |(bits, _)| bits);
        let figures: Vec<f64> = (0..report.bytes()).map(figure).collect();
        let url = figures[4..].iter().take_while(|&&bits| bits > 0.0).count();
        assert!((21..64).contains(&url), "{algorithm}: {url} bytes of the URL");
        assert!(figures[..4].iter().all(|&bits| bits == 8.0), "{algorithm}: {figures:?}");
        assert!(figures[4..4 + url].iter().all(|&bits| bits < 0.3), "{algorithm}: {figures:?}");
        assert!(figures[4 + url..].iter().all(|&bits| bits == 0.0), "{algorithm}: {figures:?}");
        if algorithm == "relaxed" {
            assert!((bits - method - url as f64 * no_end).abs() < 1e-3, "{bits}");
        }
        totals.push(bits);
        replays(&place, &program);
    }
    // On the path, it is also known by which of its tests each byte has passed.
    assert!(totals[0] > totals[1], "{totals:?}");
}

#[test]
fn an_overflow_that_does_no_harm_is_a_failure() {
    let place = Place::new("checked-silent");
    let (program, input) =
        subject("libyaml-uri-overflow-O1", "c/libyaml-uri-overflow/inputs/silent.yaml");
    fs::copy(input, place.path("in")).expect("a copy");
    // Natively it is no failure at all.
    let output = place.stunt(&["anonymize", "-i", "in", "--", &program, "@@"]);
    place.refused(&output, 3, "does not fail on this input");
    for algorithm in ["castro", "relaxed"] {
        checked(&place, &["--algorithm", algorithm], &program);
        replays(&place, &program);
    }
}

/// What is wrong depends on the first byte, which also says where.
const FAULTY: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static volatile char sink;
static void frame(int at) { volatile char small[16]; small[at] = 1; }
int main(int argc, char **argv) {
  unsigned char in[64] = {0};
  int file = open(argv[1], O_RDONLY);
  if (read(file, in, 8) != 8) return 2;
  char *block = malloc(16);
  if (in[0] == 'F') { free(block); sink = block[in[1] & 7]; }
  if (in[0] == 'C') frame(16 + (in[1] & 15));
  if (in[0] == 'S') block[in[1]] = 1;
  if (in[0] == 'R') read(file, block, 64);
  return 0;
}
"#;

#[test]
fn every_kind_of_invalid_access_is_found_and_replayed() {
    let place = Place::new("checked-kinds");
    let program = place.compile("faulty", FAULTY, &["-fstack-protector-all"]);
    for (input, bits) in [
        // Used after it was freed: wherever in the block.
        (&b"F3private"[..], Some(8.0)),
        // One of the eight bytes of the canary: half of all values.
        (b"C\x0aprivate", Some(9.0)),
        // Behind a block of 16 bytes: 240 of 256 values.
        (b"S\x20private", Some(8.0 + (256.0_f64 / 240.0).log2())),
        // The kernel stores too much; how much there is to read is no secret.
        (b"Rprivate and more than sixteen bytes of it", None),
    ] {
        place.write("in", input);
        let json = checked(&place, &["--algorithm", "relaxed"], &program);
        let leak = json["leak"]["bits"].as_f64().expect("a figure");
        if let Some(bits) = bits {
            assert!((leak - bits).abs() < 1e-6, "{:?}: {leak}", char::from(input[0]));
        }
        replays(&place, &program);
    }
    // Nothing is wrong.
    place.write("in", b"Nprivate");
    let output = place.stunt(&["anonymize", "--check-memory", "-i", "in", "--", &program, "@@"]);
    place.refused(&output, 3, "does not fail on this input: it exited with status 0");
}

#[test]
fn a_run_that_cannot_be_checked_to_its_end_is_no_healthy_one() {
    if !Path::new("/proc/cpuinfo").exists() {
        return;
    }
    let cpu = fs::read_to_string("/proc/cpuinfo").expect("an account of the processor");
    if !cpu.split_whitespace().any(|flag| flag == "avx") {
        return;
    }
    let place = Place::new("checked-unsupported");
    let source = r#"
int main(void) { __asm__ volatile("vaddps %%ymm1, %%ymm1, %%ymm1" ::: "xmm1"); return 0; }
"#;
    let program = place.compile("vector", source, &[]);
    place.write("in", b"x");
    let output = place.stunt(&["anonymize", "--check-memory", "-i", "in", "--", &program, "@@"]);
    place.refused(&output, 4, "does not have the instruction `vaddps");
    let said = text(&output.stderr);
    assert!(said.contains("This is a limit of stunt, not a bug of the program"), "{said}");
}
