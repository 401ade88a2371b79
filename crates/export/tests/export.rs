//! Tests that were made of a report fail on the program that failed, and pass once it is mended; whatever a
//! stranger wrote into the report, they run the command that they were given and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use stunt_export::{Kind, Refusal, export};
use stunt_report::{
    Algorithm, Draw, Failure, Leak, Opened, Program, Replay, Report, Schema, Source, SourceName,
    Verified,
};

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

/// A report of a double, which came from here.
fn report(kind: &str, words: &str, name: SourceName, double: &[u8]) -> Opened {
    let report = Report {
        schema: Schema,
        stunt: String::new(),
        program: Program { name: "prog".into(), ..Program::default() },
        arguments: vec!["@@".into()],
        sources: vec![Source::new(name, double.len() as u64, Some("csv"))],
        failure: Failure {
            kind: kind.into(),
            signature: "0123abcd4567ef89".into(),
            words: words.into(),
            frames: Vec::new(),
        },
        replay: Replay { native: true, ..Replay::default() },
        tells: None,
        leak: Leak::new(0.0, 0, stunt_report::Kind::Exact, ""),
        per_byte: Vec::new(),
        algorithm: Algorithm::default(),
        draw: Draw::Uniform,
        verified: Verified::default(),
        notes: Vec::new(),
        comment: None,
    };
    Opened { report, doubles: vec![double.to_vec()] }
}

/// A program that does this, once, where its input has `bad` in it; later it is mended.
fn program(folder: &Path, does: &str) -> String {
    let path = folder.join("prog");
    let text = format!("#!/bin/bash\nif grep -q bad \"${{1:-/dev/stdin}}\"; then {does}; fi\n");
    fs::write(&path, text).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path.to_str().expect("a path that is text").to_owned()
}

/// Writes what was made of a report, and runs it: whether it passes.
fn passes(folder: &Path, opened: &Opened, kind: Kind, command: &[String]) -> bool {
    let all = export(opened, kind, command).expect("it can be exported");
    for artefact in &all {
        let path = folder.join(&artefact.path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, &artefact.bytes).expect("it can be written");
    }
    let first = folder.join(&all[0].path);
    let mut run = match kind {
        Kind::Pytest => Command::new("python3"),
        Kind::Jest => Command::new("node"),
        Kind::CTest => Command::new("bash"),
        _ => {
            let binary = folder.join("test");
            let mut rustc = Command::new("rustc");
            rustc.args(["--test", "--edition=2024", "-o"]).arg(&binary).arg(&first);
            let built = rustc.env("CARGO_MANIFEST_DIR", folder).output().expect("rustc is there");
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            Command::new(binary)
        }
    };
    if kind == Kind::Jest {
        run.arg("--test");
    }
    if kind != Kind::CargoTest {
        run.arg(first);
    }
    run.current_dir(folder).output().expect("it can be run").status.success()
}

const RUN: [Kind; 4] = [Kind::Pytest, Kind::Jest, Kind::CTest, Kind::CargoTest];

#[test]
fn tests_fail_until_the_program_is_mended() {
    let ends = [
        ("signal", "SIGSEGV in parse (a.c:1)", None, "kill -SEGV $$"),
        ("panic", "panic in parse (a.rs:1)", None, "echo thread panicked at a.rs >&2; exit 101"),
        ("exception", "uncaught a.BadMonth in parse", None, "echo a.BadMonth: 23 >&2; exit 1"),
        ("stated", "exit=3", Some("exit=3"), "exit 3"),
        ("stated", "stdout~total 0", Some("stdout~total 0"), "echo total 0"),
    ];
    for (number, (kind, words, fails_if, does)) in ends.into_iter().enumerate() {
        // Building takes the longest: one of each source is enough.
        let exports = if number == 1 { &RUN[..] } else { &RUN[..3] };
        for &export in exports {
            let folder = folder(&format!("ends-{number}-{export:?}"));
            let from_stdin = number % 2 == 1;
            let name = if from_stdin { SourceName::Stdin } else { SourceName::File };
            let mut opened = report(kind, words, name, b"x;bad\0\xff\n");
            opened.report.replay.fails_if = fails_if.map(str::to_owned);
            let mut command = vec![program(&folder, does)];
            if !from_stdin {
                command.push("@@".to_owned());
            }
            assert!(!passes(&folder, &opened, export, &command), "{kind} {export:?} passes");
            program(&folder, "exit 0");
            assert!(
                passes(&folder, &opened, export, &command),
                "{kind} {export:?} fails when mended"
            );
        }
    }
}

/// Words, a signature and an argument that would be code in one language or another.
#[test]
fn attack_a_report_writes_the_code_of_a_test() {
    let hostile = "x\n__import__('os').system('touch owned')\n//\u{2028}process.exit(0)\\u000a*/ \
                   require('fs').writeFileSync('owned','')\n$(touch owned)`touch owned`'\"; touch owned #";
    for kind in RUN {
        let folder = folder(&format!("hostile-{kind:?}"));
        let mut opened = report("signal", hostile, SourceName::Argument(1), hostile.as_bytes());
        opened.report.failure.signature = format!("../../{hostile}");
        opened.report.arguments = vec!["<arg 1>".into()];
        let command = [program(&folder, "kill -SEGV $$"), "<arg 1>".to_owned()];
        if kind == Kind::CTest {
            assert_eq!(export(&opened, kind, &command), Err(Refusal::Word));
            continue;
        }
        // The program reads no file of that name, so nothing is bad, and nothing else happens.
        assert!(passes(&folder, &opened, kind, &command), "{kind:?}");
        let left = fs::read_dir(&folder).expect("it is there").flatten();
        let names: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(names.iter().all(|name| name != "owned"), "{kind:?}: {names:?}");
    }
}

#[test]
fn what_cannot_be_a_test_says_why() {
    let command = ["./prog".to_owned(), "@@".to_owned()];
    let of = |name: SourceName| report("signal", "SIGSEGV", name, b"x");
    let refused =
        |opened: &Opened| export(opened, Kind::Pytest, &command).expect_err("it is refused");
    assert_eq!(refused(&of(SourceName::Socket(0))), Refusal::Connection);
    let variable = SourceName::Environment("LD_PRELOAD".into());
    assert_eq!(refused(&of(variable)), Refusal::Variable("LD_PRELOAD".into()));
    let mut opened = of(SourceName::File);
    let told = Refusal::NoCommand { told: "prog @@".into() };
    assert_eq!(export(&opened, Kind::Jest, &[]), Err(told));
    opened.report.replay.check_memory = true;
    assert_eq!(refused(&opened), Refusal::OnlyChecked);
    opened.doubles.push(Vec::new());
    assert_eq!(export(&opened, Kind::AflSeed, &[]), Err(Refusal::SeveralInputs(2)));
}

#[test]
fn seeds_are_the_double_alone() {
    let opened = report("signal", "SIGSEGV", SourceName::Stdin, b"x\0y");
    let seeds = [
        (Kind::LibFuzzerSeed, "stunt-0123abcd"),
        (Kind::AflSeed, "id:000000,sig:00,src:stunt-0123abcd"),
    ];
    for (kind, name) in seeds {
        let all = export(&opened, kind, &[]).expect("a seed");
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].path.as_str(), &all[0].bytes[..]), (name, &b"x\0y"[..]));
    }
}

/// A class of Java is text here: what the others show by running holds for it by the same templates' conditions.
#[test]
fn a_test_for_junit() {
    let opened = report("exception", "uncaught a.BadMonth in parse", SourceName::File, b"bad");
    let all =
        export(&opened, Kind::JUnit, &["./prog".to_owned(), "--in=@@".to_owned()]).expect("a test");
    assert_eq!(all[1].path, "src/test/resources/stunt-0123abcd/file.csv");
    let shown = format!("{}\n{}", all[0].path, String::from_utf8_lossy(&all[0].bytes));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/junit.txt");
    if std::env::var_os("STUNT_BLESS").is_some() {
        fs::write(&golden, &shown).expect("it can be written");
    }
    let expected = fs::read_to_string(golden).expect("run it with STUNT_BLESS=1 once");
    assert_eq!(shown, expected, "STUNT_BLESS=1 rewrites it");
}
