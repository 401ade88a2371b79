//! Plainer values: a number for words and calls, a small or short number for a long one, for text; small bytes, for
//! binary files.
//!
//! Not every edit makes the input shorter: a name of one letter becomes a number, a byte becomes a smaller one.
//! None of them can be taken back by another, so there is an end.

use super::units::{is_word, tokens};
use crate::edit::Edit;
use crate::pass::{Pass, in_order};

/// What takes the place of words, calls and texts: most languages take it for a value.
const PLAIN: &[u8] = b"1";
/// The same before a word.
const APART: &[u8] = b"1 ";

/// So many tokens, which become a plain number.
pub(crate) struct Instead(pub(crate) usize);

impl Pass for Instead {
    fn family(&self) -> &'static str {
        "values"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        let mut edits = Vec::new();
        for window in tokens(bytes).windows(self.0 + 1) {
            let range = window[0]..window[self.0];
            let part = &bytes[range.clone()];
            // A word of one byte is no shorter then, but a value needs nothing that a name does: what it
            // named may go. Numbers stay, or there would be no end.
            let name = self.0 == 1 && part.len() == 1 && part[0].is_ascii_alphabetic();
            let ends = [part[0], part[part.len() - 1]];
            if name || (part.len() > PLAIN.len() && !ends.iter().any(u8::is_ascii_whitespace)) {
                edits.push(Edit::instead(range.clone(), PLAIN));
                // What was apart before must not become one word with what is behind it.
                let joined =
                    !is_word(ends[1]) && bytes.get(range.end).is_some_and(|&it| is_word(it));
                if joined && part.len() > APART.len() {
                    edits.push(Edit::instead(range, APART));
                }
            }
        }
        in_order(edits)
    }
}

/// A long number becomes one that is about as large and shorter, or one with fewer digits: half of them, all but
/// one, its first.
pub(crate) struct Numbers;

impl Pass for Numbers {
    fn family(&self) -> &'static str {
        "values"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        let mut edits = Vec::new();
        for pair in tokens(bytes).windows(2) {
            let (place, digits) = (pair[0]..pair[1], &bytes[pair[0]..pair[1]]);
            if digits.len() < 2 || !digits.iter().all(u8::is_ascii_digit) {
                continue;
            }
            let magnitude = format!("{}e{}", digits[0] as char, digits.len() - 1).into_bytes();
            let mut others = vec![
                magnitude,
                digits[..digits.len() / 2].to_vec(),
                digits[..digits.len() - 1].to_vec(),
            ];
            others.retain(|it| it.len() < digits.len());
            others.dedup();
            edits.extend(others.iter().map(|it| Edit::instead(place.clone(), it)));
        }
        in_order(edits)
    }
}

/// A byte that becomes 0 or 1, in what is no text: sizes and counts that become small ask for less.
pub(crate) struct Lower;

impl Pass for Lower {
    fn family(&self) -> &'static str {
        "lower"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        if !bytes.contains(&0) {
            return Vec::new();
        }
        let lowered = |(at, &byte): (usize, &u8)| {
            let values = [0, 1].into_iter().filter(move |&value| value < byte);
            values.map(move |value| Edit::instead(at..at + 1, &[value]))
        };
        bytes.iter().enumerate().flat_map(lowered).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::tests::after;

    #[test]
    fn words_and_calls_become_a_value() {
        assert_eq!(after(&Instead(3), b"f() x"), ["1 x", "f(1"]);
        assert_eq!(after(&Instead(3), b"f()x"), ["1x", "1 x", "f1"]);
        let edits = Instead(1).edits(b"name=v+123456");
        let left: Vec<Vec<u8>> = edits.iter().map(|edit| edit.apply(b"name=v+123456")).collect();
        let left: Vec<String> = left.iter().map(|it| String::from_utf8_lossy(it).into()).collect();
        assert_eq!(left, ["1=v+123456", "name=1+123456", "name=v+1"]);
        assert!(Instead(1).edits(b"1 7 (").is_empty(), "numbers stay");
    }

    #[test]
    fn numbers_become_shorter() {
        assert_eq!(after(&Numbers, b"x=65536;"), ["x=65;", "x=6e4;", "x=6553;"]);
        assert_eq!(after(&Numbers, b"42"), ["4"]);
        assert!(after(&Numbers, b"4 x1y").is_empty());
    }

    #[test]
    fn bytes_become_small_in_what_is_no_text() {
        assert!(Lower.edits(b"text").is_empty());
        assert_eq!(Lower.edits(b"\0\x01\x07").len(), 3);
    }
}
