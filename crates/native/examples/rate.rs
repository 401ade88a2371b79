//! How many runs a second one processor does, as a table.
//!
//! `cargo run --release -p stunt-native --example rate -- PROGRAM ARGUMENTS` measures this program;
//! without words, two small ones of the tests that fail, in C and in Rust, are compiled and measured.
//!
//! Figures are processor time, of this process and of all that it started: a busy host changes them
//! little. Beside them stands the time that went by with one run at a time for each processor.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use stunt_native::{Command, Containment, InputFile, Native};

/// Runs of each kind.
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
    let commands = vec![command.clone(); RUNS as usize];
    let mut failed = 0;
    let mut all = |workers: usize| {
        native.run_on(workers, &commands, &AtomicBool::new(false), &mut |_, result| {
            failed += u32::from(result.is_ok_and(|run| run.failure.is_some()));
        });
    };
    let before = used();
    all(1);
    let processor = (used() - before) / RUNS;
    let start = Instant::now();
    all(std::thread::available_parallelism().map_or(1, Into::into));
    let wall = start.elapsed() / RUNS;
    let rate = |each: Duration| 1.0 / each.as_secs_f64().max(1e-9);
    println!(
        "| {name} | {kind} | {} µs | {:.0} | {:.0} | {:.0} % |",
        processor.as_micros(),
        rate(processor),
        rate(wall),
        100.0 * f64::from(failed) / f64::from(2 * RUNS),
    );
}

fn rows(native: &Native, name: &str, fresh: &Command) {
    let mut copies = fresh.clone();
    copies.loaded_once = true;
    for (kind, command) in [("fresh", fresh), ("copies", &copies)] {
        row(native, name, kind, command);
        let mut contained = command.clone();
        contained.containment = Containment::Contained;
        contained.files = vec![InputFile { name: "input".into(), bytes: vec![7; 1000].into() }];
        row(native, name, &format!("{kind}, contained, with a file"), &contained);
    }
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
        command.arguments = words.collect();
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
