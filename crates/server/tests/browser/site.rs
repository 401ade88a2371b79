//! A server with tickets, for one test: reports are sealed and sent as a program would send them.
//!
//! The clock is the test's, so that pages and pictures do not depend on the day.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use stunt_parcel::messages::{Count, Counted, EventId, Stored, report_path};
use stunt_parcel::{Digest, seal};
use stunt_report::{
    Algorithm, ByteKind, ByteRuns, Draw, Failure, Frame, Kind, Leak, Program, Replay, Report,
    Schema, Source, SourceName, Verified,
};
use stunt_server::store::Role;
use stunt_server::{Clock, Config, Rate, Running, Store, Worker, start};
use tokio::runtime::Runtime;

/// Monday, 16 November 2026, 10:36 UTC, in milliseconds.
const NOW: i64 = 1_794_825_360_000;
const DAY: i64 = 86_400_000;
/// The password of both users.
pub const PASSWORD: &str = "correct horse battery";

/// A server that ends with its test.
pub struct Site {
    /// Where it is.
    pub url: String,
    runtime: Runtime,
    running: Option<Running>,
    clock: Arc<AtomicI64>,
    folder: PathBuf,
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Site {
    /// A server without tickets. Its users are `ada`, an admin, and `max`, a maintainer.
    pub fn start(worker: Option<Worker>) -> Site {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("stunt-site-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let clock = Arc::new(AtomicI64::new(NOW));
        let mut config = Config::new("127.0.0.1:0".parse().unwrap(), &folder);
        config.clock = Clock::Set(Arc::clone(&clock));
        config.rate = Rate { per_minute: 1_000_000, burst: 1_000_000 };
        config.poll_trackers = Duration::from_millis(200);
        config.worker = worker;
        let runtime = Runtime::new().unwrap();
        let running = runtime.block_on(start(config)).unwrap();
        let url = format!("http://{}", running.address);
        let site = Site { url, runtime, running: Some(running), clock, folder };
        for (name, role) in [("ada", Role::Admin), ("max", Role::Maintainer)] {
            let added = site.store().add_user("test", name, PASSWORD, role);
            site.runtime.block_on(added).unwrap();
        }
        site
    }

    /// What the server remembers.
    pub fn store(&self) -> &Store {
        self.running.as_ref().unwrap().app.store()
    }

    /// Waits for something of the store.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Its folder, for files of the test.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lets time go by, in milliseconds.
    pub fn pass(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::Relaxed);
    }

    /// Sends a report; gives back the ticket.
    pub fn submit(&self, report: &Report, double: &[u8]) -> Stored {
        let bytes = report.to_bytes(&[double]).unwrap();
        let key: stunt_parcel::messages::ServerKey =
            ureq::get(format!("{}/api/v1/recipient", self.url))
                .call()
                .unwrap()
                .body_mut()
                .read_json()
                .unwrap();
        let sealed = seal(&bytes, &key.recipient, None, None).unwrap();
        let url = format!("{}{}", self.url, report_path(Digest::of(&sealed)));
        let mut answer =
            ureq::put(url).header("Content-Type", "application/age").send(&sealed[..]).unwrap();
        answer.body_mut().read_json().unwrap()
    }

    /// Says that a failure was met once more.
    pub fn count(&self, report: &Report, version: &str) -> u64 {
        let count = Count {
            id: EventId::random(),
            signature: report.failure.signature.clone(),
            program: report.program.name.clone(),
            build_id: report.program.build_id.clone(),
            version: Some(version.to_owned()),
        };
        let url = format!("{}/api/v1/counts", self.url);
        let mut answer = ureq::post(url).send_json(&count).unwrap();
        answer.body_mut().read_json::<Counted>().unwrap().count
    }

    /// Some tickets as a small project has them, with events over the last weeks.
    pub fn with_tickets(self) -> Site {
        let failures = [
            webserver(),
            failure("tables", "abort", "parse_row", "row.rs:118", "load_sheet", 2310, 3.1),
            failure("jsonq", "signal 11", "skip_string", "lex.c:77", "parse_value", 190, 0.4),
            failure("thumbnail", "signal 8", "scale_line", "scale.c:41", "resize", 5120, 0.02),
            failure(
                "mailsort",
                "panic",
                "Header::decode",
                "header.rs:208",
                "Message::read",
                870,
                12.5,
            ),
        ];
        let pattern: [[i64; 6]; 5] = [
            [1, 2, 0, 3, 5, 8],
            [0, 0, 0, 0, 1, 1],
            [2, 1, 2, 1, 2, 1],
            [0, 3, 0, 0, 0, 0],
            [0, 0, 1, 0, 0, 2],
        ];
        self.pass(-29 * DAY);
        for day in 0..30_i64 {
            for ((report, double), counts) in failures.iter().zip(pattern) {
                if day == 0 {
                    self.submit(report, double);
                }
                for _ in 0..counts[usize::try_from(day / 5).unwrap()] {
                    self.count(report, if day < 20 { "2.3.0" } else { "2.4.1" });
                }
            }
            if day < 29 {
                self.pass(DAY);
            }
        }
        self
    }
}

/// A build-id that looks like one.
fn build_id(name: &str) -> String {
    Digest::of(name.as_bytes()).to_string()[..40].to_owned()
}

/// The web server of the documentation: four bytes known, 21 slightly, of 440.
pub fn webserver() -> (Report, Vec<u8>) {
    let (mut report, mut double) = failure(
        "webserver",
        "invalid-write",
        "process_message",
        "webserver.c:31",
        "serve_request",
        440,
        0.916,
    );
    report.failure.words =
        "a write past the end of an array in process_message (webserver.c:31)".to_owned();
    let figures = [8.0; 4].into_iter().chain([0.01; 21]).chain([0.0; 415]);
    report.per_byte =
        vec![ByteRuns::new(SourceName::File, figures.map(|bits| (bits, ByteKind::Exact)))];
    report.leak = Leak::new(32.2376, 3520, Kind::Exact, "exactly 32.24 bits");
    double[..4].copy_from_slice(b"GET ");
    (report, double)
}

/// A failure in a function that another called; `percent` of the bits are revealed.
pub fn failure(
    program: &str,
    kind: &str,
    function: &str,
    place: &str,
    caller: &str,
    bytes: usize,
    percent: f64,
) -> (Report, Vec<u8>) {
    let id = build_id(program);
    let frame = |offset, symbol: &str, location: Option<&str>| Frame {
        module: program.to_owned(),
        build_id: Some(id.clone()),
        offset,
        symbol: Some(symbol.to_owned()),
        location: location.map(str::to_owned),
    };
    let of = 8 * bytes as u64;
    let bits = of as f64 * percent / 100.0;
    let known = ((bits / 8.0) as usize).clamp(1, bytes);
    let figures = (0..bytes).map(|at| {
        let bits = if at % 97 < known * 97 / bytes + 1 { 4.0 } else { 0.0 };
        (bits, ByteKind::AtMost)
    });
    let report = Report {
        schema: Schema,
        stunt: "0.1.0".to_owned(),
        program: Program {
            name: program.to_owned(),
            build_id: Some(id.clone()),
            modules: Vec::new(),
        },
        arguments: vec!["@@".to_owned()],
        sources: vec![Source::new(SourceName::File, bytes as u64, None)],
        failure: Failure {
            kind: kind.to_owned(),
            signature: Digest::of(format!("{program}{function}").as_bytes()).to_string()[..12]
                .to_owned(),
            words: format!("{kind} in {function} ({place})"),
            frames: vec![
                frame(0x11d6, function, Some(place)),
                frame(0x1290, caller, None),
                frame(0x1500, "main", None),
            ],
        },
        replay: Replay { native: true, check_memory: false, fails_if: None },
        tells: None,
        leak: Leak::new(bits, of, Kind::AtMost, format!("at most {bits:.2} bits")),
        per_byte: vec![ByteRuns::new(SourceName::File, figures)],
        algorithm: Algorithm { name: "weaken".to_owned(), parameters: Default::default() },
        draw: Draw::Uniform,
        verified: Verified { native: true, runs: 3 },
        notes: Vec::new(),
        comment: None,
    };
    // Printable and always the same: a page shows it.
    let digits = (0..).flat_map(|n: u32| Digest::of(&n.to_le_bytes()).to_string().into_bytes());
    (report, digits.take(bytes).collect())
}
