//! What `stunt record` costs: programs run natively and recorded, in turns, in one run.
//!
//! Ratios of medians of wall time, with start-up; what is printed must be the same. `--stats` says how
//! often the program stopped, and how long each stop took. The inputs are made here, the same on
//! every machine.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::step::Step;
use crate::{files, packages, subjects};

/// Rounds, each a native run and a recorded one.
const ROUNDS: usize = 11;

/// Debian packages that are measured.
const PACKAGES: [&str; 2] = ["gzip", "sqlite3"];

/// The subject that is the Rust parser.
const PARSER: &str = "roxmltree";

/// What is measured: a name, the command, and its standard input.
type Run = (&'static str, Vec<String>, Option<&'static str>);

fn runs() -> Vec<Run> {
    let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let parser = files::target().join("subjects/bin").join(PARSER).display().to_string();
    vec![
        ("start-up (`true`)", words(&["/bin/true"]), None),
        ("`gzip -9` of a file of 8 MB", words(&["/usr/bin/gzip", "-9nc", "words.text"]), None),
        ("`gzip -9` from standard input", words(&["/usr/bin/gzip", "-9nc"]), Some("words.text")),
        (
            "`sqlite3`, 100,000 inserts into a file, a join",
            words(&["/usr/bin/sqlite3", "boats.db"]),
            Some("work.sql"),
        ),
        ("a Rust parser (`roxmltree`), 24 MB of XML", words(&[&parser, "boats.xml"]), None),
    ]
}

/// One run.
struct Done {
    seconds: f64,
    stdout: Vec<u8>,
    stderr: String,
}

/// Measures everything; the result is a table in Markdown.
pub fn measure() -> Result<String> {
    packages::install(&packages::absent(&PACKAGES.map(str::to_string)))?;
    subjects::one(PARSER)?;
    Step::cargo("build", &["build", "--release", "--package", "stunt"]).run()?;
    let folder = files::target().join("bench-record");
    prepare(&folder)?;
    let mut text = String::from(
        "| program | native | recorded | recorded : native | stops | µs a stop |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    for (name, words, stdin) in runs() {
        eprintln!("measuring {name}");
        let (mut native, mut recorded) = (Vec::new(), Vec::new());
        let mut cost = (0, 0.0);
        for _ in 0..ROUNDS {
            let own = once(&folder, &words, stdin, false)?;
            let ours = once(&folder, &words, stdin, true)?;
            if own.stdout != ours.stdout {
                bail!("{name} prints something else when it is recorded");
            }
            cost =
                stops(&ours.stderr).with_context(|| format!("no statistics: {}", ours.stderr))?;
            native.push(own.seconds);
            recorded.push(ours.seconds);
        }
        let (native, recorded) = (median(&mut native), median(&mut recorded));
        let _ = writeln!(
            text,
            "| {name} | {:.1} ms | {:.1} ms | {:.3} | {} | {:.1} |",
            native * 1e3,
            recorded * 1e3,
            recorded / native,
            cost.0,
            cost.1,
        );
    }
    Ok(text.trim_end().to_string())
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn once(folder: &Path, words: &[String], stdin: Option<&str>, recorded: bool) -> Result<Done> {
    // The database is made anew each time.
    for name in ["boats.db", "boats.db-journal"] {
        let _ = fs::remove_file(folder.join(name));
    }
    let mut command = if recorded {
        let mut command = Command::new(super::stunt()?);
        command.args(["record", "--forget", "--stats", "--"]).args(words);
        command
    } else {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    };
    let input = match stdin {
        Some(name) => Stdio::from(File::open(folder.join(name))?),
        None => Stdio::null(),
    };
    command.current_dir(folder).env("LC_ALL", "C.UTF-8").stdin(input);
    let start = Instant::now();
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        bail!("{command:?}: {}", output.status);
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Done { seconds, stdout: output.stdout, stderr })
}

/// The numbers that `--stats` prints: stops, and microseconds each.
fn stops(stderr: &str) -> Option<(u64, f64)> {
    let line = stderr.lines().rev().find(|line| line.contains(" stops, "))?;
    let before = |word: &str| line.split(word).next()?.rsplit(' ').next();
    Some((before(" stops, ")?.parse().ok()?, before(" µs each")?.parse().ok()?))
}

/// Makes the inputs, if that was not done before.
fn prepare(folder: &Path) -> Result<()> {
    if folder.join("complete").exists() {
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let (mut words, mut xml) = (String::new(), String::from("<boats>\n"));
    let mut sql = String::from(
        "CREATE TABLE town(id INTEGER PRIMARY KEY, name TEXT);\n\
         CREATE TABLE boat(id INTEGER PRIMARY KEY, town INTEGER, name TEXT);\nBEGIN;\n",
    );
    for id in 0..1000 {
        let _ = writeln!(sql, "INSERT INTO town VALUES ({id}, 'town {}');", id * 37 % 1000);
    }
    for id in 0u64..300_000 {
        let (town, name) = (id * 7919 % 1000, id * id * 31 % 99_991);
        let _ = writeln!(words, "boat {name} of town {town}, built {}", 1900 + id % 120);
        let _ =
            writeln!(xml, "  <boat id=\"{id}\" town=\"{town}\"><name>boat {name}</name></boat>");
        if id < 100_000 {
            let _ = writeln!(sql, "INSERT INTO boat VALUES ({id}, {town}, 'boat {name}');");
        }
    }
    xml.push_str("</boats>\n");
    sql.push_str(
        "COMMIT;\nSELECT t.name, count(*), min(b.name) FROM town t JOIN boat b ON b.town = t.id \
         GROUP BY t.name ORDER BY t.name LIMIT 20;\n",
    );
    fs::write(folder.join("words.text"), words)?;
    fs::write(folder.join("boats.xml"), xml)?;
    fs::write(folder.join("work.sql"), sql)?;
    fs::write(folder.join("complete"), "")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statistics_are_found() {
        let line = "x\nstunt: 0.131 s, 42 stops, 12 of them at calls that take something in, 7.5 µs each\n";
        assert_eq!(stops(line), Some((42, 7.5)));
        assert_eq!(stops("nothing"), None);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
    }
}
