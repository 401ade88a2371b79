//! `stunt anonymize` and `stunt replay` as their users see them, on small programs compiled here:
//! what they say where something is wrong, what they leave behind, and what they never print.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use stunt_report::Report;
use support::{CANARY, PARSER, Place, text};

fn report_of(path: &Path) -> Report {
    Report::read(path).expect("a report").report
}

#[test]
fn a_crash_becomes_a_report_that_replays() {
    let place = Place::new("whole");
    let program = place.compile("parser", PARSER, &[]);
    place.write("private.txt", CANARY);
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "private.txt",
        "--seed",
        "1",
        "--",
        &program,
        "@@",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.starts_with("The program fails with abort in check"), "{said}");
    assert!(said.contains("reveals exactly 24 of"), "{said}");

    let opened = Report::read(place.path("stunt-report.zip")).expect("a report");
    assert_eq!(opened.report.arguments, ["@@"]);
    assert_eq!(opened.report.program.name, "parser");
    assert!(opened.doubles[0].starts_with(b"BUG"));
    assert_eq!(opened.doubles[0].len(), CANARY.len());

    // The program that the report names is here; natively and in the machine it fails alike.
    for arguments in
        [&["replay", "stunt-report.zip", "--yes"][..], &["replay", "stunt-report.zip", "--machine"]]
    {
        let output = place.stunt(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).starts_with("The double fails as the report says: abort"));
    }
    place.nothing_is_left();
}

#[test]
fn what_a_double_tells_is_explained_and_decoded() {
    let place = Place::new("explained");
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(int n, char **a) {\n\
                  char text[200] = {0};\nFILE *f = fopen(a[n - 1], \"r\");\nif (!f) return 2;\n\
                  fread(text, 1, 199, f);\nif (strstr(text, \"Content-Disposition\")) abort();\nreturn 0; }\n";
    let program = place.compile("mail", source, &[]);
    place.write(
        "private.txt",
        b"Subject: a secret\nContent-Disposition: form-data; name=my secret\n",
    );
    let base = ["anonymize", "-i", "private.txt", "--seed", "1", "--", &program, "@@"];
    let output = place.stunt(&base);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let tells = report_of(&place.path("stunt-report.zip")).tells.expect("it says what it tells");
    assert!(text(&output.stdout).contains("answers of yes or no"), "{}", text(&output.stdout));
    // The word is the program's own.
    assert!(tells.bits < 60.0, "{}", tells.words);
    assert!(
        tells
            .pieces
            .iter()
            .any(|it| it.words.contains("the word `Content-Disposition` of the program"))
    );
    // All that is told adds up.
    let sum: f64 = tells.pieces.iter().map(|piece| piece.bits).sum();
    assert!((sum - tells.bits).abs() < 0.001, "{sum} and {}", tells.bits);
    let output = place.stunt(&["explain", "stunt-report.zip", "--", &program]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.starts_with("It tells about "), "{said}");
    assert!(said.contains("describe a set that has the double"), "{said}");
    // Another program has other words.
    let other = place.compile("other", "int main(void) { return *\"elephants\"; }", &[]);
    let output = place.stunt(&["explain", "stunt-report.zip", "--", &other]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("have other words"));
    place.nothing_is_left();
}

#[test]
fn json_has_what_programs_need() {
    let place = Place::new("json");
    let program = place.compile("parser", PARSER, &[]);
    place.write("private.txt", CANARY);
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "private.txt",
        "-o",
        "r.zip",
        "--json",
        "--seed",
        "1",
        "--",
        &program,
        "@@",
    ]);
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    assert_eq!(value["failure"]["kind"], "abort");
    assert_eq!(value["failure"]["signature"].as_str().map(str::len), Some(16));
    assert!(value["failure"]["frames"].as_array().is_some_and(|frames| !frames.is_empty()));
    assert_eq!(value["input"]["bytes"], CANARY.len());
    for leak in ["leak", "original_path_leak"] {
        assert_eq!(value[leak]["kind"], "exact", "{leak}");
        assert_eq!(value[leak]["bits"], 24.0, "{leak}");
        assert!(value[leak]["percent"].as_f64().is_some_and(|it| it > 3.0 && it < 5.0), "{leak}");
    }
    assert!(value["residue_percent"].is_number());
    assert_eq!(value["verified"]["native"], true);
    assert_eq!(value["verified"]["runs"], 3);
    assert_eq!(value["algorithm"], "relaxed");
    assert!(value["tests"].as_u64().is_some_and(|tests| tests > 0));
    assert_eq!(value["pins"], 0);
    assert!(value["instructions"].as_u64().is_some_and(|it| it > 1000));
    for part in ["trace", "solve", "search", "count", "verify", "total"] {
        assert!(value["seconds"][part].is_number(), "{part}");
    }
    assert_eq!(value["report"], "r.zip");
}

#[test]
fn private_text_is_in_no_output_and_no_report() {
    let place = Place::new("canary");
    // It prints the input, and fails with a message that quotes it.
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char data[4096] = "";
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 2;
  fread(data, 1, sizeof data - 1, f);
  if (data[0] != 'B' || data[1] != 'U' || data[2] != 'G') return 0;
  printf("got %s\n", data);
  fprintf(stderr, "fatal: cannot process %s\n", data);
  fflush(0);
  abort();
}
"#;
    let program = place.compile("loud", source, &[]);
    place.write("private.txt", CANARY);
    for (number, extra) in [
        &["-vv", "--stats"][..],
        &["--json", "--algorithm", "relaxed"],
        &["--algorithm", "castro"],
        &["--algorithm", "camouflage"],
        &["--algorithm", "respa"],
        &["--algorithm", "reap-bag"],
        &["--algorithm", "blackbox"],
    ]
    .iter()
    .enumerate()
    {
        let report = format!("r{number}.zip");
        let mut arguments = vec!["anonymize", "-i", "private.txt", "--seed", "5", "-o", &report];
        arguments.extend(["--effort", "1500"]);
        arguments.extend(*extra);
        arguments.extend(["--", &program, "@@"]);
        let output = place.stunt(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let opened = Report::read(place.path(&report)).expect("a report");
        let json = opened.report.to_json();
        let seen = [&output.stdout, &output.stderr, json.as_bytes(), &opened.doubles[0]];
        // What the failure needs are the first three bytes, and nothing else.
        for (at, window) in CANARY.windows(4).enumerate().skip(3) {
            for part in seen {
                let found = part.windows(4).any(|other| other == window);
                assert!(!found, "4 bytes from {at} on are shown ({extra:?})");
            }
        }
        let shown = place.stunt(&["inspect", &report]);
        for window in CANARY.windows(4).skip(3) {
            assert!(!shown.stdout.windows(4).any(|other| other == window));
        }
    }
}

#[test]
fn every_kind_of_input_is_replaced_and_replayed() {
    let place = Place::new("sources");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char *e = getenv("STUNT_TEST_SECRET"), line[64] = "";
  if (argc < 3 || !e) return 2;
  fread(line, 1, 63, stdin);
  if (argv[2][0] == 'a' && e[0] == 'e' && line[0] == 's') abort();
  return 0;
}
"#;
    let program = place.compile("three", source, &[]);
    place.write("in.txt", b"stdin-secret");
    let output = place
        .command(&[
            "anonymize",
            "--algorithm",
            "relaxed",
            "-i",
            "in.txt",
            "-o",
            "r.zip",
            "--symbolic-arg",
            "2",
        ])
        .args(["--symbolic-env", "STUNT_TEST_SECRET", "--", &program, "plain", "arg-secret"])
        .env("STUNT_TEST_SECRET", "env-secret")
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let opened = Report::read(place.path("r.zip")).expect("a report");
    assert_eq!(opened.report.arguments, ["plain", "<arg 2>"]);
    let firsts: Vec<u8> = opened.doubles.iter().map(|double| double[0]).collect();
    assert_eq!(firsts, b"sae");
    // Three bytes are known; the others of the argument and of the variable are not zero.
    let not_zero = (256.0_f64 / 255.0).log2();
    let expected = 24.0 + not_zero * ("arg-secret".len() + "env-secret".len() - 2) as f64;
    // Where the variable lies on the stack decides how the C library looks for it, and so what a few
    // of its bytes must not be.
    let bits = opened.report.leak.bits;
    assert!((expected - 1e-5..expected + 0.5).contains(&bits), "{bits}");
    assert!(!opened.doubles[1].contains(&0) && !opened.doubles[2].contains(&0));
    for flags in [&["--yes", "--env", "STUNT_TEST_SECRET"][..], &["--machine"]] {
        let mut arguments = vec!["replay", "r.zip"];
        arguments.extend(flags);
        let output = place.stunt(&arguments);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{} {}",
            text(&output.stdout),
            text(&output.stderr)
        );
    }
}

#[test]
fn what_cannot_be_a_program_gets_a_sentence() {
    let place = Place::new("programs");
    place.write("in", b"x");
    let mut arm = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0".to_vec();
    arm.resize(64, 0);
    place.executable("arm", &arm);
    place.executable("script", b"#!/usr/bin/env python3\nprint()\n");
    place.executable("text", b"just text\n");
    place.write("plain", b"\x7fELF");
    let program = place.compile("parser", PARSER, &[]);
    fs::copy(&program, place.path("unexecutable")).expect("a copy");
    place.mode("unexecutable", 0o644);
    for (program, sentence) in [
        ("./absent", "does not exist; give the path of a program"),
        ("no-such-program-as-this", "is in the folders of PATH; give its path"),
        ("./unexecutable", "is not executable; `chmod +x"),
        ("./arm", "is an ELF program for AArch64; stunt runs ELF programs for x86-64 Linux"),
        ("./text", "is a text file; stunt runs ELF programs"),
        ("./plain", "is the beginning of an ELF file"),
        ("./script", "is a script for python3; run that, with the script as its argument"),
        ("./", "is not a file; give the path of a program"),
    ] {
        let output =
            place.stunt(&["anonymize", "--algorithm", "relaxed", "-i", "in", "--", program, "@@"]);
        place.refused(&output, 2, sentence);
    }
}

#[test]
fn inputs_that_cannot_be_used_get_a_sentence() {
    let place = Place::new("inputs");
    let program = place.compile("parser", PARSER, &[]);
    place.write("empty", b"");
    place.write("in", b"BUG");
    fs::create_dir(place.path("folder")).expect("a folder");
    // Sparse: it takes no room.
    let large = fs::File::create(place.path("large")).expect("a file");
    large.set_len((64 << 20) + 1).expect("its length");
    let pipe = Command::new("mkfifo").arg(place.path("pipe")).status().expect("mkfifo");
    assert!(pipe.success());
    for (input, sentence) in [
        ("empty", "the input is empty, so there is nothing to make a double of"),
        ("absent", "the input absent cannot be read: No such file"),
        // It has no files.
        ("folder", "the input is empty, so there is nothing to make a double of"),
        ("large", "is larger than 64 MB, the most that stunt follows"),
        ("pipe", "is not a regular file; copy it into one"),
    ] {
        let output = place.stunt(&[
            "anonymize",
            "--algorithm",
            "relaxed",
            "-i",
            input,
            "--",
            &program,
            "@@",
        ]);
        place.refused(&output, 2, sentence);
    }
    let output =
        place.stunt(&["anonymize", "--algorithm", "relaxed", "-i", "/dev/zero", "--", &program]);
    place.refused(&output, 2, "is larger than 64 MB");
    // Standard input is /dev/null.
    let output = place.stunt(&["anonymize", "--algorithm", "relaxed", "--", &program]);
    place.refused(&output, 2, "the input is empty");
    let output = place.stunt(&["anonymize", "--algorithm", "relaxed", "--", &program, "@@"]);
    place.refused(&output, 2, "there is @@ in the arguments, but no input: give one with -i");
    for (flags, sentence) in [
        (&["--public", "file:0-2"][..], "the whole input is public"),
        (&["--public", "stdin"], "names `stdin`, which is no input"),
        (&["--public", "file:3-1"], "the range ends before it begins"),
        (&["--symbolic-arg", "2"], "there is no argument 2 that could be private"),
        (&["--symbolic-env", "NO_SUCH_VARIABLE"], "the environment has no variable"),
    ] {
        let mut arguments = vec!["anonymize", "--algorithm", "relaxed", "-i", "in"];
        arguments.extend(flags);
        arguments.extend(["--", &program, "@@"]);
        place.refused(&place.stunt(&arguments), 2, sentence);
    }
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "in",
        "--fails-if",
        "crash",
        "--",
        &program,
        "@@",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr)
            .contains("say exit=N, signal=N, stdout~REGEX, stderr~REGEX, hang=SECONDS or oom=SIZE")
    );
}

#[test]
fn a_program_that_does_not_fail_says_what_it_did() {
    let place = Place::new("healthy");
    let program = place.compile("parser", PARSER, &[]);
    let sleeper =
        place.compile("sleeper", "#include <unistd.h>\nint main() { for (;;) pause(); }", &[]);
    let code = place.compile("code", "int main() { return 7; }", &[]);
    place.write("in", b"fine");
    let output =
        place.stunt(&["anonymize", "--algorithm", "relaxed", "-i", "in", "--", &program, "@@"]);
    place.refused(&output, 3, "does not fail on this input: it exited with status 0");
    let output =
        place.stunt(&["anonymize", "--algorithm", "relaxed", "-i", "in", "--", &code, "@@"]);
    place.refused(
        &output,
        3,
        "it exited with status 7; if that is the failure, say --fails-if exit=7",
    );
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "in",
        "--fails-if",
        "exit=8",
        "--",
        &code,
        "@@",
    ]);
    place.refused(&output, 3, "it exited with status 7; --fails-if exit=8 does not hold");
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "in",
        "--timeout",
        "1",
        "--",
        &sleeper,
        "@@",
    ]);
    place.refused(&output, 3, "it did not end in time; give it more with --timeout");
}

#[test]
fn a_stated_failure_is_one() {
    let place = Place::new("stated");
    let source = r#"
#include <stdio.h>
int main(int argc, char **argv) { return getchar() == '!' ? 9 : 0; }
"#;
    let program = place.compile("stated", source, &[]);
    place.write("in", b"!secret");
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "in",
        "--fails-if",
        "exit=9",
        "-o",
        "r.zip",
        "--",
        &program,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report = report_of(&place.path("r.zip"));
    assert_eq!(report.replay.fails_if.as_deref(), Some("exit=9"));
    for arguments in [&["replay", "r.zip", "--yes"][..], &["replay", "r.zip", "--machine"]] {
        let output = place.stunt(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "The double fails as the report says: exit=9.\n");
    }
}

#[test]
fn a_failure_that_changes_cannot_be_proved() {
    let place = Place::new("changing");
    // Each run fails in another way than the one before: a file tells which it is.
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  if (remove(MARK) == 0) abort();
  fclose(fopen(MARK, "w"));
  *(volatile char *)0 = 1;
}
"#;
    let mark = format!("-DMARK=\"{}\"", place.path("mark").display());
    let program = place.compile("changing", source, &[&mark]);
    place.write("in", b"x");
    let output =
        place.stunt(&["anonymize", "--algorithm", "relaxed", "-i", "in", "--", &program, "@@"]);
    place.refused(&output, 5, "the program fails differently each time: SIGSEGV in main");
    // A program that fails only sometimes has a double that fails only sometimes, and it is said. This one
    // counts its runs, and every third is fine.
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  FILE *f = fopen(MARK, "a");
  if (!f || ftell(f) % 3 == 2) { if (f) fputc('.', f); return 0; }
  fputc('.', f);
  fclose(f);
  abort();
}
"#;
    let mark = format!("-DMARK=\"{}\"", place.path("other-mark").display());
    let program = place.compile("sometimes", source, &[&mark]);
    let flags = ["anonymize", "--even-if-any-input-fails", "--algorithm", "relaxed"];
    let output = place.stunt(&[&flags[..], &["-i", "in", "--", &program, "@@"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("it came in 7 of 10 runs on the original"), "{said}");
}

#[test]
fn an_instruction_that_the_machine_lacks_is_named() {
    let cpu = fs::read_to_string("/proc/cpuinfo").expect("an account of the processor");
    if !cpu.split_whitespace().any(|flag| flag == "avx") {
        // Without it, the program fails in another way before stunt could say anything.
        return;
    }
    let place = Place::new("unsupported");
    let source = r#"
#include <stdlib.h>
int main(int argc, char **argv) {
  __asm__ volatile("vaddps %%ymm1, %%ymm1, %%ymm1" ::: "xmm1");
  abort();
}
"#;
    let program = place.compile("vector", source, &[]);
    place.write("in", b"x");
    let anonymize = ["anonymize", "--algorithm", "relaxed", "--even-if-any-input-fails"];
    for command in [&anonymize[..], &["trace"]] {
        let output = place.stunt(&[command, &["-i", "in", "--", &program, "@@"]].concat());
        place.refused(&output, 4, "does not have the instruction `vaddps");
        let said = text(&output.stderr);
        assert!(said.contains("(at main+0x") && said.contains(", vector+0x"), "{said}");
        assert!(said.contains("This is a limit of stunt, not a bug of the program"), "{said}");
    }
}

#[test]
fn what_the_machine_lacks_is_done_without_it() {
    let place = Place::new("fallback");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char data[16] = {0};
  fread(data, 1, 15, fopen(argv[1], "rb"));
  __asm__ volatile("vaddps %%ymm1, %%ymm1, %%ymm1" ::: "xmm1");
  if (data[0] == 'K' && data[5] >= '0' && data[5] <= '9') abort();
  return 0;
}
"#;
    let program = place.compile("vector", source, &[]);
    place.write("in", b"Ketty4private!!");
    let output =
        place.stunt(&["anonymize", "--seed", "1", "--json", "-i", "in", "--", &program, "@@"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(json["notes"].to_string().contains("vaddps"), "{}", json["notes"]);
    // One byte and a digit: 8 + 4.68 bits; what was measured may be a little more.
    let bits = json["leak"]["bits"].as_f64().expect("a figure");
    assert!((12.6..14.5).contains(&bits), "{bits}");
}

#[test]
fn scripts_get_doubles_too() {
    let place = Place::new("script");
    let source = r#"#!/usr/bin/python3 -SE
import sys
for line in open(sys.argv[1], "rb"):
    key, _, value = line.partition(b"=")
    if key == b"age":
        int(value)
"#;
    place.write("ages.py", source.as_bytes());
    let script = place.path("ages.py");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, mode).expect("executable");
    place.write("in", b"who=Wilhelmina\nage=none of yours\n");
    let output = place.stunt(&[
        "anonymize",
        "--seed",
        "1",
        "--effort",
        "1000",
        "--json",
        "-i",
        "in",
        "-o",
        "r.zip",
        "--",
        &script.display().to_string(),
        "@@",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(json["failure"]["words"].to_string().contains("ValueError"), "{}", json["failure"]);
    // The key must stay, and that its value is no number; how much else goes is a matter of time.
    let bits = json["leak"]["bits"].as_f64().expect("a figure");
    assert!((8.0 * 4.0..8.0 * 30.0).contains(&bits), "{bits}");
    let replayed = place.stunt(&["replay", "r.zip", "--", &script.display().to_string(), "@@"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
}

#[test]
fn a_failure_that_comes_now_and_then_is_handled_and_said() {
    let place = Place::new("flaky");
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char data[32] = {0};
  fread(data, 1, 31, fopen(argv[1], "rb"));
  if (data[3] == '!' && getpid() % 3) abort();
  return 0;
}
"#;
    let program = place.compile("flaky", source, &[]);
    place.write("in", b"oh ! what a private document");
    let output = place.stunt(&["anonymize", "--json", "-i", "in", "--", &program, "@@"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let notes = json["notes"].to_string();
    assert!(notes.contains("does not come every time"), "{notes}");
    assert!(json["leak"]["bits"].as_f64().is_some_and(|bits| bits < 16.0), "{}", json["leak"]);
}

#[test]
fn a_system_call_that_the_machine_lacks_is_named() {
    let place = Place::new("missing-call");
    let source = r#"
#include <stdlib.h>
#include <sys/inotify.h>
int main(int argc, char **argv) { if (inotify_init1(0) < 0) return 1; abort(); }
"#;
    let program = place.compile("watcher", source, &[]);
    place.write("in", b"x");
    let flags = ["anonymize", "--even-if-any-input-fails", "--algorithm", "relaxed"];
    let output = place.stunt(&[&flags[..], &["-i", "in", "--", &program, "@@"]].concat());
    place.refused(
        &output,
        4,
        "which does not have the system call inotify_init1 (at inotify_init1+0x",
    );
    let said = text(&output.stderr);
    assert!(said.contains(", libc.so.6+0x") && said.contains("), it exited with"), "{said}");
    assert!(said.contains("This is a limit of stunt, not a bug of the program"), "{said}");
}

#[test]
fn a_report_that_cannot_be_written_leaves_nothing() {
    let place = Place::new("unwritable");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    fs::create_dir(place.path("folder")).expect("a folder");
    for (output, sentence) in [
        ("no/such/folder/r.zip", "there is no folder no/such/folder for the report; make it first"),
        ("folder", "folder is not a file; give the report another name"),
        ("/dev/full", "/dev/full is not a file; give the report another name"),
    ] {
        let output = place.stunt(&[
            "anonymize",
            "--algorithm",
            "relaxed",
            "-i",
            "in",
            "-o",
            output,
            "--",
            &program,
            "@@",
        ]);
        place.refused(&output, 2, sentence);
    }
    // Half-way through, there is no room for more: files may have 1,024 bytes. The double has less,
    // but it is random, and so the report is longer.
    place.write("in", &[b"BUG".as_slice(), &[b'x'; 900]].concat());
    let script = format!(
        "trap '' XFSZ; ulimit -f 1; exec '{}' anonymize -i in -o folder/r.zip -- '{program}' @@",
        env!("CARGO_BIN_EXE_stunt")
    );
    let output = place.in_bash(&script);
    place.refused(&output, 2, "the report was not written: cannot write folder/r.zip");
    assert_eq!(fs::read_dir(place.path("folder")).expect("the folder").count(), 0);
    // What was there before stays as it was.
    place.write("old.zip", b"old");
    let script = script.replace("folder/r.zip", "old.zip");
    assert_eq!(place.in_bash(&script).status.code(), Some(2));
    assert_eq!(fs::read(place.path("old.zip")).expect("it is there"), b"old");
}

#[test]
fn a_replay_that_goes_otherwise_says_how() {
    let place = Place::new("otherwise");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    let made = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "in",
        "-o",
        "r.zip",
        "--",
        &program,
        "@@",
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let fixed = place.compile("fixed", "int main() { return 0; }", &[]);
    let other = place.compile("other", "int main() { *(volatile char *)0 = 1; }", &[]);
    // The same program with more in front of it: addresses and lines are others.
    let moved = format!("int more(int n) {{ return n * 7; }}\n\n{PARSER}");
    let moved = place.compile("moved", &moved, &[]);
    let sleeper =
        place.compile("sleeper", "#include <unistd.h>\nint main() { for (;;) pause(); }", &[]);
    for (program, code, bisect, words) in [
        (&program, 0, 1, "The double fails as the report says: abort in check"),
        (
            &moved,
            0,
            1,
            "The double fails as the report says, in another build of the program: abort in check",
        ),
        (
            &fixed,
            1,
            0,
            "The double does not fail: the program exited with status 0, where the report says abort in",
        ),
        (&other, 1, 0, "The double fails differently: SIGSEGV in main"),
    ] {
        for machine in [&[][..], &["--machine"]] {
            let with = |flags: &[&str]| {
                let mut arguments = vec!["replay", "r.zip"];
                arguments.extend(flags);
                arguments.extend(machine);
                arguments.extend(["--", program, "@@"]);
                place.stunt(&arguments)
            };
            let output = with(&[]);
            assert!(text(&output.stdout).starts_with(words), "{}", text(&output.stdout));
            assert_eq!(output.status.code(), Some(code), "{program}");
            assert_eq!(with(&["--bisect"]).status.code(), Some(bisect), "{program}");
            let value: Value = serde_json::from_slice(&with(&["--json"]).stdout).expect("JSON");
            assert_eq!(value["same"], code == 0, "{program}");
        }
    }
    // What cannot be tried is skipped by a bisection.
    for (program, code, sentence) in [
        ("./absent", 2, "does not exist"),
        (sleeper.as_str(), 4, "does not end in time; give it more with --timeout"),
    ] {
        let output = place.stunt(&["replay", "r.zip", "--timeout", "1", "--", program, "@@"]);
        assert_eq!(output.status.code(), Some(code), "{program}");
        assert!(text(&output.stderr).contains(sentence), "{}", text(&output.stderr));
        let output =
            place.stunt(&["replay", "r.zip", "--timeout", "1", "--bisect", "--", program, "@@"]);
        assert_eq!(output.status.code(), Some(125), "{program}");
    }
    for (report, sentence) in [("absent.zip", "cannot read absent.zip"), ("in", "is not a report")]
    {
        let output = place.stunt(&["replay", report]);
        place.refused(&output, 2, sentence);
        assert_eq!(place.stunt(&["replay", "--bisect", report]).status.code(), Some(125));
    }
    place.refused(&place.stunt(&["replay", "r.zip", "--", &program]), 2, "write @@ there");
    place.nothing_is_left();
}

#[test]
fn a_double_is_kept_if_asked() {
    let place = Place::new("kept");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    let made = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "in",
        "-o",
        "r.zip",
        "--",
        &program,
        "@@",
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let output = place.stunt(&["replay", "--keep", "--yes", "r.zip"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    let folder = said.lines().find_map(|line| line.strip_prefix("stunt: the double is in "));
    let folder = PathBuf::from(folder.expect("a folder"));
    let opened = Report::read(place.path("r.zip")).expect("a report");
    assert_eq!(fs::read(folder.join("file")).expect("the double"), opened.doubles[0]);
}

#[test]
fn a_report_does_not_choose_the_folder_of_a_program() {
    let place = Place::new("stranger");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    let made = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "in",
        "-o",
        "r.zip",
        "--",
        &program,
        "@@",
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let opened = Report::read(place.path("r.zip")).expect("a report");
    for name in ["/bin/touch", "../parser", ".", ""] {
        let mut report = opened.report.clone();
        report.program.name = name.to_owned();
        report.arguments = vec![place.path("touched").display().to_string(), "@@".to_owned()];
        if report.write(&opened.doubles, place.path("other.zip")).is_err() {
            // Not even a report.
            continue;
        }
        let output = place.stunt(&["replay", "other.zip"]);
        place.refused(&output, 2, "names no program that could be looked for; give one after --");
        assert!(!place.path("touched").exists());
    }
    // What it would run is shown, and not run where nobody can be asked.
    let output: Output = place.stunt(&["replay", "r.zip"]);
    let said = text(&output.stderr);
    let shown = "stunt: about to run, contained: ./parser @@\nstunt: the report brings the file: ";
    assert!(said.starts_with(shown) && said.contains("nothing was run"), "{said}");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
    // On a terminal, which `script` provides, the user is asked.
    let stunt = env!("CARGO_BIN_EXE_stunt");
    for (answer, flags, code) in [("n", "", 2), ("", "", 2), ("y", "", 0), ("", "--yes", 0)] {
        let script =
            format!("echo {answer} | script -qec \"'{stunt}' replay r.zip {flags}\" /dev/null");
        let output = place.in_bash(&script);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{answer} {flags}: {said}");
        assert_eq!(said.contains("[y/N]"), flags.is_empty(), "{said}");
        assert_eq!(said.contains("nothing was run"), code == 2, "{said}");
    }
}

#[test]
fn logs_have_a_line_for_each_part_of_the_work() {
    let place = Place::new("logs");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-v",
        "-i",
        "in",
        "--",
        &program,
        "@@",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    for span in ["trace{", "solve{", "count: close", "verify{"] {
        assert!(said.contains(span), "{span} in {said}");
    }
    assert!(!said.contains("DEBUG"), "{said}");
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-vv",
        "-i",
        "in",
        "--",
        &program,
        "@@",
    ]);
    assert!(text(&output.stderr).contains("DEBUG"), "{}", text(&output.stderr));
}

#[test]
fn the_pages_show_real_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = |name: &str| fs::read_to_string(root.join(name)).expect("the file");
    let first_steps = page("docs/first-steps.md");
    let readme = page("README.md");
    let place = Place::new("pages");
    let programs = root.join("tests/programs");
    fs::copy(programs.join("settings.conf"), place.path("settings.conf")).expect("a copy");
    let gcc = Command::new("gcc")
        .args(["-g", "-o"])
        .arg(place.path("settings"))
        .arg(programs.join("settings.c"))
        .current_dir(&programs)
        .status();
    assert!(gcc.expect("gcc is there").success());
    let calls: [(&str, &[(&str, &String)]); 3] = [
        (
            "anonymize -i settings.conf --seed 1 -- ./settings @@",
            &[("README.md", &readme), ("first-steps.md", &first_steps)],
        ),
        ("inspect stunt-report.zip", &[("first-steps.md", &first_steps)]),
        ("replay stunt-report.zip -- ./settings @@", &[("first-steps.md", &first_steps)]),
    ];
    for (call, pages) in calls {
        let output = text(&place.stunt(&call.split(' ').collect::<Vec<_>>()).stdout);
        for (name, page) in pages {
            shows(name, page, call, &output);
        }
    }
}

/// A page has a call of stunt, and its output but for what differs each time.
fn shows(name: &str, page: &str, call: &str, output: &str) {
    assert!(page.contains(&format!("$ stunt {call}\n")), "{name} has no `stunt {call}`");
    // Figures depend on chance and on the machine, addresses on the compiler, and the picture on
    // the figures; how lines begin does not.
    let shown = without_digits(page);
    for line in output.lines().take_while(|line| !line.starts_with("The file, ")) {
        let line = without_digits(line);
        let start: String = line.chars().take(20).collect();
        assert!(shown.contains(&start), "{name} has no `{start}` for `stunt {call}`:\n{output}");
    }
}

#[test]
fn other_tools_understand_the_path_condition() {
    let place = Place::new("trace");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    for flags in [&["--smtlib"][..], &["--smtlib", "--exact"]] {
        let mut arguments = vec!["trace", "-i", "in"];
        arguments.extend(flags);
        arguments.extend(["--", &program, "@@"]);
        let output = place.stunt(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        place.write("condition.smt2", &output.stdout);
        let z3 = Command::new("z3").arg(place.path("condition.smt2")).output().expect("z3");
        let answer = text(&z3.stdout);
        assert!(answer.starts_with("sat"), "{answer}");
        // And so does stunt.
        let measured = place.stunt(&["measure", "condition.smt2"]);
        assert!(text(&measured.stdout).contains("reveals exactly 24.00 bits of 24"));
    }
}

/// A text with one mark for every number.
fn without_digits(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            other => out.push(other),
        }
    }
    out
}

#[test]
fn a_double_is_debugged_where_it_fails_and_backwards() {
    let place = Place::new("debug");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    let make = ["anonymize", "--algorithm", "relaxed", "--seed", "1", "-i", "in", "-o", "r.zip"];
    let made = place.stunt(&[&make[..], &["--", &program, "@@"]].concat());
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let commands = "set width 0\nbacktrace\nwhy 0\ninput\nwhy 99999\ngoto start\nwhen\ngoto end\n\
                    break check\nreverse-continue\np d[2]\nmonitor help\nquit\n";
    place.write("commands", commands.as_bytes());
    let output = place
        .command(&["debug", "r.zip", "--gdb", "gdb", "--", &program, "@@"])
        .stdin(fs::File::open(place.path("commands")).expect("the commands"))
        .output()
        .expect("the command starts");
    let (said, shown) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("about to run, in the machine, where nothing reaches the host"),
        "{said}"
    );
    assert!(said.contains("The double fails as the report says: abort in check"), "{said}");
    // What stunt answers goes to standard error, as gdb has it.
    let all = format!("{shown}{said}");
    for text in [
        " in check (d=",
        " in main (argc=",
        "file: 0 \"B\": ",
        "check (parser.c:4)",
        "before instruction ",
        "file: 2 \"G\"",
        "A byte of the double belongs here: why 7, why 7-9, why file:7.",
        "Instruction 0 of ",
        "Breakpoint 1, check (d=",
        "= 71 'G'",
        "why OFFSET|FROM-TO",
    ] {
        assert!(all.contains(text), "no {text:?} in {all}");
    }
    place.nothing_is_left();
    // Only this machine may connect.
    let output = place.stunt(&["debug", "r.zip", "--listen", "0.0.0.0:1", "--", &program, "@@"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("only addresses of this machine"));
}
