//! Compiles the programs, each once for all tests and test processes, and runs them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use stunt_native::{Command, Native};
use stunt_path::{Failure, Run};

/// Builds a source of `programs/` with these flags; `-stripped` among them strips it afterwards.
pub fn build(source: &str, flags: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-own");
    fs::create_dir_all(&folder).expect("a folder");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own/programs").join(source);
    let name: String = format!("{source}{}", flags.concat())
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let program = folder.join(name);
    let lock = File::create(program.with_extension("lock")).expect("a lock");
    lock.lock().expect("the lock");
    let changed = |path: &Path| fs::metadata(path).and_then(|it| it.modified()).ok();
    if changed(&program) > changed(&path) {
        return program;
    }
    let stripped = flags.contains(&"-stripped");
    let flags = flags.iter().filter(|flag| **flag != "-stripped");
    let (compiler, always) = match source.rsplit('.').next() {
        Some("c") => ("gcc", &["-g", "-w", "-pthread"][..]),
        Some("cpp") => ("g++", &["-g", "-w", "-pthread"][..]),
        _ => ("rustc", &["-g", "--edition=2024", "--cap-lints=allow"][..]),
    };
    // Written under another name first: a build that is broken off leaves no program behind.
    let fresh = program.with_extension("fresh");
    let status =
        Process::new(compiler).args(always).args(flags).arg(&path).arg("-o").arg(&fresh).status();
    assert!(status.is_ok_and(|status| status.success()), "{compiler} {source}");
    if stripped {
        let status = Process::new("strip").arg(&fresh).status();
        assert!(status.is_ok_and(|status| status.success()), "strip {source}");
    }
    fs::rename(&fresh, &program).expect("the program in its place");
    program
}

/// The command that runs a program with these words.
pub fn command(program: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.arguments = words.iter().map(Into::into).collect();
    command
}

/// Runs a program with these words.
pub fn run(native: &Native, program: &Path, words: &[&str]) -> Run {
    native.run(&command(program, words)).expect("it runs")
}

/// Runs a program with these words; it must fail.
pub fn failure(native: &Native, program: &Path, words: &[&str]) -> Failure {
    let run = run(native, program, words);
    let ending = run.ending;
    run.failure.unwrap_or_else(|| panic!("{words:?} {ending}"))
}
