//! The project's own chores, as `cargo xtask COMMAND`.
//!
//! One file per command. Each says on standard error what it does, and stops at the first failure
//! with a command to repeat it. Nothing here is part of the tool: xtask uses none of its crates.

mod attack;
mod bench;
mod bless;
mod borders;
mod eval;
mod files;
mod fresh;
mod fuzz;
mod gui;
mod packages;
mod privacy;
mod sanitize;
mod soak;
mod step;
mod subjects;
mod test;
mod tidy;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's own chores.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what is absent, then check and test everything, as CI does
    Test,
    /// Check the rules of the house that no compiler knows
    Tidy,
    /// Run the golden tests with STUNT_BLESS=1, so that they rewrite their files
    Bless,
    /// Build the crashing programs that the tests run, where they are absent
    Subjects,
    /// Build in release and print the benchmark tables
    Bench(bench::Arguments),
    /// Make doubles of all subjects by all algorithms, and print the table
    Eval(eval::Arguments),
    /// Compare what doubles claim to reveal with what an attacker learns, on small programs
    Privacy(privacy::Arguments),
    /// Try every attack that SECURITY.md lists, and print the table with the outcomes
    Attack(attack::Arguments),
    /// Fuzz whatever reads what strangers send, with AddressSanitizer
    Fuzz(fuzz::Arguments),
    /// Compare the machine with the real processor in many more states
    Soak(soak::Arguments),
    /// Test the unsafe parts of the machine under AddressSanitizer
    Sanitize,
}

fn main() -> ExitCode {
    // A failure is a message for people, so no backtrace, whatever RUST_BACKTRACE says.
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Test => test::run(),
        Command::Tidy => tidy::run(),
        Command::Bless => bless::run(),
        Command::Subjects => subjects::run(),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Privacy(arguments) => privacy::run(&arguments),
        Command::Attack(arguments) => attack::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
        Command::Sanitize => sanitize::run(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
