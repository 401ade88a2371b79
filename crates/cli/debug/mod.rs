//! `stunt debug`: a program on the double of a report, in the machine, behind gdb; forward and back.
//!
//! Always: it runs in the machine, so nothing that it does reaches the host, and what is run is shown
//! before; whoever connects is on this machine. How gdb talks, and how going back works, is not known
//! here.

mod gdb;
mod why;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, anyhow};
use stunt_debugger::{Halt, Session, Start, TimeTravel};
use stunt_machine::Machine;
use stunt_machine::linux::Ending;
use stunt_subject::{FailedAt, Subject, run_double_to};

use crate::consent::{Runs, announce};
use crate::outcome::{self, Outcome};
use crate::replay::{self, Expected};
use crate::subject::Limits;
use gdb::Address;
use why::Why;

/// How many throws are looked at for the one that failed.
const MOST_THROWS: usize = 1000;

/// Flags of `stunt debug`.
#[derive(clap::Args)]
#[command(
    after_help = "The program runs in the machine on the double: nothing that it does reaches the \
host, and there is no network. gdb stands where it fails; reverse-continue, reverse-step, \
reverse-next and reverse-finish go back from there, and watchpoints say who wrote what. Beside gdb's \
own commands there are `when`, `goto N|start|end`, `why OFFSET` (the tests that hold a byte of the \
double) and `input` (where its bytes were looked at last); where gdb was started otherwise, with \
`monitor` before them.

Without a terminal, without gdb, or with --listen, stunt prints the line to type and waits for one \
debugger. Only this machine can connect."
)]
pub struct Arguments {
    /// The report, an incident that has one, or the address of a ticket:
    /// `https://crashes.example.org/tickets/T-12`
    report: PathBuf,
    /// Where gdb stands at first
    #[arg(long, value_enum, default_value_t)]
    at: At,
    /// Wait for a debugger here and start none: a port of this machine, such as 127.0.0.1:4711, or the
    /// path of a socket
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<Address>,
    /// Print a launch.json for VS Code on standard output, and wait for it
    #[arg(long)]
    vscode: bool,
    /// The gdb to start
    #[arg(long, value_name = "PROGRAM")]
    gdb: Option<PathBuf>,
    /// About how much memory may be used to go back faster, such as 512M
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = crate::run::size)]
    history: u64,
    #[command(flatten)]
    limits: Limits,
    /// The program and its arguments, with @@ for the path of the double; without it, what the
    /// report says, with a program of that name in this folder or in PATH
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// Where a debugger stands at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum At {
    /// Where it fails
    #[default]
    Failure,
    /// Before its first instruction
    Start,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let opened = replay::open(&arguments.report)?;
    let report = &opened.report;
    let expected = Expected::of(report)?;
    let (program, words) = replay::command(&arguments.command, report)?;
    announce(&opened, &words, Runs::InMachine);
    let limits = arguments.limits.of_runs();
    let subject = Subject::of_report(&opened, program, words, limits)?;
    let checked = report.replay.check_memory;
    let (run, failed) = match run_double_to(&subject, &opened.doubles, checked) {
        Ok(both) => both,
        Err(error) => return outcome::stopped(error),
    };
    let agreement = expected.compare(&run, &subject.texts);
    eprint!("stunt: {}", replay::to_text(report, &run, agreement));
    let setup = subject.in_machine_on_double(&opened.doubles)?;
    let machine = Machine::new(setup)
        .map_err(|errno| anyhow!("the program cannot be started: {}", errno.text()))?;
    let mut travel = TimeTravel::new(machine, arguments.history);
    let begun = Instant::now();
    let most = limits.machine_timeout;
    let mut enough = || begun.elapsed() > most;
    let halt = match arguments.at {
        At::Start => Halt::Reached,
        At::Failure => go_to_failure(&mut travel, failed, &mut enough),
    };
    if let Some((end, ending)) = travel.end() {
        let snapshots = travel.snapshots();
        eprintln!(
            "stunt: the run has {end} instructions and {}; {snapshots} moments of it are kept",
            ending.outward()
        );
    }
    let mut helper = Why::new(&subject, &opened.doubles, checked);
    let serves = gdb::Serves {
        listen: arguments.listen.as_ref(),
        vscode: arguments.vscode,
        gdb: arguments.gdb.as_deref(),
    };
    let name = travel.program().map_or_else(Vec::new, |(path, _)| path);
    gdb::serve(&serves, &name, |line| {
        Session::new(&mut travel, &mut helper, Start { halt }).talk(line)
    })?;
    Ok(Outcome::Done)
}

/// Goes where the run fails: to a fault or a deadly signal, else to where it throws what ends it.
fn go_to_failure(
    travel: &mut TimeTravel,
    failed: Option<FailedAt>,
    enough: &mut dyn FnMut() -> bool,
) -> Halt {
    let end = travel.goto_end(enough);
    let Some(failed) = failed else { return fault_at_end(travel, end) };
    travel.set_stops([failed.address], Vec::new());
    let (mut first, mut found) = (None, None);
    for _ in 0..MOST_THROWS {
        if travel.back(enough) != Halt::Breakpoint {
            break;
        }
        let place = travel.position();
        first.get_or_insert(place);
        let thread = travel.thread();
        let executed = travel.processor(thread).map(stunt_machine::cpu::Cpu::executed);
        if executed == Some(failed.executed) {
            found = Some(place);
            break;
        }
    }
    travel.set_stops([], Vec::new());
    // In another schedule the counts are others; then it is the last one.
    match found.or(first) {
        Some(place) => travel.goto(place, enough),
        None => travel.goto_end(enough),
    }
}

/// At the end of a run that a fault ends, the fault is what gdb should say.
fn fault_at_end(travel: &mut TimeTravel, end: Halt) -> Halt {
    match end {
        Halt::End(Ending::Killed(_)) => match travel.forward(None, &mut || false) {
            fault @ Halt::Fault(_) => fault,
            _ => end,
        },
        _ => end,
    }
}
