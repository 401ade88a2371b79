//! `cargo xtask eval --documents`: documents of ordinary writers, on which libraries of real releases fail.
//!
//! Writers and libraries are installed in a Python environment of their own, with exact versions; documents are made
//! there, so none is kept. For each, a double by the default algorithm: how long it takes, what it tells, what of the
//! content remains, and whether it opens as the original does. Nothing passes or fails by it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::step::Step;
use crate::{bench, files, packages};

/// Where the subjects are, relative to the root.
const FOLDER: &str = "subjects/documents";

/// Who says whether a document opens, by its extension.
const CHECKERS: [(&str, &[&str]); 9] = [
    ("xlsx", &["unzip", "-tqq"]),
    ("docx", &["unzip", "-tqq"]),
    ("pptx", &["unzip", "-tqq"]),
    ("epub", &["unzip", "-tqq"]),
    ("zip", &["unzip", "-lqq"]),
    ("pdf", &["qpdf", "--check"]),
    ("png", &["pngcheck", "-q"]),
    ("ipynb", &["python3", "-m", "json.tool"]),
    (
        "sqlite",
        &[
            "python3",
            "-c",
            "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('select * from sqlite_master')",
        ],
    ),
];

/// A document and its reader.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Case {
    name: String,
    driver: String,
    input: String,
    says: String,
}

/// What came of one.
struct Row {
    text: String,
    leak: f64,
    seconds: f64,
}

/// Measures all, or those whose name contains one of these; prints the table, and on request writes it.
pub fn run(wanted: &[String], write: bool) -> Result<()> {
    let tools = ["unzip", "qpdf", "pngcheck"].map(String::from);
    packages::install(&packages::absent(&tools))?;
    Step::cargo("build", &["build", "--release", "--package", "stunt"]).run()?;
    let (python, documents) = prepare()?;
    let table = fs::read_to_string(files::root().join(FOLDER).join("documents.table"))
        .context("reading the table of documents")?;
    let mut text = String::from(
        "| document | size | exit | seconds | double, bytes | leak | words | numbers | of the content | opens |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
    );
    let mut rows = Vec::new();
    let is_wanted =
        |case: &Case| wanted.is_empty() || wanted.iter().any(|it| case.name.contains(it.as_str()));
    for case in cases(&table)?.into_iter().filter(is_wanted) {
        eprintln!("evaluating {}", case.name);
        let row = measure(&case, &python, &documents)?;
        eprintln!("{}", row.text);
        let _ = writeln!(text, "{}", row.text);
        rows.push(row);
    }
    let _ = write!(text, "{}", summary(&rows));
    println!("{text}");
    if write { bench::write("documents", &text) } else { Ok(()) }
}

/// Installs writers and libraries, and makes the documents; the interpreter, and where they are.
fn prepare() -> Result<(PathBuf, PathBuf)> {
    let environment = files::target().join("tools/documents");
    let python = environment.join("bin/python");
    let folder = files::root().join(FOLDER);
    let wanted = fs::read_to_string(folder.join("requirements.txt"))?;
    let stamp = environment.join("installed");
    if fs::read_to_string(&stamp).unwrap_or_default() != wanted {
        let (at, requirements) = (environment.display(), folder.join("requirements.txt"));
        Step::new("python", "python3", &["-m", "venv", &at.to_string()]).run()?;
        let pip = python.display().to_string();
        let list = requirements.display().to_string();
        Step::new("pip", &pip, &["-m", "pip", "install", "--quiet", "-r", &list]).run()?;
        fs::write(&stamp, &wanted)?;
    }
    let documents = files::target().join("subjects/documents");
    fs::create_dir_all(&documents)?;
    let (program, script) = (python.display().to_string(), folder.join("make.py"));
    let (script, into) = (script.display().to_string(), documents.display().to_string());
    Step::new("documents", &program, &[&script, &into]).run()?;
    Ok((python, documents))
}

/// The cases of a table.
fn cases(table: &str) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for block in table.split("\n[").skip(1) {
        let (name, rest) = block.split_once(']').context("a block without a name")?;
        let value = |key: &str| {
            let line = rest.lines().find_map(|line| line.strip_prefix(key));
            line.map(|it| it.trim().to_owned()).with_context(|| format!("{name} has no {key}"))
        };
        let (driver, input, says) = (value("driver:")?, value("input:")?, value("says:")?);
        cases.push(Case { name: name.to_owned(), driver, input, says });
    }
    Ok(cases)
}

fn measure(case: &Case, python: &Path, documents: &Path) -> Result<Row> {
    let driver = files::root().join(FOLDER).join("drivers").join(format!("{}.py", case.driver));
    let original = documents.join(&case.input);
    let plain = output(Command::new(python).arg(&driver).arg(&original))?;
    if plain.status.success() || !String::from_utf8_lossy(&plain.stderr).contains(&case.says) {
        bail!("{} does not fail as the table says", case.name);
    }
    let begun = Instant::now();
    let report = documents.join("double.zip");
    let _ = fs::remove_file(&report);
    let mut command = Command::new(files::target().join("release/stunt"));
    command.args(["anonymize", "--json", "--seed", "1", "--output"]).arg(&report);
    command.arg("--input").arg(&original).arg("--").arg(python).arg(&driver).arg("@@");
    let done = output(command.current_dir(documents))?;
    let seconds = begun.elapsed().as_secs_f64();
    let (name, size) = (&case.name, fs::metadata(&original)?.len());
    let code = done.status.code().unwrap_or(-1);
    let Ok(told) = serde_json::from_slice::<Value>(&done.stdout) else {
        let text = format!("| {name} | {size} | {code} | {seconds:.1} | | | | | | |");
        return Ok(Row { text, leak: 100.0, seconds });
    };
    let count = |name: &str| told["remains"][name].as_array().map_or(0, Vec::len);
    let leak = told["leak"]["percent"].as_f64().unwrap_or(100.0);
    let remains = &told["remains"]["percent"];
    let (words, numbers, bytes) = (count("words"), count("numbers"), &told["double"]["bytes"]);
    let opens = opens(&original, &report, documents)?;
    let text = format!(
        "| {name} | {size} | {code} | {seconds:.1} | {bytes} | {leak:.2} % | {words} | {numbers} | {remains} % | {opens} |"
    );
    Ok(Row { text, leak, seconds })
}

/// Whether the double in a report opens, in a word; as the original does not, if that is so.
fn opens(original: &Path, report: &Path, folder: &Path) -> Result<&'static str> {
    let extension = original.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let Some((_, checker)) = CHECKERS.iter().find(|(known, _)| *known == extension) else {
        return Ok("–");
    };
    let name = format!("input/file.{extension}");
    let unpacked = output(Command::new("unzip").args(["-p"]).arg(report).arg(name))?;
    let double = folder.join(format!("double.{extension}"));
    fs::write(&double, unpacked.stdout)?;
    let passes = |file: &Path| -> Result<bool> {
        Ok(output(Command::new(checker[0]).args(&checker[1..]).arg(file))?.status.success())
    };
    Ok(match (passes(original)?, passes(&double)?) {
        (_, true) => "yes",
        (true, false) => "no",
        (false, false) => "as little as the original",
    })
}

fn output(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {name}"))
}

/// The means.
fn summary(rows: &[Row]) -> String {
    let mut seconds: Vec<f64> = rows.iter().map(|row| row.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN);
    let mean = rows.iter().map(|row| row.leak).sum::<f64>() / rows.len().max(1) as f64;
    format!("| mean leak; median time | | | {median:.1} | | {mean:.2} % | | | | |")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_driver_and_a_document() {
        let folder = files::root().join(FOLDER);
        let cases = cases(&fs::read_to_string(folder.join("documents.table")).unwrap()).unwrap();
        let make = fs::read_to_string(folder.join("make.py")).unwrap();
        assert!(cases.len() >= 20, "{} cases", cases.len());
        for Case { name, driver, input, says } in cases {
            assert!(folder.join("drivers").join(format!("{driver}.py")).is_file(), "{name}");
            assert!(make.contains(&format!("\"{input}\"")) && !says.is_empty(), "{name}");
        }
    }
}
