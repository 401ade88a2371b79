//! A folder of a test's own, with programs compiled there and the command run there.
//!
//! Temporary files of the command go to a folder beside it, so that a test sees what is left.

// Each test uses the parts that it needs.
#![allow(dead_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Fails on files that begin with `BUG`, by an assertion of its own.
pub const PARSER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static void check(const char *d) { if (d[0] == 'B' && d[1] == 'U' && d[2] == 'G') abort(); }
int main(int argc, char **argv) {
  char data[4096] = "";
  FILE *f = argc > 1 ? fopen(argv[1], "rb") : stdin;
  if (!f) return 2;
  fread(data, 1, sizeof data, f);
  check(data);
  return 0;
}
"#;

/// Lists and dictionaries in each other, and a leaf that fails.
pub const NESTED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static char buf[256]; static int at;
int value(void);
int array(void) { int r = value(); return r + 1; }
int object(void) { int r = value(); return r + 2; }
int leaf(void) { abort(); }
int value(void) {
  char c = buf[at++];
  if (c == '[') return array() + 1;
  if (c == '{') return object() + 1;
  if (c == '!') return leaf() + 1;
  if (c == 0) return 0;
  int r = value();
  return r;
}
int main(int n, char **v) { FILE *f = fopen(v[1], "r"); fread(buf, 1, 255, f); return value() & 1; }
"#;

/// A text that the failure does not need, but for its first three letters, and that must not appear
/// anywhere. No part of it is a part of an English word or a hexadecimal number.
pub const CANARY: &[u8] = b"BUG;Qvistgaard-Wyczolkowska;Xhosa-Zwolle;kwaszywona #7Jx!vQ;ZQ-VW-KX\n";

/// Text of the command.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder of a test's own.
pub struct Place {
    folder: PathBuf,
    temporary: PathBuf,
}

impl Place {
    /// An empty folder; the name must be the test's own.
    pub fn new(name: &str) -> Place {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("anonymize").join(name);
        let _ = fs::remove_dir_all(&base);
        let place = Place { folder: base.join("work"), temporary: base.join("tmp") };
        fs::create_dir_all(&place.folder).expect("a folder");
        fs::create_dir_all(&place.temporary).expect("a folder");
        fs::set_permissions(&place.temporary, fs::Permissions::from_mode(0o700)).expect("its mode");
        place
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("a file");
    }

    /// Gives a file permissions.
    pub fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).expect("its mode");
    }

    /// Writes a file that may be executed.
    pub fn executable(&self, name: &str, bytes: &[u8]) {
        self.write(name, bytes);
        self.mode(name, 0o755);
    }

    /// Compiles a C program; returns its path.
    pub fn compile(&self, name: &str, source: &str, flags: &[&str]) -> String {
        let file = self.path(&format!("{name}.c"));
        fs::write(&file, source).expect("the source");
        let program = self.path(name);
        let output = Command::new("gcc")
            .args(["-g", "-O1", "-fno-inline", "-w"])
            .args(flags)
            .arg("-o")
            .args([&program, &file])
            .output()
            .expect("gcc is there");
        assert!(output.status.success(), "{}", text(&output.stderr));
        program.to_str().expect("a plain path").to_owned()
    }

    /// The command, about to run in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_stunt"));
        command.args(arguments);
        command
    }

    /// Another program, about to run in the folder.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .current_dir(&self.folder)
            .env("TMPDIR", &self.temporary)
            // In place of the host's memory, so that what is left there is this test's.
            .env("XDG_RUNTIME_DIR", &self.temporary)
            // Searches end by what they do, not by the clock: machines differ.
            .env("STUNT_TIME", "600")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null());
        command
    }

    /// Runs the command.
    pub fn stunt(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the command starts")
    }

    /// Runs a script.
    pub fn in_bash(&self, script: &str) -> Output {
        self.program("bash").args(["-c", script]).output().expect("bash is there")
    }

    /// The command ended with this code and sentence, printed nothing else, and left nothing.
    #[track_caller]
    pub fn refused(&self, output: &Output, code: i32, sentence: &str) {
        let said = text(&output.stderr);
        assert!(said.starts_with("stunt: ") && said.contains(sentence), "{sentence:?} in {said:?}");
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        assert!(!self.path("stunt-report.zip").exists());
        self.nothing_is_left();
    }

    /// No temporary file is left.
    #[track_caller]
    pub fn nothing_is_left(&self) {
        let left: Vec<_> = fs::read_dir(&self.temporary)
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// A program of the subjects, as `cargo xtask subjects` has built it, and an input of theirs.
pub fn subject(program: &str, input: &str) -> (String, PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
    let program = target.join("subjects/bin").join(program);
    let path = program.to_str().expect("a plain path").to_owned();
    assert!(program.exists(), "{path} is absent: `cargo xtask subjects` builds it");
    (path, root.join("subjects").join(input))
}

/// A process is gone, or about to be: the kernel kills it as soon as its follower is dead, and
/// whoever inherits it collects it.
#[track_caller]
pub fn is_gone(pid: &str) {
    for _ in 0..6000 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        if matches!(state, None | Some('Z' | 'X')) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("process {pid} is still there");
}
