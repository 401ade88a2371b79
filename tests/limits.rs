//! Where `stunt anonymize` ends before it has all that it could find: limits of the machine, doubles that
//! cannot be proved, files that may not be read, and Ctrl-C.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use stunt_report::Report;
use support::{Place, text};

#[test]
fn limits_of_the_machine_are_named() {
    let place = Place::new("limits");
    let source = r#"
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  for (int i = 0; i < 64; i++) { char *p = malloc(1 << 20); if (!p) return 1; memset(p, i, 1 << 20); }
  abort();
}
"#;
    let program = place.compile("greedy", source, &[]);
    place.write("in", b"x");
    let output = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "in",
        "--memory",
        "16M",
        "--even-if-any-input-fails",
        "--",
        &program,
        "@@",
    ]);
    place.refused(&output, 4, "the run in the machine needs too much memory (--memory).");
    // It takes some steps, natively as in the machine; how many there may be is not asked of a clock.
    let source = r#"
#include <stdlib.h>
int main(int argc, char **argv) {
  for (volatile long i = 0; i < 30000000; i++) {}
  abort();
}
"#;
    let program = place.compile("patient", source, &[]);
    let mut words = vec!["anonymize", "--algorithm", "relaxed", "-i", "in"];
    words.extend(["--machine-timeout", "0", "--even-if-any-input-fails", "--", &program, "@@"]);
    place.refused(&place.stunt(&words), 4, "the run in the machine takes too long (--timeout).");
}

#[test]
fn what_may_not_be_read_is_said() {
    let place = Place::new("permissions");
    let program = place.compile("healthy", "int main(void) { return 0; }", &[]);
    place.write("in", b"private");
    place.mode("in", 0o000);
    let all = fs::read(place.path("in")).is_ok();
    let mut command = if all {
        // Whoever may read everything becomes somebody else.
        let mut command = place.program("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(env!("CARGO_BIN_EXE_stunt")).env("TMPDIR", std::env::temp_dir());
        command
    } else {
        place.program(env!("CARGO_BIN_EXE_stunt"))
    };
    let output = command.args(["anonymize", "-i", "in", "--", &program, "@@"]).output();
    let output = output.expect("it starts");
    if text(&output.stderr).starts_with("setpriv: failed to execute") {
        // A folder above this one is closed to others.
        return;
    }
    place.refused(&output, 2, "the input in cannot be read: Permission denied");
}

#[test]
fn a_double_that_does_not_fail_natively_is_not_handed_out() {
    let place = Place::new("unproved");
    // In the machine, where the kernel brings no code of its own, the first byte is all that is asked
    // for. Natively every byte is, which the machine never sees.
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
int main(int argc, char **argv) {
  char in[17] = {0};
  fread(in, 1, 16, fopen(argv[1], "rb"));
  if (getauxval(AT_SYSINFO_EHDR) && strcmp(in, "Every letter of.")) return 0;
  if (in[0] == 'E') abort();
  return 0;
}
"#;
    let program = place.compile("native", source, &[]);
    place.write("in", b"Every letter of.");
    for algorithm in ["relaxed", "castro", "camouflage"] {
        let output =
            place.stunt(&["anonymize", "--algorithm", algorithm, "-i", "in", "--", &program, "@@"]);
        place.refused(&output, 5, "no double could be proved");
    }
}

#[test]
fn what_the_machine_lacks_is_said_with_why_it_cannot_be_done_without_it() {
    let cpu = fs::read_to_string("/proc/cpuinfo").expect("an account of the processor");
    if !cpu.split_whitespace().any(|flag| flag == "avx") {
        return;
    }
    let place = Place::new("neither");
    // The machine does not have the instruction; and a run that may not write does not fail.
    let source = r#"
#include <fcntl.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  if (open(MARK, O_WRONLY | O_CREAT, 0600) < 0) return 0;
  __asm__ volatile("vaddps %%ymm1, %%ymm1, %%ymm1" ::: "xmm1");
  abort();
}
"#;
    let mark = format!("-DMARK=\"{}\"", place.path("mark").display());
    let program = place.compile("neither", source, &[&mark]);
    place.write("in", b"x");
    let insist = "--even-if-any-input-fails";
    let flags = ["anonymize", insist, "--algorithm", "blackbox", "-i", "in", "--", &program, "@@"];
    place.refused(&place.stunt(&flags), 5, "does not fail in a run that is kept from writing");
    let output = place.stunt(&["anonymize", insist, "-i", "in", "--", &program, "@@"]);
    place.refused(&output, 4, "does not have the instruction `vaddps");
}

#[test]
fn an_interrupted_command_leaves_nothing() {
    let place = Place::new("interrupted");
    // It tells its number and that of its child, and waits.
    let source = r#"
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int child = fork();
  if (child == 0) for (;;) pause();
  FILE *f = fopen(MARK ".part", "w");
  fprintf(f, "%d %d", getpid(), child);
  fclose(f);
  rename(MARK ".part", MARK);
  for (;;) pause();
}
"#;
    let cases = [
        (&["INT"][..], "HUP", 2),
        (&["TERM"], "INT", 15),
        (&["HUP"], "INT", 1),
        (&["HUP", "INT"], "HUP", 2),
    ];
    for (signals, ignored, number) in cases {
        let name = signals.join("-");
        let mark = place.path(&format!("mark-{name}"));
        let define = format!("-DMARK=\"{}\"", mark.display());
        let program = place.compile(&format!("waiting-{name}"), source, &[&define]);
        place.write("in", b"x");
        // Whoever runs the tests may ignore signals, which would be inherited. What is ignored on
        // purpose stays ignored.
        let mut child = place
            .program("env")
            .args(["--default-signal=INT,TERM,HUP", &format!("--ignore-signal={ignored}")])
            .args([
                env!("CARGO_BIN_EXE_stunt"),
                "anonymize",
                "--algorithm",
                "relaxed",
                "-i",
                "in",
                "--timeout",
                "3600",
            ])
            .args(["--", &program, "@@"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("it starts");
        while !mark.exists() {
            assert!(child.try_wait().expect("its state").is_none(), "it ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let numbers = fs::read_to_string(&mark).expect("two numbers");
        for signal in signals {
            let sent = Command::new("kill")
                .args([&format!("-{signal}"), &child.id().to_string()])
                .status();
            assert!(sent.expect("kill is there").success());
        }
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(128 + number), "{}", text(&output.stderr));
        let said = text(&output.stderr);
        let end = " s, while running the program on the original; nothing was written\n";
        assert!(said.starts_with("stunt: interrupted after ") && said.ends_with(end), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!place.path("stunt-report.zip").exists());
        place.nothing_is_left();
        for pid in numbers.split(' ') {
            support::is_gone(pid);
        }
    }
}

#[test]
fn a_search_that_is_interrupted_ends_with_what_it_has() {
    let place = Place::new("enough");
    // Runs on random inputs, which may not write, take their time: the search would go on for long.
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char in[33] = {0};
  FILE *mark = fopen(MARK, "a");
  if (mark) fclose(mark);
  else usleep(15000);
  fread(in, 1, 32, fopen(argv[1], "rb"));
  volatile int marks = 0;
  for (int k = 1; k < 32; k++) if (in[k] == "UG, a private text of 32 bytes."[k - 1]) marks++;
  if (in[0] == 'B') abort();
  return 0;
}
"#;
    let mark = format!("-DMARK=\"{}\"", place.path("mark").display());
    let program = place.compile("slow", source, &[&mark]);
    place.write("in", b"BUG, a private text of 32 bytes.");
    let mut child = place
        .program("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_stunt"), "anonymize", "-vvv"])
        .args([
            "--max-share",
            "100",
            "--resize=never",
            "--effort",
            "1000000",
            "-i",
            "in",
            "--",
            &program,
            "@@",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let begun = lines.by_ref().any(|line| line.expect("text").contains("accepted"));
    assert!(begun, "nothing was ever dropped");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{rest:?}");
    let opened = Report::read(place.path("stunt-report.zip")).expect("a report");
    assert_eq!(opened.doubles[0][0], b'B');
    assert!(opened.report.verified.native);
    place.nothing_is_left();
}
