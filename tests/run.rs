//! `stunt run` as its users see it: the program's own output and status, and an account of failures.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn stunt(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stunt"));
    command.arg("run").args(arguments).env_remove("RUST_BACKTRACE").stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    stunt(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn output_and_status_are_the_programs_own() {
    let output = run(&["--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!(text(&output.stdout), "out\n");
    assert_eq!(text(&output.stderr), "err\n");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn standard_input_is_passed_on() {
    let mut child = stunt(&["--", "sort"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    child.stdin.take().expect("a pipe").write_all(b"b\na\n").expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(text(&output.stdout), "a\nb\n");
}

#[test]
fn a_failure_gets_an_account_with_functions_and_lines() {
    let folder = folder("account");
    let source = folder.join("divide.c");
    fs::write(
        &source,
        "int by(int n) { return 7 / n; }\nint main(int c, char **v) { return by(c - 1); }\n",
    )
    .expect("the source");
    let program = folder.join("divide");
    let status = Command::new("gcc")
        .args(["-g", "-O0", "-o"])
        .args([&program, &source])
        .status()
        .expect("gcc is there");
    assert!(status.success());
    let output = run(&["--", program.to_str().expect("a plain path")]);
    let account = text(&output.stderr);
    assert!(account.starts_with("stunt: the program was killed by SIGFPE"), "{account}");
    for part in ["#0  by+", "divide.c:1", "#1  main+", "divide.c:2", "(divide+0x"] {
        assert!(account.contains(part), "{part} in {account}");
    }
    assert_eq!(output.status.code(), Some(128 + 8));
}

#[test]
fn what_cannot_be_run_gets_a_sentence() {
    let folder = folder("refusals");
    let file = |name: &str, bytes: &[u8], mode: u32| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
        path.to_str().expect("a plain path").to_string()
    };
    let mut arm = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0".to_vec();
    arm.resize(64, 0);
    for (program, sentence) in [
        (folder.join("absent").to_str().expect("a plain path").to_string(), "check the path"),
        (file("text", b"just text", 0o755), "is not a program"),
        (file("plain", b"#!/bin/sh\n", 0o644), "may not be executed"),
        (file("script", b"#!/no/such/interpreter\n", 0o755), "an interpreter that is not there"),
        (file("arm", &arm, 0o755), "a program for AArch64"),
    ] {
        let output = run(&["--", &program]);
        assert!(text(&output.stderr).contains(sentence), "{}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{program}");
    }
    let output = run(&["--", "no-such-program-as-this"]);
    assert!(text(&output.stderr).contains("in PATH"), "{}", text(&output.stderr));
}

#[test]
fn only_what_is_allowed_can_be_read() {
    let folder = folder("allow");
    for name in ["open", "closed"] {
        fs::create_dir(folder.join(name)).expect("a folder");
        fs::write(folder.join(name).join("file"), name).expect("a file");
    }
    let path = |name: &str| folder.join(name).to_str().expect("a plain path").to_string();
    let (open, closed) = (path("open/file"), path("closed/file"));
    let output = run(&["--allow", &path("open"), "--", "cat", &open, &closed]);
    assert_eq!(text(&output.stdout), "open");
    assert!(text(&output.stderr).contains("No such file or directory"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn nothing_is_written_to_the_host() {
    let folder = folder("write");
    let path = folder.join("file").to_str().expect("a plain path").to_string();
    let output = run(&["--", "sh", "-c", "echo x > \"$0\"; cat \"$0\"", &path]);
    assert_eq!(text(&output.stdout), "x\n");
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
}

#[test]
fn limits_end_a_run_with_a_sentence() {
    let output = run(&["--instructions", "1000000", "--", "sh", "-c", "while :; do :; done"]);
    assert!(text(&output.stderr).contains("all instructions are used up"));
    assert_eq!(output.status.code(), Some(4));
    let greedy = "my @a; while (1) { push @a, 'x' x 1000000 }";
    let output = run(&["--memory", "64M", "--", "perl", "-e", greedy]);
    assert!(text(&output.stderr).contains("all memory is used up"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn statistics_count_instructions() {
    let output = run(&["--stats", "--", "true"]);
    let stats = text(&output.stderr);
    let line = stats.lines().find_map(|line| line.strip_prefix("instructions: "));
    let count: u64 = line.expect("a line").parse().expect("a number");
    assert!((10_000..10_000_000).contains(&count), "{count}");
    // The same run takes the same instructions.
    assert!(text(&run(&["--stats", "--", "true"]).stderr).contains(&format!("{count}\n")));
}

#[test]
fn system_calls_that_are_missing_are_listed_with_their_place() {
    let folder = folder("missing");
    let source = folder.join("watcher.c");
    let text_of = r#"
#define _GNU_SOURCE
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
  int word = 0;
  inotify_init1(0);
  inotify_init1(0);
  /* A form of a call that is there: FUTEX_LOCK_PI. */
  syscall(SYS_futex, &word, 6, 0, 0, 0, 0);
  return 0;
}
"#;
    fs::write(&source, text_of).expect("the source");
    let program = folder.join("watcher");
    let built = Command::new("gcc").args(["-O1", "-w", "-o"]).args([&program, &source]).status();
    assert!(built.expect("gcc is there").success());
    let output = run(&["--stats", "--", program.to_str().expect("a plain path")]);
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    let lines: Vec<&str> =
        said.lines().filter_map(|line| line.strip_prefix("missing system call: ")).collect();
    for (name, times, place) in [
        ("inotify_init1", "2 times", "inotify_init1+0x"),
        ("futex", "once", "syscall+0x"),
        ("rseq", "once", "ld-linux-x86-64.so.2+0x"),
    ] {
        let line = lines.iter().find(|line| line.starts_with(&format!("{name} (")));
        let line = line.unwrap_or_else(|| panic!("{name} in {said}"));
        assert!(line.contains(&format!("({times}, answered ENOSYS; first at ")), "{line}");
        assert!(line.contains(place), "{line}");
    }
}

#[test]
fn there_is_no_shadow_stack() {
    let folder = folder("shadow-stack");
    let source = folder.join("shadow.c");
    // To ask where it is changes nothing; to move it is invalid where there is none.
    let text_of = r#"
int main(void) {
  unsigned long at = 77;
  __asm__ volatile("rdsspq %0" : "+r"(at));
  if (at != 77) return 1;
  __asm__ volatile("incsspq %0" : : "r"(1ul));
  return 0;
}
"#;
    fs::write(&source, text_of).expect("the source");
    let program = folder.join("shadow");
    let built = Command::new("gcc").args(["-O1", "-o"]).args([&program, &source]).status();
    assert!(built.expect("gcc is there").success());
    let output = run(&["--", program.to_str().expect("a plain path")]);
    assert_eq!(output.status.code(), Some(128 + 4), "{}", text(&output.stderr));
}
