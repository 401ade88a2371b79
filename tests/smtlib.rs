//! `stunt trace --smtlib` on subjects, and an independent solver's opinion of it.
//!
//! z3 accepts the text, finds it satisfiable, finds the original among the solutions, and its own
//! solution leads the program along the same path: as many tests, the same failure.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that fails on a file.
struct Subject {
    program: PathBuf,
    original: Vec<u8>,
    folder: PathBuf,
}

impl Subject {
    fn new(program: &str, inputs: &str) -> Subject {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let target = scratch.parent().expect("the target folder");
        let program = target.join("subjects/bin").join(program);
        let path = program.display();
        assert!(program.exists(), "{path} is absent: `cargo xtask subjects` builds it");
        let original = fs::read(root.join("subjects").join(inputs)).expect("the input is there");
        let folder = scratch.join("smtlib").join(program.file_name().expect("a name"));
        fs::create_dir_all(&folder).expect("a folder");
        Subject { program, original, folder }
    }

    /// What `stunt trace` prints, and what it says of the failure.
    fn trace(&self, input: &[u8], flags: &[&str]) -> (String, String) {
        let file = self.folder.join("input");
        fs::write(&file, input).expect("the input can be written");
        let output = Command::new(env!("CARGO_BIN_EXE_stunt"))
            .arg("trace")
            .args(flags)
            .arg("--input")
            .arg(&file)
            .arg("--")
            .arg(&self.program)
            .arg("@@")
            .output()
            .expect("stunt runs");
        let said = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.success(), "{said}");
        let failure = said.lines().rfind(|line| line.contains(" tests, then ")).expect("it fails");
        (String::from_utf8(output.stdout).expect("text"), failure.to_owned())
    }

    fn check(&self) {
        for flags in [&["--smtlib"][..], &["--smtlib", "--exact"]] {
            let (script, failure) = self.trace(&self.original, flags);
            let bytes = declared(&script);
            assert!(!bytes.is_empty(), "it depends on no byte");
            let original: String = bytes
                .iter()
                .map(|&at| format!("(assert (= in0@{at} #x{:02x}))\n", self.original[at]))
                .collect();
            assert_eq!(z3(&script, &original), "sat", "the original is no solution");
            let names: Vec<String> = bytes.iter().map(|at| format!("in0@{at}")).collect();
            let answer = z3(&script, &format!("(get-value ({}))", names.join(" ")));
            let (first, values) = answer.split_once('\n').expect("an answer and values");
            assert_eq!(first, "sat");
            let solution = self.solution(values);
            assert!(solution != self.original, "z3 found the original, of all inputs");
            let (_, again) = self.trace(&solution, flags);
            if flags.contains(&"--exact") {
                assert!(again == failure, "{failure}; of z3's solution: {again}");
            } else {
                let place = |line: &str| line.split_once(" then ").map(|it| it.1.to_owned());
                assert!(place(&again) == place(&failure), "{failure}; of z3's solution: {again}");
            }
        }
    }

    /// The original, with z3's values of the bytes that it names.
    fn solution(&self, values: &str) -> Vec<u8> {
        let mut solution = self.original.clone();
        for part in values.split("(in0@").skip(1) {
            let (at, value) = part.split_once(" #x").expect("a byte and its value");
            let at: usize = at.parse().expect("an offset");
            solution[at] = u8::from_str_radix(&value[..2], 16).expect("a byte");
        }
        solution
    }
}

/// The offsets of the bytes that a script declares.
fn declared(script: &str) -> Vec<usize> {
    let names = script.lines().filter_map(|line| line.strip_prefix("(declare-const in0@"));
    names.filter_map(|rest| rest.split(' ').next()?.parse().ok()).collect()
}

/// What z3 says to a script with an addition: before the question if it asserts, else after it.
fn z3(script: &str, addition: &str) -> String {
    let (before, after) = script.split_once("(check-sat)").expect("a script asks something");
    let script = match addition.starts_with("(assert") {
        true => format!("{before}{addition}(check-sat){after}"),
        false => format!("{before}(check-sat)\n{addition}{after}"),
    };
    let mut z3 = Command::new("z3")
        .arg("-in")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed");
    let mut stdin = z3.stdin.take().expect("piped");
    stdin.write_all(script.as_bytes()).expect("z3 reads");
    drop(stdin);
    let output = z3.wait_with_output().expect("z3 ends");
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

#[test]
fn luhn() {
    Subject::new("small-luhn-O1", "c/small-luhn/inputs/private.txt").check();
}

#[test]
fn libyaml() {
    Subject::new("libyaml-assert-O1", "c/libyaml-assert/inputs/private.yaml").check();
}

#[test]
fn onig() {
    Subject::new("onig-class-O1", "c/onig-class/inputs/private.txt").check();
}

#[test]
fn lmdb() {
    Subject::new("lmdb-div0-O1", "c/lmdb-div0/inputs/private.mdb").check();
}

#[test]
fn icalendar() {
    Subject::new("icalendar", "rust/icalendar/inputs/private.ics").check();
}

#[test]
fn jpeg() {
    Subject::new("jpeg_decoder", "rust/jpeg_decoder/inputs/private.jpg").check();
}
