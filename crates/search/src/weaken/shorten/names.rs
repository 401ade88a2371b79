//! What can be cut out of texts that give names to things: a name is the same wherever it stands, one name may
//! do for another, and a value for its name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::edits::{Edit, MOST_IN_PAIRS, bracketed, is_word, tokens};

/// What takes the place of words, calls and texts: most languages take it for a value.
const PLAIN: &[u8] = b"1";
/// The same before a word.
const APART: &[u8] = b"1 ";
/// A name goes with all that mentions it, if that is at most so many places.
const MOST_MENTIONS: usize = 3;
/// Words become one of so many others, the shortest.
const MOST_OTHERS: usize = 6;
/// A name is given to a value at most so many tokens before it,
const MOST_BEFORE: usize = 8;
/// in a statement that begins at most so many tokens before the name.
const MOST_BEGUN: usize = 3;

pub(super) fn words(bytes: &[u8]) -> Vec<Edit> {
    let places = places(bytes);
    let mut edits = Vec::new();
    for (word, places) in places.iter().filter(|(_, places)| places.len() > 1) {
        let mut kept = vec![0, 1, word.len() / 2, word.len() - 1];
        kept.retain(|&kept| kept < word.len());
        kept.sort_unstable();
        kept.dedup();
        edits.extend(kept.into_iter().map(|kept| {
            let cut = |place: &Range<usize>| (place.start + kept..place.end, Vec::new());
            Edit::all(places.iter().map(cut).collect())
        }));
    }
    edits
}

pub(super) fn instead(bytes: &[u8], size: usize) -> Vec<Edit> {
    let mut edits = Vec::new();
    for window in tokens(bytes).windows(size + 1) {
        let range = window[0]..window[size];
        let part = &bytes[range.clone()];
        // A word of one byte is no shorter then, but a value needs nothing that a name does: what it
        // named may go. Numbers stay, or there would be no end.
        let name = size == 1 && part.len() == 1 && part[0].is_ascii_alphabetic();
        let ends = [part[0], part[part.len() - 1]];
        if name || (part.len() > PLAIN.len() && !ends.iter().any(u8::is_ascii_whitespace)) {
            edits.push(Edit::instead(range.clone(), PLAIN));
            // What was apart before must not become one word with what is behind it.
            let joined = !is_word(ends[1]) && bytes.get(range.end).is_some_and(|&it| is_word(it));
            if joined && part.len() > APART.len() {
                edits.push(Edit::instead(range.clone(), APART));
            }
        }
        if size == 1 && part.iter().all(u8::is_ascii_digit) {
            let mut others = vec![format!("{}e{}", part[0] as char, part.len() - 1)];
            others.extend(power_of_two(part));
            let shorter = others.iter().filter(|it| it.len() < part.len());
            edits.extend(shorter.map(|it| Edit::instead(range.clone(), it.as_bytes())));
        }
    }
    edits
}

/// A number as a power of two, if it is one: limits often are, and few other numbers do in their place.
fn power_of_two(digits: &[u8]) -> Option<String> {
    let value: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    value.is_power_of_two().then(|| format!("2^{}", value.trailing_zeros()))
}

/// The words of a text, in order.
fn all_words(bytes: &[u8]) -> Vec<Range<usize>> {
    let tokens = tokens(bytes);
    let words = tokens.windows(2).filter(|pair| is_word(bytes[pair[0]]));
    words.map(|pair| pair[0]..pair[1]).collect()
}

/// Where each word stands.
fn places(bytes: &[u8]) -> BTreeMap<&[u8], Vec<Range<usize>>> {
    let mut places: BTreeMap<&[u8], Vec<Range<usize>>> = BTreeMap::new();
    for word in all_words(bytes) {
        places.entry(&bytes[word.clone()]).or_default().push(word);
    }
    places
}

/// Whether a word is a name, and not a number.
fn is_name(word: &[u8]) -> bool {
    !word[0].is_ascii_digit()
}

pub(super) fn other_words(bytes: &[u8]) -> Vec<Edit> {
    let words = all_words(bytes);
    if words.len() > MOST_IN_PAIRS {
        return Vec::new();
    }
    let names = words.iter().map(|word| &bytes[word.clone()]).filter(|word| is_name(word));
    let shortest: BTreeSet<(usize, &[u8])> = names.map(|name| (name.len(), name)).collect();
    let mut edits = Vec::new();
    for word in &words {
        let shorter = shortest.iter().take(MOST_OTHERS).filter(|other| other.0 < word.len());
        edits.extend(shorter.map(|other| Edit::instead(word.clone(), other.1)));
    }
    edits
}

pub(super) fn inlined(bytes: &[u8]) -> Vec<Edit> {
    let (tokens, words) = (tokens(bytes), all_words(bytes));
    if words.len() > MOST_IN_PAIRS {
        return Vec::new();
    }
    let quoted =
        bracketed(bytes).into_iter().filter(|part| matches!(bytes[part.start], b'"' | b'\''));
    let numbers = words.iter().filter(|word| !is_name(&bytes[(*word).clone()])).cloned();
    let mut edits = Vec::new();
    for value in quoted.chain(numbers) {
        let place = tokens.partition_point(|&token| token < value.start);
        let first = tokens[place.saturating_sub(MOST_BEFORE)];
        let given = |word: &&Range<usize>| word.start >= first && word.end <= value.start;
        for name in words.iter().filter(given).filter(|word| is_name(&bytes[(*word).clone()])) {
            let at = tokens.partition_point(|&token| token < name.start);
            for &start in &tokens[at.saturating_sub(MOST_BEGUN)..=at] {
                edits.extend(in_place_of(bytes, &words, name, start..value.end, &value));
            }
        }
    }
    edits
}

pub(super) fn mentions(bytes: &[u8]) -> Vec<Edit> {
    if all_words(bytes).len() > MOST_IN_PAIRS {
        return Vec::new();
    }
    let mut edits = Vec::new();
    for (word, places) in places(bytes) {
        if !is_name(word) || !(2..=MOST_MENTIONS).contains(&places.len()) {
            continue;
        }
        let mut all: Vec<Vec<Range<usize>>> = vec![Vec::new()];
        for place in places {
            let ways = around(bytes, &place);
            let longer = |known: &Vec<Range<usize>>| {
                ways.iter().map(|way| [&known[..], std::slice::from_ref(way)].concat()).collect()
            };
            all = all.iter().flat_map(|known| -> Vec<_> { longer(known) }).collect();
        }
        edits.extend(all.into_iter().filter_map(|parts| apart(&parts)));
    }
    edits
}

/// What may go with a name: its statement, or its comma in a list.
fn around(bytes: &[u8], name: &Range<usize>) -> Vec<Range<usize>> {
    let ends = |byte: &u8| matches!(byte, b';' | b'\n');
    let (before, behind) = (&bytes[..name.start], &bytes[name.end..]);
    let start = before.iter().rposition(ends).map_or(0, |at| at + 1);
    let end = behind.iter().position(ends).map_or(bytes.len(), |at| name.end + at + 1);
    let statement = start..end;
    let blank = |it: &&u8| it.is_ascii_whitespace();
    let comma_behind = name.end + behind.iter().take_while(blank).count();
    let comma_before = name.start - before.iter().rev().take_while(blank).count();
    let mut ways = vec![statement];
    if bytes.get(comma_behind) == Some(&b',') {
        ways.push(name.start..comma_behind + 1);
    }
    if comma_before > 0 && bytes[comma_before - 1] == b',' {
        ways.push(comma_before - 1..name.end);
    }
    ways
}

/// Several cuts, if none of them is within another.
fn apart(parts: &[Range<usize>]) -> Option<Edit> {
    parts
        .windows(2)
        .all(|pair| pair[0].end <= pair[1].start)
        .then(|| Edit::all(parts.iter().map(|part| (part.clone(), Vec::new())).collect()))
}

/// A value wherever its name stands, without the statement that gives it.
fn in_place_of(
    bytes: &[u8],
    words: &[Range<usize>],
    name: &Range<usize>,
    statement: Range<usize>,
    value: &Range<usize>,
) -> Option<Edit> {
    let same = |word: &&Range<usize>| bytes[(*word).clone()] == bytes[name.clone()];
    let outside = |word: &&Range<usize>| word.end <= statement.start || word.start >= statement.end;
    let used: Vec<&Range<usize>> = words.iter().filter(same).filter(outside).collect();
    if used.is_empty() {
        return None;
    }
    let mut edit = Edit::cut(statement.clone());
    for word in used {
        edit = edit.and(word.clone(), bytes[value.clone()].to_vec());
    }
    (edit.taken() > 0).then_some(edit)
}

#[cfg(test)]
mod tests {
    use super::super::edits::Class;
    use super::super::edits::tests::after;

    #[test]
    fn a_name_is_the_same_everywhere() {
        assert_eq!(
            after(Class::Words, b"name=1;name+nam"),
            ["=1;+nam", "n=1;n+nam", "na=1;na+nam", "nam=1;nam+nam"]
        );
        assert!(after(Class::Words, b"one two").is_empty());
    }

    #[test]
    fn words_and_calls_become_a_value() {
        assert_eq!(after(Class::Instead(3), b"f() x"), ["1 x", "f(1"]);
        assert_eq!(after(Class::Instead(3), b"f()x"), ["1x", "1 x", "f1"]);
        let edits = Class::Instead(1).edits(b"name=v+123456");
        let left: Vec<Vec<u8>> = edits.iter().map(|edit| edit.apply(b"name=v+123456")).collect();
        let left: Vec<String> = left.iter().map(|it| String::from_utf8_lossy(it).into()).collect();
        assert_eq!(left, ["1=v+123456", "name=1+123456", "name=v+1", "name=v+1e5"]);
        assert_eq!(after(Class::Instead(1), b"65536"), ["1", "6e4", "2^16"]);
        assert!(Class::Instead(1).edits(b"1 7 (").is_empty(), "numbers stay");
    }

    #[test]
    fn one_name_may_do_for_another() {
        assert_eq!(after(Class::OtherWords, b"long(v) + 12"), ["v(v) + 12", "long(v) + v"]);
        assert!(after(Class::OtherWords, b"a + b").is_empty(), "neither is shorter");
    }

    #[test]
    fn a_name_goes_with_all_that_mentions_it() {
        let left = after(Class::Mentions, b"new u;new tt;use u, tt");
        assert!(left.contains(&"new tt;use  tt".to_owned()), "{left:?}");
        assert!(left.contains(&"new u;use u".to_owned()), "{left:?}");
        assert!(after(Class::Mentions, b"one; two").is_empty());
    }

    #[test]
    fn a_value_takes_the_place_of_its_name() {
        let left = after(Class::Inlined, b"x, i = 0, '12' f(i)");
        assert!(left.contains(&" f('12')".to_owned()), "{left:?}");
        assert!(after(Class::Inlined, b"f(i) '12'").is_empty(), "nothing else has the name");
        assert!(after(Class::Inlined, b"i=12345;ii").is_empty());
    }
}
