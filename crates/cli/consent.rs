//! Before a stranger's double runs natively: what is shown, and who has to agree.
//!
//! Always: the command line and all that the report brings are shown before, quoted. A contained run of
//! a program that the user named needs no answer; one of a program that the report chose, and every run
//! that is not contained, needs a yes: at a terminal, or by a flag. Where nobody can be asked nothing
//! runs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use anyhow::{Result, bail};
use stunt_report::{Opened, command_line, quoted, visible};

use crate::submit::terminal::{self, Answer};

/// The most bytes of an argument or a variable that are shown.
const MOST_SHOWN: usize = 200;

/// Where a program runs on a double.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// In the machine: nothing reaches the host.
    InMachine,
    /// Natively, as candidates do.
    Contained,
    /// Natively, as if the user had started it.
    Uncontained,
}

/// Says what is about to run, and all that the report brings into it.
pub fn announce(opened: &Opened, words: &[OsString], runs: Runs) {
    let how = match runs {
        Runs::InMachine => "in the machine, where nothing reaches the host",
        Runs::Contained => "contained",
        Runs::Uncontained => "with all your rights",
    };
    eprintln!("stunt: about to run, {how}: {}", command_line(words));
    for (source, bytes) in opened.report.sources.iter().zip(&opened.doubles) {
        let name = visible(&source.name.words());
        let content = if source.name.is_text() {
            let shown = &bytes[..bytes.len().min(MOST_SHOWN)];
            let more = if shown.len() < bytes.len() { " and more" } else { "" };
            format!("{}{more}", quoted(OsStr::from_bytes(shown)))
        } else {
            format!("{} bytes", bytes.len())
        };
        eprintln!("stunt: the report brings {name}: {content}");
    }
}

/// Somebody agrees to what was announced, where that is needed; otherwise nothing is run. `named`: it
/// is the user who named the program; `yes`: and who agrees ahead.
pub fn agree(named: bool, yes: bool, runs: Runs) -> Result<()> {
    if yes || (named && runs == Runs::Contained) {
        return Ok(());
    }
    let whose = if named { "" } else { ", which the report chose," };
    if !terminal::is_there() {
        match runs {
            Runs::Uncontained => bail!(
                "nothing was run: --uncontained gives the program{whose} all your rights on a \
                 stranger's bytes, and there is no terminal to ask on. Say --yes, too, if you mean it"
            ),
            _ => bail!(
                "nothing was run: the report chose the program and its arguments, and there is no \
                 terminal to ask on. Name the program yourself after --, or use --machine, or --yes"
            ),
        }
    }
    let question = match runs {
        Runs::Uncontained => format!(
            "The program{whose} gets all your rights, on bytes of whoever made the report: it may \
             change, delete and send whatever you may.\nRun it uncontained?"
        ),
        _ => "Run what the report chose, contained?".to_owned(),
    };
    if terminal::question(&question, false)? != Answer::Yes {
        bail!("nothing was run; name the program yourself after --, or use --machine");
    }
    Ok(())
}
