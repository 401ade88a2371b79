//! The command `stunt`: flags, calls, and print.
//!
//! One file per subcommand. Data goes to standard output, everything else to standard error. This
//! is the only place that knows exit codes, JSON and terminals; it must not know how anything is
//! computed.

mod demo;
mod double;
mod figures;
mod measure;
mod outcome;
mod run;
mod server;
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
}

#[derive(Subcommand)]
enum Command {
    /// The main job on a built-in example: a web server that fails on a long URL
    Demo(demo::Arguments),
    /// How much a condition reveals, and a random solution of it
    Measure(measure::Arguments),
    /// Run a program in the machine
    Run(run::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
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
