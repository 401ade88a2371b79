//! `stunt trace`: what a run finds out about its input, as a list or as SMT-LIB 2.
//!
//! What is printed is derived from the original and may not be sent: it is for those who own the
//! input, and for those who work on stunt.

use std::fmt::Write;

use anyhow::Result;
use stunt_machine::symbolic::Relaxations;
use stunt_path::TestKind;
use stunt_subject::follow;
use stunt_terms::{Term, smtlib};

use crate::outcome::{self, Outcome};
use crate::subject;

/// Flags of `stunt trace`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: subject::Arguments,
    /// Print the path condition as SMT-LIB 2
    #[arg(long)]
    smtlib: bool,
    /// Stop at the first invalid access to memory
    #[arg(long)]
    check_memory: bool,
    /// The path condition as it is, without relaxations
    #[arg(long)]
    exact: bool,
    /// Print nothing but how many tests there are: for measuring
    #[arg(long, hide = true)]
    no_list: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let subject = subject::of(&arguments.subject, false)?;
    let relax = if arguments.exact { Relaxations::NONE } else { Relaxations::ALL };
    let followed = match follow(&subject, relax, arguments.check_memory) {
        Ok(followed) => followed,
        Err(error) => return outcome::stopped(error),
    };
    let mut text = String::new();
    if arguments.no_list {
        // What is printed takes longer than what is measured.
    } else if arguments.smtlib {
        let conditions: Vec<Term> = followed.tests.iter().map(|test| test.condition).collect();
        text = smtlib::print_script(&followed.pool, &conditions, true);
    } else {
        for test in &followed.tests {
            let kind = match test.kind {
                TestKind::Branch => "branch".to_owned(),
                TestKind::Jump => "jump".to_owned(),
                TestKind::Bounds => "bounds".to_owned(),
                TestKind::Choice => "choice".to_owned(),
                TestKind::Position => "position".to_owned(),
                TestKind::Division => "division".to_owned(),
                TestKind::Fault => "fault".to_owned(),
                TestKind::Summary => "summary".to_owned(),
                TestKind::Pin(why) => format!("pin ({why})"),
            };
            let condition = smtlib::print_term(&followed.pool, test.condition);
            let _ = writeln!(text, "{:#x} {kind} {condition}", test.address);
        }
    }
    outcome::print(text.as_bytes())?;
    match &followed.failure {
        Some(failure) => eprintln!("stunt: {} tests, then {failure}", followed.tests.len()),
        None => eprintln!("stunt: {} tests; the program {}", followed.tests.len(), followed.ending),
    }
    Ok(Outcome::Done)
}
