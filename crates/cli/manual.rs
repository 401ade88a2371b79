//! `stunt manual` and `stunt completions`: from the definition of the command line itself.
//!
//! Always: pages and completions say what `--help` says, because both are made of it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::outcome::{self, Outcome};

/// Flags of `stunt manual`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Write a page for each command to this folder, such as /usr/local/share/man/man1
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Print the page of this command; without it, that of stunt itself
    #[arg(conflicts_with = "to")]
    command: Vec<String>,
}

/// Flags of `stunt completions`.
#[derive(clap::Args)]
pub struct CompletionArguments {
    /// The shell
    shell: Shell,
}

/// The whole command line, with the parts that clap adds while it parses.
fn whole() -> Command {
    let mut command = crate::Arguments::command();
    command.build();
    command
}

/// Runs `stunt manual`.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let whole = whole();
    if let Some(folder) = &arguments.to {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        write_all(&whole, "stunt", folder)?;
        return Ok(Outcome::Done);
    }
    let (mut command, mut name) = (&whole, "stunt".to_owned());
    for word in &arguments.command {
        command = command
            .find_subcommand(word)
            .with_context(|| format!("there is no command {name} {word}"))?;
        name = format!("{name}-{word}");
    }
    outcome::print(&page(command, &name)?)?;
    Ok(Outcome::Done)
}

/// Runs `stunt completions`.
pub fn complete(arguments: &CompletionArguments) -> Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut whole(), "stunt", &mut text);
    outcome::print(&text)?;
    Ok(Outcome::Done)
}

fn write_all(command: &Command, name: &str, folder: &Path) -> Result<()> {
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, page(command, name)?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    // `help` only repeats the others; the rest that is hidden has its page.
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        write_all(inner, &format!("{name}-{}", inner.get_name()), folder)?;
    }
    Ok(())
}

fn page(command: &Command, name: &str) -> Result<Vec<u8>> {
    // The page's own name is that of its file; without this, every page were called `submit`.
    // The library keeps names for as long as the process lives.
    let name: &'static str = name.to_owned().leak();
    let display = command.clone().name(name).display_name(name);
    let mut text = Vec::new();
    clap_mangen::Man::new(display)
        .date("")
        .manual("Stunt")
        .render(&mut text)
        .with_context(|| format!("cannot make the page {name}"))?;
    Ok(text)
}
