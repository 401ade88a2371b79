//! `cargo xtask eval`: a double for every subject, by every algorithm, in one table; and for the searches
//! for other paths a second one, with what they took.
//!
//! Each cell is a run of `stunt anonymize` with default settings and a fixed seed; `mpp` and REAP's
//! searches, which rarely end by themselves, have less time. What goes wrong with one subject is a row
//! that says so; the others go on. With `--write` the tables go into the document of benchmarks. Nothing
//! passes or fails here: this is for people who want to see. `--fresh` is for another set of subjects and
//! has a table of its own.

mod ablate;
mod documents;
mod fresh;
mod gui;

use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::step::Step;
use crate::subjects::Set;
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
    /// The subjects that nobody tuned to, by the default algorithm alone
    #[arg(long, conflicts_with = "algorithms")]
    fresh: bool,
    /// What each family of passes and each move is worth: one after the other is left out
    #[arg(long, conflicts_with_all = ["algorithms", "fresh"])]
    ablate: bool,
    /// Documents of ordinary writers, on which libraries fail, by the default algorithm alone
    #[arg(long, conflicts_with_all = ["algorithms", "fresh", "ablate"])]
    documents: bool,
    /// The user interfaces of subjects/gui
    #[arg(long, conflicts_with_all = ["algorithms", "fresh", "ablate"])]
    gui: bool,
    /// Put the table into BENCHMARKS.md
    #[arg(long)]
    write: bool,
}

impl Arguments {
    /// Whether a subject is wanted.
    fn wants(&self, case: &Case) -> bool {
        self.subject.is_empty() || self.subject.iter().any(|name| case.name.contains(name.as_str()))
    }
}

/// The algorithms, if none are named.
const USUAL: [&str; 5] = ["castro", "relaxed", "camouflage", "respa", "weaken"];
/// All of them; a name may have flags behind it.
const ALL: [&str; 11] = [
    "castro",
    "relaxed",
    "camouflage",
    "mpp",
    "reap-brw",
    "reap-bag",
    "reap-rm",
    "respa",
    "respa --as-is",
    "weaken",
    "blackbox",
];
/// Those with a table of their own: they search for other paths, or know of none.
const SEARCHES: [&str; 7] =
    ["mpp", "reap-brw", "reap-bag", "reap-rm", "respa", "respa --as-is", "blackbox"];
/// How many seconds a search has that rarely ends by itself.
const SHORT_TIME: &str = "5";
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
    /// What `--json` printed, and how much memory was used at most, in MB.
    Done(Value, u64),
    /// Why there is nothing.
    Failed(String),
}

/// Runs everything, prints the table, and on request writes it.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.fresh {
        return fresh::run(arguments);
    }
    if arguments.documents {
        return documents::run(&arguments.subject, arguments.write);
    }
    if arguments.gui {
        return gui::run(arguments);
    }
    packages::install(&packages::absent(&["jq".to_string(), "recutils".to_string()]))?;
    subjects::run()?;
    Step::cargo("build", &["build", "--release", "--package", "stunt"]).run()?;
    let text = fs::read_to_string(files::root().join("subjects/subjects.table"))
        .context("reading the table of subjects")?;
    if arguments.ablate {
        // Examples at both levels of optimisation are one program.
        let wanted = |case: &Case| arguments.wants(case) && !case.name.ends_with("-O2");
        let cases: Vec<Case> = cases(Set::Known, &text).into_iter().filter(wanted).collect();
        let table = ablate::table(&cases)?;
        println!("{table}");
        return if arguments.write { bench::write("ablate", &table) } else { Ok(()) };
    }
    let all = arguments.algorithms.iter().any(|name| name == "all");
    let algorithms: Vec<&str> = match all {
        true => ALL.to_vec(),
        false => arguments.algorithms.iter().map(String::as_str).collect(),
    };
    let mut rows = Vec::new();
    for case in cases(Set::Known, &text).into_iter().filter(|case| arguments.wants(case)) {
        eprintln!("evaluating {}", case.name);
        let cell = |algorithm: &&str| case.evaluate(Some(algorithm));
        let cells: Vec<Cell> = algorithms.iter().map(cell).collect();
        eprintln!("{}", row(&case, &cells.iter().collect::<Vec<_>>()));
        rows.push((case, cells));
    }
    let usual: Vec<&str> = match all {
        true => USUAL.to_vec(),
        false => algorithms.clone(),
    };
    let subjects = table(&usual, &picked(&algorithms, &usual, &rows));
    println!("{subjects}");
    let searches: Vec<&str> =
        algorithms.iter().copied().filter(|name| SEARCHES.contains(name)).collect();
    let paths = search_table(&searches, &picked(&algorithms, &searches, &rows));
    if !searches.is_empty() {
        println!("\n{paths}");
    }
    if arguments.write {
        bench::write("subjects", &subjects)?;
        if all {
            bench::write("paths", &paths)?;
        }
    }
    Ok(())
}

/// The cells of some of the algorithms.
fn picked<'a>(
    all: &[&str],
    wanted: &[&str],
    rows: &'a [(Case, Vec<Cell>)],
) -> Vec<(&'a Case, Vec<&'a Cell>)> {
    let places: Vec<usize> =
        wanted.iter().filter_map(|name| all.iter().position(|it| it == name)).collect();
    let cells = |cells: &'a Vec<Cell>| places.iter().map(|&at| &cells[at]).collect();
    rows.iter().map(|(case, row)| (case, cells(row))).collect()
}

/// The failing runs of a set's table: private inputs; for examples of papers at both levels of
/// optimisation; and the one that fails only if memory is checked.
fn cases(set: Set, table: &str) -> Vec<Case> {
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
                    let path = set.target().join("bin").join(program);
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
    /// Makes a double, by an algorithm or by whichever is the default; never fails.
    fn evaluate(&self, algorithm: Option<&str>) -> Cell {
        self.evaluate_with(algorithm, &[])
    }

    /// The same with some flags.
    fn evaluate_with(&self, algorithm: Option<&str>, flags: &[&str]) -> Cell {
        self.anonymize(algorithm, flags).unwrap_or_else(|error| Cell::Failed(format!("{error:#}")))
    }

    fn anonymize(&self, algorithm: Option<&str>, flags: &[&str]) -> Result<Cell> {
        let folder = files::target().join("eval");
        fs::create_dir_all(&folder)?;
        let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
        let inputs = files::root().join("subjects").join(&self.folder).join("inputs");
        let mut command = Command::new(stunt()?);
        command.args(["anonymize", "--json", "--seed", "1"]).args(flags);
        if let Some(algorithm) = algorithm {
            command.arg("--algorithm").args(algorithm.split_whitespace());
        }
        let algorithm = algorithm.unwrap_or("default");
        if self.check_memory {
            command.arg("--check-memory");
        }
        if algorithm == "mpp" || algorithm.starts_with("reap-") {
            command.args(["--time", SHORT_TIME]);
        }
        command.arg("--input").arg(inputs.join(&self.input));
        let report = format!("{}-{algorithm}.zip", self.name).replace(' ', "");
        command.arg("--output").arg(folder.join(report));
        command.arg("--").args(&self.command).current_dir(&folder);
        command.stdin(Stdio::null()).stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
        let Some((status, memory)) = patiently(&mut command)? else {
            return Ok(Cell::Failed(format!("not done after {} s", PATIENCE.as_secs())));
        };
        if status.success() {
            let text = fs::read_to_string(&stdout)?;
            let printed = serde_json::from_str(&text).context("stunt printed no JSON")?;
            return Ok(Cell::Done(printed, memory));
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

/// Runs a command to its end; nothing if that takes too long. Gives the most memory that it had, in MB.
fn patiently(command: &mut Command) -> Result<Option<(ExitStatus, u64)>> {
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let begun = Instant::now();
    let mut memory = 0;
    loop {
        // The kernel keeps the peak itself, as long as the process is there.
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        memory = peak(&status).unwrap_or(memory);
        if let Some(status) = child.try_wait()? {
            return Ok(Some((status, memory)));
        }
        if begun.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The most memory of a process, in MB, as `/proc` tells it.
fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? / 1024)
}

/// The command, built before; subjects run in another folder.
fn stunt() -> Result<PathBuf> {
    let path = files::target().join("release/stunt");
    path.canonicalize().with_context(|| format!("there is no {}", path.display()))
}

/// The table: the tests and pins of the first algorithm, and for each one what its double reveals, how many
/// bytes are as in the original, and the time; at the end, what that is on average.
fn table(algorithms: &[&str], rows: &[(&Case, Vec<&Cell>)]) -> String {
    let mut head = String::from("| subject | bytes | tests | pins |");
    let mut rule = String::from("|---|---:|---:|---:|");
    for algorithm in algorithms {
        let _ = write!(head, " {algorithm}, bits | % | tells, % | same, % | s |");
        rule += "---:|---:|---:|---:|---:|";
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

/// What the searches came to, and what they took: time, tests that were made, and memory.
fn search_table(algorithms: &[&str], rows: &[(&Case, Vec<&Cell>)]) -> String {
    let mut text = String::from("| subject |");
    let mut rule = String::from("|---|");
    for algorithm in algorithms {
        let _ = write!(text, " {algorithm}, % | same, % | s | nodes | MB |");
        rule += "---:|---:|---:|---:|---:|";
    }
    let _ = write!(text, "\n{rule}\n");
    for (case, cells) in rows {
        let _ = write!(text, "| {} |", case.name);
        for cell in cells {
            let Cell::Done(it, memory) = cell else {
                text += " – | – | – | – | – |";
                continue;
            };
            let nodes = it["search"]["nodes"].as_u64();
            let nodes = nodes.map_or_else(|| "–".to_owned(), |nodes| nodes.to_string());
            let _ = write!(text, " {:.1} | {:.1}", percent(it), residue(it));
            let _ = write!(text, " | {:.1} | {nodes} | {memory} |", seconds(it));
        }
        text.push('\n');
    }
    if rows.len() > 1 {
        text += "| mean; median time; most memory |";
        for at in 0..algorithms.len() {
            let done = done(rows, at);
            let most = done.iter().map(|(_, memory)| *memory).max().unwrap_or(0);
            let (leak, same) = (mean(&done, percent), mean(&done, residue));
            let (median, _) = median_and_most(&done);
            let _ = write!(text, " {leak:.1} | {same:.1} | {median:.1} | | {most} |");
        }
    }
    text.trim_end().to_string()
}

/// What an algorithm printed for the subjects for which it found a double.
fn done<'a>(rows: &[(&Case, Vec<&'a Cell>)], at: usize) -> Vec<(&'a Value, u64)> {
    let cells = rows.iter().map(|(_, cells)| cells[at]);
    let done = cells.filter_map(|cell| match cell {
        Cell::Done(it, memory) => Some((it, *memory)),
        Cell::Failed(_) => None,
    });
    done.collect()
}

fn mean(done: &[(&Value, u64)], of: impl Fn(&Value) -> f64) -> f64 {
    done.iter().map(|(it, _)| of(it)).sum::<f64>() / done.len().max(1) as f64
}

fn median_and_most(done: &[(&Value, u64)]) -> (f64, f64) {
    let mut times: Vec<f64> = done.iter().map(|(it, _)| seconds(it)).collect();
    times.sort_by(f64::total_cmp);
    let (median, most) = (times.get(times.len() / 2), times.last());
    (*median.unwrap_or(&f64::NAN), *most.unwrap_or(&f64::NAN))
}

fn percent(it: &Value) -> f64 {
    number(&it["leak"]["percent"])
}

/// What a double tells, in percent of the same bits as what it leaks.
fn tells(it: &Value) -> f64 {
    let (told, leaked) = (number(&it["tells"]["bits"]), number(&it["leak"]["bits"]));
    if leaked > 0.0 { percent(it) * told / leaked } else { 0.0 }
}

fn residue(it: &Value) -> f64 {
    number(&it["residue_percent"])
}

fn seconds(it: &Value) -> f64 {
    number(&it["seconds"]["total"])
}

/// The means of leaks, of what doubles tell, and of residues, and the median and the largest time.
fn summary(algorithms: usize, rows: &[(&Case, Vec<&Cell>)]) -> String {
    let mut text = String::from("| mean; median and largest time | | | |");
    for at in 0..algorithms {
        let done = done(rows, at);
        let (leak, told, same) = (mean(&done, percent), mean(&done, tells), mean(&done, residue));
        let (median, most) = median_and_most(&done);
        let _ = write!(text, " | {leak:.1} | {told:.1} | {same:.1} | {median:.2}, {most:.1} |");
    }
    text + " |\n"
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// A row: what each algorithm came to.
fn row(case: &Case, cells: &[&Cell]) -> String {
    let bytes = size(case).map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
    let first = cells.iter().find_map(|cell| match cell {
        Cell::Done(it, _) => Some(it),
        Cell::Failed(_) => None,
    });
    let count = |key: &str| {
        first.and_then(|it| it[key].as_u64()).map_or_else(String::new, |n| n.to_string())
    };
    let mut text = format!("| {} | {bytes} | {} | {} |", case.name, count("tests"), count("pins"));
    let mut proof = "no".to_owned();
    for cell in cells {
        match cell {
            Cell::Done(it, _) => {
                let (percent, tells, residue) = (percent(it), tells(it), residue(it));
                let (leak, seconds) = (leak(&it["leak"]), seconds(it));
                let _ = write!(
                    text,
                    " {leak} | {percent:.1} | {tells:.1} | {residue:.1} | {seconds:.2} |"
                );
                proof = verified(&it["verified"]);
            }
            Cell::Failed(why) => {
                let _ = write!(text, " {why} | – | – | – | – |");
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
        let cases = cases(Set::Known, &text);
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
    fn every_search_is_among_all() {
        assert!(SEARCHES.iter().chain(&USUAL).all(|name| ALL.contains(name)));
        assert!(SEARCHES.contains(&"respa --as-is"));
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
            "tests": 46,
            "pins": 2,
            "leak": { "bits": 4.04, "percent": 5.6, "kind": "at-most" },
            "tells": { "bits": 2.02, "kind": "at-most" },
            "verified": { "native": true, "runs": 3 },
            "seconds": { "total": 0.6 },
            "search": { "nodes": 12 },
        });
        let columns = |row: &str| row.matches('|').count();
        let (failed, done) = (failed(), Cell::Done(done, 70));
        let rows = [(&case, vec![&failed, &done]), (&case, vec![&failed, &failed])];
        let text = table(&["castro", "weaken"], &rows);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{text}");
        assert!(lines[2].contains(
            "| 46 | 2 | exit 5: no double | – | – | – | – | ≤ 4.0 | 5.6 | 2.8 | 12.5 | 0.60 |"
        ));
        assert!(lines[2].ends_with("| 3 native runs |"), "{text}");
        assert!(lines[3].ends_with("| no |"), "{text}");
        assert!(lines[4].contains("| 5.6 | 2.8 | 12.5 | 0.60, 0.6 |"), "{text}");
        let text = search_table(&["mpp", "respa"], &rows);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{text}");
        assert!(lines[2].ends_with("| – | – | – | – | – | 5.6 | 12.5 | 0.6 | 12 | 70 |"), "{text}");
    }

    #[test]
    fn memory_is_what_the_kernel_says() {
        assert_eq!(peak("Name:\tstunt\nVmHWM:\t   71680 kB\n"), Some(70));
        assert_eq!(peak("Name:\tstunt\n"), None);
    }
}
