//! Programs with a bug, small enough to try every input.
//!
//! Figures are about all inputs of one length, 256 values a byte, as those that a report prints. So
//! that every input that fails can be listed, a program begins with a test for each byte: is it in
//! the byte's alphabet? If not, the program ends well. Every failing path makes these tests, so
//! they are a part of what a failure tells, the same for every algorithm; and all inputs that fail,
//! doubles among them, are found by trying the alphabets alone. Nothing is left out by that.
//!
//! The programs of `records` have no alphabets and are longer: for what can be asked without a list.

mod papers;
mod plain;
mod records;
mod words;

pub use records::{FREE, RECORDS};
pub use words::words;

use crate::run::{End, Halt, Outcome, Route, Run};

/// A program.
pub struct Program {
    /// What it is called.
    pub name: &'static str,
    /// What each byte may be, in ascending order; `None` for any value.
    pub alphabets: &'static [Option<&'static [u8]>],
    /// What it does then.
    body: fn(&mut Run<'_>) -> Outcome,
}

/// The place of the first byte's alphabet.
const ALPHABET: u64 = 900;

impl Program {
    /// How many bytes its input has.
    pub fn len(&self) -> usize {
        self.alphabets.len()
    }

    /// Whether its input has no byte.
    pub fn is_empty(&self) -> bool {
        self.alphabets.is_empty()
    }

    /// The program, on whatever a run computes with.
    ///
    /// # Errors
    /// The run was halted.
    pub fn follow(&self, run: &mut Run<'_>) -> Result<End, Halt> {
        for (offset, alphabet) in self.alphabets.iter().enumerate() {
            let Some(alphabet) = alphabet else { continue };
            let byte = run.byte(offset);
            let known = run.among(byte, alphabet);
            if !run.test(ALPHABET + offset as u64, known)? {
                return Ok(End::Well);
            }
        }
        (self.body)(run)
    }

    /// Whether it fails on an input, and the path that this takes.
    pub fn run(&self, input: &[u8]) -> (bool, Route) {
        let mut run = Run::concrete(input);
        let fails = matches!(self.follow(&mut run), Ok(End::Fails));
        (fails, run.route())
    }

    /// Whether it fails on an input.
    pub fn fails(&self, input: &[u8]) -> bool {
        self.run(input).0
    }
}

/// All programs that are small enough to try every input.
pub fn small() -> impl Iterator<Item = &'static Program> {
    plain::PROGRAMS.iter().chain(papers::PROGRAMS).chain(words::PROGRAMS)
}

/// A small program by its name.
pub fn named(name: &str) -> Option<&'static Program> {
    small().find(|program| program.name == name)
}

/// Fails if a last condition holds.
fn fails_if(holds: bool) -> Outcome {
    Ok(if holds { End::Fails } else { End::Well })
}
