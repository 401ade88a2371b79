//! The machine's speed on programs of Debian: natively, in `qemu-x86_64`, and by `stunt run`.
//!
//! Wall time, the best of several runs each, with start-up; a run whose output is not the native
//! one shows as "differs", one that does not end well as "fails". `stunt run --stats` says how many
//! instructions it ran. The inputs are made here, the same on every machine.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::step::Step;
use crate::{files, packages};

/// What is measured: a name, the command, and its standard input.
const RUNS: [(&str, &[&str], Option<&str>); 6] = [
    ("start-up (`true`)", &["/bin/true"], None),
    ("`gzip -9`, 1 MB of text", &["/usr/bin/gzip", "-9nc", "one.text"], None),
    ("`xz -d` to 4 MB of text", &["/usr/bin/xz", "-dc", "four.text.xz"], None),
    ("`sqlite3`, 10,000 inserts and a join", &["/usr/bin/sqlite3", ":memory:"], Some("work.sql")),
    (
        "`python3`, 200,000 rounds",
        &[
            "/usr/bin/python3",
            "-S",
            "-c",
            "s = 0\nfor i in range(200000): s += i * i % 7\nprint(s)",
        ],
        None,
    ),
    (
        "`rg` over 20 MB of text",
        &["/usr/bin/rg", "-j1", "-c", "st[aeiou]n(e|y)\\b", "twenty.text"],
        None,
    ),
];

/// Debian packages that are measured or measured against.
const PACKAGES: [&str; 6] = ["gzip", "xz-utils", "sqlite3", "python3", "ripgrep", "qemu-user"];

/// Who runs the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Runner {
    Native,
    Qemu,
    Stunt,
}

/// One run, done.
#[derive(Clone, PartialEq, Debug)]
struct Done {
    seconds: f64,
    stdout: Vec<u8>,
    instructions: Option<u64>,
}

/// What a runner's best run came to.
#[derive(Clone, PartialEq, Debug)]
enum Cell {
    Best(Done),
    Differs,
    Fails,
}

/// Measures everything; the result is a table in Markdown.
pub fn measure() -> Result<String> {
    let needed = PACKAGES.map(str::to_string);
    packages::install(&packages::absent(&needed))?;
    Step::cargo("build", &["build", "--release", "--package", "stunt"]).run()?;
    let folder = files::target().join("bench-machine");
    prepare(&folder)?;
    let mut rows = Vec::new();
    for (name, words, stdin) in RUNS {
        eprintln!("measuring {name}");
        let native = best(Runner::Native, &folder, words, stdin, 5)?
            .with_context(|| format!("{name} fails natively"))?;
        let other = |runner| -> Result<Cell> {
            Ok(match best(runner, &folder, words, stdin, 3)? {
                None => Cell::Fails,
                Some(done) if done.stdout != native.stdout => Cell::Differs,
                Some(done) => Cell::Best(done),
            })
        };
        rows.push(row(name, &native, &other(Runner::Qemu)?, &other(Runner::Stunt)?));
    }
    Ok(table(&rows))
}

fn table(rows: &[String]) -> String {
    let mut text = String::from(
        "| program | native | qemu | stunt | stunt : native | stunt : qemu | instructions | a second |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{row}");
    }
    text.trim_end().to_string()
}

fn row(name: &str, native: &Done, qemu: &Cell, stunt: &Cell) -> String {
    let seconds = |cell: &Cell| match cell {
        Cell::Best(done) => time(done.seconds),
        Cell::Differs => "differs".to_string(),
        Cell::Fails => "fails".to_string(),
    };
    let best = |cell: &Cell| match cell {
        Cell::Best(done) => Some(done.seconds),
        Cell::Differs | Cell::Fails => None,
    };
    let ratio = |over: Option<f64>, under: Option<f64>| match (over, under) {
        (Some(over), Some(under)) => format!("{:.1}", over / under),
        _ => "–".to_string(),
    };
    let (instructions, speed) = match stunt {
        Cell::Best(Done { instructions: Some(count), seconds, .. }) => (
            format!("{:.1} M", *count as f64 / 1e6),
            format!("{:.0} M", *count as f64 / 1e6 / seconds),
        ),
        _ => ("–".to_string(), "–".to_string()),
    };
    format!(
        "| {name} | {} | {} | {} | {} | {} | {instructions} | {speed} |",
        time(native.seconds),
        seconds(qemu),
        seconds(stunt),
        ratio(best(stunt), Some(native.seconds)),
        ratio(best(stunt), best(qemu)),
    )
}

fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// The quickest of some runs; nothing if one of them fails.
fn best(
    runner: Runner,
    folder: &Path,
    words: &[&str],
    stdin: Option<&str>,
    times: usize,
) -> Result<Option<Done>> {
    let mut best: Option<Done> = None;
    for _ in 0..times {
        let Some(done) = once(runner, folder, words, stdin)? else { return Ok(None) };
        if best.as_ref().is_none_or(|found| done.seconds < found.seconds) {
            best = Some(done);
        }
    }
    Ok(best)
}

fn once(
    runner: Runner,
    folder: &Path,
    words: &[&str],
    stdin: Option<&str>,
) -> Result<Option<Done>> {
    let mut command = match runner {
        Runner::Native => Command::new(words[0]),
        Runner::Qemu => {
            let mut command = Command::new("qemu-x86_64");
            command.arg(words[0]);
            command
        }
        Runner::Stunt => {
            let mut command = Command::new(super::stunt()?);
            command.args(["run", "--stats", "--", words[0]]);
            command
        }
    };
    let input = match stdin {
        Some(name) => Stdio::from(File::open(folder.join(name))?),
        None => Stdio::null(),
    };
    command.args(&words[1..]).current_dir(folder).env("LC_ALL", "C.UTF-8").stdin(input);
    let start = Instant::now();
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        eprintln!("{command:?}: {}", output.status);
        return Ok(None);
    }
    let instructions = instructions(&String::from_utf8_lossy(&output.stderr));
    Ok(Some(Done { seconds, stdout: output.stdout, instructions }))
}

/// The number that `--stats` prints.
fn instructions(stderr: &str) -> Option<u64> {
    let rest = stderr.lines().rev().find_map(|line| line.trim().strip_prefix("instructions:"))?;
    let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Makes the inputs, if that was not done before.
fn prepare(folder: &Path) -> Result<()> {
    if folder.join("complete").exists() {
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let text = text(20_000_000);
    fs::write(folder.join("twenty.text"), &text)?;
    fs::write(folder.join("four.text"), &text[..4_000_000])?;
    fs::write(folder.join("one.text"), &text[..1_000_000])?;
    let status = Command::new("xz").args(["-kf", "four.text"]).current_dir(folder).status()?;
    if !status.success() {
        bail!("xz failed in {}", folder.display());
    }
    fs::write(folder.join("work.sql"), sql())?;
    fs::write(folder.join("complete"), "")?;
    Ok(())
}

/// Words in lines, by a fixed rule, so that compressors find what they find in prose.
fn text(size: usize) -> Vec<u8> {
    const PARTS: [&str; 24] = [
        "stone", "river", "ing", "er", "un", "the", "a", "of", "to", "and", "low", "town", "hill",
        "sound", "ly", "ness", "re", "con", "tri", "ble", "way", "say", "steny", "o",
    ];
    let mut state = 1u64;
    let mut next = |bound: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut text = Vec::with_capacity(size + 64);
    while text.len() < size {
        for _ in 0..=next(3) {
            // Squared, so that the first parts are the frequent ones.
            text.extend(PARTS[(next(24) * next(24) / 24) as usize].bytes());
        }
        text.push(if next(11) == 0 { b'\n' } else { b' ' });
    }
    text.truncate(size);
    text
}

fn sql() -> String {
    let mut sql = String::from(
        "CREATE TABLE town(id INTEGER PRIMARY KEY, name TEXT);\n\
         CREATE TABLE boat(id INTEGER PRIMARY KEY, town INTEGER, name TEXT);\n\
         CREATE INDEX boat_town ON boat(town);\nBEGIN;\n",
    );
    for id in 0..100 {
        let _ = writeln!(sql, "INSERT INTO town VALUES ({id}, 'town {}');", id * 37 % 100);
    }
    for id in 0..10_000 {
        let town = id * 7919 % 100;
        let _ = writeln!(sql, "INSERT INTO boat VALUES ({id}, {town}, 'boat {}');", id * 31 % 9973);
    }
    sql.push_str(
        "COMMIT;\nSELECT t.name, count(*), min(b.name), max(length(b.name)) FROM town t \
         JOIN boat b ON b.town = t.id GROUP BY t.name ORDER BY t.name;\n",
    );
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_instructions_is_found() {
        assert_eq!(instructions("warning\ninstructions: 1,234,567\nother: 3\n"), Some(1_234_567));
        assert_eq!(instructions("nothing of the kind\n"), None);
    }

    #[test]
    fn a_row_says_what_failed() {
        let done = |seconds, instructions| Done { seconds, stdout: Vec::new(), instructions };
        let native = done(0.01, None);
        let stunt = Cell::Best(done(2.0, Some(100_000_000)));
        let expected = "| x | 10.0 ms | differs | 2.00 s | 200.0 | – | 100.0 M | 50 M |";
        assert_eq!(row("x", &native, &Cell::Differs, &stunt), expected);
        let qemu = Cell::Best(done(0.1, None));
        let expected = "| x | 10.0 ms | 100.0 ms | fails | – | – | – | – |";
        assert_eq!(row("x", &native, &qemu, &Cell::Fails), expected);
    }

    #[test]
    fn inputs_are_the_same_every_time() {
        assert_eq!(text(10_000), text(10_000));
        assert_eq!(text(10_000).len(), 10_000);
        assert!(sql().lines().count() > 10_000);
    }

    #[test]
    fn a_native_run_is_timed_and_a_failing_one_is_no_result() {
        let folder = std::env::temp_dir();
        let done = once(Runner::Native, &folder, &["/bin/echo", "x"], None).unwrap().unwrap();
        assert_eq!(done.stdout, b"x\n");
        assert!(once(Runner::Native, &folder, &["/bin/false"], None).unwrap().is_none());
    }
}
