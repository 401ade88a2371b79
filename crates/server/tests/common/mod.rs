//! What the tests of the server share: folders that go away, a PostgreSQL of their own, reports of
//! made-up failures, and a client.

#![allow(dead_code)] // Every test uses a part of it.

pub mod client;
pub mod load;
pub mod postgres;
pub mod process;
pub mod tables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rand::rngs::OsRng;
use rand::{Rng, RngCore};
use stunt_parcel::{Digest, Recipient};
use stunt_report::{
    Algorithm, ByteKind, ByteRuns, Draw, Failure, Frame, Kind, Leak, Program, Replay, Report,
    Schema, Source, SourceName, Verified,
};

/// A folder that goes away.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name =
            format!("stunt-server-{}-{number}-{:08x}", std::process::id(), OsRng.r#gen::<u32>());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a made-up failure is like.
#[derive(Clone)]
pub struct Made {
    pub program: &'static str,
    pub build: String,
    pub signature: String,
    pub functions: Vec<String>,
    pub leak: f64,
    pub bytes: usize,
    pub comment: Option<String>,
}

impl Made {
    /// A failure in these functions, from the failing one outward.
    pub fn new(signature: &str, functions: &[&str]) -> Made {
        Made {
            program: "parser",
            build: "5d41402abc4b2a76b9719d911017c592ab8eb92f".to_owned(),
            signature: signature.to_owned(),
            functions: functions.iter().map(ToString::to_string).collect(),
            leak: 32.0,
            bytes: 25,
            comment: None,
        }
    }

    /// Its report, as a file. The double is random, so every file is another.
    pub fn report(&self) -> Vec<u8> {
        let mut double = vec![0; self.bytes];
        OsRng.fill_bytes(&mut double);
        self.report_on(&double)
    }

    /// Its report on a given double.
    pub fn report_on(&self, double: &[u8]) -> Vec<u8> {
        let frame = |(at, symbol): (usize, &String)| Frame {
            module: self.program.to_owned(),
            build_id: Some(self.build.clone()),
            offset: 0x1000 + 16 * at as u64,
            symbol: Some(symbol.clone()),
            location: Some(format!("{}.c:{}", self.program, 10 + at)),
        };
        let bits = 8 * double.len() as u64;
        let figures = (0..double.len()).map(|at| (if at < 4 { 8.0 } else { 0.0 }, ByteKind::Exact));
        let first = self.functions.first().cloned().unwrap_or_default();
        let report = Report {
            schema: Schema,
            stunt: "0.1.0".to_owned(),
            program: Program {
                name: self.program.to_owned(),
                build_id: Some(self.build.clone()),
                modules: Vec::new(),
            },
            arguments: vec!["@@".to_owned()],
            sources: vec![Source::new(SourceName::File, double.len() as u64, None)],
            failure: Failure {
                kind: "signal".to_owned(),
                signature: self.signature.clone(),
                words: format!("SIGSEGV in {first} ({}.c:10)", self.program),
                frames: self.functions.iter().enumerate().map(frame).collect(),
            },
            replay: Replay { native: true, check_memory: false, fails_if: None },
            tells: None,
            leak: Leak::new(self.leak, bits, Kind::Exact, format!("exactly {} bits", self.leak)),
            per_byte: vec![ByteRuns::new(SourceName::File, figures)],
            algorithm: Algorithm { name: "weaken".to_owned(), parameters: BTreeMap::new() },
            draw: Draw::Uniform,
            verified: Verified { native: true, runs: 3 },
            notes: Vec::new(),
            comment: self.comment.clone(),
        };
        report.to_bytes(&[double]).unwrap()
    }
}

/// A sealed report and the digest of the parcel.
pub fn sealed(report: &[u8], to: &Recipient) -> (Vec<u8>, Digest) {
    let parcel = stunt_parcel::seal(report, to, None, None).unwrap();
    let digest = Digest::of(&parcel);
    (parcel, digest)
}
