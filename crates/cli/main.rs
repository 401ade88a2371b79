//! The command `stunt`: flags, calls, and print.
//!
//! One file per subcommand. Data goes to standard output, everything else to standard error. This
//! is the only place that knows exit codes, JSON and terminals; it must not know how anything is
//! computed.

mod anonymize;
mod demo;
mod demo_program;
mod double;
mod fails_if;
mod figures;
mod follow;
mod graph;
mod graph_html;
mod graph_svg;
mod graph_text;
mod inspect;
mod interrupt;
mod log;
mod measure;
mod outcome;
mod progress;
mod replay;
mod run;
mod scratch;
mod subject;
mod trace;
mod view;

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
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Subcommand)]
enum Command {
    /// Make a double of an input that a program fails on, and a report that may be sent
    Anonymize(anonymize::Arguments),
    /// The main job on a built-in example: a program that fails on a file of records
    Demo(demo::Arguments),
    /// What a report says and reveals: the failure, figures, and the leak graph of the double
    Inspect(inspect::Arguments),
    /// How much a condition reveals, and a random solution of it
    Measure(measure::Arguments),
    /// Run a program on the double of a report, and say whether it fails as the report says
    Replay(replay::Arguments),
    /// Run a program in the machine
    Run(run::Arguments),
    /// What a run finds out about its input; for the owner of the input only
    Trace(trace::Arguments),
}

fn main() -> ExitCode {
    if let Some(code) = demo_program::run_if_called() {
        return code;
    }
    let arguments = Arguments::parse();
    interrupt::watch();
    log::start(arguments.verbose);
    let result = match arguments.command {
        Command::Anonymize(arguments) => anonymize::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
    };
    // An error is a sentence for the user, so no backtrace, whatever RUST_BACKTRACE says.
    result.map_or_else(
        |error| {
            eprintln!("stunt: {error:#}");
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
