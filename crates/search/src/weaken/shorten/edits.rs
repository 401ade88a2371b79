//! What can be cut out of an input at once: units of text, of structure, of counting.
//!
//! Every edit makes the input shorter. Edits of a class come in the order of where they begin, so that
//! a pass can go on where it was after one has been made. Nothing here knows a format: lines, words
//! and brackets are what most texts are made of; what other files are made of is in `records.rs`.

use std::ops::Range;

use super::names::{inlined, instead, mentions, other_words, words};
use super::records::{counted, records};
use crate::weaken::sums::Sum;

/// Parts of an input that are cut out, or become something else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edit {
    /// What is where, and what takes its place; in order, without overlap.
    changes: Vec<(Range<usize>, Vec<u8>)>,
}

impl Edit {
    pub(super) fn cut(range: Range<usize>) -> Edit {
        Edit::instead(range, &[])
    }

    /// Something else in the place of a part.
    pub(super) fn instead(range: Range<usize>, other: &[u8]) -> Edit {
        Edit { changes: vec![(range, other.to_vec())] }
    }

    /// A cut, and the new bytes of a number before it.
    pub(super) fn counted(range: Range<usize>, at: usize, number: Vec<u8>) -> Edit {
        Edit { changes: vec![(at..at + number.len(), number), (range, Vec::new())] }
    }

    fn both(first: Range<usize>, second: Range<usize>) -> Edit {
        Edit { changes: vec![(first, Vec::new()), (second, Vec::new())] }
    }

    /// Several changes at once, in order and apart from each other.
    pub(super) fn all(changes: Vec<(Range<usize>, Vec<u8>)>) -> Edit {
        Edit { changes }
    }

    /// One change more, elsewhere.
    pub(super) fn and(mut self, range: Range<usize>, other: Vec<u8>) -> Edit {
        self.changes.push((range, other));
        self.changes.sort_by_key(|(range, _)| range.start);
        self
    }

    /// Where the first change is.
    pub(super) fn start(&self) -> usize {
        self.changes[0].0.start
    }

    /// The input after it.
    pub(super) fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let mut left = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for (range, other) in &self.changes {
            left.extend_from_slice(&bytes[at..range.start]);
            left.extend_from_slice(other);
            at = range.end;
        }
        left.extend_from_slice(&bytes[at..]);
        left
    }

    /// Where something that begins at a place begins after it, if that place is not within what was changed.
    fn moved(&self, place: usize) -> Option<usize> {
        let mut moved = place;
        for (range, other) in &self.changes {
            if range.start >= place {
                break;
            }
            if range.end > place {
                return None;
            }
            moved = moved + other.len() - range.len();
        }
        Some(moved)
    }

    /// Some sums after it: those whose own bytes it leaves alone.
    pub(super) fn sums(&self, sums: &[Sum]) -> Vec<Sum> {
        let moved = |sum: &Sum| {
            let place = sum.place();
            let touched = |(range, _): &(Range<usize>, Vec<u8>)| {
                range.start < place.end && range.end > place.start
            };
            if self.changes.iter().any(touched) {
                return None;
            }
            let over = self.moved(sum.over.start)?..self.moved(place.start)?;
            (!over.is_empty()).then(|| sum.moved(over))
        };
        sums.iter().filter_map(moved).collect()
    }

    /// The input after it, with its sums made right.
    pub(super) fn apply_with(&self, bytes: &[u8], sums: &[Sum]) -> Vec<u8> {
        let mut after = self.apply(bytes);
        for sum in self.sums(sums) {
            sum.repair(&mut after);
        }
        after
    }

    /// How many bytes fewer there are after it.
    pub(super) fn taken(&self) -> usize {
        let (before, after) =
            self.changes.iter().fold((0, 0), |(before, after), (range, other)| {
                (before + range.len(), after + other.len())
            });
        before.saturating_sub(after)
    }
}

/// What is cut in one pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// Groups of so many lines, side by side.
    Lines(usize),
    /// Two lines, wherever they are: what opens, and what closes it.
    LinePairs,
    /// Groups of so many bytes, side by side.
    Bytes(usize),
    /// So many bytes, wherever they begin.
    Window(usize),
    /// So many tokens, wherever they begin: words, white space, single marks.
    Tokens(usize),
    /// So many tokens, and a word or a mark behind them.
    TokenPairs(usize),
    /// What stands in brackets or quotes, with or without these, or only these.
    Brackets,
    /// From one pair of brackets to another, or both without what is between.
    BracketPairs,
    /// A word, or the end of it, wherever it stands: names are the same in all places.
    Words,
    /// So many tokens, which become a plain number; a long number becomes a short one that is about as large.
    Instead(usize),
    /// A word that becomes one of the shorter ones: what has many names needs one.
    OtherWords,
    /// A name with every statement or item of a list that mentions it.
    Mentions,
    /// A value that takes the place of its name, and goes from where that was given to it.
    Inlined,
    /// A byte that becomes 0 or 1, in what is no text: sizes and counts that become small ask for less.
    Lower,
    /// A number, as many bytes, and what may belong to them.
    Records,
    /// The last or the first bytes of a record, with its number.
    Counted,
}

/// More bracketed parts than these are not looked at in pairs.
const MOST_BRACKETS: usize = 60;
/// More lines or tokens than these are not looked at in pairs.
pub(super) const MOST_IN_PAIRS: usize = 120;

impl Class {
    /// The edits, in the order of their starts.
    pub(super) fn edits(self, bytes: &[u8]) -> Vec<Edit> {
        match self {
            Class::Lines(size) => side_by_side(&lines(bytes), size),
            Class::LinePairs => pairs(&lines(bytes), 1, |_| true),
            Class::Bytes(size) => side_by_side(&(0..=bytes.len()).collect::<Vec<_>>(), size),
            Class::Window(size) => (0..(bytes.len() + 1).saturating_sub(size))
                .map(|at| Edit::cut(at..at + size))
                .collect(),
            Class::Tokens(size) => {
                tokens(bytes).windows(size + 1).map(|it| Edit::cut(it[0]..it[size])).collect()
            }
            Class::TokenPairs(size) => {
                pairs(&tokens(bytes), size, |at| !bytes[at].is_ascii_whitespace())
            }
            Class::Brackets => in_order(brackets(bytes)),
            Class::BracketPairs => in_order(bracket_pairs(bytes)),
            Class::Words => in_order(words(bytes)),
            Class::Instead(size) => in_order(instead(bytes, size)),
            Class::OtherWords => in_order(other_words(bytes)),
            Class::Mentions => in_order(mentions(bytes)),
            Class::Inlined => in_order(inlined(bytes)),
            Class::Lower => in_order(lower(bytes)),
            Class::Records => in_order(records(bytes)),
            Class::Counted => in_order(counted(bytes)),
        }
    }
}

fn in_order(mut edits: Vec<Edit>) -> Vec<Edit> {
    // Among those that begin at the same place, the one that takes most comes first.
    edits.sort_by_key(|edit| (edit.start(), usize::MAX - edit.taken()));
    edits
}

/// Groups of units, whose starts and end are given.
fn side_by_side(units: &[usize], size: usize) -> Vec<Edit> {
    let last = units.len() - 1;
    (0..last).step_by(size).map(|at| Edit::cut(units[at]..units[(at + size).min(last)])).collect()
}

/// So many units, and one behind them that may be a second one.
fn pairs(units: &[usize], size: usize, second: impl Fn(usize) -> bool) -> Vec<Edit> {
    if units.len() > MOST_IN_PAIRS {
        return Vec::new();
    }
    let last = units.len() - 1;
    let mut edits = Vec::new();
    for at in 0..last.saturating_sub(size) {
        let others = (at + size + 1..last).filter(|&other| second(units[other]));
        edits.extend(
            others.map(|other| {
                Edit::both(units[at]..units[at + size], units[other]..units[other + 1])
            }),
        );
    }
    edits
}

/// Where lines begin, and the end.
pub(super) fn lines(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().zip(1..).filter(|(byte, _)| **byte == b'\n');
    let mut starts: Vec<usize> = [0].into_iter().chain(ends.map(|it| it.1)).collect();
    if starts.last() != Some(&bytes.len()) {
        starts.push(bytes.len());
    }
    starts
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Where tokens begin, and the end.
pub(in crate::weaken) fn tokens(bytes: &[u8]) -> Vec<usize> {
    let goes_on = |pair: &[u8]| {
        (is_word(pair[0]) && is_word(pair[1]))
            || (pair[0].is_ascii_whitespace() && pair[1].is_ascii_whitespace())
    };
    let inner = bytes.windows(2).zip(1..).filter(|(pair, _)| !goes_on(pair)).map(|(_, at)| at);
    let mut starts: Vec<usize> = [0].into_iter().chain(inner).collect();
    if starts.last() != Some(&bytes.len()) {
        starts.push(bytes.len());
    }
    starts
}

/// The parts in brackets and quotes, with these.
pub(super) fn bracketed(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut quoted: Option<(u8, usize)> = None;
    let mut parts = Vec::new();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'"' | b'\'' | b'`' => match quoted {
                Some((quote, from)) if quote == byte => {
                    parts.push(from..at + 1);
                    quoted = None;
                }
                Some(_) => {}
                None => quoted = Some((byte, at)),
            },
            b'(' | b'[' | b'{' | b'<' => open.push((byte, at)),
            b')' | b']' | b'}' | b'>' => {
                let mate = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    b'}' => b'{',
                    _ => b'<',
                };
                if let Some(found) = open.iter().rposition(|&(bracket, _)| bracket == mate) {
                    parts.push(open[found].1..at + 1);
                    open.truncate(found);
                }
            }
            _ => {}
        }
    }
    parts.sort_by_key(|part| part.start);
    parts
}

fn brackets(bytes: &[u8]) -> Vec<Edit> {
    let parts = bracketed(bytes);
    let mut edits = Vec::new();
    for part in parts {
        let inner = part.start + 1..part.end - 1;
        edits.push(Edit::cut(part.clone()));
        if !inner.is_empty() {
            edits.push(Edit::cut(inner.clone()));
            edits.push(Edit::both(part.start..inner.start, inner.end..part.end));
        }
    }
    edits
}

fn bracket_pairs(bytes: &[u8]) -> Vec<Edit> {
    let parts = bracketed(bytes);
    let mut edits = Vec::new();
    if parts.len() > MOST_BRACKETS {
        return edits;
    }
    for (number, first) in parts.iter().enumerate() {
        for second in parts[number + 1..].iter().filter(|it| it.start >= first.end) {
            edits.push(Edit::cut(first.start..second.end));
            if second.start > first.end {
                edits.push(Edit::both(first.clone(), second.clone()));
            }
        }
    }
    edits
}

fn lower(bytes: &[u8]) -> Vec<Edit> {
    if !bytes.contains(&0) {
        return Vec::new();
    }
    let lowered = |(at, &byte): (usize, &u8)| {
        let values = [0, 1].into_iter().filter(move |&value| value < byte);
        values.map(move |value| Edit::instead(at..at + 1, &[value]))
    };
    bytes.iter().enumerate().flat_map(lowered).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::weaken::sums::sums;

    pub(in super::super) fn after(class: Class, bytes: &[u8]) -> Vec<String> {
        let edits = class.edits(bytes);
        assert!(edits.is_sorted_by_key(Edit::start), "{class:?}");
        let left: Vec<Vec<u8>> = edits.iter().map(|edit| edit.apply(bytes)).collect();
        assert!(
            left.iter().all(|left| left.len() < bytes.len()),
            "{class:?} makes nothing shorter"
        );
        left.iter().map(|left| String::from_utf8_lossy(left).into_owned()).collect()
    }

    #[test]
    fn units_are_lines_tokens_and_bytes() {
        assert_eq!(lines(b"a\n\nb"), [0, 2, 3, 4]);
        assert_eq!(lines(b"a\n"), [0, 2]);
        assert_eq!(lines(b""), [0]);
        assert_eq!(tokens(b"ab  (c_1)"), [0, 2, 4, 5, 8, 9]);
        assert_eq!(tokens(b""), [0]);
        assert_eq!(after(Class::Bytes(2), b"abcde"), ["cde", "abe", "abcd"]);
        assert_eq!(after(Class::Window(4), b"abcde"), ["e", "a"]);
        assert!(after(Class::Window(4), b"abc").is_empty());
        assert_eq!(after(Class::Tokens(2), b"ab+c"), ["c", "ab"]);
        assert_eq!(after(Class::Lines(1), b"a\nb\n"), ["b\n", "a\n"]);
    }

    #[test]
    fn what_opens_goes_with_what_closes() {
        assert_eq!(after(Class::LinePairs, b"if\nx\nend\n"), ["x\n"]);
        assert_eq!(after(Class::TokenPairs(1), b"(x y)"), ["x )", "x y", "( )", "( y", "(xy"]);
        let left = after(Class::Brackets, b"<a>b</a>");
        assert_eq!(left, ["b</a>", "ab</a>", "<>b</a>", "<a>b", "<a>b/a", "<a>b<>"]);
        assert_eq!(after(Class::BracketPairs, b"<a>b</a>"), ["", "b"]);
        assert_eq!(after(Class::Brackets, b"x'\"'"), ["x", "x\"", "x''"]);
    }

    #[test]
    fn places_move_with_what_is_cut_before_them() {
        let edit = Edit::counted(4..6, 1, vec![9]);
        assert_eq!(edit.apply(b"0123456789"), b"0\t236789");
        assert_eq!([0, 1, 2, 4, 6].map(|at| edit.moved(at)), [0, 1, 2, 4, 4].map(Some));
        assert_eq!(edit.moved(5), None);
    }

    #[test]
    fn sums_are_right_after_an_edit() {
        let mut bytes = b"##\x09part of itSUM!--behind".to_vec();
        let sum = sums(b"123456789\xcb\xf4\x39\x26")[0].moved(3..13);
        sum.repair(&mut bytes);
        // Within, before, and behind it.
        for (edit, over) in [(Edit::counted(5..7, 2, vec![8]), 3..11), (Edit::cut(0..2), 1..11)] {
            let after = edit.apply_with(&bytes, std::slice::from_ref(&sum));
            assert_eq!(sums(&after), [sum.moved(over)]);
        }
        let behind = Edit::cut(18..20).apply_with(&bytes, std::slice::from_ref(&sum));
        assert_eq!(sums(&behind), std::slice::from_ref(&sum));
        // What is cut into is left alone.
        assert_eq!(Edit::cut(12..14).sums(std::slice::from_ref(&sum)), []);
    }

    #[test]
    fn nothing_is_cut_out_of_nothing() {
        let all = [
            Class::Lines(1),
            Class::LinePairs,
            Class::Bytes(1),
            Class::Window(1),
            Class::Tokens(1),
            Class::TokenPairs(2),
            Class::Brackets,
            Class::BracketPairs,
            Class::Words,
            Class::Instead(2),
            Class::OtherWords,
            Class::Mentions,
            Class::Inlined,
            Class::Lower,
            Class::Records,
            Class::Counted,
        ];
        for class in all {
            assert!(class.edits(b"").is_empty(), "{class:?}");
        }
    }
}
