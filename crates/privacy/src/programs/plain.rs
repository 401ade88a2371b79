//! One program for each thing that parsers do to bytes: compare, fold, look up, count, sum.

use super::{Program, fails_if};
use crate::run::{End, Outcome, Run};

const A_TO_H: Option<&[u8]> = Some(b"abcdefgh");
const A_TO_D: Option<&[u8]> = Some(b"abcd");
const LETTERS: Option<&[u8]> = Some(b"ABGOabgo");
const OCTAL: Option<&[u8]> = Some(b"01234567");
const DIGITS: Option<&[u8]> = Some(b"0123456789");
const MIXED: Option<&[u8]> = Some(b"-0123_ab");
const TO_3: Option<&[u8]> = Some(&[0, 1, 2, 3]);
const TO_7: Option<&[u8]> = Some(&[0, 1, 2, 3, 4, 5, 6, 7]);
const QUOTES: Option<&[u8]> = Some(b"\"\\ab");
const UNITS: Option<&[u8]> = Some(b"km");
const HTTP: Option<&[u8]> = Some(b" /GPabgp");

/// The programs.
pub static PROGRAMS: &[Program] = &[
    Program { name: "compare", alphabets: &[A_TO_H; 3], body: compare },
    Program { name: "case", alphabets: &[LETTERS; 3], body: case },
    Program { name: "fold", alphabets: &[LETTERS; 3], body: fold },
    Program { name: "table", alphabets: &[MIXED; 3], body: table },
    Program { name: "loop", alphabets: &[A_TO_D; 4], body: repeated },
    Program { name: "checksum", alphabets: &[TO_3; 4], body: checksum },
    Program { name: "sum", alphabets: &[OCTAL; 3], body: sum },
    Program { name: "tlv", alphabets: &[TO_7; 4], body: tlv },
    Program { name: "http", alphabets: &[HTTP; 4], body: http },
    Program { name: "luhn", alphabets: &[DIGITS; 3], body: luhn },
    Program { name: "decimal", alphabets: &[DIGITS, DIGITS, UNITS], body: decimal },
    Program { name: "hash", alphabets: &[TO_3; 4], body: hash },
    Program { name: "quotes", alphabets: &[QUOTES; 4], body: quotes },
    Program { name: "pinned", alphabets: &[TO_7; 3], body: pinned },
    Program { name: "branch, pin", alphabets: &[TO_3; 3], body: pinned_behind },
    Program { name: "anywhere", alphabets: &[None; 2], body: anywhere },
    Program { name: "twins", alphabets: &[None, Some(b"="), None], body: twins },
];

/// A comma, wherever it stands.
fn anywhere(run: &mut Run<'_>) -> Outcome {
    for offset in 0..2 {
        let byte = run.byte(offset);
        if run.is(1, byte, b',')? {
            return Ok(End::Fails);
        }
    }
    Ok(End::Well)
}

/// Two marks side by side, wherever they stand; three of them can be read in two ways.
fn twins(run: &mut Run<'_>) -> Outcome {
    let middle = run.byte(1);
    if !run.is(1, middle, b'=')? {
        return Ok(End::Well);
    }
    for offset in [0, 2] {
        let byte = run.byte(offset);
        if run.is(2, byte, b'=')? {
            return Ok(End::Fails);
        }
    }
    Ok(End::Well)
}

/// A letter, and two in order.
fn compare(run: &mut Run<'_>) -> Outcome {
    let (a, b, c) = (run.byte(0), run.byte(1), run.byte(2));
    if !run.is(1, a, b'c')? {
        return Ok(End::Well);
    }
    let ordered = run.less(b, c);
    fails_if(run.test(2, ordered)?)
}

/// `go` in any case, folded by a branch: four paths that are alike.
fn case(run: &mut Run<'_>) -> Outcome {
    for (offset, letter) in b"go".iter().enumerate() {
        let byte = run.byte(offset);
        let byte = run.lower(1, byte)?;
        if !run.is(2, byte, *letter)? {
            return Ok(End::Well);
        }
    }
    Ok(End::Fails)
}

/// The same, folded by setting a bit: one path.
fn fold(run: &mut Run<'_>) -> Outcome {
    for (offset, letter) in b"go".iter().enumerate() {
        let byte = run.byte(offset);
        let byte = run.with_bits(byte, 0x20);
        if !run.is(1, byte, *letter)? {
            return Ok(End::Well);
        }
    }
    Ok(End::Fails)
}

/// Classes of characters by a table: a digit, a digit or a letter, a digit.
fn table(run: &mut Run<'_>) -> Outcome {
    let mut classes = [0u8; 128];
    classes[usize::from(b'0')..=usize::from(b'9')].fill(1);
    classes[usize::from(b'a')..=usize::from(b'z')].fill(2);
    for offset in 0..3 {
        let byte = run.byte(offset);
        let class = run.entry(&classes, byte);
        let digit = run.is(1, class, 1)?;
        if !digit && (offset != 1 || !run.is(2, class, 2)?) {
            return Ok(End::Well);
        }
    }
    Ok(End::Fails)
}

/// Two letters `a` among four.
fn repeated(run: &mut Run<'_>) -> Outcome {
    let mut found = 0;
    for offset in 0..4 {
        let byte = run.byte(offset);
        found += u32::from(run.is(1, byte, b'a')?);
    }
    fails_if(found == 2)
}

/// The last byte is the exclusive or of the others; the first one decides about something else.
fn checksum(run: &mut Run<'_>) -> Outcome {
    let (a, b, c, d) = (run.byte(0), run.byte(1), run.byte(2), run.byte(3));
    run.below(1, a, 2)?;
    let sum = run.xor(a, b);
    let sum = run.xor(sum, c);
    let right = run.same(sum, d);
    fails_if(run.test(2, right)?)
}

/// Three digits and a carry sum up to nine.
fn sum(run: &mut Run<'_>) -> Outcome {
    let mut sum = run.number(8, 0);
    for offset in 0..3 {
        let byte = run.byte(offset);
        let digit = run.digit(byte);
        sum = run.add(sum, digit);
    }
    let (a, b) = (run.byte(0), run.byte(1));
    let falls = run.less(b, a);
    if run.test(1, falls)? {
        sum = run.plus(sum, 1);
    }
    fails_if(run.is(2, sum, 9)?)
}

/// A type of two, a length, and a value with a seven within the length.
fn tlv(run: &mut Run<'_>) -> Outcome {
    let (kind, length) = (run.byte(0), run.byte(1));
    if !run.is(1, kind, 1)? && !run.is(2, kind, 2)? {
        return Ok(End::Well);
    }
    for at in 0..2 {
        let end = run.number(8, at);
        let inside = run.less(end, length);
        if !run.test(3, inside)? {
            break;
        }
        let value = run.byte(2 + at as usize);
        if run.is(4, value, 7)? {
            return Ok(End::Fails);
        }
    }
    Ok(End::Well)
}

/// `G` or `P` in any case, a space, and no space after it.
fn http(run: &mut Run<'_>) -> Outcome {
    let (method, space) = (run.byte(0), run.byte(1));
    let method = run.lower(1, method)?;
    if (!run.is(2, method, b'g')? && !run.is(3, method, b'p')?) || !run.is(4, space, b' ')? {
        return Ok(End::Well);
    }
    for offset in 2..4 {
        let byte = run.byte(offset);
        if run.is(5, byte, b' ')? {
            return Ok(End::Well);
        }
    }
    Ok(End::Fails)
}

/// Three digits that pass the check, of an issuer that is not known.
fn luhn(run: &mut Run<'_>) -> Outcome {
    const TWICE: [u8; 10] = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
    const TENTHS: [u8; 28] = {
        let mut rest = [0; 28];
        let mut at = 0;
        while at < rest.len() {
            rest[at] = (at % 10) as u8;
            at += 1;
        }
        rest
    };
    let mut sum = run.number(8, 0);
    for offset in 0..3 {
        let byte = run.byte(offset);
        let mut digit = run.digit(byte);
        if offset == 1 {
            digit = run.entry(&TWICE, digit);
        }
        sum = run.add(sum, digit);
    }
    let rest = run.entry(&TENTHS, sum);
    if !run.is(1, rest, 0)? {
        return Ok(End::Well);
    }
    let issuer = run.byte(0);
    fails_if(!run.is(2, issuer, b'4')? && !run.is(3, issuer, b'5')?)
}

/// A number above 42, in one of two units.
fn decimal(run: &mut Run<'_>) -> Outcome {
    let (tens, ones, unit) = (run.byte(0), run.byte(1), run.byte(2));
    let (tens, ones, ten) = (run.digit(tens), run.digit(ones), run.number(8, 10));
    let tens = run.mul(tens, ten);
    let number = run.add(tens, ones);
    run.is(1, unit, b'k')?;
    fails_if(!run.below(2, number, 43)?)
}

/// A hash of four bytes.
fn hash(run: &mut Run<'_>) -> Outcome {
    let mut hash = run.number(8, 1);
    for offset in 0..4 {
        let (byte, five) = (run.byte(offset), run.number(8, 5));
        hash = run.mul(hash, five);
        hash = run.add(hash, byte);
    }
    let hash = run.mask(hash, 15);
    fails_if(run.is(1, hash, 3)?)
}

/// A text whose last quote is not closed; a backslash takes the next character with it.
fn quotes(run: &mut Run<'_>) -> Outcome {
    let (mut open, mut offset) = (false, 0);
    while offset < 4 {
        let byte = run.byte(offset);
        if run.is(1, byte, b'"')? {
            open = !open;
        } else if run.is(2, byte, b'\\')? {
            offset += 1;
        }
        offset += 1;
    }
    fails_if(open)
}

/// A byte that the machine could not follow, on one side of a branch and not on the other: whoever comes
/// there from the other side brings his own.
fn pinned_behind(run: &mut Run<'_>) -> Outcome {
    let (a, b) = (run.byte(0), run.byte(1));
    if !run.is(1, a, 1)? {
        let odd = run.mask(b, 1);
        run.pin(2, odd)?;
    }
    Ok(End::Fails)
}

/// A byte that the machine could not follow, and two in order.
fn pinned(run: &mut Run<'_>) -> Outcome {
    let (a, b, c) = (run.byte(0), run.byte(1), run.byte(2));
    run.pin(1, a)?;
    let ordered = run.less(b, c);
    fails_if(run.test(2, ordered)?)
}
