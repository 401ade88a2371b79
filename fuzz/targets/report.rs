//! Any file as a report: it is refused in a sentence, or it is a report that keeps every rule, can be
//! put into words, and can be written and read again.
//!
//! What begins with a brace is taken as `report.json` and packed with a double, since a change in a
//! packed file is mostly seen by its checksum.

#![no_main]

use std::io::{Cursor, Write as _};

use libfuzzer_sys::fuzz_target;
use stunt_report::{Limits, Report};
use zip::{ZipWriter, write::SimpleFileOptions};

/// What is packed with a `report.json`.
const DOUBLE: &[u8] = b"GET o.Ab0.aB.BM5q,..H....";

fn packed(json: &[u8]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::DEFAULT.compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in [("report.json", json), ("input/file.json", DOUBLE)] {
        archive.start_file(name, stored).expect("a new entry");
        archive.write_all(bytes).expect("there is room in memory");
    }
    archive.finish().expect("an archive").into_inner()
}

fuzz_target!(|data: &[u8]| {
    let limits = Limits { file: 1 << 20, json: 1 << 18, doubles: 1 << 20 };
    let bytes = if data.starts_with(b"{") { packed(data) } else { data.to_vec() };
    match Report::from_bytes(&bytes, limits) {
        Ok(opened) => {
            assert!(opened.report.summary().ends_with('.'));
            assert_eq!(opened.doubles.len(), opened.report.sources.len());
            let again =
                opened.report.to_bytes(&opened.doubles).expect("what is read can be written");
            // Written JSON may be longer: numbers have all their digits, and letters escapes.
            let wide = Limits { file: 1 << 24, json: 1 << 22, doubles: 1 << 20 };
            let once_more = Report::from_bytes(&again, wide).expect("what is written can be read");
            assert!(
                once_more.report == opened.report.clone().tidied(),
                "it changes while it is written"
            );
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?}");
        }
    }
});
