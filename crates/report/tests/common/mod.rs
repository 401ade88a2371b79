//! A report of a made-up failure.

use std::collections::BTreeMap;

use stunt_report::{
    Algorithm, ByteKind, ByteRuns, Draw, Failure, Frame, Kind, Leak, Module, Program, Replay,
    Report, Schema, Source, SourceName, Verified,
};

/// The report of a parser that fails on a file of 25 bytes, and its double.
pub fn sample() -> (Report, Vec<Vec<u8>>) {
    let figures = [8.0; 4].into_iter().chain([0.0113; 21]).map(|bits| (bits, ByteKind::Exact));
    let frame = |offset, symbol: &str, line: u32| Frame {
        module: "parser".to_owned(),
        build_id: Some("5d41402abc4b2a76b9719d911017c592ab8eb92f".to_owned()),
        offset,
        symbol: Some(symbol.to_owned()),
        location: Some(format!("parser.c:{line}")),
    };
    let report = Report {
        schema: Schema,
        stunt: "0.1.0".to_owned(),
        program: Program {
            name: "parser".to_owned(),
            build_id: Some("5d41402abc4b2a76b9719d911017c592ab8eb92f".to_owned()),
            modules: vec![Module { name: "libc.so.6".to_owned(), build_id: None }],
        },
        arguments: vec!["--strict".to_owned(), "@@".to_owned()],
        sources: vec![Source::new(SourceName::File, 25, Some("json"))],
        failure: Failure {
            kind: "signal 11".to_owned(),
            signature: "9f86d081".to_owned(),
            words: "SIGSEGV in field (parser.c:12)".to_owned(),
            frames: vec![frame(0x11d6, "field", 12), frame(0x1290, "main", 40)],
        },
        replay: Replay { native: true, check_memory: false, fails_if: None },
        tells: None,
        leak: Leak::new(32.2376, 200, Kind::Exact, "exactly 32.24 bits"),
        per_byte: vec![ByteRuns::new(SourceName::File, figures)],
        algorithm: Algorithm {
            name: "weaken".to_owned(),
            parameters: BTreeMap::from([("samples".to_owned(), "1000".to_owned())]),
        },
        draw: Draw::Uniform,
        verified: Verified { native: true, runs: 3 },
        notes: Vec::new(),
        comment: None,
    };
    (report, vec![b"GET o.Ab0.aB.BM5q,..H....".to_vec()])
}
