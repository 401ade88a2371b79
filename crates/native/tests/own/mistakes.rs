//! What cannot be run, and what the user is told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use stunt_native::{Command, Error, Native, Stdin, find};

use crate::build::build;

/// A file with these bytes and this mode.
fn file(name: &str, bytes: &[u8], mode: u32) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-mistakes");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    fs::write(&path, bytes).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    path
}

fn said(command: &Command) -> String {
    Native::new().run(command).expect_err("it cannot be run").to_string()
}

#[test]
fn each_mistake_has_its_sentence() {
    let program = fs::read(build("ways.c", &["-O1"])).expect("a program");
    let mut other = program.clone();
    other[18] = 183;
    let mut script = b"#!/usr/bin/env python3\nprint(1)\n".to_vec();
    for (path, words) in [
        (PathBuf::from("/nowhere/at/all"), &["does not exist", "/nowhere/at/all"][..]),
        (PathBuf::from("/tmp"), &["is not a file"]),
        (file("plain", &program, 0o644), &["is not executable", "chmod +x"]),
        (file("script", &script, 0o755), &["is a script for python3", "`python3 "]),
        (file("arm", &other, 0o755), &["AArch64", "x86-64 Linux"]),
        (file("text", b"hello\n", 0o755), &["is a text file"]),
        (file("empty", b"", 0o755), &["is empty"]),
    ] {
        let sentence = said(&Command::new(path));
        assert!(words.iter().all(|word| sentence.contains(word)), "{sentence}");
    }
    script.truncate(2);
    assert!(said(&Command::new(file("bare", &script, 0o755))).contains("without a name"));
}

#[test]
fn a_broken_program_does_not_start() {
    let program = fs::read(build("ways.c", &["-O1"])).expect("a program");
    let path = file("cut", &program[..200], 0o755);
    assert!(said(&Command::new(path)).contains("could not be started"));
}

#[test]
fn a_folder_and_an_input_that_are_not_there() {
    let mut command = Command::new(build("ways.c", &["-O1"]));
    command.folder = Some("/nowhere".into());
    assert!(said(&command).contains("/nowhere"));
    command.folder = None;
    command.stdin = Stdin::File("/nowhere/private".into());
    assert!(matches!(Native::new().run(&command), Err(Error::Input { .. })));
}

#[test]
fn programs_are_found_by_name() {
    let path = "/nowhere:/usr/bin:/bin";
    assert!(find("true".as_ref(), path.as_ref()).expect("found").ends_with("bin/true"));
    assert_eq!(find("./x".as_ref(), path.as_ref()).expect("as it is"), PathBuf::from("./x"));
    let sentence = find("no-such-program".as_ref(), path.as_ref()).expect_err("absent").to_string();
    assert!(sentence.contains("no-such-program"), "{sentence}");
}
