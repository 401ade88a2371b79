//! `stunt export`: a report as a regression test, or as a file for a fuzzer's corpus.
//!
//! Nothing is overwritten, and what was written is listed. The command that the test runs is the user's: a
//! report never chooses what somebody's tests run.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use stunt_export::{Artefact, Kind, export};

use crate::inspect;
use crate::outcome::{self, Outcome};

/// What a report becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Form {
    /// A test of a Rust package; a program without a folder is a binary of that package
    CargoTest,
    /// A test for pytest, which also runs by itself
    Pytest,
    /// A test for JUnit 5
    Junit,
    /// A test for Jest, which also runs by `node --test`
    Jest,
    /// A script, and the line that adds it to CTest
    Ctest,
    /// A file for the corpus of libFuzzer
    LibfuzzerSeed,
    /// A file for the queue of AFL
    AflSeed,
}

impl From<Form> for Kind {
    fn from(form: Form) -> Self {
        match form {
            Form::CargoTest => Self::CargoTest,
            Form::Pytest => Self::Pytest,
            Form::Junit => Self::JUnit,
            Form::Jest => Self::Jest,
            Form::Ctest => Self::CTest,
            Form::LibfuzzerSeed => Self::LibFuzzerSeed,
            Form::AflSeed => Self::AflSeed,
        }
    }
}

/// Flags of `stunt export`.
#[derive(clap::Args)]
#[command(
    after_help = "The test fails as long as the program ends as the report says, by a signal, a status or \
a text, and passes once it is mended. The double is a file beside it."
)]
pub struct Arguments {
    /// The report, or the incident that it was made of
    report: PathBuf,
    /// What it becomes
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Form,
    /// The folder in which files are made: that of the package, or of its tests
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
    /// What the test runs: the program and its arguments, with @@ for the path of the double
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let opened = inspect::read(&arguments.report)?;
    let artefacts = match export(&opened, arguments.form.into(), &arguments.command) {
        Ok(artefacts) => artefacts,
        Err(refusal) => bail!("{refusal}"),
    };
    let paths: Vec<PathBuf> = artefacts.iter().map(|it| arguments.output.join(&it.path)).collect();
    if let Some(there) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        bail!("{} is there already; remove it, or give another folder with -o", there.display());
    }
    let mut lines = String::new();
    for (artefact, path) in artefacts.iter().zip(&paths) {
        write(artefact, path)?;
        lines += &format!("{}\n", path.display());
    }
    outcome::print(lines.as_bytes())?;
    Ok(Outcome::Done)
}

fn write(artefact: &Artefact, path: &Path) -> Result<()> {
    let fails = || format!("cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(fails)?;
    }
    let mode = if artefact.is_script { 0o755 } else { 0o644 };
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    match file {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} is there already", path.display())
        }
        file => file.and_then(|mut file| file.write_all(&artefact.bytes)).with_context(fails),
    }
}
