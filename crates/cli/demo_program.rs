//! The program of the demo: a small parser of records, with a fault.
//!
//! It is a part of the command's own file, so that the demo needs nothing else, and is decided upon
//! before anything else happens: as far as the machine and the processor can see, `stunt
//! __demo-program FILE` is a program of its own. It knows nothing of stunt.

use std::ffi::OsString;
use std::process::ExitCode;

/// The word by which the program is called.
pub const WORD: &str = "__demo-program";

/// Days of the year before each month, counted from 1.
const DAYS_BEFORE: [u16; 13] = [0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// Runs the program, if it is meant.
pub fn run_if_called() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    (words.next()? == WORD).then(|| main(words.next()))
}

fn main(file: Option<OsString>) -> ExitCode {
    let Some(records) = file.and_then(|file| std::fs::read(file).ok()) else {
        return ExitCode::from(2);
    };
    let days = records.split(|&byte| byte == b'\n').filter_map(birthday);
    println!("{} birthdays", days.count());
    ExitCode::SUCCESS
}

/// The day of the year on which the person of a record has birthday. A record is
/// `name;yyyy-mm-dd;account;amount`; what is none is left out.
fn birthday(record: &[u8]) -> Option<u16> {
    let mut fields = record.split(|&byte| byte == b';');
    let (_name, date) = (fields.next()?, fields.next()?);
    let (_account, _amount) = (fields.next()?, fields.next()?);
    if date.len() != 10 || date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    day_of_year(number(&date[5..7])?, number(&date[8..10])?)
}

/// Here is the fault: nobody has looked whether there is such a month.
#[inline(never)]
fn day_of_year(month: usize, day: usize) -> Option<u16> {
    DAYS_BEFORE[month].checked_add(day as u16)
}

/// A number of two digits.
fn number(digits: &[u8]) -> Option<usize> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| usize::from(byte - b'0'));
    Some(10 * digit(digits[0])? + digit(digits[1])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_parsed() {
        assert_eq!(birthday(b"A;1999-03-02;x;1"), Some(61));
        assert_eq!(birthday(b"A;1999-03-02;x;1;more"), Some(61));
        for wrong in
            ["", "A", "A;1999-03-02;x", "A;1999-3-02;x;1", "A;1999/03/02;x;1", "A;1999-o3-02;x;1"]
        {
            assert_eq!(birthday(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn a_month_too_many_is_the_fault() {
        birthday(b"A;1999-13-02;x;1");
    }
}
