//! How many runs a second one processor does, as a table.
//!
//! `cargo run --release -p stunt-native --example rate -- PROGRAM ARGUMENTS` measures this program; an
//! argument `@FILE` is an input, of which every run has a file of its own. Without words, two small ones
//! of the tests that fail, in C and in Rust, are compiled and measured.
//!
//! Figures are processor time, of this process and of all that it started: a busy host changes them
//! little. Beside them stands the time that went by with one run at a time for each processor.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use stunt_native::{Command, Containment, Copied, InputFile, Native};

/// Runs of each kind, if `RUNS` says nothing else.
const RUNS: u32 = 1000;

/// The time of processors that this process and its children have used.
fn used() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name may have anything in it but ends with the last parenthesis.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|it| it.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// A row of the table.
fn row(native: &Native, name: &str, kind: &str, command: &Command) {
    // To look at one of them with a profiler.
    if std::env::var("ONLY").is_ok_and(|only| only != kind) {
        return;
    }
    let runs = std::env::var("RUNS").ok().and_then(|it| it.parse().ok()).unwrap_or(RUNS);
    let commands = vec![command.clone(); runs as usize];
    let mut failed = 0;
    let mut all = |workers: usize| {
        native.run_on(workers, &commands, &AtomicBool::new(false), &mut |_, result| {
            failed += u32::from(result.is_ok_and(|run| run.failure.is_some()));
        });
    };
    let before = used();
    all(1);
    let processor = (used() - before) / runs;
    let start = Instant::now();
    all(std::thread::available_parallelism().map_or(1, Into::into));
    let wall = start.elapsed() / runs;
    let rate = |each: Duration| 1.0 / each.as_secs_f64().max(1e-9);
    println!(
        "| {name} | {kind} | {} µs | {:.0} | {:.0} | {:.0} % |",
        processor.as_micros(),
        rate(processor),
        rate(wall),
        100.0 * f64::from(failed) / f64::from(2 * runs),
    );
}

fn rows(native: &Native, name: &str, fresh: &Command) {
    for (kind, copied) in [
        ("fresh", Copied::Never),
        ("copies", Copied::FromEntry),
        ("late copies", Copied::FromInput),
    ] {
        let mut command = fresh.clone();
        command.copied = copied;
        row(native, name, kind, &command);
        command.containment = Containment::Contained;
        if command.files.is_empty() {
            command.files = vec![InputFile { name: "input".into(), bytes: vec![7; 1000].into() }];
        }
        row(native, name, &format!("{kind}, contained, with a file"), &command);
    }
}

/// Puts an argument in its place, with the file that it may be.
fn add(command: &mut Command, word: OsString) {
    let Some(path) = word.to_str().and_then(|word| word.strip_prefix('@')) else {
        return command.arguments.push(word);
    };
    let (path, bytes) = (Path::new(path), std::fs::read(path).unwrap_or_default());
    let name = path.file_name().unwrap_or_default().to_owned();
    command.arguments.push(Command::place(command.files.len()));
    command.files.push(InputFile { name, bytes: bytes.into() });
}

/// A program of the tests, compiled into a folder.
fn compiled(folder: &Path, compiler: &str, flags: &[&str], source: &str) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own/programs").join(source);
    let program = folder.join(source.file_stem()?);
    let mut build = std::process::Command::new(compiler);
    let build = build.args(flags).arg(&source).arg("-o").arg(&program).status();
    build.is_ok_and(|status| status.success()).then_some(program)
}

fn main() {
    let native = Native::new();
    println!(
        "| program | runs | processor time each | a second and core | a second, all cores | failed |"
    );
    println!("|---|---|---:|---:|---:|---:|");
    let mut words = std::env::args_os().skip(1);
    if let Some(program) = words.next() {
        let name =
            Path::new(&program).file_name().unwrap_or(&program).to_string_lossy().into_owned();
        let mut command = Command::new(program);
        words.for_each(|word| add(&mut command, word));
        return rows(&native, &name, &command);
    }
    let folder = std::env::temp_dir().join(format!("stunt-rate-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir(&folder) {
        return eprintln!("{} cannot be made: {error}", folder.display());
    }
    let in_c = compiled(&folder, "gcc", &["-O1", "-g", "-w", "-pthread"], "ways.c");
    let flags = ["-O", "-g", "--edition=2024", "--cap-lints=allow"];
    let in_rust = compiled(&folder, "rustc", &flags, "panics.rs");
    for (name, program, words) in
        [("C, SIGSEGV", in_c, ["nested", "9", "2"]), ("Rust, panic", in_rust, ["index", "3", ""])]
    {
        let Some(program) = program else { continue };
        let mut command = Command::new(program);
        command.arguments = words.map(Into::into).into();
        rows(&native, name, &command);
    }
    let _ = std::fs::remove_dir_all(&folder);
}
