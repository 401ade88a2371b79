//! What is handed over brings the double, byte for byte, and says nothing but what the report says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use stunt_handover::{Issue, LONGEST, Way, issue, mail};
use stunt_report::{
    Algorithm, ByteRuns, Draw, Failure, Frame, Leak, Opened, Program, Replay, Report, Schema,
    Source, SourceName, Verified,
};

fn opened(sources: Vec<(SourceName, &[u8])>) -> Opened {
    let runs = |(name, _): &(SourceName, &[u8])| ByteRuns::new(name.clone(), []);
    let source = |(name, double): &(SourceName, &[u8])| {
        Source::new(name.clone(), double.len() as u64, Some("csv"))
    };
    let frame = Frame {
        module: "prog".into(),
        symbol: Some("parse".into()),
        location: Some("a.c:1".into()),
        ..Frame::default()
    };
    let report = Report {
        schema: Schema,
        stunt: "0.1.0".into(),
        program: Program { name: "prog".into(), ..Program::default() },
        arguments: vec!["--in=@@".into()],
        per_byte: sources.iter().map(runs).collect(),
        sources: sources.iter().map(source).collect(),
        failure: Failure {
            kind: "signal".into(),
            signature: "0123abcd4567ef89".into(),
            words: "SIGSEGV in parse (a.c:1)".into(),
            frames: vec![frame],
        },
        replay: Replay { native: true, ..Replay::default() },
        tells: None,
        leak: Leak::new(0.0, 8, stunt_report::Kind::Exact, ""),
        algorithm: Algorithm::default(),
        draw: Draw::Uniform,
        verified: Verified::default(),
        notes: Vec::new(),
        comment: None,
    };
    Opened { report, doubles: sources.into_iter().map(|(_, double)| double.to_vec()).collect() }
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn made(opened: &Opened) -> (Issue, Vec<u8>) {
    let archive = opened.report.to_bytes(&opened.doubles).expect("a report");
    (issue(opened, &archive, "stunt-report.zip"), archive)
}

/// The lines of a shell in an issue, run in a folder with a program that shows what it is given.
fn run(issue: &Issue, folder: &Path) -> Vec<u8> {
    let (_, rest) = issue.body.split_once("```sh\n").expect("lines of a shell");
    let (lines, _) = rest.split_once("\n```\n").expect("their end");
    let program = "#!/bin/sh\ncat \"${1#--in=}\" 2>/dev/null || cat\n";
    fs::write(folder.join("prog"), program).expect("a program");
    Command::new("chmod").arg("+x").arg(folder.join("prog")).status().expect("chmod");
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", lines]).current_dir(folder).env("PATH", path).output();
    output.expect("a shell").stdout
}

#[test]
fn an_issue_brings_the_double_and_the_command() {
    for (name, double) in
        [("text", &b"a;b\n"[..]), ("binary", &[0, 255, 10, 13]), ("longest", &[7; LONGEST])]
    {
        let (issue, _) = made(&opened(vec![(SourceName::File, double)]));
        assert!(issue.is_whole && issue.title == "prog: SIGSEGV in parse (a.c:1)", "{issue:?}");
        assert!(issue.body.contains("prog --in=double.csv"), "{}", issue.body);
        assert_eq!(run(&issue, &folder(&format!("issue-{name}"))), double, "{}", issue.body);
    }
    let (issue, _) = made(&opened(vec![(SourceName::Stdin, b"x\n")]));
    assert!(issue.body.contains("prog --in=@@ < double"), "{}", issue.body);
}

#[test]
fn what_is_too_long_is_attached_and_unpacked() {
    let double = [7; LONGEST + 1];
    let (issue, archive) = made(&opened(vec![(SourceName::File, &double)]));
    assert!(!issue.is_whole);
    let folder = folder("attached");
    fs::write(folder.join("stunt-report.zip"), archive).expect("the attachment");
    assert_eq!(run(&issue, &folder), double, "{}", issue.body);
}

#[test]
fn inputs_of_several_parts_are_a_report_for_stunt() {
    let sources =
        vec![(SourceName::NumberedFile(1), &b"a"[..]), (SourceName::NumberedFile(2), &b"b"[..])];
    let (issue, _) = made(&opened(sources));
    assert!(issue.is_whole, "{}", issue.body);
    assert!(issue.body.contains("base64 -d > stunt-report.zip"), "{}", issue.body);
    assert!(issue.body.contains("stunt replay stunt-report.zip -- prog"), "{}", issue.body);
}

#[test]
fn attack_a_report_writes_markup() {
    let hostile = "```\n# heading <img src=x onerror=y> [a](b) @everyone #1 \u{202e}\n````";
    let mut opened = opened(vec![(SourceName::File, b"x\n")]);
    opened.report.comment = Some(hostile.into());
    opened.report.failure.words = hostile.into();
    opened.report.failure.frames[0].symbol = Some(hostile.into());
    opened.report.program.name = hostile.into();
    opened.report.notes = vec![hostile.into()];
    let (issue, _) = made(&opened);
    // Whatever the report says stands in a block; outside of them are this crate's own words.
    let mut fence: Option<String> = None;
    for line in issue.body.lines() {
        let ticks: String = line.chars().take_while(|&c| c == '`').collect();
        match &fence {
            Some(open) if ticks.len() >= open.len() && line == ticks => fence = None,
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(_) => {}
            None => assert!(!line.contains("heading") && !line.contains("img"), "{line}"),
        }
    }
    assert!(fence.is_none() && !issue.body.contains('\u{202e}'), "{}", issue.body);
    assert!(!issue.title.contains('\n') && issue.title.chars().count() <= 200);
}

#[test]
fn a_mail_is_one_that_others_read() {
    let mut opened = opened(vec![(SourceName::File, b"x\n")]);
    opened.report.failure.words = "uncaught Größenfehler in λ".into();
    opened.report.comment = Some("--=_stunt_0\n.\nit fails".into());
    let (issue, archive) = made(&opened);
    let Ok(Way::Mail(to)) = "mail:bugs@example.org".parse() else { panic!("it is an address") };
    let folder = folder("mail");
    let message = mail(&issue, &archive, "stunt-report.zip", to.as_ref());
    fs::write(folder.join("r.eml"), message).expect("a file");
    fs::write(folder.join("body"), &issue.body).expect("a file");
    fs::write(folder.join("archive"), &archive).expect("a file");
    let script = "\
import email, email.policy
m = email.message_from_binary_file(open('r.eml', 'rb'), policy=email.policy.default)
assert m['To'] == 'bugs@example.org' and m['X-Unsent'] == '1', m.items()
assert m['Subject'] == 'prog: uncaught Größenfehler in λ', m['Subject']
text, file = m.iter_parts()
assert text.get_content().splitlines() == open('body', encoding='utf-8').read().splitlines()
assert file.get_filename() == 'stunt-report.zip'
assert file.get_content() == open('archive', 'rb').read()
";
    let output = Command::new("python3").args(["-c", script]).current_dir(&folder).output();
    let output = output.expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
