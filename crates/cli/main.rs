//! The command `stunt`: flags, calls, and print.
//!
//! One file per subcommand. Data goes to standard output, everything else to standard error. This
//! is the only place that knows exit codes, JSON and terminals; it must not know how anything is
//! computed.

mod anonymize;
mod bisect;
mod config;
mod consent;
mod debug;
mod defaults;
mod demo;
mod demo_program;
mod double;
mod explain;
mod export;
mod figures;
mod found;
mod graph_html;
mod graph_text;
mod gui;
mod heap;
mod hints;
mod incident;
mod incidents;
mod inputs;
mod inspect;
mod interrupt;
mod log;
mod manual;
mod measure;
mod mistake;
mod outcome;
mod owner;
mod progress;
mod queue;
mod record;
mod replay;
mod report;

mod request;
mod run;
mod secrecy;
mod serve;
mod subject;
mod submit;
mod ticket;
mod trace;
mod variables;
mod view;
mod walk;
mod watch;
mod work;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use outcome::Outcome;

/// A stunt double for the input that crashed your program.
///
/// Turns what a failing run requires of its input into a different input that meets the same
/// requirements, and says in bits how much that input still reveals about the original.
#[derive(Parser)]
#[command(version, after_help = outcome::EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Say on standard error what is done and how long it takes; twice for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 900)]
    verbose: u8,
}

#[derive(Subcommand)]
enum Command {
    /// Make a double of an input that a program fails on, and a report that may be sent
    Anonymize(Box<anonymize::Arguments>),
    /// Print a script that completes stunt's commands and flags in a shell
    Completions(manual::CompletionArguments),
    /// What the configuration says, where each value comes from, and what is wrong with it
    Config(config::Arguments),
    /// gdb with time travel on the double of a report: at its failure, and back from there
    Debug(debug::Arguments),
    /// The main job on a built-in example: a program that fails on a file of records
    Demo(demo::Arguments),
    /// A report as a regression test, or as a file for a fuzzer's corpus
    Export(export::Arguments),
    /// What a double tells, as one would dictate it to somebody who has the program, with the bits of each piece
    Explain(explain::Arguments),
    /// User interfaces in a browser: record, anonymize, replay, export
    Gui(gui::Arguments),
    /// What is kept of runs that failed, on this machine: list, show, delete, prune
    Incidents(incidents::Arguments),
    /// What a report says and reveals: the failure, figures, and the leak graph of the double
    Inspect(inspect::Arguments),
    /// Manual pages of stunt and its commands
    Manual(manual::Arguments),
    /// How much a condition reveals, and a random solution of it
    Measure(measure::Arguments),
    /// What waits to be sent: list it, send it, or drop it
    Queue(queue::Arguments),
    /// Run a program as it is, and keep what it read if it fails
    Record(record::Arguments),
    /// Run a program on the double of a report, and say whether it fails as the report says
    Replay(replay::Arguments),
    /// From a run that fails to a report that is sent, or ready for an issue or a mail: all of it in one command
    Report(Box<report::Arguments>),
    /// An incident of the last recorded run, which did not crash and went wrong
    Request(request::Arguments),
    /// Run a program in the machine
    Run(run::Arguments),
    /// The server: failures as tickets, with doubles, replays and trackers
    Serve(Box<serve::Arguments>),
    /// Show what a report would tell, ask, and send it to a server
    Submit(submit::Arguments),
    /// What a run finds out about its input; for the owner of the input only
    Trace(trace::Arguments),
    /// Make incidents of crashes that the system has listed
    Watch(watch::Arguments),
    /// Make doubles of the incidents that are pending, when nobody needs the machine
    Work(work::Arguments),
}

impl Command {
    /// Whether it runs programs in the machine, in this process.
    fn runs_machine(&self) -> bool {
        use Command::{Anonymize, Debug, Demo, Replay, Run, Trace, Work};
        matches!(self, Anonymize(_) | Debug(_) | Demo(_) | Replay(_) | Run(_) | Trace(_) | Work(_))
    }
}

fn main() -> ExitCode {
    if let Some(code) = demo_program::run_if_called() {
        return code;
    }
    mistake::tell_places_only();
    let arguments = defaults::parse();
    if arguments.command.runs_machine() {
        heap::grow_in_large_pages();
    }
    // A server has no originals; what is recorded is a program as it is, whose parent must not be closed
    // before it has begun: `report` closes it then.
    if !matches!(arguments.command, Command::Serve(_) | Command::Record(_) | Command::Report(_)) {
        secrecy::close_memory();
    }
    // A server ends in order, and has a log of its own; signals that come while a program is
    // recorded are the program's.
    if !matches!(arguments.command, Command::Serve(_) | Command::Record(_)) {
        interrupt::watch();
    }
    if !matches!(arguments.command, Command::Serve(_)) {
        log::start(arguments.verbose);
    }
    let result = match arguments.command {
        Command::Anonymize(arguments) => anonymize::run(&arguments),
        Command::Completions(arguments) => manual::complete(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Debug(arguments) => debug::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Gui(arguments) => gui::run(&arguments),
        Command::Incidents(arguments) => incidents::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Manual(arguments) => manual::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Queue(arguments) => queue::run(&arguments),
        Command::Record(arguments) => record::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Request(arguments) => request::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Serve(serve) => serve::run(*serve, arguments.verbose),
        Command::Submit(arguments) => submit::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Watch(arguments) => watch::run(&arguments),
        Command::Work(arguments) => work::run(&arguments),
    };
    // An error is a sentence for the user, so no backtrace, whatever RUST_BACKTRACE says.
    result.map_or_else(
        |error| {
            eprintln!("stunt: {}", outcome::sentence(&error));
            outcome::USAGE.into()
        },
        Outcome::code,
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
