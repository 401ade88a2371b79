//! How long it takes to follow an input to its crash, and to a proved double, on the two programs on
//! which other engines were measured.
//!
//! CPU time of the whole process, user and system, the best of several runs; what other engines took
//! is given beside it, as it was measured with them. The inputs are made here, by a fixed rule.

mod angr;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use self::angr::Ours;
use crate::files;
use crate::step::Step;

/// How often each is run, by the size of its input: a short run is lengthened most by what else goes on.
const TIMES: [usize; 3] = [40, 15, 8];
/// Sizes of the inputs, in KiB.
const SIZES: [usize; 3] = [1, 10, 100];

/// Runs a command, then prints its CPU seconds, the most memory that it had, in KiB, and its exit
/// code.
const METER: &str = "import resource, subprocess, sys\n\
    b = resource.getrusage(resource.RUSAGE_CHILDREN)\n\
    code = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=open(sys.argv[1], 'wb')).returncode\n\
    r = resource.getrusage(resource.RUSAGE_CHILDREN)\n\
    print(r.ru_utime + r.ru_stime - b.ru_utime - b.ru_stime, r.ru_maxrss, code)\n\
    sys.exit(code != 0)\n";

/// What others took: CPU milliseconds to run to the crash and collect the path condition, for 1, 10
/// and 100 KiB. Measured on one noisy machine of two cores in November 2026, the best of several
/// passes, with the same programs (`gcc -O1 -g`; SymCC and KLEE build from source).
struct Peer {
    name: &'static str,
    httpd: [Option<u32>; 3],
    jsonl: [Option<u32>; 3],
}

const PEERS: [Peer; 5] = [
    // Of jsonl's inputs SymCC follows a fifth (10 KiB) and a third (100 KiB) of the bytes.
    Peer {
        name: "SymCC",
        httpd: [Some(21), Some(63), Some(563)],
        jsonl: [Some(33), Some(61), Some(954)],
    },
    Peer {
        name: "SymQEMU",
        httpd: [Some(146), Some(346), None],
        jsonl: [Some(182), Some(1_193), Some(17_100)],
    },
    Peer {
        name: "Triton",
        httpd: [Some(4_160), Some(9_880), None],
        jsonl: [Some(11_740), Some(80_050), None],
    },
    Peer { name: "KLEE", httpd: [Some(22_600), None, None], jsonl: [Some(82_700), None, None] },
    Peer {
        name: "angr",
        httpd: [Some(12_300), Some(66_200), None],
        jsonl: [Some(32_200), Some(379_900), None],
    },
];

/// The programs.
pub const PROGRAMS: [&str; 2] = ["httpd", "jsonl"];

/// What a run of `stunt` came to.
pub struct Done {
    /// CPU seconds.
    cpu: f64,
    /// The most memory that it had, in KiB.
    pub memory: u64,
    /// What it printed.
    pub stdout: String,
    stderr: String,
}

/// Measures everything; the result is a table in Markdown. On request angr is run, too.
pub fn measure(with_angr: bool) -> Result<String> {
    Step::cargo("build", &["build", "--release", "--package", "stunt"]).run()?;
    let folder = files::target().join("bench-trace");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut text = String::from(
        "| program | size | tests | path, CPU | memory | relaxed, tests | CPU | double, CPU | of it solving | SymCC : stunt | SymQEMU : stunt | angr : stunt |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut all = Vec::new();
    for name in PROGRAMS {
        build(&folder, name)?;
        for (size, k) in SIZES.into_iter().zip(0..) {
            eprintln!("measuring {name}, {size} KiB");
            let input = input(&folder, name, size)?;
            let (row, cpu) = row(&folder, name, &input, k)?;
            let _ = writeln!(text, "{row}");
            all.push(Ours { program: folder.join(name), input, cpu });
        }
    }
    let _ = write!(text, "\n{}", peers());
    if with_angr {
        let _ = write!(text, "\n{}", angr::measure(&folder, &all)?);
    }
    Ok(text.trim_end().to_string())
}

/// Writes the input of a program, of so many KiB.
pub fn input(folder: &Path, name: &str, size: usize) -> Result<PathBuf> {
    let input = folder.join(format!("{name}-{size}"));
    let bytes = if name == "httpd" { http(1024 * size) } else { jsonl(1024 * size) };
    fs::write(&input, bytes)?;
    Ok(input)
}

/// Compiles a program.
pub fn build(folder: &Path, name: &str) -> Result<()> {
    let source = files::root().join("subjects/peers").join(format!("{name}.c"));
    let source = source.to_str().context("the project's path is not UTF-8")?;
    let program = folder.join(name);
    let program = program.to_str().context("the target folder's path is not UTF-8")?;
    Step::new("gcc", "gcc", &["-O1", "-g", "-w", "-o", program, source]).run()
}

/// A row of the table, and the CPU seconds to the path condition.
fn row(folder: &Path, name: &str, input: &Path, k: usize) -> Result<(String, f64)> {
    let path = best(TIMES[k], folder, name, input, &["trace", "--no-list", "--exact"])?;
    let relaxed = best(TIMES[k], folder, name, input, &["trace", "--no-list"])?;
    let arguments =
        ["anonymize", "--algorithm", "relaxed", "--json", "--seed", "1", "--output", "double.zip"];
    let (double, solving) = match once(folder, name, input, &arguments) {
        Ok(done) => {
            let report: Value = serde_json::from_str(&done.stdout)?;
            let solving = report["seconds"]["solve"].as_f64().unwrap_or(f64::NAN);
            (milliseconds(done.cpu), milliseconds(solving))
        }
        Err(error) => {
            eprintln!("{error:#}");
            ("fails".to_string(), "–".to_string())
        }
    };
    let ratio = |peer: &str| {
        let peer = PEERS.iter().find(|it| it.name == peer);
        let theirs = peer.and_then(|it| if name == "httpd" { it.httpd[k] } else { it.jsonl[k] });
        theirs.map_or_else(|| "–".to_string(), |ms| ratio(f64::from(ms) / 1e3 / path.cpu))
    };
    let text = format!(
        "| {name} | {} KiB | {} | {} | {} MiB | {} | {} | {double} | {solving} | {} | {} | {} |",
        SIZES[k],
        tests(&path.stderr)?,
        milliseconds(path.cpu),
        path.memory / 1024,
        tests(&relaxed.stderr)?,
        milliseconds(relaxed.cpu),
        ratio("SymCC"),
        ratio("SymQEMU"),
        ratio("angr"),
    );
    Ok((text, path.cpu))
}

fn peers() -> String {
    let mut text = String::from(
        "What the others took, in CPU milliseconds (November 2026, one noisy machine of two cores, best of several passes; SymCC follows a fifth of the bytes of jsonl at 10 KiB and a third at 100 KiB):\n\n\
         | engine | httpd, 1 KiB | 10 KiB | 100 KiB | jsonl, 1 KiB | 10 KiB | 100 KiB |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for Peer { name, httpd, jsonl } in PEERS {
        let cells: Vec<String> = httpd
            .iter()
            .chain(&jsonl)
            .map(|cell| cell.map_or_else(|| "–".to_string(), |ms| ms.to_string()))
            .collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text
}

fn ratio(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

fn milliseconds(seconds: f64) -> String {
    let ms = seconds * 1e3;
    if ms < 100.0 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
}

/// How many tests `stunt trace` says that there were.
fn tests(stderr: &str) -> Result<u64> {
    let found = stderr.lines().find_map(|line| {
        let (count, _) = line.strip_prefix("stunt: ")?.split_once(" tests")?;
        count.parse().ok()
    });
    found.with_context(|| format!("`stunt trace` does not say how many tests: {stderr}"))
}

/// The run that took least, of some.
fn best(times: usize, folder: &Path, name: &str, input: &Path, arguments: &[&str]) -> Result<Done> {
    let mut best: Option<Done> = None;
    for _ in 0..times {
        let done = once(folder, name, input, arguments)?;
        if best.as_ref().is_none_or(|found| done.cpu < found.cpu) {
            best = Some(done);
        }
    }
    best.context("it was not run")
}

/// Runs the command once.
pub fn once(folder: &Path, name: &str, input: &Path, arguments: &[&str]) -> Result<Done> {
    let stunt: PathBuf = files::target().join("release/stunt").canonicalize()?;
    let stdout = folder.join("stdout");
    let mut command = Command::new("python3");
    command.args(["-c", METER]).arg(&stdout).arg(stunt).args(arguments);
    command.arg("--input").arg(input).arg("--").arg(folder.join(name)).arg("@@");
    let output = command.current_dir(folder).stdin(Stdio::null()).output()?;
    let (figures, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    if !output.status.success() {
        bail!("stunt {} on {}: {}", arguments[0], input.display(), stderr.trim_end());
    }
    let mut figures = figures.split_whitespace();
    let mut next = || figures.next().context("no figures");
    let (cpu, memory) = (next()?.parse()?, next()?.parse()?);
    let stdout = fs::read_to_string(&stdout)?;
    Ok(Done { cpu, memory, stdout, stderr })
}

/// Numbers by a fixed rule.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn word(&mut self) -> &'static str {
        const WORDS: [&str; 26] = [
            "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india",
            "juliet", "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo",
            "sierra", "tango", "uniform", "victor", "whiskey", "xray", "yankee", "zulu",
        ];
        WORDS[self.below(26) as usize]
    }
}

/// Records of people, and at the end one without a name.
fn jsonl(size: usize) -> String {
    const LAST: &str = "{\"id\": 9999, \"name\": null, \"email\": \"secret.person@example.org\", \"tags\": [], \"amt\": 1.00, \"note\": \"x\"}\n";
    let mut chance = Chance(7);
    let mut text = String::new();
    for id in 1.. {
        let tags: Vec<String> =
            (0..chance.below(4)).map(|_| format!("\"{}\"", chance.word())).collect();
        let note = match chance.below(5) {
            0 => "\"ok\"".to_string(),
            1 => format!("\"see \\\"{}\\\"\"", chance.word()),
            2 => "null".to_string(),
            3 => "true".to_string(),
            _ => "\"a\\u00e9b\\n\"".to_string(),
        };
        let record = format!(
            "{{\"id\": {id}, \"name\": \"{} {}\", \"email\": \"{}{}@example.org\", \"tags\": [{}], \"amt\": {}.{:02}, \"note\": {note}}}\n",
            chance.word(),
            chance.word(),
            chance.word(),
            1 + chance.below(999),
            tags.join(", "),
            chance.below(5_051) as i64 - 50,
            chance.below(100),
        );
        if text.len() + record.len() + LAST.len() > size {
            break;
        }
        text += &record;
    }
    let padding = size - text.len() - LAST.len();
    text + &" ".repeat(padding) + LAST
}

/// A request with a path of 300 bytes, and headers to fill it up.
fn http(size: usize) -> String {
    let mut chance = Chance(7);
    let mut url =
        String::from("/cgi-bin/account?user=jane.doe&password=hunter2&card=4111111111111111&q=");
    while url.len() < 300 {
        url.push(char::from(b"abcdefghijklmnopqrstuvwxyz0123456789"[chance.below(36) as usize]));
    }
    let mut text = format!(
        "GET {url} HTTP/1.1\r\nHost: internal.example.org\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nConnection: keep-alive\r\nContent-Length: 0\r\n"
    );
    for k in 0.. {
        if text.len() + 80 >= size {
            break;
        }
        let value: String = (0..6).map(|_| chance.word()).collect();
        let _ = write!(text, "X-Hdr-{k}: {}\r\n", &value[..value.len().min(40)]);
    }
    if let Some(padding) = size.checked_sub(text.len() + "Pad: \r\n\r\n".len()) {
        let _ = write!(text, "Pad: {}\r\n", "z".repeat(padding));
    }
    text + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_have_their_sizes() {
        for size in SIZES {
            assert_eq!(jsonl(1024 * size).len(), 1024 * size);
            assert_eq!(http(1024 * size).len(), 1024 * size);
        }
        assert_eq!(jsonl(4096), jsonl(4096));
        assert!(jsonl(4096).lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }

    #[test]
    fn the_number_of_tests_is_read() {
        let said = "something else\nstunt: 1234 tests, then SIGSEGV in serve\n";
        assert_eq!(tests(said).unwrap(), 1234);
        assert!(tests("stunt: no such file").is_err());
    }
}
