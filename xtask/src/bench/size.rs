//! Documents of 1 KB to 50 MB: how long a double takes, in how much memory, and what it reveals.
//!
//! One program with a reader for each kind of document, and documents made here by a fixed rule, in which every person
//! is invented. Seconds are those of the clock, as a user waits for them; memory is the most that any process had.
//! Nothing passes or fails by it.

use std::fmt::Write;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::Value;

use super::stunt;
use crate::files;
use crate::step::Step;

/// The kinds of documents.
const KINDS: [&str; 8] = ["csv", "log", "sql", "mbox", "json", "xml", "ini", "loggz"];
/// How large they are, in KB.
const SIZES: [usize; 6] = [1, 10, 100, 1000, 10_000, 50_000];

/// Runs a command, then prints the most memory that a process of it had, in KiB.
const METER: &str = "import resource, subprocess, sys\n\
    code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode\n\
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n\
    sys.exit(code)\n";

/// Measures everything; the result is a table in Markdown.
pub fn measure() -> Result<String> {
    Step::cargo("build", &["build", "--release", "--package", "stunt"]).run()?;
    let folder = files::target().join("bench-size");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let source = files::root().join("subjects/size/grown.c");
    let (source, program) = (source.display().to_string(), folder.join("grown"));
    let built = program.display().to_string();
    Step::new("gcc", "gcc", &["-O1", "-g", "-w", "-o", &built, &source, "-lz"]).run()?;
    let mut text = String::from(
        "| document | size | seconds | memory, MB | double, bytes | leak | words and numbers that remain |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for kind in KINDS {
        for size in SIZES {
            let input = input(&folder, kind, 1000 * size)?;
            eprintln!("measuring {kind}, {size} KB");
            let _ = writeln!(text, "{}", row(&folder, kind, size, &input)?);
            fs::remove_file(&input)?;
        }
    }
    Ok(text.trim_end().to_owned())
}

/// A row, from what the command told.
fn row(folder: &Path, kind: &str, size: usize, input: &Path) -> Result<String> {
    let begun = Instant::now();
    let output = Command::new("python3")
        .args(["-c", METER])
        .arg(stunt()?)
        .args(["anonymize", "--json", "--seed", "1", "--output", "double.zip", "--input"])
        .arg(input)
        .arg("--")
        .arg(folder.join("grown"))
        .args([kind, "@@"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .context("cannot start python3")?;
    let seconds = begun.elapsed().as_secs_f64();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().last().unwrap_or_default();
    let memory = last.parse::<u64>().unwrap_or(0) / 1024;
    let size = if size < 1000 { format!("{size} KB") } else { format!("{} MB", size / 1000) };
    let Ok(told) = serde_json::from_slice::<Value>(&output.stdout) else {
        let code = output.status.code().unwrap_or(-1);
        return Ok(format!("| {kind} | {size} | {seconds:.1} | {memory} | exit {code} | | |"));
    };
    let list = |name: &str| told["remains"][name].as_array().map_or(0, Vec::len);
    let leak = told["leak"]["percent"].as_f64().unwrap_or(f64::NAN);
    let (remains, bytes) = (list("words") + list("numbers"), &told["double"]["bytes"]);
    Ok(format!("| {kind} | {size} | {seconds:.1} | {memory} | {bytes} | {leak:.4} % | {remains} |"))
}

/// Writes a document of a kind that is at least so long.
fn input(folder: &Path, kind: &str, size: usize) -> Result<PathBuf> {
    let path = folder.join(format!("{kind}-{size}"));
    let text = document(kind, size);
    if kind != "loggz" {
        fs::write(&path, text)?;
        return Ok(path);
    }
    let mut packer = Command::new("gzip")
        .arg("-c")
        .stdin(Stdio::piped())
        .stdout(fs::File::create(&path)?)
        .spawn()
        .context("cannot start gzip")?;
    packer.stdin.take().context("gzip has no input")?.write_all(&text)?;
    packer.wait()?;
    Ok(path)
}

const FIRST: [&str; 8] =
    ["Anneliese", "Tomasz", "Ingrid", "Mehmet", "Beatrix", "Olufemi", "Ragnhild", "Yevgenia"];
const LAST: [&str; 7] =
    ["Brandt", "Wieczorek", "Solheim", "Yildirim", "Castellano", "Adeyemi", "Thorvaldsen"];

/// A document in which one record, at two thirds, is not as the others are.
fn document(kind: &str, size: usize) -> Vec<u8> {
    let (head, tail) = match kind {
        "csv" => ("id,name,iban,street,born,balance\n", ""),
        "json" => ("{\"patients\":[\n", "{}]}\n"),
        "xml" => ("<?xml version=\"1.0\"?>\n<patients>\n", "</patients>\n"),
        "sql" => ("CREATE TABLE patient(id, name, iban, street, born, balance);\n", ""),
        _ => ("", ""),
    };
    let mut text = head.as_bytes().to_vec();
    let (mut state, mut id, mut is_over) = (7u64, 1000, false);
    let mut random = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    while text.len() < size || !is_over {
        let odd = !is_over && text.len() * 3 >= size * 2;
        is_over |= odd;
        let name = format!("{} {}", FIRST[random(8) as usize], LAST[random(7) as usize]);
        let iban = format!("DE{:020}", random(u64::MAX >> 33) * random(1 << 32));
        let street = format!("Kirchweg {}", 1 + random(99));
        let month = if odd { 23 } else { 1 + random(12) };
        let born = format!("{}-{month:02}-{:02}", 1940 + random(70), 1 + random(28));
        let balance = random(90_000);
        id += 1;
        let record = match kind {
            "csv" => format!("{id},{name},{iban},{street},{born},{balance}\n"),
            "sql" => format!(
                "INSERT INTO patient VALUES ({id}, '{name}', '{iban}', '{street}', '{born}', {balance});\n"
            ),
            "json" => format!(
                "{{\"id\":{id},\"name\":\"{name}\",\"iban\":\"{iban}\",\"street\":\"{street}\",\"born\":\"{born}\"}},\n"
            ),
            "xml" => format!(
                "<patient id=\"{id}\">\n<name>{name}</name>\n<iban>{iban}</iban>\n<born>{born}</born>\n</patient>\n"
            ),
            "ini" => format!(
                "[patient {id}]\nname={name}\niban={iban}\nborn={born}\nbalance={balance}\n\n"
            ),
            "mbox" => format!(
                "From {id}@example.org Mon Nov 16 10:00:00 2026\nFrom: {name} <p{id}@example.org>\nDate: {born}\n\
                 Subject: account {iban}\n\nDear {name},\nyour balance is {balance}; we wrote to {street}.\n\n"
            ),
            _ => {
                let size = if odd { "-".to_owned() } else { balance.to_string() };
                format!(
                    "10.0.{}.{} - p{id} [{born}] \"GET /account/{iban}\" 200 {size}\n",
                    random(256),
                    random(256)
                )
            }
        };
        text.extend(record.into_bytes());
    }
    text.extend(tail.as_bytes());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_their_size_and_one_odd_record() {
        for kind in KINDS {
            let text = String::from_utf8(document(kind, 20_000)).expect("it is text");
            assert!((20_000..20_400).contains(&text.len()), "{kind}: {}", text.len());
            let odd = text.matches("-23-").count() - text.matches("-23-23").count()
                + text.matches(" -\n").count();
            assert!(odd >= 1, "{kind}");
        }
    }
}
