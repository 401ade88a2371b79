//! The command as its users see it: arguments in, text and exit code out.
//!
//! Each golden file in `tests/golden` holds the exit code, standard output and standard error of
//! one call. `STUNT_BLESS=1` rewrites them (`cargo xtask bless` does that).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn stunt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stunt"))
        .args(arguments)
        .current_dir(root().join("tests/conditions"))
        .env_remove("RUST_BACKTRACE")
        .env_remove("STUNT_TIME")
        .output()
        .expect("the command starts")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What the command prints on standard output, as JSON.
fn json(arguments: &[&str]) -> Value {
    let output = stunt(arguments);
    serde_json::from_slice(&output.stdout).expect("valid JSON on standard output")
}

/// Calls the command and compares all that it says with the golden file.
#[track_caller]
fn golden(file: &str, arguments: &[&str]) {
    let output = stunt(arguments);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let mut actual = format!("$ stunt {}\n{}", arguments.join(" "), text(&output.stdout));
    if !output.stderr.is_empty() {
        actual += &format!("--- standard error\n{}", text(&output.stderr));
    }
    actual += &format!("--- exit code {}\n", output.status.code().expect("an exit code"));
    let path = root().join("tests/golden").join(file);
    if std::env::var_os("STUNT_BLESS").is_some() {
        fs::write(&path, actual).expect("the golden file can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        actual,
        expected,
        "{} differs. If the new text is right: STUNT_BLESS=1 cargo test --test cli",
        path.display()
    );
}

#[test]
fn demo() {
    golden("demo.txt", &["demo", "--seed", "1"]);
}

#[test]
fn the_pages_show_real_output() {
    let page = |name: &str| fs::read_to_string(root().join("docs").join(name)).unwrap();
    let calls: [(&str, &[&str]); 3] = [
        ("first-steps.md", &["demo", "--seed", "1"]),
        ("conditions.md", &["measure", "length.smt2"]),
        ("command-line.md", &["measure", "impossible.smt2"]),
    ];
    for (name, arguments) in calls {
        let output = String::from_utf8(stunt(arguments).stdout).unwrap();
        let call = arguments.join(" ");
        assert!(
            page(name).contains(&output),
            "{name} has other text for `stunt {call}`:\n{output}"
        );
    }
    let double = stunt(&["measure", "length.smt2", "--double", "--seed", "1"]).stdout;
    let shown: String = double.iter().map(|byte| format!(" {byte:02x}")).collect();
    assert!(page("conditions.md").contains(&shown), "conditions.md has another double than{shown}");
}

#[test]
fn measure() {
    golden("request.txt", &["measure", "request.smt2"]);
    golden("length.txt", &["measure", "length.smt2"]);
    golden("luhn.txt", &["measure", "luhn.smt2"]);
    golden("named.txt", &["measure", "named.smt2", "--double", "--seed", "1"]);
    golden("length-json.txt", &["measure", "length.smt2", "--json", "--double", "--seed", "1"]);
}

#[test]
fn sentences_for_what_does_not_work() {
    golden("impossible.txt", &["measure", "impossible.smt2"]);
    golden("broken.txt", &["measure", "broken.smt2"]);
    golden("absent.txt", &["measure", "no-such-file.smt2"]);
}

#[test]
fn help_documents_the_exit_codes() {
    golden("help.txt", &["--help"]);
    golden("help-measure.txt", &["measure", "--help"]);
    golden("help-run.txt", &["run", "--help"]);
    golden("help-replay.txt", &["replay", "--help"]);
    golden("help-anonymize.txt", &["anonymize", "--help"]);
    assert_eq!(stunt(&["no-such-command"]).status.code(), Some(2));
}

#[test]
fn the_program_of_the_demo_says_what_can_be_counted_by_hand() {
    let records = fs::read_to_string(root().join("tests/golden/demo.txt")).unwrap();
    let records: String =
        records.lines().skip(3).take(4).map(|line| format!("{}\n", line.trim_start())).collect();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records.csv");
    fs::write(&file, records).unwrap();
    let (file, own) = (file.to_str().unwrap(), env!("CARGO_BIN_EXE_stunt"));
    let report = format!("{file}.zip");
    let demo = json(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "--json",
        "--seed",
        "7",
        "-o",
        &report,
        "-i",
        file,
        "--",
        own,
        "__demo-program",
        "@@",
    ]);
    // Of three records, the separators and line ends are known: 3 `;`, 2 `-` and the line end each.
    // Months are 0 to 12 in two records and 13 to 99 in the third, days are two digits; all other
    // bytes are neither `;` nor the line end. The fourth record was not read.
    let (length, separators, digits) = (165, 18, 12);
    let choices = |n: f64| 16.0 - n.log2();
    let expected = 8.0 * f64::from(separators)
        + f64::from(length - separators - digits) * (256.0_f64 / 254.0).log2()
        + 2.0 * choices(13.0)
        + choices(87.0)
        + 3.0 * choices(100.0);
    let bits = demo["leak"]["bits"].as_f64().unwrap();
    assert!((bits - expected).abs() < 1e-5, "{bits} is not {expected}");
    assert_eq!(demo["leak"]["kind"], "exact");
    assert_eq!(demo["failure"]["kind"], "panic");
    assert_eq!(demo["verified"]["native"], true);
    assert_eq!(demo["uniform"], true);
}

#[test]
fn the_double_of_the_demo_is_another_file_with_the_same_fault() {
    let demo = json(&["demo", "--json"]);
    let double = bytes(&demo["double"]["bytes"]);
    let month = |record: &[u8]| {
        let date = record.split(|&byte| byte == b';').nth(1)?;
        std::str::from_utf8(date.get(5..7)?).ok()?.parse::<u8>().ok()
    };
    let mut months = double.split(|&byte| byte == b'\n').filter_map(month);
    assert!(months.any(|month| month > 12), "{double:?}");
    assert!(
        double
            .windows(5)
            .all(|five| ![b"Annel", b"Tomas", b"Ingri", b"Mehme"]
                .contains(&five.try_into().unwrap()))
    );
}

/// The bytes of a double in hexadecimal digits.
fn bytes(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().expect("hexadecimal digits");
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
        .collect()
}

#[test]
fn a_seed_repeats_a_double_and_no_seed_does_not() {
    let seeded = |seed| bytes(&json(&["demo", "--json", "--seed", seed])["double"]["bytes"]);
    let first = seeded("3");
    assert_eq!(first, seeded("3"));
    assert_ne!(first, seeded("4"));
    let fresh = || bytes(&json(&["demo", "--json"])["double"]["bytes"]);
    assert_ne!(fresh(), fresh());
}

#[test]
fn a_double_is_written_raw_and_satisfies_the_condition() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("double");
    let name = file.to_str().unwrap();
    let to_file = stunt(&["measure", "request.smt2", "--double", "--seed", "5", "-o", name]);
    let to_stdout = stunt(&["measure", "request.smt2", "--double", "--seed", "5"]);
    let double = fs::read(&file).unwrap();
    assert_eq!(double, to_stdout.stdout);
    // With the double on standard output, the figures are on standard error.
    assert_eq!(to_file.stdout, to_stdout.stderr);
    assert_eq!((double.len(), &double[..4]), (25, &b"GET "[..]));
    assert!(double[4..].iter().all(|&byte| byte != b'\n' && byte != b' '));
}

#[test]
fn doubles_pass_an_independent_luhn_check() {
    for seed in ["1", "2", "3", "4", "5"] {
        let card = stunt(&["measure", "luhn.smt2", "--double", "--seed", seed]).stdout;
        assert_eq!(card.len(), 16);
        assert!(card.iter().all(u8::is_ascii_digit));
        let digit = |(place, &character): (usize, &u8)| {
            let twice = u32::from(character - b'0') * if place % 2 == 0 { 2 } else { 1 };
            twice / 10 + twice % 10
        };
        assert_eq!(card.iter().enumerate().map(digit).sum::<u32>() % 10, 0, "seed {seed}");
    }
}

#[test]
fn what_cannot_be_counted_is_bounded_and_still_drawn() {
    let result = json(&["measure", "product.smt2", "--double", "--seed", "1", "--json"]);
    let leak = &result["leak"];
    assert!(leak["kind"] == "at-most" || leak["kind"] == "exact", "{leak}");
    assert!(leak["bits"].as_f64().unwrap() >= 0.0);
    let double = bytes(&result["double"]["bytes"]);
    let word = |at: usize| u32::from_le_bytes(double[at..at + 4].try_into().unwrap());
    assert!(word(0).checked_mul(word(4)).is_none(), "the product fits 32 bits");
}

#[test]
fn a_reader_may_leave_early() {
    // The reader is gone before the command writes.
    let script = format!("{{ sleep 0.3; '{}' demo; }} | true", env!("CARGO_BIN_EXE_stunt"));
    let output = Command::new("bash").args(["-o", "pipefail", "-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
