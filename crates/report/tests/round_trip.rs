//! Writing and reading: what comes back is what went in, and the file is small, whole and always
//! the same.

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use proptest::prelude::*;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_report::{
    ByteKind, ByteRuns, Draw, Error, Frame, Kind, Leak, Limits, Report, Source, SourceName,
};

use common::sample;

/// A folder of a test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    names
}

#[test]
fn reports_of_the_first_version_are_read_without_what_they_said_of_the_original() {
    let (report, doubles) = sample();
    let mut json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    json["schema"] = "stunt-report-1".into();
    json["residue_percent"] = 16.0.into();
    json["original_path_leak"] = json["leak"].clone();
    json["seconds"] = serde_json::json!({ "trace": 0.12, "total": 0.5 });
    let old: Report = serde_json::from_value(json).unwrap();
    assert_eq!(old, report);
    let bytes = old.to_bytes(&doubles).unwrap();
    let written = Report::from_bytes(&bytes, Limits::default()).unwrap().report.to_json();
    assert!(written.contains("stunt-report-2") && !written.contains("seconds"), "{written}");
}

#[test]
fn a_file_is_written_whole_and_read_back() {
    let folder = folder("whole");
    let path = folder.join("crash.stunt");
    let (report, doubles) = sample();
    fs::write(&path, "an older report").unwrap();
    report.write(&doubles, &path).unwrap();
    assert_eq!(names(&folder), ["crash.stunt"], "nothing else is left behind");
    let opened = Report::read(&path).unwrap();
    assert_eq!(opened.report, report.tidied());
    assert_eq!(opened.report, report, "the sample is tidy already");
    assert!(opened.doubles == doubles);
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    let (report, doubles) = sample();
    let bytes = report.to_bytes(&doubles).unwrap();
    assert_eq!(bytes, report.to_bytes(&doubles).unwrap());
    // The date of both entries is 1 January 1980, 0:00.
    assert_eq!(&bytes[10..14], &[0, 0, 0x21, 0]);
}

#[test]
fn other_tools_read_the_archive() {
    let folder = folder("unzip");
    let path = folder.join("crash.stunt");
    let (report, doubles) = sample();
    report.write(&doubles, &path).unwrap();
    let script = "import sys, zipfile, json\n\
                  z = zipfile.ZipFile(sys.argv[1])\n\
                  assert z.testzip() is None\n\
                  assert json.loads(z.read('report.json'))['schema'] == 'stunt-report-2'\n\
                  print(' '.join(z.namelist()), z.read('input/file.json').decode())\n";
    let output =
        std::process::Command::new("python3").args(["-c", script]).arg(&path).output().unwrap();
    let expected = "report.json input/file.json GET o.Ab0.aB.BM5q,..H....\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn an_error_leaves_nothing() {
    let (report, doubles) = sample();
    let folder = folder("nothing");
    let error = report.write(&doubles, folder.join("absent/crash.stunt")).unwrap_err();
    assert!(matches!(error, Error::Unwritable { .. }), "{error}");
    let error = report.write(&doubles, &folder).unwrap_err();
    assert!(matches!(error, Error::NotAFile { .. }), "{error}");
    assert!(matches!(report.write(&doubles, "/dev/null"), Err(Error::NotAFile { .. })));
    let error = report.write(&[b"short"], folder.join("crash.stunt")).unwrap_err();
    assert!(matches!(error, Error::Contradiction(_)), "{error}");
    let mut endless = report.clone();
    endless.leak.bits = f64::INFINITY;
    let error = endless.write(&doubles, folder.join("crash.stunt")).unwrap_err();
    assert_eq!(error.to_string(), "the report contradicts itself: leak.bits is not a figure");
    assert!(names(&folder).is_empty());
}

/// Names the place for the report to the test below when it runs itself.
const PLACE: &str = "STUNT_TEST_FULL_DISK";

#[test]
fn a_full_disk_leaves_nothing() {
    let (mut report, _) = sample();
    let mut double = vec![0; 100_000];
    ChaCha8Rng::seed_from_u64(1).fill_bytes(&mut double);
    report.sources[0].bytes = double.len() as u64;
    if let Some(place) = std::env::var_os(PLACE) {
        let error = report.write(&[double], place).unwrap_err();
        assert!(matches!(error, Error::Unwritable { .. }), "{error}");
        return;
    }
    // In a process that may write 8 KB to a file: the same, for a program, as a disk that is full.
    let folder = folder("full");
    let output = std::process::Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact a_full_disk_leaves_nothing"])
        .arg(std::env::current_exe().unwrap())
        .env(PLACE, folder.join("crash.stunt"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
}

#[test]
fn a_link_stays_a_link() {
    let folder = folder("link");
    let (report, doubles) = sample();
    fs::write(folder.join("real"), "").unwrap();
    std::os::unix::fs::symlink("real", folder.join("link")).unwrap();
    report.write(&doubles, folder.join("link")).unwrap();
    assert!(fs::symlink_metadata(folder.join("link")).unwrap().is_symlink());
    assert!(Report::read(folder.join("real")).is_ok());
}

fn deflated(bytes: &[u8]) -> usize {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap().len()
}

#[test]
fn a_report_is_at_most_five_kilobytes_longer_than_its_double() {
    // The worst that can come: every byte another figure, long stacks, long names of templates.
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for bytes in [1, 100, 3_000, 100_000] {
        let (mut report, _) = sample();
        let mut double = vec![0; bytes];
        rng.fill_bytes(&mut double);
        report.sources = vec![Source::new(SourceName::File, bytes as u64, None)];
        let figures: Vec<(f64, ByteKind)> =
            (0..bytes).map(|_| (rng.gen_range(0.0..8.0), ByteKind::Exact)).collect();
        report.per_byte = vec![ByteRuns::new(SourceName::File, figures.iter().copied())];
        report.leak = Leak::new(0.5, 8, Kind::Exact, "exactly 0.50 bits");
        report.failure.frames = (0..100)
            .map(|_| Frame {
                module: format!("lib{:x}.so", rng.next_u32()),
                build_id: Some(format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64())),
                offset: rng.next_u64(),
                symbol: Some((0..400).map(|_| char::from(rng.gen_range(b'a'..=b'z'))).collect()),
                location: Some(format!("{:x}.cc:{}", rng.next_u64(), rng.next_u32())),
            })
            .collect();
        let file = report.to_bytes(&[&double]).unwrap();
        let more = file.len() - deflated(&double);
        assert!(more <= 5 * 1024, "{more} bytes more than a double of {bytes}");
        let read = Report::from_bytes(&file, Limits::default()).unwrap().report;
        let runs = &read.per_byte[0];
        assert_eq!(runs.coarse, !read.notes.is_empty(), "whoever joins runs says so");
        for (offset, &(bits, _)) in (0..).zip(&figures) {
            let shown = runs.at(offset).map_or(0.0, |(bits, _)| bits);
            assert!(shown + 0.01 >= bits, "{shown} for {bits}");
        }
    }
}

#[test]
fn an_ordinary_report_is_short() {
    let (report, doubles) = sample();
    let more = report.to_bytes(&doubles).unwrap().len() - deflated(&doubles[0]);
    assert!(more <= 1024, "{more} bytes");
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Exact), Just(Kind::AtMost), Just(Kind::Estimate)]
}

fn byte_kinds() -> impl Strategy<Value = ByteKind> {
    prop_oneof![
        Just(ByteKind::Exact),
        Just(ByteKind::AtMost),
        Just(ByteKind::Estimate),
        Just(ByteKind::Public)
    ]
}

fn leaks(of: u64) -> impl Strategy<Value = Leak> {
    (0.0..1e7, kinds(), ".{0,20}").prop_map(move |(bits, kind, words)| Leak {
        bits,
        of,
        percent: bits / 3.0,
        kind,
        words,
    })
}

prop_compose! {
    fn frames()(
        module in ".{1,12}",
        build_id in prop::option::of("[0-9a-f]{40}"),
        offset in any::<u64>(),
        symbol in prop::option::of(".{0,300}"),
        location in prop::option::of("[a-z./]{1,20}:[0-9]{1,4}"),
    ) -> Frame {
        Frame { module, build_id, offset, symbol, location }
    }
}

prop_compose! {
    fn reports()(
        double in prop::collection::vec(any::<u8>(), 0..2000),
        argument in prop::collection::vec(any::<u8>(), 0..50),
    )(
        figures in prop::collection::vec((0.0..8.0_f64, byte_kinds()), double.len()),
        leak in leaks(8 * double.len() as u64),
        arguments in prop::collection::vec(".{0,20}", 0..4),
        frames in prop::collection::vec(frames(), 0..40),
        name in "[A-Z_]{1,8}",
        why in prop::option::of(".{0,30}"),
        verified in any::<(u32, bool)>(),
        notes in prop::collection::vec(".{0,60}", 0..3),
        comment in prop::option::of(".{0,60}"),
        double in Just(double),
        argument in Just(argument),
    ) -> (Report, Vec<Vec<u8>>) {
        let (mut report, _) = sample();
        let variable = SourceName::Environment(name);
        report.sources = vec![
            Source::new(SourceName::Stdin, double.len() as u64, None),
            Source::new(variable.clone(), argument.len() as u64, None),
        ];
        report.per_byte = vec![
            ByteRuns::new(SourceName::Stdin, figures),
            ByteRuns::new(variable, argument.iter().map(|_| (1.5, ByteKind::Exact))),
        ];
        report.leak = leak;
        report.arguments = arguments;
        report.failure.frames = frames;
        report.draw = why.map_or(Draw::Uniform, |why| Draw::NotUniform { why });
        (report.verified.runs, report.verified.native) = verified;
        report.notes = notes;
        report.comment = comment;
        (report, vec![double, argument])
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_is_read_is_what_was_written((report, doubles) in reports()) {
        let tidied = report.tidied();
        prop_assert_eq!(&tidied.tidied(), &tidied);
        let bytes = report.to_bytes(&doubles).unwrap();
        let opened = Report::from_bytes(&bytes, Limits::default()).unwrap();
        prop_assert_eq!(&opened.report, &tidied);
        prop_assert!(opened.doubles == doubles);
        // And once more, from what was read.
        prop_assert_eq!(opened.report.to_bytes(&doubles).unwrap(), bytes);
        // The sentence exists for every report.
        prop_assert!(tidied.summary().ends_with('.'));
    }
}
