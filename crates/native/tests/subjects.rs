//! Crashes of real releases: each fails as its table says, the same way every time, and the private
//! and the smallest known input at the same place.

#[path = "common/inside.rs"]
mod inside;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use stunt_native::{Command, Containment, Copied, Native, find};
use stunt_path::{Ending, Failure, FailureKind, Role};

/// The runs of `subjects.table`, as far as they are of interest here.
struct Subject {
    name: String,
    folder: String,
    program: Option<String>,
    words: Vec<String>,
    ends: Ending,
    /// Where a panic says that it is.
    says: Option<String>,
}

fn subjects() -> Vec<Subject> {
    let text = include_str!("../../../subjects/subjects.table");
    let mut subjects = Vec::new();
    for block in text.split("\n[").map(|block| block.trim_start_matches('[')) {
        let Some((name, rest)) = block.split_once("]\n") else { continue };
        let values: BTreeMap<&str, &str> = rest
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once(": "))
            .collect();
        let mut place = values["subject"].split(' ');
        let ends = match values.get("ends").map(|ends| ends.split_once(' ').expect("two words")) {
            None => Ending::Exit(0),
            Some(("exit", status)) => Ending::Exit(status.parse().expect("a status")),
            Some((_, signal)) => Ending::Signal(signal.parse().expect("a signal")),
        };
        // Words are quoted only as a whole.
        let words = values["run"].split('\'').enumerate().flat_map(|(index, part)| {
            let whole = vec![part.to_owned()];
            if index % 2 == 1 { whole } else { part.split_whitespace().map(Into::into).collect() }
        });
        subjects.push(Subject {
            name: name.into(),
            folder: place.next().expect("a folder").into(),
            program: place.next().map(Into::into),
            words: words.collect(),
            ends,
            says: values.get("says").map(ToString::to_string),
        });
    }
    assert!(subjects.len() > 100, "the table has been read");
    subjects
}

fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder")
}

/// Makes a fresh copy of the files in a folder.
fn copy(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).expect("the folder of an earlier run");
    }
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("inputs") {
        let entry = entry.expect("an input");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
    }
}

/// The run in a fresh copy of the inputs; `side` keeps tests that run at the same time apart.
fn command(subject: &Subject, side: &str) -> Command {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../subjects")
        .join(&subject.folder)
        .join("inputs");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(side).join(&subject.name);
    copy(&inputs, &folder);
    let program = match &subject.program {
        Some(program) => target().join("subjects/bin").join(program),
        None => find(subject.words[0].as_ref(), "/usr/bin:/bin".as_ref()).expect("installed"),
    };
    assert!(program.exists(), "{} is absent: `cargo xtask subjects` builds it", program.display());
    let mut command = Command::new(program);
    command.arguments = subject.words[1..].iter().map(Into::into).collect();
    command.environment =
        vec![("PATH".into(), "/usr/bin:/bin".into()), ("LC_ALL".into(), "C.UTF-8".into())];
    command.folder = Some(folder);
    command
}

/// The private input reaches the place by other calls than the smallest one: deeper in the document,
/// or by another statement.
const OTHER_CALLERS: [&str; 3] = ["json_rust", "libyaml-uri-overflow-O2", "sqlparser"];

#[test]
fn every_subject_fails_as_its_table_says_and_always_the_same_way() {
    let native = Native::new();
    let mut failures: BTreeMap<PathBuf, Vec<Failure>> = BTreeMap::new();
    for subject in subjects() {
        let command = command(&subject, "native-subjects");
        let name = &subject.name;
        let run = native.run(&command).expect("it runs");
        assert_eq!(run.ending, subject.ends, "{name}");
        assert_eq!(run.failure.is_some(), run.ending != Ending::Exit(0), "{name}");
        let Some(failure) = run.failure else { continue };
        let kind = match run.ending {
            Ending::Signal(6) => FailureKind::Abort,
            Ending::Signal(number) => FailureKind::Signal(number),
            _ => FailureKind::Panic,
        };
        assert_eq!(failure.kind, kind, "{name}");
        if let Some(says) = &subject.says {
            // As the panic prints it, but for the column.
            let site = failure.frames.iter().find(|frame| frame.role == Role::Site);
            let location = site.and_then(|site| site.location.as_ref());
            let location = location.unwrap_or_else(|| panic!("{name}: {failure:#?}"));
            let place = format!("{}:{}", location.file, location.line);
            let (says, _column) = says.rsplit_once(':').expect("a column");
            assert!(place.ends_with(says), "{name}: {place}, not {says}");
        }
        let again = native.run(&command).expect("it runs").failure.expect("it fails");
        assert_eq!(again, failure, "{name}");
        assert_eq!(again.signature(), failure.signature(), "{name}");
        failures.entry(command.program).or_default().push(failure);
    }
    assert!(failures.len() > 40, "{} programs failed", failures.len());
    for (program, failures) in &failures {
        let name = program.file_name().and_then(|name| name.to_str()).expect("text");
        let first = &failures[0];
        assert!(failures.len() > 1, "{name} has a private and a smallest input");
        for other in &failures[1..] {
            assert!(first.same_place(other), "{name}\n{first:#?}\n{other:#?}");
            assert_eq!(first != other, OTHER_CALLERS.contains(&name), "{name}: {other:#?}");
        }
    }
}

#[test]
fn the_machine_tells_the_same_failures() {
    let native = Native::new();
    let symbols = inside::symbols();
    let mut differences = Vec::new();
    for subject in subjects().iter().filter(|subject| subject.name.contains("private")) {
        let command = command(subject, "native-and-machine");
        let on_host = native.run(&command).expect("it runs").failure;
        assert!(on_host.is_some(), "{}", subject.name);
        let inside = inside::in_machine(&command, &symbols);
        if on_host != inside {
            differences.push(format!("{}\nhost {on_host:#?}\nmachine {inside:#?}", subject.name));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Copies of one loaded process, contained, are told as fresh processes are that may do anything.
#[test]
fn copies_tell_the_same_failures() {
    let native = Native::new();
    for subject in subjects().iter().filter(|subject| subject.name.contains("private")) {
        let mut command = command(subject, "native-copies");
        let fresh = native.run(&command).expect("it runs");
        command.containment = Containment::Contained;
        for copied in [Copied::FromEntry, Copied::FromInput] {
            command.copied = copied;
            let all = vec![command.clone(); 4];
            native.run_on(1, &all, &AtomicBool::new(false), &mut |index, result| {
                let run = result.expect("it runs");
                assert_eq!(run.ending, fresh.ending, "{} {index}", subject.name);
                assert_eq!(run.failure, fresh.failure, "{} {index}", subject.name);
                // What is printed may name files by the time at which they were written.
                let (said, expected) = (run.stdout.reveal().len(), fresh.stdout.reveal().len());
                assert_eq!(said, expected, "{} {index}", subject.name);
            });
        }
    }
}

/// Inputs that fail near one another, in one function even, and where.
#[test]
fn neighbouring_places_are_told_apart() {
    let native = Native::new();
    for (program, file, inputs) in [
        (
            "dtparse_csv",
            "neighbour.csv",
            &[
                ("h\n,,2021-09-", "dtparse-2.0.0/src/lib.rs:1135"),
                ("h\n,,10:00 -", "dtparse-2.0.0/src/lib.rs:860"),
                ("h\n,,Sep-", "dtparse-2.0.0/src/lib.rs:784"),
                ("h\n,,Sep-10-", "dtparse-2.0.0/src/lib.rs:788"),
                ("h\n,,10:00 UTC-\u{20ac}", "dtparse-2.0.0/src/lib.rs:861"),
            ][..],
        ),
        (
            "nmea_parser",
            "neighbour.nmea",
            &[
                ("$WIMWV,1.0", "nmea-parser-0.10.0/src/gnss/mwv.rs:44"),
                ("$WIMWV,,T,", "nmea-parser-0.10.0/src/gnss/mwv.rs:49"),
            ],
        ),
    ] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-neighbours");
        fs::create_dir_all(&folder).expect("a folder");
        let mut failures = Vec::new();
        for (index, (text, place)) in inputs.iter().enumerate() {
            let input = folder.join(format!("{index}-{file}"));
            fs::write(&input, text).expect("an input");
            let mut command = Command::new(target().join("subjects/bin").join(program));
            command.arguments = vec![input.into()];
            let failure = native.run(&command).expect("it runs").failure.expect("it fails");
            assert!(failure.to_string().ends_with(&format!("({place})")), "{failure}, not {place}");
            failures.push(failure);
        }
        for (index, failure) in failures.iter().enumerate() {
            let same = failures.iter().filter(|other| *other == failure).count();
            assert_eq!(same, 1, "{program} {index}");
        }
    }
}
