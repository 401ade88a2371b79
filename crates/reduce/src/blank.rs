//! Blanking: an input that still fails, with one value wherever the failure allows it.
//!
//! The cheap end of weakening: no condition is needed, every try is one run. What it is good for is
//! where weakening starts. A path condition can only be weakened around its own path; the path of a
//! blanked input is a plainer one, on which a long stretch of letters has taken the place of fields,
//! quotes and brackets, and its condition says less to begin with. Windows of bytes that are not
//! blank yet are tried, wide ones first; a window takes with it what lies between, so that what only
//! goes together (an opening and a closing quote) goes together.
//!

use crate::oracle::{AT_ONCE, Broken, Oracle};
use crate::sums::{Sum, sums};

/// A byte of an input: of which source, and where in it.
pub type At = (usize, usize);

/// What bytes are blanked with, each where those before do not do.
const FILLERS: [Filler; 6] = [
    Filler::Byte(b'a'),
    Filler::Byte(b'0'),
    Filler::Byte(b' '),
    Filler::Byte(0),
    Filler::Byte(1),
    Filler::Digit,
];

/// What takes the place of bytes that are not needed.
#[derive(Clone, Copy)]
pub(crate) enum Filler {
    /// Letters, digits, spaces and marks, as they come; two texts that have nothing in common.
    Text,
    /// The other of the two texts.
    OtherText,
    /// One value.
    Byte(u8),
    /// A digit where there is a letter or a digit; marks stay, and what is between them may change together.
    Digit,
}

/// What text is made of: no marks, since programs open, close and count things by them.
const TEXT: &[u8; 64] = b"aZ3 kGQ7xBd mT9IeJ2 wR5YnC8fhL4 sV6pgD1 yF0juP lS rN cW vO tK iM";

impl Filler {
    /// What it puts at a place.
    pub(crate) fn at(self, byte: At) -> u8 {
        // A fixed rule, so that runs can be repeated; multiplying spreads what lies side by side.
        let (source, offset) = (byte.0 as u32, byte.1 as u32);
        let spread = (offset ^ source << 16).wrapping_mul(0x9e37_79b1);
        match self {
            Filler::Text => TEXT[(spread >> 26) as usize],
            Filler::OtherText => TEXT[(spread.wrapping_mul(0x85eb_ca6b) >> 26) as usize],
            Filler::Byte(value) => value,
            Filler::Digit => b'1',
        }
    }

    /// What it puts at a place where something was.
    fn instead_of(self, was: u8, byte: At) -> u8 {
        match self {
            Filler::Digit if !was.is_ascii_alphanumeric() => was,
            _ => self.at(byte),
        }
    }
}

/// Digits take the place of words in inputs that are not longer than this: numbers all over a text are no plainer
/// than words.
const SHORT: usize = 256;
/// Windows narrower than this are tried at every position.
const NARROW: usize = 8;

/// Blanks an input on which the program fails, within so many runs. Only the bytes that are given
/// change.
///
/// # Errors
/// The program cannot be run.
pub fn blank(
    input: &[Vec<u8>],
    hidden: &[At],
    oracle: &mut dyn Oracle,
    mut runs: u64,
    over: &dyn Fn() -> bool,
) -> Result<Vec<Vec<u8>>, Broken> {
    let mut best = input.to_vec();
    let mut done = vec![false; hidden.len()];
    let may_change = Open::new(input, hidden);
    let is_text = !input.iter().any(|source| source.contains(&0));
    let fitting = |filler: &&Filler| match filler {
        Filler::Byte(1) => !is_text,
        Filler::Digit => hidden.len() <= SHORT,
        _ => true,
    };
    for &filler in FILLERS.iter().filter(fitting) {
        // One filler may undo nothing of another: what is blank stays as it is.
        loop {
            let before = done.iter().filter(|&&it| it).count();
            pass(&mut best, &may_change, &mut done, filler, oracle, &mut runs, over)?;
            let gained = done.iter().filter(|&&it| it).count() - before;
            if gained == 0 || gained * 20 < hidden.len() || runs == 0 || over() {
                break;
            }
        }
    }
    Ok(best)
}

/// What may change: bytes, and with them the sums over them.
struct Open<'a> {
    hidden: &'a [At],
    /// By their sources.
    sums: Vec<(usize, Sum)>,
}

impl<'a> Open<'a> {
    fn new(input: &[Vec<u8>], hidden: &'a [At]) -> Self {
        let mut all = Vec::new();
        for (number, source) in input.iter().enumerate() {
            let changes = |at: usize| hidden.contains(&(number, at));
            let found = sums(source).into_iter().filter(|sum| sum.place().all(changes));
            all.extend(found.map(|sum| (number, sum)));
        }
        Self { hidden, sums: all }
    }
}

/// Tries windows of all widths once.
fn pass(
    best: &mut Vec<Vec<u8>>,
    may_change: &Open<'_>,
    done: &mut [bool],
    filler: Filler,
    oracle: &mut dyn Oracle,
    runs: &mut u64,
    over: &dyn Fn() -> bool,
) -> Result<(), Broken> {
    let mut open: Vec<usize> = (0..done.len()).filter(|&at| !done[at]).collect();
    let mut width = open.len();
    while width > 0 {
        let mut start = 0;
        while start < open.len() {
            let step = if width <= NARROW { 1 } else { width / 2 };
            let batch = AT_ONCE.min(*runs as usize);
            if batch == 0 || over() {
                return Ok(());
            }
            let starts: Vec<usize> =
                (0..batch).map(|i| start + i * step).filter(|&at| at < open.len()).collect();
            let window = |at: usize| (open[at], open[(at + width).min(open.len()) - 1]);
            let candidates: Vec<Vec<Vec<u8>>> =
                starts.iter().map(|&at| blanked(best, may_change, window(at), filler)).collect();
            *runs -= candidates.len() as u64;
            let results = oracle.fails(&candidates)?;
            match results.iter().position(|&fails| fails) {
                Some(first) => {
                    let (from, to) = window(starts[first]);
                    *best = candidates.into_iter().nth(first).unwrap_or_default();
                    done[from..=to].fill(true);
                    start = starts[first];
                    open.retain(|&at| !done[at]);
                }
                None => start += starts.len() * step,
            }
        }
        width = if width <= NARROW { width - 1 } else { width * 2 / 3 };
    }
    Ok(())
}

/// The input with a window of its bytes blanked, and its sums made right; bytes that are blank already take on
/// this filler.
fn blanked(
    best: &[Vec<u8>],
    may_change: &Open<'_>,
    (from, to): (usize, usize),
    filler: Filler,
) -> Vec<Vec<u8>> {
    let mut candidate = best.to_vec();
    for byte in &may_change.hidden[from..=to] {
        let value = &mut candidate[byte.0][byte.1];
        *value = filler.instead_of(*value, *byte);
    }
    for (source, sum) in &may_change.sums {
        sum.repair(&mut candidate[*source]);
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::crc32;

    fn bytes(length: u32) -> Vec<At> {
        (0..length as usize).map(|offset| (0, offset)).collect()
    }

    #[test]
    fn what_the_failure_does_not_need_is_blank() {
        let mut count = 0;
        let mut oracle = |input: &[Vec<u8>]| {
            count += 1;
            input[0].windows(3).any(|part| part == b"bug") && input[0][9].is_ascii_digit()
        };
        let text = b"hello [7]8here, that is a bug, no?".to_vec();
        let blank = blank(
            std::slice::from_ref(&text),
            &bytes(text.len() as u32),
            &mut oracle,
            10_000,
            &|| false,
        );
        let found = blank.expect("the closure cannot break");
        assert_eq!(String::from_utf8_lossy(&found[0]), "aaaaaaaaa0aaaaaaaaaaaaaaaabugaaaaa");
        assert!(count < 400, "{count} runs");
    }

    #[test]
    fn sums_are_made_right_again() {
        let mut text = b"##summed private text....##".to_vec();
        let sum = crc32(&text[2..21]).to_le_bytes();
        text[21..25].copy_from_slice(&sum);
        let mut oracle = |input: &[Vec<u8>]| {
            input[0][21..25] == crc32(&input[0][2..21]).to_le_bytes() && input[0][2] == b's'
        };
        let hidden = bytes(text.len() as u32);
        let blank = |hidden: &[At], oracle: &mut dyn Oracle| {
            let input = std::slice::from_ref(&text);
            let found = blank(input, hidden, oracle, 10_000, &|| false);
            found.expect("the closure cannot break").swap_remove(0)
        };
        let found = blank(&hidden, &mut oracle);
        assert_eq!(found[..21], *b"aasaaaaaaaaaaaaaaaaaa");
        // Where the sum is not hidden, it does not change.
        let found = blank(&hidden[..21], &mut oracle);
        assert_eq!(found[21..], text[21..]);
    }

    #[test]
    fn marks_stay_where_only_letters_and_digits_may_change() {
        // Behind percent signs, two capitals or two digits.
        let mut oracle = |input: &[Vec<u8>]| {
            input[0].chunks(6).all(|pair| {
                let (first, second) = (pair[1], pair[4]);
                let both = |is: fn(&u8) -> bool| is(&first) && is(&second);
                let alike = both(u8::is_ascii_uppercase) || both(u8::is_ascii_digit);
                pair[0] == b'%' && pair[3] == b'%' && alike
            })
        };
        let text = b"%C3%A9%C3%B6".to_vec();
        let hidden = bytes(text.len() as u32);
        let input = std::slice::from_ref(&text);
        let found = blank(input, &hidden, &mut oracle, 10_000, &|| false);
        let found = found.expect("the closure cannot break");
        assert_eq!(String::from_utf8_lossy(&found[0]), "%11%11%11%1a");
    }

    #[test]
    fn what_goes_together_goes_together() {
        // Balanced quotes: a window must take a pair of them.
        let mut oracle = |input: &[Vec<u8>]| {
            input[0].iter().filter(|&&byte| byte == b'"').count() % 2 == 0
                && input[0].ends_with(b"!")
        };
        let text = br#"{"a": "b", "c": "d"} !"#.to_vec();
        let found = blank(
            std::slice::from_ref(&text),
            &bytes(text.len() as u32),
            &mut oracle,
            10_000,
            &|| false,
        );
        let found = found.expect("the closure cannot break");
        assert_eq!(String::from_utf8_lossy(&found[0]), "aaaaaaaaaaaaaaaaaaaaa!");
    }
}
