//! `cargo xtask bench`: the tables of `BENCHMARKS.md`, measured on this machine.
//!
//! Each table is printed by an example of the crate that it measures, built in release; those of
//! whole programs are measured by `bench/machine.rs`, `bench/trace.rs`, `bench/long.rs` and `bench/size.rs`. With `--write`
//! the tables go into the document, between `<!-- bench:NAME -->` and `<!-- /bench -->`, with the date and
//! the processor; all other text stays. Nothing passes or fails by a time.

mod long;
mod machine;
mod record;
mod size;
mod trace;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::{files, gui};

const DOCUMENT: &str = "BENCHMARKS.md";
const END: &str = "<!-- /bench -->";

/// What to measure.
#[derive(clap::Args)]
pub struct Arguments {
    /// The tables to print; all if none is named
    tables: Vec<Bench>,
    /// For the table `trace`: run angr on the same inputs, too (takes long, and installs it)
    #[arg(long)]
    angr: bool,
    /// Put the tables into BENCHMARKS.md
    #[arg(long)]
    write: bool,
}

/// A table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Bench {
    /// Questions answered a second, beside z3
    Solver,
    /// Evaluations of terms a second
    Eval,
    /// Exact counting of conditions
    Count,
    /// Programs of Debian: natively, in qemu, in the machine
    Machine,
    /// Programs natively and recorded
    Record,
    /// Copies of a running machine
    Snapshots,
    /// Following an input to its crash, beside other engines
    Trace,
    /// The searches for other paths on long ones
    Long,
    /// Documents of 1 KB to 50 MB: seconds, memory, leak
    Size,
    /// Reports a second, a list of a million tickets, and killed servers
    Server,
    /// Listener calls in a page with the recorder and without
    Gui,
}

impl Bench {
    fn name(self) -> &'static str {
        match self {
            Bench::Solver => "solver",
            Bench::Eval => "eval",
            Bench::Count => "count",
            Bench::Machine => "machine",
            Bench::Record => "record",
            Bench::Snapshots => "snapshots",
            Bench::Trace => "trace",
            Bench::Long => "long",
            Bench::Size => "size",
            Bench::Server => "server",
            Bench::Gui => "gui",
        }
    }

    /// The table, from an example of the crate or, for whole programs, from here.
    fn measure(self, arguments: &Arguments) -> Result<String> {
        match self {
            Bench::Solver => self.run_example("stunt-solver", "versus_z3"),
            Bench::Eval => self.run_example("stunt-terms", "eval_speed"),
            Bench::Count => self.run_example("stunt-leakage", "counting"),
            Bench::Machine => machine::measure(),
            Bench::Record => record::measure(),
            Bench::Snapshots => self.run_example("stunt-machine", "snapshots"),
            Bench::Trace => trace::measure(arguments.angr),
            Bench::Long => long::measure(),
            Bench::Size => size::measure(),
            Bench::Server => self.run_example("stunt-server", "load"),
            Bench::Gui => gui::bench(),
        }
    }

    /// Builds and runs the example; its standard output is the table.
    fn run_example(self, package: &str, example: &str) -> Result<String> {
        eprintln!("measuring {}: {package}, example {example}", self.name());
        let arguments = ["run", "--release", "--quiet", "--package", package, "--example", example];
        let output = Command::new("cargo")
            .args(arguments)
            .current_dir(files::root())
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start cargo")?;
        if !output.status.success() {
            bail!("{} failed. To repeat it:\n    cargo {}", self.name(), arguments.join(" "));
        }
        Ok(String::from_utf8(output.stdout)?.trim_end().to_string())
    }
}

/// Measures, prints, and on request writes.
pub fn run(arguments: &Arguments) -> Result<()> {
    let tables =
        if arguments.tables.is_empty() { Bench::value_variants() } else { &arguments.tables };
    for &bench in tables {
        let table = bench.measure(arguments)?;
        println!("{table}\n");
        if arguments.write {
            // Table by table: a later failure loses nothing.
            write(bench.name(), &table)?;
        }
    }
    Ok(())
}

/// Puts a table into the document, in the place that has this name, with its circumstances.
pub fn write(name: &str, table: &str) -> Result<()> {
    let path = files::root().join(DOCUMENT);
    let document = fs::read_to_string(&path)?;
    let text = format!("{}\n\n{table}", circumstances()?);
    fs::write(&path, replaced(&document, name, &text)?)?;
    Ok(())
}

/// What the document has in the place that has this name.
pub fn written(name: &str) -> Result<String> {
    let document = fs::read_to_string(files::root().join(DOCUMENT))?;
    let start = format!("<!-- bench:{name} -->");
    let inside = document.split_once(&start).and_then(|(_, rest)| rest.split_once(END));
    Ok(inside.with_context(|| format!("{DOCUMENT} has no {start}"))?.0.to_owned())
}

/// The document with the text between the markers of `name` replaced.
fn replaced(document: &str, name: &str, text: &str) -> Result<String> {
    let start = format!("<!-- bench:{name} -->");
    let (before, rest) =
        document.split_once(&start).with_context(|| format!("{DOCUMENT} has no marker {start}"))?;
    let (_, after) =
        rest.split_once(END).with_context(|| format!("{DOCUMENT}: no {END} after {start}"))?;
    Ok(format!("{before}{start}\n{text}\n{END}{after}"))
}

/// When and on what: a figure means nothing without that.
fn circumstances() -> Result<String> {
    let date = Command::new("date").args(["-u", "+%F"]).output().context("cannot start `date`")?;
    let date = String::from_utf8(date.stdout)?.trim().to_string();
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("processor unknown", |(_, model)| model);
    let cores = std::thread::available_parallelism()?;
    Ok(format!("Measured on {date}: {model}, {cores} cores."))
}

/// The command, as it was built in release.
fn stunt() -> Result<PathBuf> {
    let path = files::target().join("release/stunt");
    // What is measured runs in another folder.
    path.canonicalize().with_context(|| format!("there is no {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_between_the_markers_changes() {
        let document =
            "a\n<!-- bench:x -->\nold\n<!-- /bench -->\nb\n<!-- bench:y -->\n<!-- /bench -->\n";
        let expected =
            "a\n<!-- bench:x -->\nnew\n<!-- /bench -->\nb\n<!-- bench:y -->\n<!-- /bench -->\n";
        assert_eq!(replaced(document, "x", "new").unwrap(), expected);
        assert_eq!(replaced(expected, "x", "new").unwrap(), expected);
        assert!(replaced(document, "z", "new").is_err());
    }

    #[test]
    fn the_document_has_a_place_for_every_table() {
        let document = fs::read_to_string(files::root().join(DOCUMENT)).unwrap();
        for bench in Bench::value_variants() {
            assert!(replaced(&document, bench.name(), "").is_ok(), "{bench:?}");
        }
        assert!(replaced(&document, "subjects", "").is_ok());
    }
}
