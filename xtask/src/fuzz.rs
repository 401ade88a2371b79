//! `cargo xtask fuzz`: bytes of strangers, guided by what they reach in the code.
//!
//! The targets are in `fuzz/`, a workspace of its own. They are built with coverage and with
//! AddressSanitizer, which a stable compiler can do if it is told to. Seeds are made here: small programs
//! that gcc builds, pieces of real code, a report; or they lie in `fuzz/seeds`. What the runs find new is kept under the target folder, so that a
//! later run goes on from there. A crash stops with the file that caused it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::files;
use crate::step::{Step, report};
use crate::tools::works;

/// The targets, with the longest input that each gets, in bytes.
const TARGETS: [(&str, usize); 9] = [
    ("decoder", 266),
    ("loader", 32 << 10),
    ("report", 16 << 10),
    ("smtlib", 4 << 10),
    ("unwind", 32 << 10),
    ("messages", 4 << 10),
    ("incident", 16 << 10),
    ("traceback", 8 << 10),
    ("document", 8 << 10),
];
/// A run of the longest allowed input takes far less, in seconds.
const TIMEOUT: u32 = 20;
/// What a target may take, in MB; the sanitizer keeps what was freed for a while.
const MEMORY: u32 = 2500;

/// What to fuzz.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only these targets: decoder, loader, report, smtlib, unwind, messages, incident, traceback, document
    targets: Vec<String>,
    /// How long each target is run
    #[arg(long, default_value_t = 600)]
    seconds: u32,
}

/// Builds the targets and runs them, one after the other.
pub fn run(arguments: &Arguments) -> Result<()> {
    let known = |name: &String| TARGETS.iter().any(|(target, _)| target == name);
    if let Some(unknown) = arguments.targets.iter().find(|name| !known(name)) {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        bail!("there is no target `{unknown}`; there are {}", names.join(", "));
    }
    let cargo_fuzz = prepare()?;
    for (target, longest) in TARGETS {
        if arguments.targets.is_empty() || arguments.targets.iter().any(|name| name == target) {
            fuzz(&cargo_fuzz, target, longest, arguments.seconds)?;
        }
    }
    Ok(())
}

/// The program `cargo-fuzz`, installed if it is absent.
fn prepare() -> Result<PathBuf> {
    let folder = files::target().join("tools");
    let program = folder.join("bin/cargo-fuzz");
    let text = utf8(&program)?;
    if !works(&[text, "--version"]) {
        eprintln!("cargo-fuzz is absent: installing it into {}", folder.display());
        let root = utf8(&folder)?;
        Step::cargo("cargo-fuzz", &["install", "--locked", "--root", root, "cargo-fuzz"]).run()?;
    }
    Ok(program)
}

fn fuzz(cargo_fuzz: &Path, target: &'static str, longest: usize, seconds: u32) -> Result<()> {
    let place = files::target().join("fuzz");
    let corpus = place.join("corpus").join(target);
    let seeds = place.join("seeds").join(target);
    let found = place.join("found").join(target);
    for folder in [&corpus, &seeds, &found] {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    match target {
        "decoder" => code_seeds(&seeds)?,
        "loader" => program_seeds(&seeds, &[])?,
        "unwind" => program_seeds(&seeds, &[1, 2, 3, 4, 5, 6, 7, 8])?,
        "report" => report_seeds(&seeds)?,
        kept => kept_seeds(kept, &seeds)?,
    }
    let build = place.join("build");
    let (folder, limits) = (
        files::root().join("fuzz"),
        [
            format!("-max_total_time={seconds}"),
            format!("-max_len={longest}"),
            format!("-timeout={TIMEOUT}"),
            format!("-rss_limit_mb={MEMORY}"),
            format!("-artifact_prefix={}/", found.display()),
            "-print_final_stats=1".to_owned(),
        ],
    );
    let words =
        ["--fuzz-dir", utf8(&folder)?, "--sanitizer", "address", "--target-dir", utf8(&build)?];
    let mut build_words = vec!["build"];
    build_words.extend(words);
    build_words.push(target);
    // Coverage and the sanitizer are asked for by flags that the compiler calls unstable.
    Step::new("fuzz build", utf8(cargo_fuzz)?, &build_words).with("RUSTC_BOOTSTRAP", "1").run()?;
    let mut run_words = vec!["run"];
    run_words.extend(words);
    run_words.extend([target, utf8(&corpus)?, utf8(&seeds)?, "--"]);
    run_words.extend(limits.iter().map(String::as_str));
    let step = Step::new(target, utf8(cargo_fuzz)?, &run_words).with("RUSTC_BOOTSTRAP", "1");
    step.run()?;
    step.quote("DONE")
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

/// Small programs: one that ends, one that fails with symbols and tables for its stack, one that
/// needs a loader and libraries, and a script; each behind a head.
fn program_seeds(folder: &Path, head: &[u8]) -> Result<()> {
    const ENDS: &str = ".globl _start\n.data\nx: .quad 1\n.bss\ny: .skip 9000\n.text\n_start: \
                        mov x(%rip), %rax\nmov %rax, y+8000(%rip)\nmov $60, %eax\nxor %edi, %edi\nsyscall\n";
    const FAILS: &str = "static int inner(int *at) { return *at + 1; }\n\
                         int outer(int *at) { return inner(at) + inner(at + 1); }\n\
                         void _start(void) { outer((int *)8); }\n";
    const WHOLE: &str = "int main(int argc, char **argv) { return argv[argc - 1][0] == 'x'; }\n";
    let own = ["-nostdlib", "-static", "-Wl,-z,noseparate-code", "-Wl,--build-id"];
    let seeds: [(&str, &str, &str, &[&str]); 4] = [
        ("ends", "s", ENDS, &[]),
        ("fails", "c", FAILS, &["-O0", "-g"]),
        ("relative", "c", FAILS, &["-O1", "-g", "-fPIE", "-static-pie"]),
        ("whole", "c", WHOLE, &["-s"]),
    ];
    report("programs", || {
        for (name, language, text, flags) in seeds {
            let (source, program) = (folder.with_extension(language), folder.join(name));
            fs::write(&source, text)?;
            let own: &[&str] = if name == "whole" { &[] } else { &own };
            let status = Command::new("gcc")
                .args(own)
                .args(flags)
                .args(["-w", "-Wl,-z,max-page-size=4096", "-o"])
                .args([&program, &source])
                .status()
                .context("cannot start gcc")?;
            if !status.success() {
                bail!("gcc does not build the seed `{name}`");
            }
            let bytes = fs::read(&program)?;
            // gcc may have left it to be executed, not to be written.
            fs::remove_file(&program)?;
            fs::write(&program, [head, &bytes].concat())?;
        }
        Ok(fs::write(folder.join("script"), "#!/bin/true -x\n")?)
    })
}

/// Pieces of the code of a real program behind heads that set all registers to data.
fn code_seeds(folder: &Path) -> Result<()> {
    let program = std::env::current_exe().context("where is xtask?")?;
    let bytes = fs::read(&program).with_context(|| format!("reading {}", program.display()))?;
    // Functions begin like this.
    let starts = (0..bytes.len() - 80).filter(|&at| bytes[at..].starts_with(&[0x55, 0x41]));
    let every = |(number, _): &(usize, usize)| number % 97 == 0;
    for (number, at) in starts.enumerate().filter(every).take(60) {
        let mut seed = vec![number as u8 & 7, 0x10, 0x32, 0, 0x84, 0x05, 0x21, 0x10, 0x98, 0x0c];
        seed.extend_from_slice(&bytes[at..at + 64]);
        fs::write(folder.join(number.to_string()), seed)?;
    }
    Ok(())
}

/// Seeds that lie in the project.
fn kept_seeds(target: &str, folder: &Path) -> Result<()> {
    let from = files::root().join("fuzz/seeds").join(target);
    let listed = fs::read_dir(&from).with_context(|| format!("reading {}", from.display()))?;
    for entry in listed {
        let entry = entry?;
        fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    Ok(())
}

/// A report as text, and as the archive that Python makes of it.
fn report_seeds(folder: &Path) -> Result<()> {
    let text = files::root().join("fuzz/seeds/report.json");
    fs::copy(&text, folder.join("text")).with_context(|| format!("copying {}", text.display()))?;
    let parts = folder.with_extension("parts");
    fs::create_dir_all(parts.join("input"))?;
    fs::copy(&text, parts.join("report.json"))?;
    fs::write(parts.join("input/file.json"), "GET o.Ab0.aB.BM5q,..H....")?;
    let archive = folder.join("archive");
    let status = Command::new("python3")
        .args(["-m", "zipfile", "-c"])
        .arg(&archive)
        .args(["report.json", "input"])
        .current_dir(&parts)
        .status()
        .context("cannot start python3")?;
    if !status.success() {
        bail!("python3 does not make an archive of the seed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_one_of_the_manifest() {
        let manifest = fs::read_to_string(files::root().join("fuzz/Cargo.toml")).unwrap();
        let named: Vec<&str> = manifest
            .lines()
            .filter_map(|line| line.strip_prefix("path = \"targets/")?.strip_suffix(".rs\""))
            .collect();
        let targets: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, targets);
    }

    #[test]
    fn unknown_targets_are_told() {
        let arguments = Arguments { targets: vec!["other".to_owned()], seconds: 1 };
        let message = run(&arguments).unwrap_err().to_string();
        assert!(message.starts_with("there is no target `other`; there are decoder, loader, "));
    }
}
