//! `cargo xtask soak`: the comparison of the machine with the real processor, for hours if wanted.
//!
//! The ordinary tests compare each form of an instruction in some thousand states; this builds
//! them in release and compares in as many as asked for. Forms go by their own seeds, so that a
//! difference found here is found again by the command that it prints.

use anyhow::Result;

use crate::step::Step;

/// How much to compare.
#[derive(clap::Args)]
pub struct Arguments {
    /// States for each form of an instruction
    #[arg(long, default_value_t = 200_000)]
    states: u32,
    /// Only the forms whose codes contain this
    #[arg(long, default_value = "")]
    form: String,
}

/// Compares, and stops at the first family with a difference.
pub fn run(arguments: &Arguments) -> Result<()> {
    let test = ["nextest", "run", "--release", "--package", "stunt-machine", "--test", "processor"];
    Step::cargo("soak", &test)
        .with("STUNT_STATES", arguments.states.to_string())
        .with("STUNT_FORM", arguments.form.as_str())
        .run()
}
