//! Files that nobody should have to trust: each gives a sentence, none gives a panic or takes
//! memory that the limits forbid.

mod common;

use std::io::{Cursor, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use stunt_report::{Limits, Opened, Report};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use common::sample;

/// Changes a report's JSON.
type Change = fn(&mut Value);

/// An archive of these entries.
fn pack(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        archive.start_file(*name, SimpleFileOptions::DEFAULT).expect("a new entry");
        archive.write_all(bytes).expect("there is room in memory");
    }
    archive.finish().expect("an archive").into_inner()
}

fn read(bytes: &[u8]) -> Result<Opened, String> {
    Report::from_bytes(bytes, Limits::default()).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(bytes: &[u8], expected: &str) {
    match read(bytes) {
        Ok(_) => panic!("it was read"),
        Err(message) => assert!(message.contains(expected), "{message}"),
    }
}

/// The sample's archive with another `report.json`.
fn with_json(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (report, doubles) = sample();
    let mut value: Value = serde_json::from_str(&report.to_json()).unwrap();
    change(&mut value);
    pack(&[("report.json", value.to_string().as_bytes()), ("input/file.json", &doubles[0])])
}

#[test]
fn the_sample_itself_is_read() {
    assert!(read(&with_json(|_| {})).is_ok());
    // Other tools add the folder as an entry; later versions may add fields.
    let (report, doubles) = sample();
    let json = report.to_json();
    let entries: [(&str, &[u8]); 3] =
        [("report.json", json.as_bytes()), ("input/", b""), ("input/file.json", &doubles[0])];
    assert!(read(&pack(&entries)).is_ok());
    assert!(read(&with_json(|json| json["later"] = json!({"x": [1]}))).is_ok());
}

#[test]
fn what_is_no_report_is_told_apart() {
    refused(b"", "not a report of stunt: a report is a zip archive");
    refused(b"GIF89a", "not a report of stunt");
    refused(b"PK\x03\x04", "the report is damaged");
    refused(&pack(&[("photo.jpg", b"x")]), "the archive has no report.json");
    refused(&pack(&[("report.json", b"[1]")]), "does not name its schema");
    refused(&pack(&[("report.json", b"{\"schema\": ")]), "the report is damaged: report.json");
    refused(&pack(&[("report.json", b"\xff\xfe")]), "the report is damaged");
    refused(&with_json(|json| json["schema"] = json!("other-1")), "the schema \"other-1\"");
    refused(&with_json(|json| json["schema"] = json!("stunt-report-0")), "not a report of stunt");
    refused(&with_json(|json| json["schema"] = json!(1)), "does not name its schema");
}

#[test]
fn a_later_schema_asks_for_a_later_stunt() {
    refused(
        &with_json(|json| *json = json!({"schema": "stunt-report-3", "all": "is different"})),
        "the report has the schema stunt-report-3, which this version of stunt does not know; \
         update stunt",
    );
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let (report, doubles) = sample();
    let json = report.to_json();
    for name in
        ["../../etc/passwd", "/etc/passwd", "input/../x", "input/.profile", "x", "a\u{1b}[2J"]
    {
        let entries: [(&str, &[u8]); 3] =
            [("report.json", json.as_bytes()), ("input/file.json", &doubles[0]), (name, b"x")];
        refused(&pack(&entries), "which no report has; do not unpack it");
    }
    // Escapes for a terminal do not reach one.
    let message = read(&pack(&[("report.json", b"{}"), ("a\u{1b}[2J", b"")])).err().unwrap();
    assert!(!message.contains('\u{1b}'), "{message:?}");
    refused(
        &with_json(|json| json["sources"][0]["entry"] = json!("input/../../x")),
        "has a strange entry",
    );
    refused(
        &with_json(|json| json["sources"][0]["entry"] = json!("report.json")),
        "has a strange entry",
    );
}

#[test]
fn reports_that_contradict_themselves_are_refused() {
    let contradictions: [(&str, Change); 12] = [
        ("input/file.json does not have 24 bytes", |r| {
            r["sources"][0]["bytes"] = json!(24);
            r["leak"]["of"] = json!(192);
            r["per_byte"][0]["runs"] = json!([]);
        }),
        ("input/file.json does not have 26 bytes", |r| r["sources"][0]["bytes"] = json!(26)),
        ("input/other is missing", |r| r["sources"][0]["entry"] = json!("input/other")),
        ("it does not hold one double for each source", |r| {
            r["sources"] = json!([]);
            r["per_byte"] = json!([]);
            r["leak"]["of"] = json!(0);
        }),
        ("the source file is there twice", |r| {
            let source = r["sources"][0].clone();
            r["sources"].as_array_mut().unwrap().push(source);
        }),
        ("does not list the sources", |r| r["per_byte"][0]["source"] = json!("stdin")),
        ("goes beyond the end", |r| r["per_byte"][0]["runs"][1][1] = json!(22)),
        ("goes beyond the end", |r| r["per_byte"][0]["runs"][1][1] = json!(u64::MAX)),
        ("runs of bytes overlap", |r| r["per_byte"][0]["runs"][1][0] = json!(3)),
        ("between 0 and 8 bits", |r| r["per_byte"][0]["runs"][0][2] = json!(8.5)),
        ("leak.bits is not a figure", |r| r["leak"]["bits"] = json!(-1.0)),
        ("leak is of more bits", |r| r["leak"]["of"] = json!(201)),
    ];
    for (expected, change) in contradictions {
        refused(&with_json(change), expected);
    }
    let damages: [Change; 8] = [
        |r| r["failure"]["frames"][0]["offset"] = json!("0x+1"),
        |r| r["failure"]["frames"][0]["offset"] = json!(12),
        |r| r["sources"][0]["name"] = json!("arg 0"),
        |r| r["leak"]["kind"] = json!("perhaps\u{1b}[2J"),
        |r| r["leak"]["bits"] = Value::Null,
        |r| r["draw"] = json!({"uniform": true, "why": "x"}),
        |r| r["draw"] = json!({"uniform": false}),
        |r| r["verified"]["runs"] = json!(-1),
    ];
    for change in damages {
        let message = read(&with_json(change)).err().expect("it is refused");
        assert!(message.starts_with("the report is damaged: report.json"), "{message}");
        assert!(!message.contains('\u{1b}'), "{message:?}");
    }
}

#[test]
fn two_entries_of_one_name_are_refused() {
    // The list of entries names `input/fake.json`; patched, it names the same entry twice.
    let (report, doubles) = sample();
    let json = report.to_json();
    let mut bytes = pack(&[
        ("report.json", json.as_bytes()),
        ("input/fake.json", b"something else"),
        ("input/file.json", &doubles[0]),
    ]);
    let (from, to) = (b"input/fake.json", b"input/file.json");
    let at: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert_eq!(at.len(), 2);
    for at in at {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    assert!(read(&bytes).is_err());
}

#[test]
fn bombs_do_not_go_off() {
    let (mut report, _) = sample();
    let zeros = vec![0; 64 << 20];
    // The report lies about the length.
    let json = report.to_json();
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [("report.json", json.as_bytes()), ("input/file.json", &zeros)] {
        archive.start_file(name, SimpleFileOptions::DEFAULT.compression_level(Some(1))).unwrap();
        archive.write_all(bytes).unwrap();
    }
    let bomb = archive.finish().unwrap().into_inner();
    assert!(bomb.len() < 1 << 20);
    refused(&bomb, "input/file.json does not have 25 bytes");
    // It tells the truth, and that is too much.
    report.sources[0].bytes = zeros.len() as u64;
    let file = report.to_bytes(&[&zeros]).unwrap();
    let limits = Limits { doubles: 1 << 20, ..Limits::default() };
    let error = Report::from_bytes(&file, limits).err().unwrap();
    let expected = "what the report unpacks to is larger than 1048576 bytes, more than stunt reads \
                    of a report";
    assert_eq!(error.to_string(), expected);
    // A long report.json, and a long file.
    let long = format!("{{\"schema\": \"{}\"}}", "x".repeat(2 << 20));
    refused(&pack(&[("report.json", long.as_bytes())]), "report.json is larger than 1048576 bytes");
    let small = Limits { file: 100, ..Limits::default() };
    let error = Report::from_bytes(&file, small).err().unwrap();
    assert!(error.to_string().starts_with("the file is larger than 100 bytes"), "{error}");
    // Brackets within brackets.
    let deep = format!("{{\"schema\":\"stunt-report-1\",\"x\":{}", "[".repeat(500_000));
    refused(&pack(&[("report.json", deep.as_bytes())]), "the report is damaged");
    // Thousands of entries.
    let names: Vec<String> = (0..5000).map(|n| format!("input/arg{n}")).collect();
    let mut entries: Vec<(&str, &[u8])> = vec![("report.json", json.as_bytes())];
    entries.extend(names.iter().map(|name| (name.as_str(), &b""[..])));
    refused(&pack(&entries), "it does not hold one double for each source");
}

/// Damages a file in one of many ways.
fn damage(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    for _ in 0..rng.gen_range(1..=4) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.gen_range(0..bytes.len());
        match rng.gen_range(0..7) {
            0 => bytes[at] ^= 1 << rng.gen_range(0..8),
            1 => bytes[at] = *[0, 0xff, 0x7f, 0x80, 1].choose(rng).unwrap(),
            2 => bytes.truncate(at),
            3 => bytes.insert(at, rng.r#gen()),
            4 => drop(bytes.drain(at..(at + rng.gen_range(1..20)).min(bytes.len()))),
            5 => {
                let part = bytes[at..(at + 40).min(bytes.len())].to_vec();
                let to = rng.gen_range(0..=bytes.len());
                bytes.splice(to..to, part);
            }
            _ => {
                // A size or a place that is written in four bytes.
                let number: u32 = *[0, 1, u32::MAX, i32::MAX as u32, 0x1_0000].choose(rng).unwrap();
                let to = (at + 4).min(bytes.len());
                bytes[at..to].copy_from_slice(&number.to_le_bytes()[..to - at]);
            }
        }
    }
}

/// Reads a damaged file, and uses all of what is read.
fn survives(bytes: &[u8]) -> bool {
    let limits = Limits { file: 1 << 20, json: 1 << 18, doubles: 1 << 20 };
    match Report::from_bytes(bytes, limits) {
        Ok(opened) => {
            assert!(opened.report.summary().ends_with('.'));
            assert_eq!(opened.doubles.len(), opened.report.sources.len());
            let again =
                opened.report.to_bytes(&opened.doubles).expect("what is read can be written");
            assert!(Report::from_bytes(&again, limits).is_ok());
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?}");
            false
        }
    }
}

#[test]
fn damaged_files_never_panic() {
    let (report, doubles) = sample();
    let whole = report.to_bytes(&doubles).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for round in 0..20_000 {
        let mut bytes = whole.clone();
        damage(&mut bytes, &mut rng);
        let result = catch_unwind(AssertUnwindSafe(|| survives(&bytes)));
        assert!(result.is_ok(), "round {round} panicked");
    }
}

#[test]
fn damaged_json_in_a_whole_archive_never_panics() {
    let (report, doubles) = sample();
    let whole = report.to_json().into_bytes();
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mut survived = 0;
    for round in 0..10_000 {
        let mut json = whole.clone();
        damage(&mut json, &mut rng);
        let bytes = pack(&[("report.json", &json), ("input/file.json", &doubles[0])]);
        let result = catch_unwind(AssertUnwindSafe(|| survives(&bytes)));
        survived += u32::from(result.unwrap_or_else(|_| panic!("round {round} panicked")));
    }
    // Otherwise the test would look at nothing but the parser's first sentence.
    assert!(survived > 100, "{survived} reports were read");
}
