//! `cargo xtask eval`: a double for every subject, by every algorithm, in one table.
//!
//! Each cell is a run of `stunt anonymize` with default settings and a fixed seed. What goes wrong
//! with one subject is a row that says so; the others go on. With `--write` the table goes into the
//! document of benchmarks. Nothing passes or fails here: this is for people who want to see.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::step::Step;
use crate::{bench, files, packages, subjects};

/// What to evaluate.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only subjects whose name contains this
    #[arg(long, value_name = "NAME")]
    subject: Vec<String>,
    /// The algorithms, in the order of the columns, or `all`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_values_t = USUAL.map(String::from))]
    algorithms: Vec<String>,
    /// Put the table into BENCHMARKS.md
    #[arg(long)]
    write: bool,
}

/// The algorithms, if none are named.
const USUAL: [&str; 5] = ["castro", "relaxed", "camouflage", "respa", "weaken"];
/// All of them.
const ALL: [&str; 10] = [
    "castro",
    "relaxed",
    "camouflage",
    "mpp",
    "reap-brw",
    "reap-bag",
    "reap-rm",
    "respa",
    "weaken",
    "blackbox",
];
/// After so long a run is given up.
const PATIENCE: Duration = Duration::from_secs(300);

/// A failing run of a subject.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Case {
    /// As the table of subjects calls it.
    name: String,
    /// The folder of its inputs, below `subjects`.
    folder: String,
    /// The file that is private.
    input: String,
    /// The program and its arguments; `@@` is the input.
    command: Vec<String>,
    /// Whether it fails only if memory is checked.
    check_memory: bool,
}

/// What came of a run.
enum Cell {
    /// What `--json` printed.
    Done(Value),
    /// Why there is nothing.
    Failed(String),
}

/// Runs everything, prints the table, and on request writes it.
pub fn run(arguments: &Arguments) -> Result<()> {
    packages::install(&packages::absent(&["jq".to_string(), "recutils".to_string()]))?;
    subjects::run()?;
    Step::cargo("build", &["build", "--release", "--package", "stunt"]).run()?;
    let text = fs::read_to_string(files::root().join("subjects/subjects.table"))
        .context("reading the table of subjects")?;
    let named = |case: &Case| {
        arguments.subject.is_empty()
            || arguments.subject.iter().any(|name| case.name.contains(name.as_str()))
    };
    let all = arguments.algorithms.iter().any(|name| name == "all");
    let algorithms: Vec<&str> = match all {
        true => ALL.to_vec(),
        false => arguments.algorithms.iter().map(String::as_str).collect(),
    };
    let mut rows = Vec::new();
    for case in cases(&text).into_iter().filter(named) {
        eprintln!("evaluating {}", case.name);
        let cell = |algorithm: &&str| {
            case.anonymize(algorithm).unwrap_or_else(|error| Cell::Failed(format!("{error:#}")))
        };
        let cells: Vec<Cell> = algorithms.iter().map(cell).collect();
        eprintln!("{}", row(&case, &cells));
        rows.push((case, cells));
    }
    let table = table(&algorithms, &rows);
    println!("{table}");
    if arguments.write {
        bench::write("subjects", &table)?;
    }
    Ok(())
}

/// The failing runs of the table: private inputs; for examples of papers at both levels of
/// optimisation; and the one that fails only if memory is checked.
fn cases(table: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for block in table.split("\n[").skip(1) {
        let Some((name, rest)) = block.split_once(']') else { continue };
        let value = |key: &str| rest.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let silent = name.contains("-silent-");
        let example = name.starts_with("small-");
        let wanted = silent || name.contains("-private");
        let twice = (name.ends_with("-O2") && !example) || name.ends_with("-recinf");
        let (Some(subject), Some(run)) = (value("subject:"), value("run:")) else { continue };
        if !wanted || twice {
            continue;
        }
        let mut parts = subject.split_whitespace();
        let (folder, program) = (parts.next().unwrap_or_default(), parts.next());
        let mut input = String::new();
        let command = words(run)
            .into_iter()
            .map(|word| match (word.as_str(), program) {
                ("@", Some(program)) => {
                    let path = files::target().join("subjects/bin").join(program);
                    path.to_string_lossy().into_owned()
                }
                (file, _) if file.starts_with("private.") || file.starts_with("silent.") => {
                    input = file.to_owned();
                    "@@".to_owned()
                }
                _ => word,
            })
            .collect();
        let (name, folder) = (name.to_owned(), folder.to_owned());
        cases.push(Case { name, folder, input, command, check_memory: silent });
    }
    cases
}

/// The words of a command; `'` keeps white space.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (part, quoted) in text.split('\'').zip([false, true].into_iter().cycle()) {
        if quoted {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

impl Case {
    /// Makes a double.
    fn anonymize(&self, algorithm: &str) -> Result<Cell> {
        let folder = files::target().join("eval");
        fs::create_dir_all(&folder)?;
        let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
        let inputs = files::root().join("subjects").join(&self.folder).join("inputs");
        let mut command = Command::new(stunt()?);
        command.args(["anonymize", "--json", "--seed", "1", "--algorithm", algorithm]);
        if self.check_memory {
            command.arg("--check-memory");
        }
        command.arg("--input").arg(inputs.join(&self.input));
        command.arg("--output").arg(folder.join(format!("{}-{algorithm}.zip", self.name)));
        command.arg("--").args(&self.command).current_dir(&folder);
        command.stdin(Stdio::null()).stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
        let Some(status) = patiently(&mut command)? else {
            return Ok(Cell::Failed(format!("not done after {} s", PATIENCE.as_secs())));
        };
        if status.success() {
            let text = fs::read_to_string(&stdout)?;
            return Ok(Cell::Done(serde_json::from_str(&text).context("stunt printed no JSON")?));
        }
        let said = fs::read_to_string(&stderr)?;
        let said = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let said = said.trim_start_matches("stunt: ").replace('|', "/");
        Ok(Cell::Failed(match status.code() {
            Some(code) => format!("exit {code}: {said}"),
            None => format!("{status}: {said}"),
        }))
    }
}

/// Runs a command to its end; nothing if that takes too long.
fn patiently(command: &mut Command) -> Result<Option<ExitStatus>> {
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The command, built before; subjects run in another folder.
fn stunt() -> Result<PathBuf> {
    let path = files::target().join("release/stunt");
    path.canonicalize().with_context(|| format!("there is no {}", path.display()))
}

/// The table: for each algorithm what its double reveals, how many bytes are as in the original, and
/// the time; at the end, what that is on average.
fn table(algorithms: &[&str], rows: &[(Case, Vec<Cell>)]) -> String {
    let mut head = String::from("| subject | bytes |");
    let mut rule = String::from("|---|---:|");
    for algorithm in algorithms {
        let _ = write!(head, " {algorithm}, bits | % | same, % | s |");
        rule += "---:|---:|---:|---:|";
    }
    let mut text = format!("{head} verified |\n{rule}---|\n");
    for (case, cells) in rows {
        text += &row(case, cells);
        text.push('\n');
    }
    if rows.len() > 1 {
        text += &summary(algorithms.len(), rows);
    }
    text.trim_end().to_string()
}

/// The means of leaks and residues, and the median and the largest time.
fn summary(algorithms: usize, rows: &[(Case, Vec<Cell>)]) -> String {
    let mut text = String::from("| mean; median and largest time | |");
    for at in 0..algorithms {
        let done: Vec<&Value> = rows
            .iter()
            .filter_map(|(_, cells)| match &cells[at] {
                Cell::Done(it) => Some(it),
                Cell::Failed(_) => None,
            })
            .collect();
        let mean = |of: &dyn Fn(&Value) -> f64| {
            done.iter().map(|it| of(it)).sum::<f64>() / done.len().max(1) as f64
        };
        let leak = mean(&|it| number(&it["leak"]["percent"]));
        let residue = mean(&|it| number(&it["residue_percent"]));
        let mut times: Vec<f64> = done.iter().map(|it| number(&it["seconds"]["total"])).collect();
        times.sort_by(f64::total_cmp);
        let (median, most) = (times.get(times.len() / 2), times.last());
        let (median, most) = (median.unwrap_or(&f64::NAN), most.unwrap_or(&f64::NAN));
        let _ = write!(text, " | {leak:.1} | {residue:.1} | {median:.2}, {most:.1} |");
    }
    text + " |\n"
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// A row: what each algorithm came to.
fn row(case: &Case, cells: &[Cell]) -> String {
    let bytes = size(case).map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
    let mut text = format!("| {} | {bytes} |", case.name);
    let mut proof = "no".to_owned();
    for cell in cells {
        match cell {
            Cell::Done(it) => {
                let (percent, residue) =
                    (number(&it["leak"]["percent"]), number(&it["residue_percent"]));
                let seconds = number(&it["seconds"]["total"]);
                let leak = leak(&it["leak"]);
                let _ = write!(text, " {leak} | {percent:.1} | {residue:.1} | {seconds:.2} |");
                proof = verified(&it["verified"]);
            }
            Cell::Failed(why) => {
                let _ = write!(text, " {why} | – | – | – |");
            }
        }
    }
    text + " " + &proof + " |"
}

/// A figure: as it is if exact, else with its kind.
fn leak(leak: &Value) -> String {
    let bits = leak["bits"].as_f64().unwrap_or(f64::NAN);
    match leak["kind"].as_str() {
        Some("exact") => format!("{bits:.1}"),
        Some("at-most") => format!("≤ {bits:.1}"),
        _ => format!("≈ {bits:.1}"),
    }
}

fn verified(verified: &Value) -> String {
    let runs = &verified["runs"];
    match verified["native"].as_bool() {
        Some(true) => format!("{runs} native runs"),
        _ => format!("{runs} runs in the machine"),
    }
}

fn size(case: &Case) -> Option<u64> {
    let path = Path::new("subjects").join(&case.folder).join("inputs").join(&case.input);
    Some(fs::metadata(files::root().join(path)).ok()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_is_evaluated_once_and_examples_twice() {
        let text = fs::read_to_string(files::root().join("subjects/subjects.table")).unwrap();
        let cases = cases(&text);
        let examples = cases.iter().filter(|case| case.name.starts_with("small-")).count();
        let silent = cases.iter().filter(|case| case.check_memory).count();
        assert_eq!((cases.len() - examples - silent, examples, silent), (27, 14, 1));
        for case in &cases {
            assert!(size(case).is_some(), "{case:?} has no input");
            assert_eq!(case.command.iter().filter(|word| *word == "@@").count(), 1, "{case:?}");
        }
        let jq = cases.iter().find(|case| case.name == "jq-todate-private").unwrap();
        assert_eq!(jq.command[2], "map({name, seen: (.last_login|todate)})");
    }

    #[test]
    fn a_failure_is_a_row() {
        let case = Case {
            name: "x".to_owned(),
            folder: String::new(),
            input: String::new(),
            command: Vec::new(),
            check_memory: false,
        };
        let failed = || Cell::Failed("exit 5: no double".to_owned());
        let done = serde_json::json!({
            "residue_percent": 12.5,
            "leak": { "bits": 4.04, "percent": 5.6, "kind": "at-most" },
            "verified": { "native": true, "runs": 3 },
            "seconds": { "total": 0.6 },
        });
        let columns = |row: &str| row.matches('|').count();
        let rows = [
            (case.clone(), vec![failed(), Cell::Done(done)]),
            (case.clone(), vec![failed(), failed()]),
        ];
        let text = table(&["castro", "weaken"], &rows);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{text}");
        assert!(lines[2].contains("| exit 5: no double | – | – | – | ≤ 4.0 | 5.6 | 12.5 | 0.60 |"));
        assert!(lines[2].ends_with("| 3 native runs |"), "{text}");
        assert!(lines[3].ends_with("| no |"), "{text}");
        assert!(lines[4].contains("| 5.6 | 12.5 | 0.60, 0.6 |"), "{text}");
    }
}
