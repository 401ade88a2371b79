//! `cargo xtask privacy`: what an attacker really learns from doubles, beside what stunt claims.
//!
//! The tables are printed by an example of the crate `stunt-privacy`, built in release. With
//! `--write` they go into the document of benchmarks, also if a claim does not hold: then this
//! command fails, and the table shows where.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{bench, files};

/// What to do with the tables.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only programs and algorithms whose names contain one of these
    names: Vec<String>,
    /// Put the tables into BENCHMARKS.md
    #[arg(long)]
    write: bool,
}

/// Runs the bench; fails if a claim does not hold.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.write && !arguments.names.is_empty() {
        bail!("only the whole bench is written: leave out the names, or --write");
    }
    let command =
        ["run", "--release", "--quiet", "--package", "stunt-privacy", "--example", "learned", "--"];
    eprintln!("measuring privacy: this takes some minutes");
    let output = Command::new("cargo")
        .args(command)
        .args(&arguments.names)
        .current_dir(files::root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    let table = String::from_utf8(output.stdout)?.trim_end().to_string();
    println!("{table}");
    if arguments.write && !table.is_empty() {
        bench::write("privacy", &table)?;
    }
    if !output.status.success() {
        bail!("the privacy bench failed. To repeat it:\n    cargo {}", command.join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_a_place_for_the_tables() {
        let document = std::fs::read_to_string(files::root().join("BENCHMARKS.md")).unwrap();
        assert!(document.contains("<!-- bench:privacy -->"));
    }
}
