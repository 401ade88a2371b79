//! Longer programs, whose inputs nobody can list: records with fields that the failure does not
//! need. What is asked of them needs no list.

use std::ops::Range;

use super::{Program, fails_if};
use crate::run::{End, Outcome, Run};

/// The bytes of every record that its program never looks at.
pub const FREE: Range<usize> = 8..24;

/// The programs. An input of each that fails stands beside it.
pub static RECORDS: &[(Program, [u8; 24])] = &[
    (
        Program { name: "fields", alphabets: &[None; 24], body: fields },
        *b"Key=042;4111-secret-2222",
    ),
    (
        Program { name: "header", alphabets: &[None; 24], body: header },
        *b"RC\x01\x05\x00\x41\x00\x54my password is s",
    ),
];

/// A key in any case, three digits below 100, and a semicolon.
fn fields(run: &mut Run<'_>) -> Outcome {
    for (offset, letter) in b"key=".iter().enumerate() {
        let byte = run.byte(offset);
        let byte = if offset < 3 { run.lower(1, byte)? } else { byte };
        if !run.is(2, byte, *letter)? {
            return Ok(End::Well);
        }
    }
    let mut number = run.number(8, 0);
    for offset in 4..7 {
        let byte = run.byte(offset);
        let digit = run.within(byte, u64::from(b'0'), u64::from(b'9'));
        if !run.test(3, digit)? {
            return Ok(End::Well);
        }
        let (digit, ten) = (run.digit(byte), run.number(8, 10));
        number = run.mul(number, ten);
        number = run.add(number, digit);
    }
    let end = run.byte(7);
    if !run.is(4, end, b';')? {
        return Ok(End::Well);
    }
    fails_if(run.below(5, number, 100)?)
}

/// A magic number, a version, a length, and a checksum of all that.
fn header(run: &mut Run<'_>) -> Outcome {
    let (first, second) = (run.byte(0), run.byte(1));
    if !run.is(1, first, b'R')? || !run.is(2, second, b'C')? {
        return Ok(End::Well);
    }
    let (version, length) = (run.byte(2), run.byte(3));
    if !run.is(3, version, 1)? && !run.is(4, version, 2)? {
        return Ok(End::Well);
    }
    run.below(5, length, 16)?;
    let mut sum = run.number(8, 0);
    for offset in 0..7 {
        let byte = run.byte(offset);
        sum = run.xor(sum, byte);
    }
    let check = run.byte(7);
    let right = run.same(sum, check);
    fails_if(run.test(6, right)?)
}
