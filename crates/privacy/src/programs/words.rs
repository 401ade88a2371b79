//! Programs that have words in them: what a double needs is said in a few bits by who has the program.

use super::{Program, fails_if};
use crate::run::{End, Halt, Outcome, Run};

const O_OR_N: Option<&[u8]> = Some(b"no");
const A_TO_D: Option<&[u8]> = Some(b"abcd");
const A_TO_H: Option<&[u8]> = Some(b"abcdefgh");
const DIGITS: Option<&[u8]> = Some(b"0123456789");

/// The programs.
pub static PROGRAMS: &[Program] = &[
    Program { name: "answer", alphabets: &[O_OR_N, O_OR_N, A_TO_D, A_TO_D], body: answer },
    Program { name: "unit", alphabets: &[DIGITS, Some(b"k"), Some(b"gm")], body: unit },
    Program {
        name: "verb",
        alphabets: &[Some(b"GP"), Some(b"EU"), Some(b"T"), A_TO_H],
        body: verb,
    },
];

/// The words that a program has, as they would stand in its file.
pub fn words(program: &Program) -> &'static [&'static str] {
    match program.name {
        "answer" => &["no", "off", "on", "yes"],
        "unit" => &["kg", "km", "mg"],
        "verb" => &["GET", "HEAD", "POST", "PUT"],
        _ => &[],
    }
}

/// Whether a word stands at a place.
fn stands(run: &mut Run<'_>, place: u64, word: &[u8], at: usize) -> Result<bool, Halt> {
    for (offset, &letter) in word.iter().enumerate() {
        let byte = run.byte(at + offset);
        if !run.is(place, byte, letter)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `on` or `no`, and whatever comes behind it.
fn answer(run: &mut Run<'_>) -> Outcome {
    let fails = stands(run, 1, b"on", 0)? || stands(run, 2, b"no", 0)?;
    Ok(if fails { End::Fails } else { End::Well })
}

/// More than three of one unit, or of the other.
fn unit(run: &mut Run<'_>) -> Outcome {
    if !stands(run, 1, b"kg", 1)? && !stands(run, 2, b"km", 1)? {
        return Ok(End::Well);
    }
    let digit = run.byte(0);
    let few = run.below(3, digit, u64::from(b'4'))?;
    fails_if(!few)
}

/// One of two verbs.
fn verb(run: &mut Run<'_>) -> Outcome {
    let fails = stands(run, 1, b"GET", 0)? || stands(run, 2, b"PUT", 0)?;
    Ok(if fails { End::Fails } else { End::Well })
}
