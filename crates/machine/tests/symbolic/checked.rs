//! The runs of the tables of programs, followed: whatever file of its folder a run names, and its
//! standard input.
//!
//! Always: a run that is followed prints the same and ends in the same way as one that is not.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use stunt_machine::symbolic::Relaxations;
use stunt_path::Source;

use crate::follow::{Subject, difference};
use crate::place::{self, Place};
use crate::table::{Command, Run};

/// How many bytes of an input are followed: every byte more is a variable more.
const MOST_BYTES: u64 = 256;
/// Runs that are not followed here: every bit of the input goes into all that follows (compressors,
/// digests, compilers), or they take long for what they show.
const LEFT_OUT: &[&str] = &[
    "7z",
    "awk-histogram",
    "b2sum",
    "bash",
    "bison",
    "brotli",
    "bunzip2",
    "bzip2",
    "cc1",
    "cjpeg",
    "dot",
    "exiftool",
    "file",
    "flex",
    "gcc",
    "gunzip",
    "gzip-list",
    "lz4",
    "openssl-dgst",
    "pigz",
    "sha256sum",
    "tiffcp",
    "unbrotli",
    "unlz4",
    "unxz",
    "unzstd",
    "xz",
    "xz-test",
    "zstd",
];

/// Whether a run names a file that could be followed, or has standard input.
pub fn reads_files(run: &Run) -> bool {
    if LEFT_OUT.contains(&run.name.as_str()) {
        return false;
    }
    run.stdin.is_some() || words(run).iter().any(|word| word.contains('.'))
}

/// The words of a command, or of a script as far as white space parts them.
fn words(run: &Run) -> Vec<String> {
    match &run.command {
        Command::Words(words) => words[1..].to_vec(),
        Command::Script(script) => {
            let parts = |c: char| c.is_whitespace() || ";|&<>()'\"".contains(c);
            script.split(parts).map(str::to_string).collect()
        }
    }
}

/// The files of the folder that the command names, and standard input.
fn inputs(run: &Run, place: &Place) -> Vec<Source> {
    let mut places = Vec::new();
    if place.stdin.as_deref().is_some_and(Path::is_file) {
        places.push(Source::StandardInput);
    }
    for word in words(run) {
        let file = Source::File(word.clone().into_bytes());
        let here = Path::new(&word).is_relative() && !word.is_empty();
        if here && !places.contains(&file) && place.folder.join(&word).is_file() {
            places.push(file);
        }
    }
    places
}

fn subject(place: &Place) -> Result<Subject, String> {
    let stdin = place.stdin.as_ref().map(std::fs::read).transpose();
    let environment = place.environment.iter().map(|(name, value)| format!("{name}={value}"));
    Ok(Subject {
        program: place.program.clone(),
        words: place.words.iter().map(|word| word.clone().into_bytes()).collect(),
        environment: environment.map(String::into_bytes).collect(),
        folder: place.folder.clone(),
        stdin: stdin.map_err(|error| format!("standard input: {error}"))?,
        most: MOST_BYTES,
    })
}

/// Follows a run, with relaxations and without, and compares; how many tests there were.
pub fn check(run: &Run) -> Result<Summary, String> {
    let place = place::prepare(run, "symbolic")?;
    let subject = subject(&place)?;
    let inputs = inputs(run, &place);
    let plain = subject.run()?;
    let mut text = format!("{} inputs, {} instructions", inputs.len(), plain.executed);
    for (name, relax) in [("path", Relaxations::NONE), ("relaxed", Relaxations::ALL)] {
        let followed = subject.follow(&inputs, relax)?;
        if let Some(difference) = difference(&plain.seen, &followed.seen) {
            return Err(format!("{name}: {difference}"));
        }
        let Some(symbolic) = followed.symbolic else { return Err("it was not followed".into()) };
        let (count, tests) = (symbolic.followed(), symbolic.tests().len());
        text += &format!("; {name}: {count} followed, {tests} tests");
    }
    Ok(Summary(text))
}

/// What came of a run, for people.
pub struct Summary(String);

/// Prints which runs agree; all of them, or those whose name has one of the words in it.
pub fn agreement(runs: &[Run], names: &[String]) -> ExitCode {
    let chosen = |run: &&Run| names.is_empty() || names.iter().any(|name| run.name.contains(name));
    let (mut agreeing, mut all) = (0, 0);
    for run in runs.iter().filter(|run| reads_files(run)).filter(chosen) {
        all += 1;
        let begun = Instant::now();
        // A wrong term is a panic; the list goes on.
        let result = std::panic::catch_unwind(|| check(run));
        let result = result.unwrap_or_else(|_| Err("panicked".to_string()));
        let (word, text) = match result {
            Ok(Summary(text)) => {
                agreeing += 1;
                ("agrees", text)
            }
            Err(text) => ("differs", text),
        };
        println!("{word:<8} {:<28} {:6.1} s  {text}", run.name, begun.elapsed().as_secs_f64());
    }
    println!("{agreeing} of {all} agree");
    if agreeing == all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
