//! What fuzzing has found, so that it stays found: small changes of files that the unwinder reads.

#[path = "../../../fuzz/checks/mutate.rs"]
mod mutate;
#[path = "fuzzed/unwind.rs"]
mod unwind;

use std::fs;
use std::path::Path;
use std::process::Command;

/// A small program with tables, symbols and lines, behind a head that chooses a stack.
fn program(flags: &[&str]) -> Vec<u8> {
    const SOURCE: &str = "static int inner(int *at) { return *at + 1; }\n\
                          int outer(int *at) { return inner(at) + inner(at + 1); }\n\
                          void _start(void) { outer((int *)8); }\n";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzzed");
    fs::create_dir_all(&folder).expect("a folder");
    let (source, program) = (folder.join("fails.c"), folder.join("fails"));
    fs::write(&source, SOURCE).expect("writable");
    let own = ["-nostdlib", "-static", "-w", "-g", "-Wl,-z,noseparate-code", "-Wl,--build-id"];
    let mut gcc = Command::new("gcc");
    gcc.args(own).args(flags).arg("-Wl,-z,max-page-size=4096").arg("-o").args([&program, &source]);
    assert!(gcc.status().expect("gcc runs").success());
    [&[1, 2, 3, 4, 5, 6, 7, 8], &fs::read(&program).expect("a program")[..]].concat()
}

#[test]
fn attack_program_of_a_stranger_stops_the_unwinder() {
    let seeds = [program(&["-O0"]), program(&["-O2", "-fPIE", "-static-pie", "-gz"])];
    // A program is mostly code and zeros: more of the changes have to be.
    mutate::with_changes(&seeds, 2000, unwind::check);
}
