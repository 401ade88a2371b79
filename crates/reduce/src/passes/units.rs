//! Units side by side: lines and tokens, for text; bytes, for any input.

use crate::edit::Edit;
use crate::pass::Pass;

/// More lines or tokens than these are not looked at in pairs: there are as many as the square of it.
pub(crate) const MOST_IN_PAIRS: usize = 120;

/// Groups of so many lines, side by side.
pub(crate) struct Lines(pub(crate) usize);

impl Pass for Lines {
    fn family(&self) -> &'static str {
        "lines"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        side_by_side(&lines(bytes), self.0)
    }
}

/// Two lines, wherever they are: what opens, and what closes it.
pub(crate) struct LinePairs;

impl Pass for LinePairs {
    fn family(&self) -> &'static str {
        "line-pairs"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        pairs(&lines(bytes), 1, |_| true)
    }
}

/// Groups of so many bytes, side by side.
pub(crate) struct Bytes(pub(crate) usize);

impl Pass for Bytes {
    fn family(&self) -> &'static str {
        "stretches"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        let cut = |at: usize| Edit::cut(at..(at + self.0).min(bytes.len()));
        (0..bytes.len()).step_by(self.0).map(cut).collect()
    }
}

/// So many bytes, wherever they begin.
pub(crate) struct Window(pub(crate) usize);

impl Pass for Window {
    fn family(&self) -> &'static str {
        "windows"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        (0..(bytes.len() + 1).saturating_sub(self.0)).map(|at| Edit::cut(at..at + self.0)).collect()
    }
}

/// So many tokens, wherever they begin: words, white space, single marks.
pub(crate) struct Tokens(pub(crate) usize);

impl Pass for Tokens {
    fn family(&self) -> &'static str {
        "tokens"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        tokens(bytes).windows(self.0 + 1).map(|it| Edit::cut(it[0]..it[self.0])).collect()
    }
}

/// So many tokens, and a word or a mark behind them.
pub(crate) struct TokenPairs(pub(crate) usize);

impl Pass for TokenPairs {
    fn family(&self) -> &'static str {
        "token-pairs"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        pairs(&tokens(bytes), self.0, |at| !bytes[at].is_ascii_whitespace())
    }
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
pub(crate) fn lines(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().zip(1..).filter(|(byte, _)| **byte == b'\n');
    let mut starts: Vec<usize> = [0].into_iter().chain(ends.map(|it| it.1)).collect();
    if starts.last() != Some(&bytes.len()) {
        starts.push(bytes.len());
    }
    starts
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Where tokens begin, and the end.
pub(crate) fn tokens(bytes: &[u8]) -> Vec<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::tests::after;

    #[test]
    fn units_are_lines_tokens_and_bytes() {
        assert_eq!(lines(b"a\n\nb"), [0, 2, 3, 4]);
        assert_eq!(lines(b"a\n"), [0, 2]);
        assert_eq!(lines(b""), [0]);
        assert_eq!(tokens(b"ab  (c_1)"), [0, 2, 4, 5, 8, 9]);
        assert_eq!(tokens(b""), [0]);
        assert_eq!(after(&Bytes(2), b"abcde"), ["cde", "abe", "abcd"]);
        assert_eq!(after(&Window(4), b"abcde"), ["e", "a"]);
        assert!(after(&Window(4), b"abc").is_empty());
        assert_eq!(after(&Tokens(2), b"ab+c"), ["c", "ab"]);
        assert_eq!(after(&Lines(1), b"a\nb\n"), ["b\n", "a\n"]);
    }

    #[test]
    fn what_opens_goes_with_what_closes() {
        assert_eq!(after(&LinePairs, b"if\nx\nend\n"), ["x\n"]);
        assert_eq!(after(&TokenPairs(1), b"(x y)"), ["x )", "x y", "( )", "( y", "(xy"]);
    }
}
