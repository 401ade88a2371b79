//! The papers' examples, scaled down: what they do, on a few bytes.

use super::{Program, fails_if};
use crate::run::{End, Outcome, Run};

const AGES: Option<&[u8]> = Some(&[16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]);
const SEX: Option<&[u8]> = Some(b"fm");
const STATUS: Option<&[u8]> = Some(b"ms");
const COMMANDS: Option<&[u8]> = Some(b"abeox");
const A_TO_D: Option<&[u8]> = Some(b"abcd");
const OCTAL: Option<&[u8]> = Some(b"01234567");

/// The programs.
pub static PROGRAMS: &[Program] = &[
    Program { name: "score", alphabets: &[AGES, SEX, STATUS], body: score },
    Program { name: "cruise", alphabets: &[COMMANDS; 4], body: cruise },
    Program { name: "find", alphabets: &[A_TO_D; 3], body: find },
    Program { name: "card", alphabets: &[OCTAL; 3], body: card },
];

/// A score of age, sex and status that divides by zero (REAP).
fn score(run: &mut Run<'_>) -> Outcome {
    let (age, sex, status) = (run.byte(0), run.byte(1), run.byte(2));
    if run.below(1, age, 18)? {
        return Ok(End::Well);
    }
    let mut risk: i32 = if run.is(2, sex, b'm')? { 2 } else { 1 };
    if run.below(3, age, 21)? {
        risk *= 2;
    }
    if run.is(4, status, b'm')? {
        risk -= 1;
    }
    if !run.below(5, age, 28)? {
        risk -= 1;
    }
    fails_if(risk == 0)
}

/// Commands for a car: cruising before the car ever moved (REAP and RESPA).
fn cruise(run: &mut Run<'_>) -> Outcome {
    let (mut engine, mut moved) = (false, false);
    for offset in 0..4 {
        let command = run.byte(offset);
        if run.is(1, command, b'e')? {
            engine = !engine;
            moved &= engine;
        } else if run.is(2, command, b'a')? {
            moved |= engine;
        } else if run.is(3, command, b'b')? {
            // Braking changes nothing that matters.
        } else if run.is(4, command, b'o')? && engine && !moved {
            return Ok(End::Fails);
        }
    }
    Ok(End::Well)
}

/// A search for `ab` that fails where there is none (RESPA).
fn find(run: &mut Run<'_>) -> Outcome {
    for start in 0..2 {
        let (first, second) = (run.byte(start), run.byte(start + 1));
        if run.is(1, first, b'a')? && run.is(2, second, b'b')? {
            return Ok(End::Well);
        }
    }
    Ok(End::Fails)
}

/// A new card of one brand (RESPA): its number is compared with those that were used.
fn card(run: &mut Run<'_>) -> Outcome {
    let number = [run.byte(0), run.byte(1)];
    let mut used = false;
    for known in [b"43", b"51"] {
        used |= run.is(1, number[0], known[0])? && run.is(2, number[1], known[1])?;
    }
    if !run.is(3, number[0], b'4')? {
        return Ok(End::Well);
    }
    let code = run.byte(2);
    fails_if(!run.is(4, code, b'0')? && !used)
}
