//! Which input of several has which place in the words of a command.
//!
//! `@@1`, `@@2` … stand for the paths of the first, the second and so on. Who writes `@@` alone means them in
//! their order. One input that has no place is standard input.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use anyhow::{Result, bail};
use stunt_subject::PLACE;

/// Gives each place its number. Says of each input whether it has a place.
pub fn number(words: &mut [OsString], inputs: usize) -> Result<Vec<bool>> {
    let mut found = vec![false; inputs];
    let (mut bare, mut is_numbered) = (0, false);
    for word in words.iter_mut() {
        let bytes = word.as_bytes();
        let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
        while at < bytes.len() {
            if !bytes[at..].starts_with(PLACE.as_bytes()) {
                out.push(bytes[at]);
                at += 1;
                continue;
            }
            at += PLACE.len();
            let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = str::from_utf8(&bytes[at..at + digits])?;
            let number = match number.parse::<usize>() {
                Ok(number) => {
                    is_numbered = true;
                    number
                }
                Err(_) => {
                    bare += 1;
                    bare
                }
            };
            at += digits;
            let Some(found) = number.checked_sub(1).and_then(|index| found.get_mut(index)) else {
                bail!(
                    "there is no input {number}: {inputs} are given with -i, and each has one place, \
                     @@1 to @@{inputs}"
                );
            };
            *found = true;
            out.extend_from_slice(format!("{PLACE}{number}").as_bytes());
        }
        *word = OsString::from_vec(out);
    }
    if is_numbered && bare > 0 {
        bail!(
            "there are numbered places (@@1) and others (@@) in the arguments; number all of them"
        );
    }
    if found.iter().filter(|found| !**found).count() > 1 {
        bail!(
            "{inputs} inputs are given with -i: write @@1 to @@{inputs} where their paths belong; one of \
             them may be standard input and have no place"
        );
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(words: &[&str], inputs: usize) -> Option<(Vec<String>, Vec<bool>)> {
        let mut words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let found = number(&mut words, inputs).ok()?;
        Some((words.into_iter().map(|word| word.into_string().expect("text")).collect(), found))
    }

    #[test]
    fn places_are_numbered_in_their_order() {
        let (words, found) = numbered(&["p", "--rates=@@", "@@"], 2).expect("two places");
        assert_eq!(words, ["p", "--rates=@@1", "@@2"]);
        assert_eq!(found, [true, true]);
        let (words, found) = numbered(&["p", "@@2", "@@1", "@@2"], 2).expect("two places");
        assert_eq!(words, ["p", "@@2", "@@1", "@@2"]);
        assert_eq!(found, [true, true]);
    }

    #[test]
    fn one_without_a_place_is_standard_input() {
        assert_eq!(numbered(&["p", "@@1"], 2).expect("one place").1, [true, false]);
        assert_eq!(numbered(&["p", "@@"], 2).expect("one place").1, [true, false]);
        assert_eq!(numbered(&["p", "@@2"], 2).expect("one place").1, [false, true]);
        assert!(numbered(&["p"], 2).is_none() && numbered(&["p", "@@1"], 3).is_none());
    }

    #[test]
    fn what_nobody_can_mean() {
        for words in [&["p", "@@3", "@@1"], &["p", "@@0", "@@1"], &["p", "@@", "@@1"]] {
            assert!(numbered(words, 2).is_none(), "{words:?}");
        }
    }
}
